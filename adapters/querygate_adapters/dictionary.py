"""Value sets of a category column, and how a condition on the column falls on each of them.

A cell keeps the id of a set; the dictionary says which values are in it. A condition is decided once per value and
spread over the sets by array work, so an engine only needs an array look-up per cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.predicate import Atom
from querygate.core.types import Bools, Ints

MISSING = -1
"""The value id of NULL as a member of a set."""

NEVER, MAYBE, ALWAYS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Sets 0..m-1 over values 0..v-1: set s holds value ids members[starts[s]:starts[s + 1]], never none."""

    values: tuple[str, ...]
    starts: Ints
    members: Ints

    @classmethod
    def of(cls, values: Sequence[str], rows: Iterable[tuple[int, int]]) -> Dictionary:
        """From (set id, value id) pairs in order of set id."""
        pairs = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
        sets = int(pairs[-1, 0]) + 1 if len(pairs) else 0
        starts = np.searchsorted(pairs[:, 0], np.arange(sets + 1))
        return cls(tuple(values), starts.astype(np.int64), pairs[:, 1].copy())

    def value_truth(self, atom: Atom) -> Bools:
        """For NULL (at index 0) and then each value: is the condition TRUE?"""
        return np.array([atom.null == "true", *(v in atom.true for v in self.values)], dtype=np.bool_)

    def set_status(self, atom: Atom) -> Ints:
        """For each set: ALWAYS if the condition is TRUE for all its members, NEVER if for none, else MAYBE."""
        if not len(self.members):
            return np.zeros(0, dtype=np.int64)
        truth = self.value_truth(atom)[self.members + 1].astype(np.int64)
        hits = np.add.reduceat(truth, self.starts[:-1])
        sizes = np.diff(self.starts)
        return np.where(hits == 0, NEVER, np.where(hits == sizes, ALWAYS, MAYBE)).astype(np.int64)
