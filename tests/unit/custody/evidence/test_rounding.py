"""Ends that differ by rounding are the same; what a forger would change is not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from querygate.custody.evidence.rounding import ROUNDING, rounded_alike


def told(low: Any, high: Any, **rest: Any) -> dict[str, Any]:
    return {"low": low, "high": high, "attained_low": None, "attained_high": None, "sharp": False, **rest}


LOGGED = told(100.25, 130.5)


@pytest.mark.parametrize(
    "made",
    [
        told(math.nextafter(100.25, 0), 130.5),
        told(100.25 * (1 - ROUNDING / 2), 130.5 * (1 + ROUNDING / 2)),
    ],
)
def test_roundings_are_the_same(made: dict[str, Any]) -> None:
    assert rounded_alike([{"avg": LOGGED}], [{"avg": made}]) == [{"avg": LOGGED}]


@pytest.mark.parametrize(
    ("logged", "made"),
    [
        (LOGGED, told(100.25, 130.5 * (1 + 3 * ROUNDING))),
        (LOGGED, told(100.25, 130.5, sharp=True)),
        (LOGGED, told(100.25, None)),
        (told(1_000_000_000, 1_000_000_001), told(1_000_000_000, 1_000_000_002)),  # counts are whole numbers
        (told(5.0, 5.0), told(5.0, math.nextafter(5.0, 9.0))),  # a point is a point
        (told(None, 130.5), told(-1e300, 130.5)),
        (told(-math.inf, 1.0), told(-1e308, 1.0)),
    ],
)
def test_all_else_is_not(logged: dict[str, Any], made: dict[str, Any]) -> None:
    assert rounded_alike(logged, made) != logged
