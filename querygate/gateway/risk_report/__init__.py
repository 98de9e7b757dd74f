"""One risk report: raw records, Safe Harbor as the yardstick, and what is released, measured alike.

For a review board as a page, and for programs as JSON beside it. See docs/how-to/assess-risk.md.
"""

from __future__ import annotations

from querygate.gateway.risk_report.published import published_side
from querygate.gateway.risk_report.released import check_released, released_side
from querygate.gateway.risk_report.report import FORMAT, Assessed, make_files, make_report
from querygate.gateway.risk_report.sides import Disease, Side, at_stake, raw_sides

__all__ = [
    "FORMAT",
    "Assessed",
    "Disease",
    "Side",
    "at_stake",
    "check_released",
    "make_files",
    "make_report",
    "published_side",
    "raw_sides",
    "released_side",
]
