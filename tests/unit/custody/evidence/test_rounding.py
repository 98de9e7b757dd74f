"""Ends that differ by rounding are the same; what a forger would change is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from querygate.custody.evidence.replay import _became_sharper, _difference
from querygate.custody.evidence.rounding import ROUNDING, rounded_alike
from querygate.gate.likely_values import TOO_LONG
from querygate.gate.steps.protect import HURRIED


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


def cell(low: Any, high: Any, **rest: Any) -> dict[str, Any]:
    return told(low, high, may_be_null=False, **rest)


def body(*cells: dict[str, Any], notes: Sequence[str] = ()) -> Any:
    return {"rows": [{f"c{place}": one for place, one in enumerate(cells)}], "notes": list(notes)}


MADE = cell(120.0, 125.0, estimate=122.0)


@pytest.mark.parametrize(
    ("logged", "made"),
    [
        (cell(200.0, 1e12, estimate=300.0), MADE),  # a far end makes no room for the other one
        (cell(-1e12, 100.0, estimate=50.0), MADE),
        (cell(120.0 * (1 + 3 * ROUNDING), 1e12, estimate=122.0), MADE),
        (cell(120.0, 125.0, estimate=9999.0, estimate_note=TOO_LONG), MADE),
        (cell(120.0, 125.0, estimate="9999", estimate_note=TOO_LONG), MADE),
        (cell(100.0, 130.0, estimate=131.0), MADE),
        (cell(0.9, 1e9), cell(0.001, 1e9)),
        (cell(0.0, 5.0), cell(0.0, "inf")),
        (cell("inf", "inf"), cell(0.0, "inf")),
        (cell("2024-02-01", "2024-12-31"), cell("2024-01-01", "2024-12-31")),
        (cell("a", 5.0), cell(1.0, 5.0)),
    ],
)
def test_a_forged_answer_is_different_whatever_excuse_it_carries(logged: dict[str, Any], made: dict[str, Any]) -> None:
    assert _difference(body(logged, notes=[HURRIED]), body(made))
    assert not _became_sharper({"answer": body(logged)}, body(made))  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("logged", "made"),
    [
        (cell(100.0, 1e12, estimate=122.0), MADE),
        (cell(0.0, "inf"), cell(0.5, "inf")),
        (cell("-inf", "inf"), cell(0.5, 7)),
        (cell(None, "inf"), cell("-inf", 7)),
        (cell("2023-01-01", "2024-12-31"), cell("2024-01-01", "2024-12-31")),
        (cell(100.0, 130.0, estimate=None, estimate_note=TOO_LONG), MADE),
    ],
)
def test_a_wider_range_is_the_work_of_a_search_cut_short(logged: dict[str, Any], made: dict[str, Any]) -> None:
    assert _difference(body(logged), body(made))
    assert not _difference(body(logged, notes=[HURRIED]), body({**made, **_note_of(logged, made)}))


def _note_of(logged: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """Cells have the same members, in the order in which they are told."""
    return {"estimate_note": None} if "estimate_note" in logged and "estimate_note" not in made else {}


def test_an_estimate_in_an_endless_range_is_compared_too() -> None:
    made = body(cell(0.0, "inf", estimate=3.0))
    assert not _difference(body(cell(0.0, "inf", estimate=3.0000001)), made)
    assert _difference(body(cell(0.0, "inf", estimate=9e9)), made)
