"""One line of the comparison in the publish report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trial:
    """A partition that was tried, and its quality. All figures are about the whole table."""

    method: str
    k: int
    classes: int
    ncp: float  # mean share of its domain that a class covers, over all quasi-identifiers
    widths: Mapping[str, float]  # statistic -> width of its guaranteed range; for count, as a share of the records
    seconds: float
    chosen: bool = False
    note: str = ""
