"""Pieces that no cell cuts, and how likely each is."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.block import ALL_NULLS, MISSING, NO_NULLS, SOME_NULLS, Dictionary, NumberColumn, SetColumn
from querygate.estimates.column_pieces import cut_column, lean, likely_shares


def numbers(*ends: tuple[float, float, int], kind: type = np.int64) -> NumberColumn:
    low, high, null = zip(*ends, strict=True)
    return NumberColumn(np.array(low, dtype=kind), np.array(high, dtype=kind), np.array(null, dtype=np.int64))


def covered(column: NumberColumn | SetColumn) -> list[list[int]]:
    _, (cover,) = cut_column([column])
    return [cover.held[cover.starts[b] : cover.starts[b + 1]].tolist() for b in cover.box.tolist()]


def test_whole_numbers_are_cut_at_every_end() -> None:
    column = numbers((1, 9, NO_NULLS), (4, 5, NO_NULLS), (0, 0, ALL_NULLS), (4, 9, SOME_NULLS))
    pieces, _ = cut_column([column])

    assert list(zip(pieces.column.low[:-1], pieces.column.high[:-1], strict=True)) == [(1, 3), (4, 5), (6, 9)]
    assert covered(column) == [[0, 1, 2], [1], [3], [1, 2, 3]]


def test_a_single_real_value_is_a_piece_of_its_own() -> None:
    column = numbers((0.0, 2.0, NO_NULLS), (2.0, 2.0, NO_NULLS), (2.0, 5.0, NO_NULLS), kind=np.float64)
    pieces, _ = cut_column([column])

    assert list(zip(pieces.column.low[:-1], pieces.column.high[:-1], strict=True)) == [(0, 2), (2, 2), (2, 5)]
    assert covered(column) == [[0, 1], [1], [1, 2]]


def test_values_of_a_category_are_pieces() -> None:
    column = SetColumn(np.array([1, 0]), Dictionary.of(["a", "b"], [(0, MISSING), (0, 1), (1, 0)]))

    assert covered(column) == [[1], [0, 2]]


def test_shares_follow_what_others_tell() -> None:
    """Ninety are known to be a, ten to be b: of those who may be either nine in ten are a."""
    column = SetColumn(np.array([0, 1, 2]), Dictionary.of(["a", "b"], [(0, 0), (1, 1), (2, 0), (2, 1)]))
    pieces, (cover,) = cut_column([column])

    share = likely_shares(pieces, [(cover, np.array([90, 10, 50]))])

    assert share[1] / share[2] == pytest.approx(9, rel=0.2)
    assert share.sum() == pytest.approx(1)


@pytest.mark.parametrize("top", [2**61, 2**63 - 1])
def test_huge_numbers_have_room(top: int) -> None:
    column = numbers((top - 2, top, NO_NULLS), (-top, top, NO_NULLS))
    pieces, (cover,) = cut_column([column])

    assert (pieces.room > 0).all()
    assert np.isfinite(likely_shares(pieces, [(cover, np.array([3, 4]))])).all()


def test_nothing_has_no_pieces_but_missing() -> None:
    pieces, (cover,) = cut_column([numbers((0, 0, ALL_NULLS))])

    assert pieces.size == 1
    assert likely_shares(pieces, [(cover, np.array([0]))]).tolist() == [1.0]


def test_the_mean_leans_towards_the_denser_neighbour() -> None:
    leaning = lean(np.array([1.0, 2.0, 4.0, 2.0, 1.0, 0.0]))

    assert (leaning[:2] > 0).all()
    assert leaning[2] == 0
    assert (leaning[3:5] < 0).all()
    assert leaning[5] == 0
