"""The risk report as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from querygate.custody.assess.risk_charts import make_pictures
from querygate.custody.assess.risk_page import make_page


def make_files(body: Mapping[str, Any]) -> dict[str, bytes]:
    """report.json, report.html and, where they can be drawn, the pictures as files of their own."""
    pictures = make_pictures(body)
    return {
        "report.json": json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False).encode(),
        "report.html": make_page(body, pictures).encode(),
        **{f"{name}.png": png for name, png in pictures.items()},
    }
