"""How much work something is, and whether it comes about: the same on every machine, however busy."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

HANG_S = 300.0
"""Only what hangs takes longer."""


def wait_until(find: Callable[[], T], pause_s: float = 0.02) -> T:
    """What is found, as soon as it is there."""
    until_s = time.monotonic() + HANG_S
    while not (found := find()):
        assert time.monotonic() < until_s, "it did not come about"
        time.sleep(pause_s)
    return found


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
