"""ORDER BY and LIMIT over ranges, against every world that the ranges allow."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from querygate.core.plan import Order, Output, Plan
from querygate.core.types import Group, Limited, Range
from querygate.gate.order_and_limit import arrange, find_limit
from tests.each import each
from tests.seeds import seeds
from tests.unit import plans
from tests.unit.plans import category_key


def make_plan(orders: Sequence[Order], limit: int | None, outputs: int = 2, grouped: bool = True) -> Plan:
    """A key `g` and some statistics."""
    listed = [Output(f"x{i}", "range", "integer", id=f"output {i}") for i in range(outputs)]
    keys = [category_key("g", ("a", "b", "c", "d"))] if grouped else []
    return plans.make_plan(keys=keys, outputs=listed, orders=tuple(orders), limit=limit)


def make_group(name: str | None, *ranges: Range, certain: bool = True) -> Group:
    return Group((name,), ranges, Range(1 if certain else 0, 9), certain)


def names(groups: Sequence[Group]) -> list[Any]:
    return [group.keys[0] for group in groups]


# -- every world -----------------------------------------------------------------------------------------------


def values(found: Range) -> list[int | None]:
    there = [] if found.low is None or found.high is None else list(range(int(found.low), int(found.high) + 1))
    return [*there, None] if found.may_be_null else there


def worlds(groups: Sequence[Group], orders: Sequence[Order]) -> Iterator[dict[int, tuple[Any, ...]]]:
    """For each way in which things can be: the sort key of every group that exists there."""
    per_group = []
    for group in groups:
        columns = [[group.keys[0]] if order.output == 0 else values(group.ranges[order.output - 1]) for order in orders]
        keys = [tuple(map(sort_key, row, orders)) for row in itertools.product(*columns)]
        per_group.append([*keys, *([] if group.certain else [None])])
    for world in itertools.product(*per_group):
        yield {i: key for i, key in enumerate(world) if key is not None}


def sort_key(value: Any, order: Order) -> tuple[int, int]:
    if value is None:
        return (0 if order.nulls_first else 2, 0)
    number = value if isinstance(value, int) else ord(value)
    return (1, -number if order.descending else number)


def possible_and_certain(groups: Sequence[Group], orders: Sequence[Order], limit: int) -> tuple[set[int], set[int]]:
    """Groups among the first `limit` in some world and some order of ties; and in every one."""
    possible: set[int] = set()
    certain = set(range(len(groups)))
    for world in worlds(groups, orders):
        for i, key in world.items():
            if sum(other < key for other in world.values()) < limit:
                possible.add(i)
            if sum(other <= key for other in world.values()) > limit:
                certain.discard(i)
        certain &= set(world)
    return possible, certain


def random_range(rng: random.Random) -> Range:
    if rng.random() < 0.1:
        return Range.null()
    low = rng.randint(0, 3)
    return Range(low, low + rng.choice([0, 0, 1, 2]), may_be_null=rng.random() < 0.2)


def random_case(rng: random.Random, terms: int) -> tuple[tuple[Group, ...], list[Order], int]:
    groups = tuple(
        make_group(name, random_range(rng), random_range(rng), certain=rng.random() < 0.6)
        for name in rng.sample(["a", "b", "c", None], rng.randint(1, 4 if terms == 1 else 3))
    )
    outputs = rng.sample([0, 1, 2], terms) if terms > 1 else [rng.choice([0, 1, 1])]
    orders = [Order(output, rng.random() < 0.5, rng.random() < 0.5) for output in outputs]
    return groups, orders, rng.randint(0, 3)


@each("seed", seeds(150))
def test_one_term_shows_exactly_what_may_be_among_the_first(seed: int) -> None:
    groups, orders, limit = random_case(random.Random(seed), 1)
    plan = make_plan(orders, limit)
    kept, _ = arrange(groups, plan)
    possible, certain = possible_and_certain(groups, orders, limit)
    limited = find_limit(plan, kept)

    assert set(names(kept)) == {groups[i].keys[0] for i in possible}
    assert {g.keys[0] for g in kept if g.certain} == {groups[i].keys[0] for i in certain & possible}
    assert (limited is not None) == (len(kept) > limit or not all(g.certain for g in kept))
    if limited is not None:
        assert (limited.certain, limited.possible) == (len(certain & possible), len(possible - certain))


@each("seed", seeds(150))
def test_several_terms_never_hide_and_never_promise_too_much(seed: int) -> None:
    groups, orders, limit = random_case(random.Random(1000 + seed), random.Random(seed).choice([2, 3]))
    kept, _ = arrange(groups, make_plan(orders, limit))
    possible, certain = possible_and_certain(groups, orders, limit)

    assert set(names(kept)) >= {groups[i].keys[0] for i in possible}
    assert {g.keys[0] for g in kept if g.certain} <= {groups[i].keys[0] for i in certain}


@each("seed", seeds(100))
def test_exact_values_come_in_the_order_of_sql(seed: int) -> None:
    rng = random.Random(seed)
    exact = [Range.null(), *(Range.exact(n) for n in range(3))]
    groups = tuple(make_group(name, rng.choice(exact), rng.choice(exact)) for name in ["a", "b", "c", "d", None])
    orders = [Order(output, rng.random() < 0.5, rng.random() < 0.5) for output in rng.sample([0, 1, 2], 3)]
    kept, notes = arrange(groups, make_plan(orders, None))
    (world,) = worlds(groups, orders)

    assert [world[groups.index(group)] for group in kept] == sorted(world.values())
    assert len(kept) == len(groups)
    assert notes == ()


# -- single things ---------------------------------------------------------------------------------------------


def test_without_order_nothing_moves() -> None:
    groups = (make_group("b", Range.exact(2)), make_group("a", Range.exact(1)))

    assert arrange(groups, make_plan([], None, 1)) == (groups, ())


def test_limit_0_without_order_shows_nothing() -> None:
    groups = (make_group("b", Range.exact(2)), make_group("a", Range.exact(1)))

    assert arrange(groups, make_plan([], 0, 1)) == ((), ())


def test_no_groups_at_all() -> None:
    assert arrange((), make_plan([Order(0, False, False)], 3)) == ((), ())


def test_one_row_without_groups_is_cut_by_limit_0_alone() -> None:
    row = (Group((), (Range(1, 5),), Range.exact(7), True),)

    assert arrange(row, make_plan([], 1, 1, grouped=False)) == (row, ())
    assert arrange(row, make_plan([], 0, 1, grouped=False)) == ((), ())


@pytest.mark.parametrize(("descending", "expected"), [(False, ["b", "a", "c"]), (True, ["c", "a", "b"])])
def test_rows_are_shown_by_the_middle_of_their_ranges(descending: bool, expected: list[str]) -> None:
    groups = (make_group("a", Range(0, 10)), make_group("b", Range(3, 4)), make_group("c", Range(5, 6)))
    kept, _ = arrange(groups, make_plan([Order(1, descending, False)], None, 1))

    assert names(kept) == expected


@pytest.mark.parametrize(("nulls_first", "expected"), [(True, [None, "a", "b"]), (False, ["a", "b", None])])
def test_a_null_key_comes_first_or_last_in_both_directions(nulls_first: bool, expected: list[Any]) -> None:
    groups = tuple(make_group(name, Range.exact(1)) for name in ("b", None, "a"))
    rising, _ = arrange(groups, make_plan([Order(0, False, nulls_first)], None, 1))
    falling, _ = arrange(groups, make_plan([Order(0, True, nulls_first)], None, 1))

    assert names(rising) == expected
    assert names([g for g in falling if g.keys[0]]) == ["b", "a"]
    assert falling[0 if nulls_first else -1].keys[0] is None


def test_whole_numbers_beyond_the_doubles_keep_their_order() -> None:
    """2^53 and 2^53 + 1 are one double: the second term must not decide between them."""
    groups = (make_group("a", Range.exact(2**53 + 1)), make_group("b", Range.exact(2**53)))
    kept, notes = arrange(groups, make_plan([Order(1, False, False), Order(0, False, False)], 1, 1))
    ordered, _ = arrange(groups, make_plan([Order(1, False, False)], None, 1))

    assert names(kept) == ["b"]
    assert kept[0].certain
    assert notes == ()
    assert names(ordered) == ["b", "a"]


def test_an_infinite_sum_is_no_null() -> None:
    groups = (make_group("a", Range.null()), make_group("b", Range.exact(float("inf"))))
    kept, _ = arrange(groups, make_plan([Order(1, False, False), Order(0, False, False)], 1, 1))

    assert names(kept) == ["b"]


def test_ties_are_all_shown_and_none_is_certain() -> None:
    groups = tuple(make_group(name, Range.exact(7)) for name in "abc")
    plan = make_plan([Order(1, True, False)], 2, 1)
    kept, _ = arrange(groups, plan)

    assert names(kept) == ["a", "b", "c"]
    assert not any(group.certain for group in kept)
    assert find_limit(plan, kept) == Limited(1, 2, True, 0, 3)


def test_a_possible_group_does_not_push_another_out() -> None:
    groups = (make_group("a", Range.exact(1), certain=False), make_group("b", Range.exact(2)))
    kept, _ = arrange(groups, make_plan([Order(1, False, False)], 1, 1))

    assert [(g.keys[0], g.certain) for g in kept] == [("a", False), ("b", False)]
