"""Two-by-two tables: random classes with every assignment of their records to selection, exposure and outcome, and what
SQL makes of each. Nothing here shares code with the product."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, product

import numpy as np

from querygate.stats import TableCells

Table = tuple[int, int, int, int]  # n11, n10, n01, n00
NAMES = ("proportion", "risk_difference", "risk_ratio", "odds_ratio", "chi_square")
KINDS = list(product([False, True], repeat=3))  # selected, exposed, with outcome


@cache
def tables_of_class(
    size: int, exposed: tuple[int, int], outcome: tuple[int, int], chosen: tuple[int, int]
) -> set[Table]:
    """All tables of one class, from all ways to give its records their properties."""
    found = set()
    for records in combinations_with_replacement(KINDS, size):
        counts = [sum(record[j] for record in records) for j in range(3)]
        if all(low <= count <= high for count, (low, high) in zip(counts, (chosen, exposed, outcome), strict=True)):
            cells = [(a, b) for selected, a, b in records if selected]
            found.add(tuple(cells.count(kind) for kind in [(True, True), (True, False), (False, True), (False, False)]))
    return found


def make_tables(random: np.random.Generator, certain: bool | None = None) -> tuple[TableCells, list[Table]]:
    """Small classes with all their tables; half of them with everybody selected, unless told."""
    certain = bool(random.random() < 0.5) if certain is None else certain
    size = random.integers(1, 5, int(random.integers(1, 4)))
    ranges = []
    for _ in range(3):
        ends = np.sort(random.integers(0, size[:, None] + 1, (size.size, 2)), axis=1)
        ranges.append((ends[:, 0], ends[:, 1]))
    chosen = (size, size) if certain else ranges[2]
    every = {(0, 0, 0, 0)}
    for i, m in enumerate(size.tolist()):
        args = [(int(low[i]), int(high[i])) for low, high in (ranges[0], ranges[1], chosen)]
        every = {tuple(map(sum, zip(a, b, strict=True))) for a in every for b in tables_of_class(m, *args)}
    whole = TableCells.certain(size, ranges[0], ranges[1])
    return TableCells(whole.exposed, whole.unexposed, whole.with_outcome, whole.without, *chosen), list(every)


def truth(name: str, table: Table) -> Fraction | float | None:
    """What SQL gives: NULL (or NaN) where it is undefined, infinite where only a denominator vanishes."""
    n11, n10, n01, n00 = table
    first = Fraction(n11, n11 + n10) if n11 + n10 else None
    second = Fraction(n01, n01 + n00) if n01 + n00 else None
    if name == "proportion" or first is None or second is None:
        return first if name == "proportion" else None
    if name == "risk_difference":
        return first - second
    if name == "chi_square":
        margins = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
        return Fraction(sum(table) * (n11 * n00 - n10 * n01) ** 2, margins) if margins else None
    above, below = (first, second) if name == "risk_ratio" else (n11 * n00, n10 * n01)
    return Fraction(above) / below if below else (math.inf if above else None)


TRUTHS: dict[str, Callable[[Table], Fraction | float | None]] = {name: partial(truth, name) for name in NAMES}
