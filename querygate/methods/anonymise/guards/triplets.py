"""Entries (combination, value, records) kept by combination, so that those of any rows are gathered at once."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.anonymise.division.node_cells import argsort_packed


class Triplets:
    """What each combination holds of one column. Values are codes; every combination has at least one entry."""

    def __init__(self, column: str, combination: Ints, value: Ints, count: Ints) -> None:
        order, combination = argsort_packed(combination)
        self.value: Ints = value[order]
        self.count: Ints = count[order]
        self._bounds = np.searchsorted(combination, np.arange(int(combination.max(initial=0)) + 2))
        if not np.diff(self._bounds).all():
            raise ValueError(f"{column}: a combination has no value")

    def of(self, rows: Ints, label: Ints) -> tuple[Ints, Ints, Ints]:
        """(class, value, records) of every entry of these combinations, in no particular order."""
        begin, length = self._bounds[rows], self._bounds[rows + 1] - self._bounds[rows]
        ends = np.cumsum(length)
        inside = np.arange(int(length.sum())) - np.repeat(ends - length, length)
        entries = np.repeat(begin, length) + inside
        return np.repeat(label, length), self.value[entries], self.count[entries]
