"""Points stay inside their cells, weigh what the cells do, and have the sums of their classes."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from querygate.core.block import (
    ALL_NULLS,
    MISSING,
    NO_NULLS,
    SOME_NULLS,
    Block,
    ClassMoments,
    CodeColumn,
    CodeSets,
    Dictionary,
    NumberColumn,
    RowClasses,
    SetColumn,
)
from querygate.estimates.column_pieces import TooManyPieces
from querygate.estimates.points import UNIT, WeightedCells, make_points, merged_points
from tests.seeds import seeds


def weighed(block: Block) -> WeightedCells:
    return WeightedCells(block, block.n.astype(np.float64))


def random_block(rng: random.Random, kind: type) -> Block:
    rows = rng.choice([1, 2, 40])
    scale = rng.choice([0, 1, 50, 2**40]) if kind is np.int64 else rng.choice([0.0, 1e-300, 1.0, 1e300])
    low = np.array([rng.choice([-1, 0, 1]) * scale for _ in range(rows)], dtype=kind)
    high = low + np.array([rng.choice([0, scale, 2 * scale]) for _ in range(rows)], dtype=kind)
    null = np.array([rng.choice([NO_NULLS, NO_NULLS, SOME_NULLS, ALL_NULLS]) for _ in range(rows)])
    sets = Dictionary.of(["ä", "b"], [(0, MISSING), (0, 0), (1, 1), (2, 0), (2, 1)])
    columns = {"x": NumberColumn(low, high, null), "s": SetColumn(np.array(rng.choices(range(3), k=rows)), sets)}
    return Block(np.array([rng.choice([1, 7, 10**9]) for _ in range(rows)]), columns)


@pytest.mark.parametrize("seed", seeds(40))
def test_points_are_inside_their_cells_and_weigh_as_much(seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice([np.int64, np.float64])
    block = random_block(rng, kind)
    with np.errstate(all="ignore"):
        points = make_points(weighed(block))

    assert points.n.sum() / UNIT == pytest.approx(block.n.sum())
    x, whole = points.number("x"), block.number("x")
    known = x.null == NO_NULLS
    assert set(x.null.tolist()) <= {NO_NULLS, ALL_NULLS}
    assert (x.low == x.high).all()
    there = whole.null != ALL_NULLS
    if known.any():
        assert whole.low[there].min() <= x.low[known].min()
        assert x.low[known].max() <= whole.high[there].max()
    assert (points.category("s").dictionary.sizes == 1).all()


def test_a_cell_is_filled_evenly() -> None:
    block = Block(np.array([1000]), {"age": NumberColumn(np.array([40]), np.array([49]), np.array([NO_NULLS]))})
    points = make_points(weighed(block))

    below = points.n[points.number("age").low < 45].sum() / UNIT
    assert below == pytest.approx(500, abs=70)


def test_points_come_to_the_sum_of_their_class() -> None:
    """Ten people between 100 and 109 with a sum of 1,080 to 1,081: their mean is near 108."""
    ends = np.array([100]), np.array([109]), np.array([NO_NULLS])
    told = ClassMoments(*map(np.array, ([0], [10], [1080.0], [1081.0], [np.nan], [np.nan])))
    classified = RowClasses(np.array([0]), np.array([0]), {"sbp": told})
    points = make_points(weighed(Block(np.array([10]), {"sbp": NumberColumn(*ends)}, classified=classified)))

    assert points.number("sbp").low.mean() == pytest.approx(108.05, abs=0.5)


def test_a_list_has_one_code_of_each_item() -> None:
    told = CodeSets.of_groups(["a", "b", "c"], [(0, 1), (2,)], [[0, 1], []])
    points = make_points(weighed(Block(np.array([8, 3]), {"dx": CodeColumn(np.array([0, 1]), told)})))
    codes = points.codes("dx")
    sizes = np.diff(codes.dictionary.starts)[codes.sets]
    held = [codes.dictionary.members[a : a + n].tolist() for a, n in zip(codes.dictionary.starts, sizes, strict=False)]

    assert {tuple(sorted(codes)) for codes in held} == {(0, 2), (1, 2), ()}
    assert not codes.dictionary.suppressed.any()


def test_a_suppressed_code_stays_one_of_which_nothing_is_known() -> None:
    told = CodeSets.of(["a", "b", "c"], [0, MISSING, 1], [[0], [1]])
    points = make_points(weighed(Block(np.array([8, 3]), {"dx": CodeColumn(np.array([0, 1]), told)})))
    codes = points.codes("dx").dictionary

    assert codes.suppressed.tolist() == [False, True, False]
    assert sorted({codes.entry_code[codes.entry_item == item].item() for item in codes.members}) == [0, 2]


def test_more_points_lie_where_a_piece_has_denser_neighbours() -> None:
    """Values of a bell in bins as wide as its deviation: spread evenly, they would deviate by a tenth too much."""
    values = np.random.default_rng(3).normal(0, 1, 40_000)
    edges = np.arange(-5.0, 6.0)
    n, _ = np.histogram(values, edges)
    held = np.flatnonzero(n)
    column = NumberColumn(edges[:-1][held], edges[1:][held], np.zeros(held.size, dtype=np.int64))
    points = make_points(weighed(Block(n[held], {"x": column})))
    x, weight = points.number("x").low, points.n / points.n.sum()
    deviation = float(np.sqrt((weight * (x - (weight * x).sum()) ** 2).sum()))

    assert deviation == pytest.approx(1.0, abs=0.02)


def test_too_many_rows_are_no_points() -> None:
    with pytest.raises(TooManyPieces):
        make_points(weighed(Block(np.ones(500_000, dtype=np.int64))))


def test_points_together_have_the_counts_sums_and_means_they_had_apart() -> None:
    random = np.random.default_rng(3)
    size = 400
    x = np.where(random.random(size) < 0.1, 2.0**50, random.integers(-3, 4, size)).astype(np.int64)
    null = np.where(random.random(size) < 0.2, ALL_NULLS, NO_NULLS)
    age = random.integers(0, 5, size)
    points = Block(
        random.integers(0, 9, size) * UNIT,
        {
            "x": NumberColumn(x, x, null),
            "age": NumberColumn(age, age, np.zeros(size, dtype=np.int64)),
            "c": SetColumn(random.integers(0, 3, size), Dictionary.singletons(["a", "b"])),
        },
    )
    merged = merged_points(points, frozenset({"x"}))
    assert merged.size <= 5 * 3 * 2
    for value in range(5):
        for state in (NO_NULLS, ALL_NULLS):
            apart, together = (
                (block.number("age").low == value) & (block.number("x").null == state) for block in (points, merged)
            )
            assert points.n[apart].sum() == merged.n[together].sum()
            sums = [(block.n[kept] * block.number("x").low[kept].astype(float)).sum()
                    for block, kept in ((points, apart), (merged, together))]  # fmt: skip
            assert math.isclose(sums[0], sums[1], rel_tol=1e-12)
    assert merged_points(points.take(np.arange(0)), frozenset({"x"})).size == 0
