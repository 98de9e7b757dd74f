"""The risk report as files: JSON, one HTML page with everything in it, and the pictures."""

from __future__ import annotations

import json

from querygate.core.json_body import to_json
from querygate.custody.pages.fill import data_uris, fill
from querygate.custody.risk_report.risk_body import RiskReport, VerdictLine
from querygate.custody.risk_report.risk_charts import make_pictures

TEMPLATE = "risk_report.html"


def make_files(report: RiskReport) -> dict[str, bytes]:
    """report.json, report.html and, if they can be drawn, the charts as separate files."""
    pictures = make_pictures(report.sides)
    groups: dict[str, list[VerdictLine]] = {}
    for line in report.verdict:
        groups.setdefault(line.group, []).append(line)
    page = fill(TEMPLATE, report=report, groups=groups, images=data_uris(pictures), can_draw=bool(pictures))
    return {
        "report.json": json.dumps(to_json(report), indent=2, ensure_ascii=False, allow_nan=False).encode(),
        "report.html": page.encode(),
        **{f"{name}.png": png for name, png in pictures.items()},
    }
