"""The report on a published version, for the custodian: one JSON object, from which the page and pictures are made.

Every section is a function of the same case. Figures are aggregates; raw values are in one kind of picture alone, and
there is no identifier anywhere. See docs/reference/publish-report.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from querygate.core.progress import Progress, no_progress
from querygate.custody.pages.fill import make_page
from querygate.custody.publish_report.advice import make_warnings
from querygate.custody.publish_report.alternatives import changes, codes, methods, numbers, policy_of, versions
from querygate.custody.publish_report.charts import PICTURES, can_draw, draw
from querygate.custody.publish_report.example_answers import counts, statistics
from querygate.custody.publish_report.headline import class_sizes, guarantees, headline, widths
from querygate.custody.publish_report.k_sweep import sweep
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.publish_report.version_risk import disclosure, outliers, risk

FORMAT = 1

SECTIONS: tuple[tuple[str, Callable[[ReportCase], Any]], ...] = (
    ("headline", headline),
    ("guarantees", guarantees),
    ("risk", risk),
    ("disclosure", disclosure),
    ("outliers", outliers),
    ("class_sizes", class_sizes),
    ("widths", widths),
    ("statistics", statistics),
    ("counts", counts),
    ("numbers", numbers),
    ("codes", codes),
    ("methods", methods),
    ("versions", versions),
)


def make_report(case: ReportCase, progress: Progress = no_progress) -> dict[str, Any]:
    """The report as a JSON object."""
    body: dict[str, Any] = {
        "format": FORMAT,
        "dataset": case.catalog.dataset,
        "version": case.catalog.version,
        "title": case.catalog.title,
        "published": case.catalog.published,
        "policy_hash": case.catalog.policy_hash,
        "policy": policy_of(case.policy),
        "warnings": [],
    }
    for name, make in SECTIONS:
        body[name] = make(case)
    body["sweep"] = sweep(case, progress)
    body["changes"] = changes(case.before, body)
    body["warnings"] = make_warnings(body, case.policy.warnings)
    return body


def make_files(case: ReportCase, *, full: bool, progress: Progress = no_progress) -> dict[str, bytes]:
    """The files of the report: report.json and, if it is to be full, report.html with its pictures."""
    body = make_report(case, progress)
    files = {"report.json": json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False).encode()}
    if full:
        progress("drawing")
        pictures = {name: make(case, body) for name, make in PICTURES.items()} if can_draw() else {}
        drawn = {name: draw(figure) for name, figure in pictures.items() if figure is not None}
        files |= {f"{name}.png": png for name, png in drawn.items()}
        files["report.html"] = make_page(body, drawn, can_draw=can_draw()).encode()
    return files
