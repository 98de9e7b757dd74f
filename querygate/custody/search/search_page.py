"""The report on a search: a page that an expert can sign, in the style of the other reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from querygate.custody.pages.fill import fill

TEMPLATE = "policy_search.html"


def make_page(body: Mapping[str, Any]) -> str:
    """report.html of the figures."""
    return fill(TEMPLATE, report=body)
