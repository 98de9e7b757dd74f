"""Blocks spread over keys are kept with their block, within a limit; groups are as a sort of the keys has them."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest

from querygate.bounds.group_spread import Keys, spread
from querygate.bounds.kept_spreads import KeptSpreads
from querygate.core.block import Block, Dictionary, NumberColumn, SetColumn
from querygate.core.expression import Lookup

VALUES = ("", "F", "M", "Ä")
SEX = Lookup.over_values("sex", "category", VALUES, (*VALUES, None))
DECADE = Lookup.over_pieces("age", "integer", np.array([0, 10, 20]), (0, 1, 2, None))
BY_SEX = (SEX, (*VALUES, None))
BY_DECADE = (DECADE, (0, 1, 2, None))


def make_block(rows: int, seed: int = 0) -> Block:
    """Sets with and without NULL, intervals that cross pieces, some of them missing."""
    rng = np.random.default_rng(seed)
    sets = [(-1,), (0,), (1, 2), (-1, 1, 3), (0, 1, 2, 3)]
    pairs = [(i, value) for i, members in enumerate(sets) for value in members]
    low = rng.integers(0, 30, rows)
    return Block(
        rng.integers(1, 9, rows),
        {
            "sex": SetColumn(rng.integers(0, len(sets), rows), Dictionary.of(VALUES, pairs)),
            "age": NumberColumn(low, low + rng.integers(0, 15, rows), rng.integers(0, 3, rows)),
        },
    )


@pytest.mark.parametrize("rows", [0, 1, 40])
@pytest.mark.parametrize("keys", [(), (BY_SEX,), (BY_DECADE,), (BY_SEX, BY_DECADE), (BY_DECADE, BY_SEX)])
def test_groups_are_in_the_order_of_their_keys(rows: int, keys: Keys) -> None:
    found = spread(make_block(rows), keys)

    assert list(found.keys) == sorted(set(found.keys))
    assert len(found.keys) == len(found.members)
    assert sorted(itertools.chain(*(rows.tolist() for rows in found.members))) == list(range(found.block.size))
    assert all(len(key) == len(keys) for key in found.keys)
    assert all((np.diff(rows) > 0).all() for rows in found.members)


def test_what_was_spread_is_kept() -> None:
    kept, block = KeptSpreads(), make_block(20)
    again = Lookup.over_values("sex", "category", VALUES, (*VALUES, None))  # as another statement has it

    assert kept.get(block, (BY_SEX,)) is kept.get(block, ((again, BY_SEX[1]),))
    assert kept.get(block, (BY_SEX,)) is not kept.get(make_block(20), (BY_SEX,))
    assert kept.get(block, (BY_SEX,)) is not kept.get(block, (BY_DECADE,))


def test_a_key_that_lists_other_values_is_another() -> None:
    kept, block = KeptSpreads(), make_block(20)
    turned = (SEX, tuple(reversed(BY_SEX[1])))

    assert kept.get(block, (turned,)).keys == spread(block, (turned,)).keys
    assert kept.get(block, (turned,)) is not kept.get(block, (BY_SEX,))


def test_the_oldest_make_room() -> None:
    blocks = [make_block(20, seed) for seed in range(3)]
    sizes = [spread(block, (BY_SEX,)).nbytes for block in blocks]
    kept = KeptSpreads(most_bytes=sizes[1] + sizes[2])
    first = kept.get(blocks[0], (BY_SEX,))
    last = [kept.get(block, (BY_SEX,)) for block in blocks[1:]]

    assert [kept.get(block, (BY_SEX,)) for block in blocks[1:]] == last
    assert kept.get(blocks[0], (BY_SEX,)) is not first


def test_what_was_made_of_a_block_goes_with_it() -> None:
    kept, block = KeptSpreads(), make_block(20)
    kept.get(block, (BY_SEX,))
    assert kept.held_bytes > 0

    del block
    gc.collect()

    assert kept.held_bytes == 0


def test_nothing_larger_than_the_limit_is_kept() -> None:
    kept, block = KeptSpreads(most_bytes=10), make_block(20)
    kept.get(block, (BY_SEX,))

    assert kept.held_bytes == 0
