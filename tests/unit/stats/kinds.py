"""Every registry of statistics with what is needed to try it: random small cells, all data sets that they allow, and
what the database makes of each. A new registry is tried, in the test suite and at length, as soon as it stands here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from querygate.core.registry import Registry
from querygate.core.types import Cells, Range
from querygate.stats import DISTRIBUTIONS, GROUP_STATISTICS, MODELS, PAIR_STATISTICS, STATISTICS, TABLE_STATISTICS
from querygate.stats.regression.box_design import RegressionCells
from tests.unit.stats import (
    enumerate_reference,
    group_reference,
    pair_reference,
    regression_reference,
    table_reference,
)

Case = tuple[Any, list[Any]]
"""Cells, and every data set that they allow."""

MOST_DATA_SETS = 250
BOUNDARIES = (-1.0, 2.0, 2.5, 5.0)


@dataclass(frozen=True)
class Kind:
    """A registry with random cases and truths. `parameters` are tried in turn; `doubles` makes a column of real numbers
    from one of whole numbers, for which the data sets are then some of many."""

    registry: Registry[Any]
    make: Callable[[np.random.Generator], Case | None]
    truths: dict[str, Callable[..., Any]]
    parameters: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    compute: Callable[..., Range] | None = None
    doubles: Callable[[Any], Any] | None = None

    def range(self, name: str, cells: Any, given: tuple[Any, ...]) -> Range:
        if self.compute is not None:
            return self.compute(name, cells, *given)
        found: Range = self.registry.get(name).range(cells, *given)
        return found

    def truth(self, name: str, every: Sequence[Any], given: tuple[Any, ...]) -> list[Any]:
        """The value of each data set, None where it has none."""
        return enumerate_reference.answers(self.truths[name], every, *given)

    def given(self, name: str) -> list[tuple[Any, ...]]:
        """The parameters to try, one empty tuple where there are none."""
        return self.parameters.get(name, [()])

    def cases(self, first_seed: int) -> Iterator[tuple[int, Case]]:
        """Cases without end, each with the seed that it came from."""
        for seed in count(first_seed):
            case = self.make(np.random.default_rng(seed))
            if case is not None:
                yield seed, case


def make_cells(random: np.random.Generator) -> Case | None:
    """Small cells of whole numbers: certain, possible and empty ones, points, nested boxes."""
    size = int(random.integers(1, 5))
    low = random.integers(-4, 8, size) if random.random() < 0.6 else random.integers(1, 9, size)
    high = low + random.integers(0, 4, size)
    most = random.integers(0, 4, size)
    least = np.where(random.random(size) < 0.5, most, random.integers(0, most + 1))
    options = [
        sum(math.comb(int(b - a) + n, n) for n in range(int(first), int(last) + 1))
        for a, b, first, last in zip(low, high, least, most, strict=True)
    ]
    if math.prod(options) > MOST_DATA_SETS:
        return None
    cells = Cells(low, high, least, most, integer=True)
    return cells, [list(data) for data in enumerate_reference.datasets(cells)]


def as_doubles(cells: Any) -> Any:
    return replace(cells, low=cells.low.astype(float), high=cells.high.astype(float), integer=False)


# -- whole distributions, point by point and bin by bin --------------------------------------------------------


def _share(data: Sequence[float], t: float) -> float | None:
    return sum(value <= t for value in data) / len(data) if data else None


def _in_bin(data: Sequence[float], boundaries: tuple[float, ...], j: int) -> int:
    limits = (-math.inf, *boundaries, math.inf)
    return sum(limits[j] < value <= limits[j + 1] for value in data)


def _describe(name: str, cells: Cells, *given: Any) -> Range:
    described: Any = DISTRIBUTIONS.get(name).describe
    return described(cells).share(*given) if name == "ecdf" else described(cells, given[0])[given[1]]


def _coefficient(name: str, cells: RegressionCells, which: int, intercept: bool) -> Range:
    return MODELS.get(name).ranges(cells, intercept)[which]


KINDS: dict[str, Kind] = {
    "one column": Kind(
        STATISTICS, make_cells, enumerate_reference.TRUTHS, enumerate_reference.PARAMETERS, doubles=as_doubles
    ),
    "distributions": Kind(
        DISTRIBUTIONS,
        make_cells,
        {"ecdf": _share, "histogram": _in_bin},
        {
            "ecdf": [(-1.0,), (2.0,), (3.5,)],
            "histogram": [(BOUNDARIES, j) for j in (0, 1, 2, 4)],
        },
        _describe,
        as_doubles,
    ),
    "two columns": Kind(PAIR_STATISTICS, pair_reference.make_pairs, pair_reference.TRUTHS),
    "two groups": Kind(GROUP_STATISTICS, group_reference.make_groups, group_reference.TRUTHS, doubles=as_doubles),
    "models": Kind(
        MODELS,
        regression_reference.make_regression,
        {"regression": regression_reference.coefficient},
        {"regression": [(0, True), (1, True), (1, False)]},
        _coefficient,
    ),
    "tables": Kind(TABLE_STATISTICS, table_reference.make_tables, table_reference.TRUTHS),
}


@lru_cache(maxsize=len(KINDS))
def first_cases(kind: str, number: int) -> list[Case]:
    """The same cases for every statistic of a kind."""
    found = KINDS[kind].cases(20)
    return [next(found)[1] for _ in range(number)]
