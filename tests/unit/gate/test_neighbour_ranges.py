"""LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTILE and shares of ranks over ranges, against every world that they allow."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Cells, Range
from querygate.gate.neighbour_ranges import Neighbours
from querygate.gate.order_and_limit import term_of_ranges
from tests.each import each
from tests.seeds import seeds

Row = tuple[int, int, int]
"""The place of a group, what it is ordered by and its value."""


def random_partition(rng: random.Random) -> tuple[list[Range], list[Range], list[bool]]:
    size = rng.randint(1, 4)
    orders = [Range(low := rng.randint(0, 3), low + rng.choice([0, 0, 1, 2])) for _ in range(size)]
    values = [Range(low := rng.randint(-9, 9), low + rng.choice([0, 0, 3])) for _ in range(size)]
    return orders, values, [rng.random() < 0.7 for _ in range(size)]


def worlds(orders: list[Range], values: list[Range], certain: list[bool], i: int) -> Iterator[list[Row]]:
    """Every order of the groups that may be there, group i among them; values at their ends are enough."""
    places = range(len(orders))
    for there in itertools.product(*((True,) if certain[j] or j == i else (True, False) for j in places)):
        held = [j for j in places if there[j]]
        for by in itertools.product(*(range(int(orders[j].low or 0), int(orders[j].high or 0) + 1) for j in held)):
            for ends in itertools.product(*({values[j].low, values[j].high} for j in held)):
                rows = list(zip(held, by, ends, strict=True))
                for shuffled in itertools.permutations(rows):  # who ranks the same comes in any order
                    ordered = sorted(shuffled, key=lambda row: row[1])
                    if list(shuffled) == ordered:
                        yield ordered  # type: ignore[misc]


def tile(place: int, groups: int, tiles: int) -> int:
    sizes = [groups // tiles + (n < groups % tiles) for n in range(tiles)]
    return next(n for n in range(1, tiles + 1) if place <= sum(sizes[:n]))


def truths(rows: list[Row], i: int) -> dict[str, int | float | None]:
    """What SQL says of group i."""
    at = next(place for place, row in enumerate(rows) if row[0] == i)
    by, n = rows[at][1], len(rows)
    before, same = sum(row[1] < by for row in rows), sum(row[1] == by for row in rows)
    return {
        "lag 1": rows[at - 1][2] if at >= 1 else None,
        "lag 2": rows[at - 2][2] if at >= 2 else 7,
        "lead 1": rows[at + 1][2] if at + 1 < n else None,
        "itself": rows[at][2],
        "first": rows[0][2],
        "last": rows[-1][2],
        "last peer": rows[before + same - 1][2],
        "ntile 2": tile(at + 1, n, 2),
        "ntile 3": tile(at + 1, n, 3),
        "percent_rank": before / (n - 1) if n > 1 else 0.0,
        "cume_dist": (before + same) / n,
    }


def ranges(orders: list[Range], values: list[Range], certain: list[bool]) -> dict[str, list[Range]]:
    low, high = (np.array([getattr(value, end) for value in values]) for end in ("low", "high"))
    ones = np.ones(len(values), dtype=np.int64)
    cells = Cells(low, high, ones, ones, True)
    found = Neighbours(np.array(certain), [term_of_ranges(orders, False, False)])
    return {
        "lag 1": found.shifted(cells, 1, Range.null()),
        "lag 2": found.shifted(cells, 2, Range.exact(7)),
        "lead 1": found.shifted(cells, -1, Range.null()),
        "itself": found.shifted(cells, 0, Range.null()),
        "first": found.first(cells, last=False),
        "last": found.first(cells, last=True),
        "last peer": found.last_peer(cells),
        "ntile 2": found.tile(2),
        "ntile 3": found.tile(3),
        "percent_rank": found.share(peers=False),
        "cume_dist": found.share(peers=True),
    }


@each("seed", seeds(60))
def test_every_world_is_inside(seed: int) -> None:
    partition = random_partition(random.Random(seed))
    told = ranges(*partition)
    for i in range(len(partition[0])):
        for rows in worlds(*partition, i):
            for name, true in truths(rows, i).items():
                found = told[name][i]
                if true is None:
                    assert found.may_be_null, (name, i, rows)
                else:
                    assert found.low is not None
                    assert found.high is not None
                    assert found.low <= true <= found.high, (name, i, rows)


@each("seed", seeds(60))
def test_where_the_order_is_certain_nothing_is_left_open(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 6)
    orders = [Range.exact(n) for n in rng.sample(range(20), size)]
    values = [Range.exact(rng.randint(-9, 9)) for _ in range(size)]
    told = ranges(orders, values, [True] * size)
    for i in range(size):
        (rows,) = worlds(orders, values, [True] * size, i)
        for name, true in truths(rows, i).items():
            assert (told[name][i].low, told[name][i].high) == (true, true), name


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(UnsupportedSQL, match="at most"):
        Neighbours(np.ones(2_000, dtype=np.bool_), [])
