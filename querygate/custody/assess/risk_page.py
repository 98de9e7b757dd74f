"""The risk report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from querygate.custody.pages.fill import fill

TEMPLATE = "risk_report.html"


def make_page(body: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
    """The page of a report. `pictures` are PNG files by name; without any the page says why."""
    images = {name: f"data:image/png;base64,{base64.b64encode(png).decode()}" for name, png in pictures.items()}
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in body["verdict"]:
        groups.setdefault(line["group"], []).append(line)
    return fill(TEMPLATE, report=body, groups=groups, images=images, can_draw=bool(images))
