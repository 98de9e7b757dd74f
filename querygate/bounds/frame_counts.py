"""Numbers of records by frame cell, for many groups in one table; and which records to count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from querygate.core.plan import GroupKey, Plan
from querygate.core.predicate import Predicate
from querygate.core.types import Ints, Scalar

Keys = tuple[Scalar, ...]


class Counted(NamedTuple):
    """The records that satisfy a condition, by group: by the keys at the chosen positions."""

    keys: tuple[GroupKey, ...]
    chosen: tuple[int, ...]
    where: Predicate

    @classmethod
    def of(cls, plan: Plan) -> Counted:
        """The first measure of a plan, in the groups of its first grouping set."""
        return cls(plan.keys, plan.sets[0], plan.measures[0].where)


class FrameCounts(NamedTuple):
    """Least and most records of each frame cell, a row for each group; `rows` has each group's row. The last row, of
    zeros, is for groups without records."""

    rows: dict[Keys, int]
    least: Ints
    most: Ints

    @classmethod
    def made(cls, keys: Sequence[Keys], counts: Sequence[tuple[Ints, Ints]], frames: int) -> FrameCounts:
        """`counts` are tables of the groups that the keys name, one after the other."""
        nobody = np.zeros((1, frames), dtype=np.int64)
        least, most = (np.concatenate([*(each[end] for each in counts), nobody]) for end in (0, 1))
        return cls({key: row for row, key in enumerate(keys)}, least, most)

    def of(self, keys: Sequence[Keys]) -> tuple[Ints, Ints]:
        """The tables of some groups."""
        rows = np.array([self.rows.get(key, -1) for key in keys], dtype=np.int64)
        return self.least[rows], self.most[rows]
