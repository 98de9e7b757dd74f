"""Ranges of categories, as chapters and blocks of a code system are written, and the one that a category lies in."""

from __future__ import annotations

from functools import lru_cache

OTHER = "other"
"""Where a text goes that is no code: a chapter of its own."""


@lru_cache(maxsize=4096)
def range_of(category: str, table: str) -> str | None:
    """The narrowest range that holds a category. Of equal length, codes compare as texts; 9A follows 99."""
    ranges = [(*entry.split("-"), entry) for entry in table.split()]
    inside = [entry for low, high, entry in ranges if len(low) == len(category) and low <= category <= high]
    return inside[-1] if inside else None  # a range within another begins later
