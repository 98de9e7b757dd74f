"""When a range is narrow enough, and what is added up of it."""

from __future__ import annotations

from math import e, inf

import pytest

from querygate.core.types import Range
from querygate.custody.workload import Figure, Question, usable, usable_shares
from querygate.custody.workload.standing_workload import Ends, Kind
from querygate.custody.workload.usable_share import median_width, relative_width


@pytest.mark.parametrize(
    ("kind", "low", "high", "is_usable"),
    [
        ("count", 95, 105, True),
        ("count", 95, 106, False),
        ("prevalence", 0.3, 0.35, True),
        ("prevalence", 0.3, 0.351, False),
        ("mean", 120.0, 123.6, True),
        ("mean", 120.0, 123.7, False),
        ("median", 120, 123, True),
        ("median", 120, 124, False),
        ("sd", 16.4, 20.0, True),
        ("sd", 16.3, 20.0, False),
        ("correlation", -0.1, 0.1, True),
        ("correlation", -0.1, 0.11, False),
        ("odds ratio", 1.0, e, True),
        ("odds ratio", 1.0, 2.72, False),
        ("odds ratio", 0.0, 0.1, False),
    ],
)
def test_thresholds(kind: Kind, low: float, high: float, is_usable: bool) -> None:
    assert usable(kind, Range(low, high), records=100, deviation=18.0) is is_usable
    assert (relative_width(kind, Range(low, high), 100, 18.0) <= 1 + 1e-9) is is_usable


def test_a_refusal_is_not_usable_and_what_is_null_for_certain_is() -> None:
    assert not usable("mean", None, 10, 1.0)
    assert usable("mean", Range.null(), 10, 1.0)


def test_a_constant_or_missing_column_needs_an_exact_answer() -> None:
    for deviation in (0.0, None):
        assert usable("mean", Range(5.0, 5.0), 10, deviation)
        assert not usable("mean", Range(5.0, 5.1), 10, deviation)


def figure(kind: Kind, ends: Ends, is_usable: bool) -> Figure:
    return Figure(Question(kind, (), (), frozenset(), ends, "", ""), is_usable)


def test_shares_of_what_papers_print_by_ends_and_of_each_kind() -> None:
    figures = [
        figure("count", "none", True),
        figure("count", "free", False),
        figure("mean", "aligned", True),
        figure("median", "aligned", False),
        *(figure("odds ratio", "free", True) for _ in range(50)),
    ]
    found = {part.name: (part.figures, part.share) for part in usable_shares(figures)}
    assert next(iter(found)) == "counts, prevalences and means"
    assert found["counts, prevalences and means"] == (3, 2 / 3)
    assert found["counts, prevalences and means, aligned"] == (2, 1.0)
    assert found["counts, prevalences and means, free"] == (1, 0.0)
    assert found["count"] == (2, 0.5)
    assert found["odds ratio"] == (50, 1.0)
    assert found["sd"] == (0, None)


def test_nothing_asked() -> None:
    assert {part.share for part in usable_shares([])} == {None}


def test_the_median_of_widths_and_none_where_half_have_no_bounds() -> None:
    assert median_width([3.0, 1.0, 2.0]) == 2.0
    assert median_width([0.0, 1.0, inf]) == 1.0
    assert median_width([0.0, inf, inf]) is None
    assert median_width([]) is None
