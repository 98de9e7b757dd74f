"""Cuts that nobody straddles, and sets of values that no published set crosses."""

from __future__ import annotations

import numpy as np

from querygate.core.block import ALL_NULLS, MISSING, NO_NULLS, Block, Dictionary, NumberColumn, SetColumn
from querygate.gate.straddles import find_cuts, mixed_rows, published_ranges, sharp_values, straddling_rows


def ages(*rows: tuple[int, int, int], null: int = NO_NULLS) -> Block:
    """Rows of (low, high, records)."""
    low, high, n = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Block(n.copy(), {"age": NumberColumn(low.copy(), high.copy(), np.full(len(n), null))})


def letters(*sets: str, n: int = 5) -> Block:
    """One row for each set of letters; `-` is a missing value."""
    values = "abcd"
    pairs = [(i, MISSING if c == "-" else values.index(c)) for i, one in enumerate(sets) for c in one]
    column = SetColumn(np.arange(len(sets)), Dictionary.of(list(values), sorted(pairs)))
    return Block(np.full(len(sets), n), {"x": column})


def test_records_that_straddle_each_cut_are_counted_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    low = rng.integers(0, 40, 60)
    block = ages(
        *zip(low.tolist(), (low + rng.integers(0, 9, 60)).tolist(), rng.integers(1, 9, 60).tolist(), strict=True)
    )
    cuts = find_cuts([block], "age")
    each = [int(block.n[straddling_rows(block.number("age"), cut)].sum()) for cut in cuts.at.tolist()]
    assert cuts.records.tolist() == each
    assert cuts.sharp == [cut for cut, records in zip(cuts.at.tolist(), each, strict=True) if not records]


def test_the_nearest_cuts_are_on_both_sides_and_never_the_cut_itself() -> None:
    cuts = find_cuts([ages((0, 9, 4), (10, 19, 4), (12, 15, 1), (20, 29, 4))], "age")
    assert cuts.sharp == [0, 10, 20]
    assert cuts.nearest(14, 0) == [10, 20]
    assert cuts.nearest(10, 0) == [0, 20]
    assert cuts.nearest(25, 0) == [20]
    assert cuts.nearest(14, 4) == [12, 20]
    assert find_cuts([ages()], "age").nearest(5, 0) == []


def test_what_one_view_decides_is_decided() -> None:
    one, other = ages((0, 9, 4), (10, 29, 8)), ages((0, 19, 8), (20, 29, 4))
    assert find_cuts([one, other], "age").sharp == [0, 10, 20]


def test_missing_numbers_straddle_nothing() -> None:
    block = ages((0, 99, 7), null=ALL_NULLS)
    assert not straddling_rows(block.number("age"), 50).any()
    assert find_cuts([block], "age").sharp == []


def test_sharp_values_grow_until_no_set_is_crossed_or_shrink_to_what_is_certain() -> None:
    block = letters("ab", "bc", "a", "d")
    column = block.category("x")
    assert sharp_values(column, block.n, frozenset("a")) == [frozenset("abc")]
    assert sharp_values(column, block.n, frozenset("ad")) == [frozenset("abcd"), frozenset("d")]
    assert sharp_values(column, block.n, frozenset("d")) == []
    assert sharp_values(column, block.n, frozenset("z")) == []


def test_a_missing_value_beside_a_value_is_outside_of_it() -> None:
    block = letters("a-", "b")
    column = block.category("x")
    assert mixed_rows(column, frozenset("a")).tolist() == [True, False]
    assert mixed_rows(column).tolist() == [True, False]
    assert [one.what for one in published_ranges(block, "x", mixed_rows(column))] == [("a", None)]


def test_ranges_are_told_once_with_all_their_records() -> None:
    block = ages((0, 9, 4), (10, 19, 2), (0, 9, 1))
    assert [tuple(one) for one in published_ranges(block, "age", np.ones(3, dtype=np.bool_))] == [
        ((0, 9), 5),
        ((10, 19), 2),
    ]
