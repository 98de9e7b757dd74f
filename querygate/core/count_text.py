"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """The number with its noun, and whatever else has to agree with it.

    >>> counted(1, "record"), counted(3_000, "record"), counted(1, "value is", "values are")
    ('1 record', '3,000 records', '1 value is')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
