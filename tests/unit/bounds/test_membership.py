"""Count bounds and value bounds against every assignment of values that a row allows."""

from __future__ import annotations

import itertools
import random

import numpy as np

from querygate.bounds import Membership, count_bounds, gather, spread, value_bounds
from querygate.core.block import ALL_NULLS, MISSING, NO_NULLS, SOME_NULLS, Block, Dictionary, NumberColumn, SetColumn
from querygate.core.expression import Lookup
from querygate.core.predicate import Predicate, both, columns, compare, either, is_not_null, is_null, negate, truth
from querygate.core.valueset import ValueSet
from tests.each import each
from tests.seeds import seeds
from tests.unit.plans import category_key, make_plan

LETTERS = Dictionary.of(["a", "b", "c"], [(0, 0), (1, 0), (1, 2), (2, MISSING), (2, 1), (3, MISSING)])


def random_row(rng: random.Random) -> tuple[Block, dict[str, list[object]]]:
    """A block of one row, and the values each of its columns allows a record."""
    low = rng.randint(0, 3)
    high = low + rng.randint(0, 3)
    null = rng.choice([NO_NULLS, NO_NULLS, SOME_NULLS, ALL_NULLS])
    x: list[object] = [] if null == ALL_NULLS else list(range(low, high + 1))
    letters = rng.randrange(4)
    members = LETTERS.members[LETTERS.starts[letters] : LETTERS.starts[letters + 1]]
    y = rng.choice([0, 1, 2])
    block = Block(
        np.array([rng.randint(1, 3)]),
        {
            "x": NumberColumn(np.array([low]), np.array([high]), np.array([null])),
            "y": NumberColumn(np.array([float(y)]), np.array([y + 1.0]), np.array([NO_NULLS])),
            "s": SetColumn(np.array([letters]), LETTERS),
        },
    )
    allowed: dict[str, list[object]] = {
        "x": x + ([None] if null else []),
        "y": [float(y), y + 0.5, y + 1.0],
        "s": [None if m == MISSING else LETTERS.values[m] for m in members.tolist()],
    }
    return block, allowed


def random_atom(rng: random.Random, column: str) -> Predicate:
    if rng.random() < 0.15:
        return rng.choice([is_null, is_not_null])(column)
    if column == "s":
        return compare("s", ValueSet.points("text", rng.sample(["a", "b", "c", "d"], rng.randint(1, 3))))
    kind = "integer" if column == "x" else "number"
    low = rng.randint(-1, 5)
    chosen = rng.choice(
        [
            ValueSet.between(kind, low, low + rng.randint(0, 2)),
            ValueSet.below(low),
            ValueSet.points(kind, [low, low + 2]),
        ]
    )
    return compare(column, chosen)


def random_formula(rng: random.Random, names: list[str]) -> Predicate:
    """Each name stands in one atom, so bounds must be sharp."""
    parts: list[Predicate] = [random_atom(rng, name) for name in names]
    while len(parts) > 1:
        a, b = parts.pop(), parts.pop()
        joined = rng.choice([both, either])([a, b])
        parts.append(negate(joined) if rng.random() < 0.3 else joined)
    return negate(parts[0]) if rng.random() < 0.3 else parts[0]


def true_counts(p: Predicate, block: Block, allowed: dict[str, list[object]]) -> set[int]:
    """Every number of records for which the condition can be TRUE."""
    records = [dict(zip(allowed, values, strict=True)) for values in itertools.product(*allowed.values())]
    can_be = {truth(p, record) == "true" for record in records}
    return {sum(choice) for choice in itertools.product(can_be, repeat=int(block.n[0]))}


@each("seed", seeds(120))
def test_bounds_are_sharp_when_each_column_stands_once(seed: int) -> None:
    rng = random.Random(seed)
    block, allowed = random_row(rng)
    p = random_formula(rng, rng.sample(["x", "y", "s"], rng.randint(1, 3)))
    least, most = count_bounds(p, block)
    counts = true_counts(p, block, allowed)
    assert (int(least[0]), int(most[0])) == (min(counts), max(counts))


@each("seed", seeds(120))
def test_bounds_are_sound_when_columns_repeat(seed: int) -> None:
    rng = random.Random(seed)
    block, allowed = random_row(rng)
    p = random_formula(rng, rng.choices(["x", "y", "s"], k=rng.randint(3, 6)))
    least, most = count_bounds(p, block)
    counts = true_counts(p, block, allowed)
    assert int(least[0]) <= min(counts)
    assert max(counts) <= int(most[0])


@each("seed", seeds(120))
def test_values_hold_every_value_of_a_selected_record(seed: int) -> None:
    rng = random.Random(seed)
    block, allowed = random_row(rng)
    p = both([random_formula(rng, rng.choices(["x", "y", "s"], k=rng.randint(1, 4))), is_not_null("x")])
    records = [dict(zip(allowed, values, strict=True)) for values in itertools.product(*allowed.values())]
    chosen = [int(str(record["x"])) for record in records if truth(p, record) == "true"]
    if "x" not in columns(p):
        return
    low, high = value_bounds(p, Membership(block), "x")
    assert all(low[0] <= value <= high[0] for value in chosen)


def test_values_are_clipped_to_the_condition() -> None:
    block = Block(np.array([4]), {"x": NumberColumn(np.array([3]), np.array([9]), np.array([NO_NULLS]))})
    p = compare("x", ValueSet.between("integer", 5, 20))
    low, high = value_bounds(p, Membership(block), "x")
    assert (low[0], high[0]) == (5, 9)
    none = value_bounds(compare("x", ValueSet.below(0)), Membership(block), "x")
    assert none[0][0] > none[1][0]


def test_tight_edges_count_the_members_at_both_ends() -> None:
    """Exports, golden release B: a class 54-60 of two members has exactly one under 59 when its edges are tight."""
    column = NumberColumn(np.array([54]), np.array([60]), np.array([NO_NULLS]), tight=True)
    under = compare("age", ValueSet.below(59))
    whole = Block(np.array([2]), {"age": column}, np.array([True]))
    part = Block(np.array([2]), {"age": column}, np.array([False]))
    assert [int(bound[0]) for bound in count_bounds(under, whole)] == [1, 1]
    assert [int(bound[0]) for bound in count_bounds(under, part)] == [0, 2]


def test_a_set_is_spread_over_its_values() -> None:
    block = Block(np.array([5, 2]), {"s": SetColumn(np.array([1, 2]), LETTERS)})
    values = LETTERS.values
    rows = spread(block, ((Lookup.over_values("s", "category", values, (*values, None)), (*values, None)),))
    assert rows.alone.tolist() == [False] * 4
    assert rows.keys == ((0,), (1,), (2,), (3,))  # 3 is NULL
    assert [rows.tolist() for rows in rows.members] == [[0], [2], [1], [3]]


def test_groups_that_nobody_can_be_in_are_left_out() -> None:
    block = Block(np.array([5]), {"s": SetColumn(np.array([1]), LETTERS)})
    where = compare("s", ValueSet.points("text", ["a"]))
    found = gather(make_plan(where, keys=[category_key("s", LETTERS.values)]), block)
    assert [(g.keys, g.cells[0].least.tolist(), g.cells[0].most.tolist()) for g in found] == [(("a",), [0], [5])]


def test_a_statement_without_groups_has_one_group_even_over_nothing() -> None:
    found = gather(make_plan(), Block(np.zeros(0, dtype=np.int64)))
    assert [(group.always, group.cells[0].most.sum()) for group in found] == [(True, 0)]
