"""How much work something is, in calls of functions: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

HANG_S = 300.0
"""Only what hangs takes longer."""


def count_calls(function: Callable[[], T]) -> tuple[T, int]:
    """What it returns, and how many functions were called on the way."""
    calls = 0

    def note(frame: object, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        found = function()
    finally:
        sys.setprofile(before)
    return found, calls
