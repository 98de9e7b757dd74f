"""Two-by-two tables against every assignment of records to selection, exposure and outcome."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pytest

from querygate.stats.tables import TABLE_STATISTICS, TableCells

Table = tuple[int, int, int, int]  # n11, n10, n01, n00
ROOT = Path(__file__).resolve().parents[3]
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


@cache
def cases(certain: bool) -> list[tuple[TableCells, set[Table]]]:
    random = np.random.default_rng(5)
    found = []
    while len(found) < 500:
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
        cells = TableCells(whole.exposed, whole.unexposed, whole.with_outcome, whole.without, *chosen)
        found.append((cells, every))
    return found


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


@pytest.mark.parametrize("certain", [True, False], ids=["all selected", "uncertain selection"])
@pytest.mark.parametrize("name", list(TABLE_STATISTICS))
def test_it_is_what_enumeration_says(name: str, certain: bool) -> None:
    statistic, reached, defined = TABLE_STATISTICS.get(name).range, 0, 0
    for cells, every in cases(certain):
        found, values = statistic(cells), [truth(name, table) for table in every]
        known = [value for value in values if value is not None]
        if not known:
            assert found.may_be_null, cells
            continue
        defined += 1
        assert found.low is not None
        assert found.high is not None
        assert found.low <= min(known), (cells, found, min(known))
        assert max(known) <= found.high, (cells, found, max(known))
        assert found.may_be_null or len(known) == len(values), cells
        if found.attained_high is not None:
            assert found.attained_high == pytest.approx(float(max(known)), abs=1e-12), (cells, found)
        if found.attained_low is not None:
            assert found.attained_low == pytest.approx(float(min(known)), abs=1e-12), (cells, found)
        reached += found.attained_high is not None
    assert reached > 0.5 * defined


@pytest.mark.parametrize("name", list(TABLE_STATISTICS))
def test_a_known_table_gives_one_number(name: str) -> None:
    one = tuple(np.array([v]) for v in (12, 5, 9, 20))
    n11, n10, n01, n00 = one
    diagonal = [np.concatenate(part) for part in ([n11, n10, [0], [0]], [[0], [0], n01, n00], [n11, [0], n01, [0]])]
    size = np.concatenate(one)
    cells = TableCells(*diagonal, np.concatenate([[0], n10, [0], n00]), size, size)
    found, expected = TABLE_STATISTICS.get(name).range(cells), truth(name, (12, 5, 9, 20))
    assert found.low <= expected <= found.high
    assert found.high - found.low < 1e-13
    assert found.sharp


def test_proofs_and_contracts_are_there() -> None:
    for name in TABLE_STATISTICS:
        member = TABLE_STATISTICS.get(name)
        assert f"`{name}`" in (ROOT / member.proof).read_text()
        assert "Ensures" in (member.range.__doc__ or "")


def test_impossible_numbers_are_refused() -> None:
    one, none = np.array([1]), np.array([0])
    with pytest.raises(ValueError, match="room"):
        TableCells(none, none, one, one, one, one)
