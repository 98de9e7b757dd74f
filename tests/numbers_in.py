"""The numbers a text tells, so that a test of what must not be told does not stumble over the digits of a time."""

from __future__ import annotations

import re


def numbers(text: str) -> set[str]:
    """Whole words that are numbers: no digits out of a time, an id or a hash."""
    return set(re.findall(r"(?<![\w.:])\d+(?:\.\d+)?(?![\w:])", text))
