"""Two-by-two tables against every assignment of records to selection, exposure and outcome."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from querygate.stats.exposure_tables import TABLE_STATISTICS, TableCells
from tests.places import ROOT
from tests.unit.stats.table_reference import Table, make_tables, truth


@cache
def cases(certain: bool) -> list[tuple[TableCells, list[Table]]]:
    random = np.random.default_rng(5)
    return [make_tables(random, certain) for _ in range(500)]


@pytest.mark.parametrize("certain", [True, False], ids=["all selected", "uncertain selection"])
@pytest.mark.parametrize("name", list(TABLE_STATISTICS))
def test_it_is_what_enumeration_says(name: str, certain: bool) -> None:
    statistic, reached, defined = TABLE_STATISTICS.get(name).range, 0, 0
    for cells, every in cases(certain):
        found, values = statistic(cells), [truth(name, table) for table in every]
        known = [value for value in values if value is not None]
        if not known:
            assert found.may_be_null, cells
            assert found.low is None or found.high is None or found.low <= found.high, (cells, found)
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
