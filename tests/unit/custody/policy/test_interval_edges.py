"""Public edges: exact, covering, and each value in exactly one interval."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from querygate.custody.policy import MAX_EDGES, ColumnPolicy, bin_edges, closed, grid_edges
from querygate.custody.policy.interval_edges import round_step


def quasi(kind, low, high, grid, cuts=()):
    return ColumnPolicy("x", "quasi-identifier", kind, low=low, high=high, grid=grid, cuts=cuts)


def sensitive(kind, low, high, bins, guard=0):
    return ColumnPolicy("x", "sensitive", kind, low=low, high=high, carry="bins", bins=bins, guard=guard)


@pytest.mark.parametrize(
    ("column", "edges"),
    [
        (quasi("integer", 0, 10, 2), [0, 2, 4, 6, 8, 10]),
        (quasi("integer", 3, 11, 5), [3, 5, 10, 11]),
        (quasi("integer", -7, 3, 5), [-7, -5, 0, 3]),
        (quasi("integer", 0, 10, 5, cuts=(3, 5)), [0, 3, 5, 10]),
        (quasi("integer", 1, 3, 2), [1, 2, 3]),
        (quasi("date", 0, 20, 7), [0, 7, 14, 20]),
        (quasi("number", 0.0, 1.0, 0.1), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        (quasi("number", 0.05, 0.35, 0.1, cuts=(0.25,)), [0.05, 0.1, 0.2, 0.25, 0.3, 0.35]),
        (quasi("number", -0.3, 0.3, 0.1), [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]),
        (quasi("number", 1e16, 1e16 + 4, 0.5), [1e16, 1e16 + 2, 1e16 + 4]),  # no finer than floats are
    ],
)
def test_grid_edges(column, edges):
    assert grid_edges(column) == edges
    assert {type(edge) for edge in grid_edges(column)} == {float if column.type == "number" else int}


@pytest.mark.parametrize(
    ("column", "edges"),
    [
        (sensitive("integer", 40, 70, 10), [40, 50, 60, 70]),
        (sensitive("integer", 3, 20, 5), [3, 8, 13, 18, 20]),  # counted from the low end
        (sensitive("integer", 3, 20, 5, guard=3), [3, 8, 13, 20]),  # a remainder of 2 joins the bin below
        (sensitive("integer", 3, 20, 5, guard=2), [3, 8, 13, 18, 20]),
        (sensitive("integer", 0, 9, 9), [0, 9]),
        (sensitive("number", 0.1, 0.7, 0.2), [0.1, 0.3, 0.5, 0.7]),
        (sensitive("number", 0.0, 0.7, 0.2, guard=0.1), [0.0, 0.2, 0.4, 0.6, 0.7]),
        (sensitive("date", 10, 30, 7), [10, 17, 24, 30]),
        (sensitive("integer", 0, 100, (0, 20, 50, 100)), [0, 20, 50, 100]),
    ],
)
def test_bin_edges(column, edges):
    assert bin_edges(column) == edges


def test_closed_intervals_hold_the_values_of_their_type():
    assert closed("integer", 40, 50, False) == (40, 49)
    assert closed("integer", 40, 50, True) == (40, 50)
    assert closed("date", 0, 7, False) == (0, 6)
    assert closed("number", 0.1, 0.2, False) == (0.1, math.nextafter(0.2, 0.0))
    assert closed("number", 0.1, 0.2, True) == (0.1, 0.2)


def test_a_column_without_domain_grid_or_bins_has_no_edges():
    for make, column in [
        (grid_edges, ColumnPolicy("c", "public", "category")),
        (bin_edges, quasi("integer", 0, 9, 1)),
        (grid_edges, ColumnPolicy("c", "sensitive", "number", grid=1.0)),
        (bin_edges, ColumnPolicy("c", "sensitive", "number", bins=(1.0, 2.0))),
    ]:
        with pytest.raises(ValueError, match=r"'[cx]' has no"):
            make(column)


def test_the_number_of_edges_is_capped_before_they_are_made():
    assert len(grid_edges(quasi("integer", 1, MAX_EDGES, 1))) == MAX_EDGES
    for column in [quasi("integer", 0, MAX_EDGES, 1), quasi("integer", -(2**63), 2**63 - 1, 1)]:
        with pytest.raises(ValueError, match="more than 100,000 edges"):
            grid_edges(column)
        with pytest.raises(ValueError, match="more than 100,000 edges"):
            bin_edges(replace(column, bins=1, guard=0))


@given(st.floats(1e-300, 1e300), st.sampled_from([-1.0, 0.0]))
def test_the_round_step_is_a_round_number_near_a_fiftieth(width, part):
    step = round_step(part * width, width, whole=False)
    ratio = (width - part * width) / 50 / step
    assert 1 / math.sqrt(2.51) <= ratio <= math.sqrt(2.51)
    assert repr(step).replace(".", "").replace("0", "").split("e")[0] in {"1", "2", "5"}


# -- each value lands in exactly one interval ------------------------------------------------------------

DECIMALS = st.builds(lambda n, places: n / 10**places, st.integers(-(10**6), 10**6), st.integers(0, 6))


@st.composite
def columns(draw):
    """A numeric column with at most a few thousand edges, as quasi-identifier or with bins, and a value of it."""
    kind = draw(st.sampled_from(["integer", "date", "number"]))
    number = DECIMALS if kind == "number" else st.integers(-(10**6), 10**6)
    low, high = sorted([draw(number), draw(number)])
    assume(low < high)
    step = draw(number.filter(lambda x: x > 0))
    assume((high - low) / step < 2000)
    if draw(st.booleans()):
        cuts = draw(st.lists(number.filter(lambda x: low < x < high), max_size=4, unique=True).map(sorted))
        column, edges = (quasi(kind, low, high, step, tuple(cuts)), grid_edges)
    else:
        guard = draw(st.sampled_from([step, step / 2 if kind == "number" else 0]))
        column, edges = (sensitive(kind, low, high, step, guard), bin_edges)
    value = draw(st.floats(low, high) if kind == "number" else st.integers(low, high))
    return column, edges(column), value


@given(columns())
def test_edges_increase_strictly_and_cover_the_domain(drawn):
    column, edges, _ = drawn
    assert (edges[0], edges[-1]) == (column.low, column.high)
    assert all(a < b for a, b in pairwise(edges))
    assert set(column.cuts) <= set(edges)


@given(columns())
def test_a_value_lies_in_exactly_one_closed_interval_and_it_is_that_of_its_code(drawn):
    column, edges, value = drawn
    pairs = list(pairwise(edges))
    intervals = [closed(column.type, a, b, i == len(pairs) - 1) for i, (a, b) in enumerate(pairs)]
    code = min(bisect_right(edges, value), len(pairs)) - 1
    assert [i for i, (low, high) in enumerate(intervals) if low <= value <= high] == [code]


@given(columns())
def test_closed_intervals_leave_no_gap(drawn):
    column, edges, _ = drawn
    pairs = list(pairwise(edges))
    intervals = [closed(column.type, a, b, i == len(pairs) - 1) for i, (a, b) in enumerate(pairs)]
    for (_, top), (bottom, _) in pairwise(intervals):
        after = math.nextafter(top, math.inf) if column.type == "number" else top + 1
        assert after == bottom
    assert all(low <= high for low, high in intervals)
