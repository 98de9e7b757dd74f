"""Every registered statistic against all data sets of many small random cells, other seeds than the test suite's.

Per statistic: how many ranges miss a value that some data set has (must be none), how many that are called sharp are
not (must be none), and how much wider than the truth the others are, in the middle case. Statistics take turns, so that
the time limit (seconds, environment variable SOAK_LIMIT_S) shortens all of them alike.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from querygate.core.types import Cells, Range
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells
from tests.report import row
from tests.unit.stats import enumerate_reference as one
from tests.unit.stats import test_pairs as two

CASES = 20_000
LIMIT_S = 7_200.0
FIRST_SEED = 2_000_000
MOST_DATA_SETS = 200
Truth = Callable[[Sequence[Any]], "int | float | None"]


@dataclass
class Tally:
    """What was found about one statistic."""

    cases: int = 0
    sharp: int = 0
    unsound: list[str] = field(default_factory=list)
    blunt: list[str] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)

    def try_(self, compute: Callable[[], Range], values: list[float], null: bool, case: object) -> None:
        """Compute a range and compare it; an error is no answer, so it counts as unsound."""
        try:
            found = compute()
        except Exception as wrong:
            self.cases += 1
            self.unsound.append(f"{case}: {wrong!r}")
        else:
            self.add(found, values, null, case)

    def add(self, found: Range, values: list[float], null: bool, case: object) -> None:
        """Compare one range with all values of its statistic; `null` says that some data set has none."""
        self.cases += 1
        missed = null and not found.may_be_null
        if values:
            low, high = min(values), max(values)
            missed = missed or found.low is None or found.high is None or not found.low <= low <= high <= found.high
        if missed:
            self.unsound.append(f"{case}: {found} misses {min(values, default=None)} .. {max(values, default=None)}")
        elif values and found.low is not None and found.high is not None:
            self._add_width(found.low - low, found.high - high, max(abs(low), abs(high)), high - low, found, case)

    def _add_width(self, low: float, high: float, size: float, width: float, found: Range, case: object) -> None:
        if not found.sharp:
            self.excess.append((high - low) / width if width else 0.0 if high == low else math.inf)
            return
        self.sharp += 1
        if max(-low, high) > 1e-9 * max(size, 1.0):
            self.blunt.append(f"{case}: {found} is called sharp but is {-low} and {high} too wide")


def make_cells(random: np.random.Generator) -> tuple[Cells, list[tuple[float, ...]]] | None:
    """Small cells of whole numbers with all their data sets; None where there are too many."""
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
    return cells, list(one.datasets(cells))


def make_pairs(random: np.random.Generator) -> tuple[PairCells, list[two.Pairs]] | None:
    """Small boxes with data sets at corners and middles of their sides."""
    size = int(random.integers(1, 5))
    x_low, y_low = random.integers(-2, 7, size), random.integers(1, 8, size)
    x_high, y_high = x_low + random.integers(0, 3, size), y_low + random.integers(0, 3, size)
    most = random.integers(1, 3, size)
    least = np.where(random.random(size) < 0.6, most, 0)
    cells = PairCells(x_low, x_high, y_low, y_high, least, most)
    every = two.datasets(cells)
    return (cells, every) if len(every) <= 500 else None


def endless(make: Callable[[np.random.Generator], Any]) -> Iterator[Any]:
    seed = FIRST_SEED
    while True:
        case = make(np.random.default_rng(seed))
        if case is not None:
            yield case
        seed += 1


def check_one(name: str, case: tuple[Cells, list[tuple[float, ...]]], turn: int, tally: Tally) -> None:
    cells, every = case
    choices = one.PARAMETERS.get(name, [()])
    given = choices[turn % len(choices)]
    values = [one.TRUTHS[name](list(data), *given) for data in every]
    known = [value for value in values if value is not None and not math.isnan(value)]
    tally.try_(lambda: STATISTICS.get(name).range(cells, *given), known, len(known) < len(values), (cells, given))


def check_two(name: str, case: tuple[PairCells, list[two.Pairs]], tally: Tally) -> None:
    cells, every = case
    values = [two.TRUTHS[name](data) if data else None for data in every]
    known = [value for value in values if value is not None]
    tally.try_(lambda: PAIR_STATISTICS.get(name).range(cells), known, len(known) < len(values), cells)


def run() -> list[dict[str, Any]]:
    limit, began = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), time.monotonic()
    tallies = {name: Tally() for name in [*STATISTICS, *PAIR_STATISTICS]}
    cells, pairs = endless(make_cells), endless(make_pairs)
    for turn in range(CASES):
        if time.monotonic() - began > limit:
            break
        first, second = next(cells), next(pairs)
        for name in STATISTICS:
            check_one(name, first, turn, tallies[name])
        for name in PAIR_STATISTICS:
            check_two(name, second, tallies[name])
    return report("statistics", tallies, limit)


def report(title: str, tallies: dict[str, Tally], limit: float) -> list[dict[str, Any]]:
    """How many cases there was time for, then what was found."""
    fewest = min(tally.cases for tally in tallies.values())
    rows = [row(f"{title}: cases each", fewest, "", f"within {limit:.0f} s", target=CASES, met=fewest >= CASES)]
    return rows + [line for name, tally in tallies.items() for line in _rows(name, tally)]


def _rows(name: str, tally: Tally) -> list[dict[str, Any]]:
    """What was found about one statistic, for the report; the first offenders are printed."""
    for text in (tally.unsound + tally.blunt)[:5]:
        print(f"{name}: {text}")
    cases = f"{tally.cases:,} cases"
    rows = [
        row(f"{name}: unsound", len(tally.unsound), "of", cases, target=0, met=not tally.unsound),
        row(f"{name}: wrongly sharp", len(tally.blunt), "of", f"{tally.sharp:,} sharp", target=0, met=not tally.blunt),
    ]
    if tally.excess:
        middle = statistics.median(tally.excess)
        rows.append(row(f"{name}: median excess", middle, "of the width", f"{len(tally.excess):,} not sharp"))
    return rows
