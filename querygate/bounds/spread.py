"""A block spread over group keys: each row once for every group its records may belong to.

In a group the key column is known, so conditions on it are decided there. A row whose set has one value belongs to
that group for certain (`alone`); in the others its records may be there or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.block import MISSING, Block, Dictionary, SetColumn
from querygate.core.types import Bools, Ints


@dataclass(frozen=True, slots=True)
class Spread:
    """Rows with their group: `keys[row, g]` is the value id of group column g, MISSING for NULL."""

    block: Block
    keys: Ints
    alone: Bools

    def groups(self) -> tuple[Ints, Ints]:
        """The distinct keys, NULL last, and the group of each row."""
        if not self.keys.shape[1]:
            return self.keys[:1], np.zeros(self.block.size, dtype=np.int64)
        order = np.where(self.keys == MISSING, np.iinfo(np.int64).max, self.keys)
        distinct, which = np.unique(order, axis=0, return_inverse=True)
        return np.where(distinct == np.iinfo(np.int64).max, MISSING, distinct), which.reshape(-1)


def spread(block: Block, names: Sequence[str]) -> Spread:
    """Spread a block over the values of category columns."""
    keys: list[Ints] = []
    alone = np.ones(block.size, dtype=np.bool_)
    for name in names:
        column = block.category(name)
        dictionary = column.dictionary
        sizes = dictionary.sizes[column.sets]
        rows = np.repeat(np.arange(block.size), sizes)
        inside = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        value = dictionary.members[dictionary.starts[column.sets[rows]] + inside]
        known = SetColumn(value + 1, Dictionary.singletons(dictionary.values))
        block = block.take(rows).with_column(name, known)
        alone = alone[rows] & (sizes[rows] == 1)
        keys = [*(key[rows] for key in keys), value]
    return Spread(block, np.stack(keys, axis=1) if keys else np.zeros((block.size, 0), dtype=np.int64), alone)
