"""The report on an extract: figures for programs, a page for people, and its pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from querygate.custody.extract.extract_charts import make_pictures
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.pages.fill import data_uris, fill
from querygate.custody.publish_report.charts import can_draw

TEMPLATE = "extract_report.html"


def make_report(protected: ProtectedRecords, body: Mapping[str, Any]) -> dict[str, bytes]:
    """report.json, report.html and the pictures as files of their own."""
    pictures = make_pictures(protected, body)
    page = fill(TEMPLATE, report=body, images=data_uris(pictures), can_draw=can_draw())
    return {
        "report.json": json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False).encode(),
        "report.html": page.encode(),
        **{f"{name}.png": png for name, png in pictures.items()},
    }
