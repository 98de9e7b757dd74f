"""A fitted table has what each of its margins says."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.block import NO_NULLS, Block, ClassMoments, Dictionary, NumberColumn, RowClasses, SetColumn
from querygate.estimates import fitted_views
from querygate.estimates.column_pieces import TooManyPieces
from querygate.estimates.fitted_views import fit_table

SETS = Dictionary.of(["a", "b"], [(0, 0), (1, 1), (2, 0), (2, 1)])


def letters(*sets: int) -> SetColumn:
    return SetColumn(np.array(sets), SETS)


def years(*ends: tuple[int, int]) -> NumberColumn:
    low, high = np.array(ends).T
    return NumberColumn(low, high, np.full(len(ends), NO_NULLS))


def margin(n: list[int], frame: list[int] | None = None, **columns: SetColumn | NumberColumn) -> Block:
    return Block(np.array(n), columns, frame=np.array(frame or [0] * len(n)))


def nothing() -> None:
    pass


def test_two_margins_meet_in_one_table() -> None:
    ages = margin([30, 70], age=years((40, 44), (45, 49)))
    both = margin([10, 20, 70], age=years((40, 44), (40, 44), (45, 49)), sex=letters(0, 1, 2))
    table = fit_table([ages, both], [], nothing)

    cells = table.cells(frozenset({"age", "sex"}))
    found = dict(
        zip(
            zip(cells.block.number("age").low, cells.block.category("sex").sets, strict=True), cells.weight, strict=True
        )
    )
    assert found[40, 1] == pytest.approx(10, abs=0.01)
    assert found[40, 2] == pytest.approx(20, abs=0.01)
    assert found[45, 1] + found[45, 2] == pytest.approx(70, abs=0.01)
    assert table.cells(frozenset()).weight.sum() == pytest.approx(100)


def test_frame_cells_are_fitted_each_by_itself() -> None:
    table = fit_table([margin([10, 90, 5, 5], [0, 0, 1, 1], sex=letters(0, 1, 0, 1))], [], nothing)

    assert [frame.weight.round(3).tolist() for frame in table.frames] == [[10, 90], [5, 5]]


def test_a_unit_keeps_the_counts_and_has_its_own_bins() -> None:
    counts = margin([30, 70], sex=letters(0, 1))
    unit = margin([40, 60], sex=letters(2, 2), sbp=years((100, 109), (110, 119)))
    table = fit_table([counts], [unit], nothing)

    assert table.cells(frozenset({"sex"})).weight == pytest.approx([30, 70])
    assert table.cells(frozenset({"sbp"})).weight == pytest.approx([40, 60], abs=0.01)


def test_means_come_to_the_sums_of_classes() -> None:
    told = ClassMoments(*map(np.array, ([0], [100], [10_800.0], [10_801.0], [np.nan], [np.nan])))
    unit = Block(
        np.array([100]), {"sex": letters(2), "sbp": years((100, 109))}, frame=np.array([0]),
        classified=RowClasses(np.array([0]), np.array([0]), {"sbp": told}),
    )  # fmt: skip
    cells = fit_table([margin([30, 70], sex=letters(0, 1))], [unit], nothing).cells(frozenset({"sbp"}))

    assert 104.5 + 4.5 * cells.shift["sbp"] == pytest.approx([108], abs=0.1)


def test_rounded_values_lie_at_one_side_of_all_intervals() -> None:
    """Even numbers in intervals of two: every class says that its sum is not far from the least that is possible."""
    low = 100 * np.arange(10, 50)
    told = ClassMoments(
        np.arange(40), np.arange(10, 50), low.astype(float), low + 4.0, *(np.full(40, np.nan) for _ in range(2))
    )
    unit = Block(
        np.arange(10, 50), {"sex": letters(*[2] * 40), "sbp": years(*[(100, 101)] * 40)}, frame=np.zeros(40, dtype=int),
        classified=RowClasses(np.arange(40), np.arange(40), {"sbp": told}),
    )  # fmt: skip
    cells = fit_table([margin([1180], sex=letters(2))], [unit], nothing).cells(frozenset({"sbp"}))

    assert 100.5 + 0.5 * cells.shift["sbp"] == pytest.approx([100], abs=0.05)


def test_a_frame_cell_of_which_nothing_is_told_is_like_its_neighbour() -> None:
    age = years((15, 17), (18, 24), (18, 24), (60, 69), (60, 69))
    counts = margin([100, 100, 100], [0, 1, 2], age=years((15, 17), (18, 24), (60, 69)))
    unit = margin([100, 90, 10, 20, 80], [0, 1, 1, 2, 2], age=age, ill=letters(2, 0, 1, 0, 1))
    table = fit_table([counts], [unit], nothing)

    assert table.frames[0].weight.sum(axis=0) == pytest.approx([90, 10], abs=1)


def test_a_table_that_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted_views, "MOST_CELLS", 3)
    with pytest.raises(TooManyPieces):
        fit_table([margin([10, 20], age=years((1, 2), (3, 4)), sex=letters(2, 2))], [], nothing)
