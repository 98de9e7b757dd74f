from __future__ import annotations

import itertools

import numpy as np
import pytest

from querygate.stats.models.coefficient_table import regression_figures
from querygate.stats.models.logistic_and_poisson import (
    LOGISTIC,
    POISSON_SHARES,
    GroupedCounts,
    Root,
    find_root,
    likely_root,
)
from querygate.stats.models.verified_numbers import Intervals
from tests.unit.stats.models.table_cases import LINKS, make_case, misses

DESIGN = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
EVENTS, OTHERS = np.array([40.0, 25.0, 60.0, 55.0]), np.array([160.0, 75.0, 140.0, 45.0])


def _table(events: np.ndarray, others: np.ndarray, by: float = 0.0) -> GroupedCounts:
    low, high = np.maximum(events - by, 0.0), events + by
    return GroupedCounts(DESIGN, Intervals(low, high), Intervals(np.maximum(others - by, 0.0), others + by), LOGISTIC)


@pytest.mark.parametrize("family", LINKS)
@pytest.mark.parametrize("wide", [False, True])
def test_the_fit_of_statistical_software_is_inside_every_range(family: str, wide: bool) -> None:
    tried = 0
    for seed in range(14):
        found = misses(make_case(np.random.default_rng([seed, wide]), family, wide))
        tried += found is not None
        assert not found, (seed, found)

    assert tried >= 2


def test_the_coefficients_of_a_known_table_are_known_to_many_digits() -> None:
    found = find_root(_table(EVENTS, OTHERS))

    assert isinstance(found, Root)
    assert (found.box.high - found.box.low < 1e-12).all()


@pytest.mark.parametrize("by", [1.0, 3.0, 6.0])
def test_ranges_of_counts_hold_for_every_table_inside(by: float) -> None:
    table = _table(EVENTS, OTHERS, by)
    found = find_root(table)
    random = np.random.default_rng(7)

    assert isinstance(found, Root)
    for _ in range(200):
        corners = random.integers(0, 2, (2, 4)) if random.random() < 0.5 else random.random((2, 4))
        events, others = (
            part.low + (part.high - part.low) * share
            for part, share in zip((table.events, table.others), corners, strict=True)
        )
        root = likely_root(DESIGN, events, events + others, LOGISTIC)
        assert root is not None
        assert (found.box.low <= root).all()
        assert (root <= found.box.high).all()


def test_more_uncertain_counts_never_give_narrower_ranges() -> None:
    widths = []
    for by in (0.0, 1.0, 2.0, 5.0):
        found = find_root(_table(EVENTS, OTHERS, by))
        assert isinstance(found, Root)
        widths.append(found.box.high - found.box.low)

    assert all((before <= after).all() for before, after in itertools.pairwise(widths))


def test_separation_is_not_given_a_finite_range() -> None:
    assert find_root(_table(np.array([0.0, 0.0, 60.0, 55.0]), np.array([160.0, 75.0, 0.0, 0.0]))) == "separated"


def test_a_level_that_may_be_empty_is_not_given_a_range() -> None:
    table = _table(np.array([40.0, 1.0, 60.0, 1.0]), np.array([160.0, 1.0, 140.0, 1.0]), by=1.0)

    assert find_root(table) in ("wide", "undetermined")


def test_columns_that_follow_from_each_other_are_not_determined() -> None:
    design = np.column_stack([DESIGN, DESIGN[:, 1]])
    table = GroupedCounts(design, Intervals.of(EVENTS), Intervals.of(OTHERS), LOGISTIC)

    assert find_root(table) == "undetermined"


def test_counts_without_any_bound_are_too_wide() -> None:
    table = GroupedCounts(DESIGN, Intervals(np.zeros(4), np.full(4, 1e6)), Intervals.of(OTHERS), LOGISTIC)

    assert find_root(table) in ("wide", "separated")


def test_huge_counts_are_fitted_as_small_ones_are() -> None:
    small, huge = (find_root(_table(EVENTS * factor, OTHERS * factor)) for factor in (1.0, 1e9))

    assert isinstance(small, Root)
    assert isinstance(huge, Root)
    assert np.allclose(small.centre, huge.centre, atol=1e-9)


def test_estimates_are_inside_and_near_the_truth() -> None:
    table = _table(EVENTS, OTHERS, by=4.0)
    root = find_root(table)
    assert isinstance(root, Root)
    rows = regression_figures(table, root, (EVENTS + 1, EVENTS + OTHERS + 2), exact=False)

    assert rows is not None
    for row in rows:
        for figure in row.values():
            assert figure.likely is not None
            assert figure.range.low is not None
            assert figure.range.high is not None
            assert figure.range.low <= figure.likely <= figure.range.high
            assert not figure.range.sharp


def test_rate_ratios_of_shares_are_ratios_of_prevalences() -> None:
    design = np.array([[1.0, 0.0], [1.0, 1.0]])
    table = GroupedCounts(design, Intervals.of([20.0, 30.0]), Intervals.of([80.0, 20.0]), POISSON_SHARES)
    root = find_root(table)
    assert isinstance(root, Root)
    rows = regression_figures(table, root, None, exact=True)

    assert rows is not None
    found = rows[1]["ratio"].range
    assert found.low is not None
    assert found.low <= 3.0 <= (found.high or 0.0)
    assert rows[1]["ratio"].likely is None
