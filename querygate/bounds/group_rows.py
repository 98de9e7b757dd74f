"""Rows of groups, one group after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.frozen_classes import frozen
from querygate.core.types import Ints


@frozen
class GroupRows:
    """Rows of a spread block, and the group of each."""

    rows: Ints
    of: Ints
    number: int

    @classmethod
    def joined(cls, rows: Sequence[Ints]) -> GroupRows:
        return cls(np.concatenate(rows), np.repeat(np.arange(len(rows)), [own.size for own in rows]), len(rows))

    def held(self, most: Ints) -> GroupRows:
        """The rows that may have records."""
        (kept,) = most[self.rows].nonzero()
        return GroupRows(self.rows[kept], self.of[kept], self.number)

    def some(self, first: int, last: int) -> GroupRows:
        if first == 0 and last >= self.number:
            return self
        begin, end = self.of.searchsorted([first, last])
        return GroupRows(self.rows[begin:end], self.of[begin:end] - first, min(last, self.number) - first)
