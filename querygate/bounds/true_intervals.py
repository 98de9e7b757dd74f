"""The values on which a condition is TRUE, as arrays of closed intervals in rising order."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from querygate.core.block import NumberColumn
from querygate.core.predicate import Atom
from querygate.core.types import Array, Bools, Floats, Ints
from querygate.core.valueset import ValueSet

INT64 = (-(2**63), 2**63 - 1)

_FEW_CUTS = 16
"""The pieces of larger sets are not cached."""


class Pieces(NamedTuple):
    """Disjoint closed intervals [first[i], last[i]], rising. Most conditions have only one, so that no search is
    needed."""

    first: Floats | Ints
    last: Floats | Ints

    def contain(self, low: Floats | Ints, high: Floats | Ints) -> Bools:
        """Which intervals [low, high] lie inside one piece."""
        if len(self.first) == 1:
            found: Bools = (self.first[0] <= low) & (high <= self.last[0]) & (low <= self.last[0])
            return found
        at, there = self._at(low)
        return there & (self.first[at] <= low) & (high <= self.last[at])

    def meet(self, low: Floats | Ints, high: Floats | Ints) -> Bools:
        """Which intervals [low, high] have a value in some piece."""
        if len(self.first) == 1:
            found: Bools = (low <= self.last[0]) & (self.first[0] <= high)
            return found
        at, there = self._at(low)
        return there & (self.first[at] <= high)

    def clip(self, low: Floats | Ints, high: Floats | Ints) -> tuple[Floats | Ints, Floats | Ints]:
        """The hull of [low, high] cut to the pieces; meaningful only where they meet."""
        if len(self.first) == 1:
            return np.maximum(low, self.first[0]), np.minimum(high, self.last[0])
        at, _ = self._at(low)
        last = np.maximum(np.searchsorted(self.first, high, side="right") - 1, 0)
        return np.maximum(low, self.first[at]), np.minimum(high, self.last[last])

    def _at(self, low: Floats | Ints) -> tuple[Ints, Bools]:
        """The first piece that does not end before `low`, and whether there is one."""
        at = np.searchsorted(self.last, low)
        return np.minimum(at, len(self.last) - 1), at < len(self.last)


def pieces_of(atom: Atom, column: NumberColumn) -> Pieces | None:
    """The TRUE values of a condition on a numeric column, in values it can have; None where there are none."""
    if column.integer and len(atom.true.cuts) <= _FEW_CUTS:
        return _pieces_of_whole(atom.true)
    return _pieces(atom.true, column.integer)


@lru_cache(maxsize=64)
def _pieces_of_whole(true: ValueSet) -> Pieces | None:
    """Cached, because a statement needs the same for every margin. Not possible for doubles: 0.0 and -0.0 are equal."""
    return _pieces(true, True)


def _pieces(true: ValueSet, integer: bool) -> Pieces | None:
    least, greatest = INT64 if integer else (-math.inf, math.inf)
    ends = [
        (least if low is None else max(low, least), greatest if high is None else min(high, greatest))
        for low, high in true.intervals("integer" if integer else "number")
        if (low is None or low <= greatest) and (high is None or high >= least)
    ]
    if not ends:
        return None
    table: Array = np.array(ends, dtype=np.int64 if integer else np.float64)
    return Pieces(table[:, 0].copy(), table[:, 1].copy())
