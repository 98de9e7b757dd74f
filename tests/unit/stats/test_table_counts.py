"""Four counts, each in a range of its own: every table that they allow has its statistic inside."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest

from querygate.core.types import Range
from querygate.stats.table_counts import table_of_counts
from tests.seeds import seeds

PAIRS = ((0, 1), (2, 3), (0, 2), (1, 3))
"""The counts of each total."""


def statistic(name: str, a: int, b: int, c: int, d: int) -> float | None:
    """None is NULL."""
    if name == "odds_ratio":
        return a * d / (b * c) if b * c else math.inf if a * d else None
    if not a + b or (name != "proportion" and not c + d):
        return None
    first = a / (a + b)
    if name == "proportion":
        return first
    second = c / (c + d)
    if name == "risk_difference":
        return first - second
    return first / second if second else math.inf if first else None


@pytest.mark.parametrize("name", ["proportion", "risk_difference", "risk_ratio", "odds_ratio"])
@pytest.mark.parametrize("seed", seeds(40))
def test_every_table_is_inside_and_the_ends_are_some_tables(name: str, seed: int) -> None:
    rng = random.Random(seed)
    low = [rng.choice([0, 0, 1, 2, 3]) for _ in range(4)]
    ranges = [range(one, one + rng.choice([1, 1, 2, 4])) for one in low]
    truth = [rng.choice(one) for one in ranges]
    totals = [truth[i] + truth[j] for i, j in PAIRS]
    known = [range(one - rng.choice([0, 1, 9]), one + rng.choice([1, 2, 9])) for one in totals]
    found = table_of_counts(name, [Range(one[0], one[-1]) for one in (*ranges, *known)])
    tables = [t for t in product(*ranges) if all(t[i] + t[j] in one for one, (i, j) in zip(known, PAIRS, strict=True))]
    values = [value for value in (statistic(name, *table) for table in tables) if value is not None]
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert all(found.low <= value <= found.high for value in values)
    free = table_of_counts(name, [*(Range(one[0], one[-1]) for one in ranges), *[Range(0, 99)] * 4])
    assert free is not None
    everything = [value for value in (statistic(name, *table) for table in product(*ranges)) if value is not None]
    if everything and all(one[0] for one in ranges):
        assert (free.low, free.high) == pytest.approx((min(everything), max(everything)))


def test_nothing_is_said_of_others() -> None:
    assert table_of_counts("chi_square", [Range(1, 1)] * 8) is None
