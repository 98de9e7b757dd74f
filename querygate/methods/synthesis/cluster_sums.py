"""Arithmetic by cluster, over arrays: no loop over clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.core.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Clusters:
    """Clusters 0..count-1 of records; none is empty.

    >>> clusters = Clusters(np.array([1, 0, 1]))
    >>> clusters.sizes, clusters.ranks(np.array([5.0, 9.0, 4.0]))
    (array([1, 2]), array([1, 0, 0]))
    """

    labels: Ints

    @cached_property
    def sizes(self) -> Ints:
        return np.bincount(self.labels).astype(np.int64)

    @property
    def count(self) -> int:
        return self.sizes.size

    @cached_property
    def order(self) -> Ints:
        """Records by cluster."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def starts(self) -> Ints:
        """Where each cluster begins in `order`."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def members(self) -> list[Ints]:
        """The records of each cluster."""
        return np.split(self.order, self.starts[1:])

    def sums(self, values: Floats | Bools) -> Floats:
        return np.bincount(self.labels, values, minlength=self.count).astype(np.float64)

    def means(self, matrix: Floats) -> Floats:
        """Per cluster, the mean of each column."""
        return np.add.reduceat(matrix[self.order], self.starts, axis=0) / self.sizes[:, None]

    def sorted_by(self, values: Floats) -> Ints:
        """Records by cluster, and rising in value inside each."""
        return np.lexsort((values, self.labels))

    def ranks(self, values: Floats) -> Ints:
        """The place of each record in its cluster, from the least value on."""
        ranks = np.empty(self.labels.size, dtype=np.int64)
        ranks[self.sorted_by(values)] = np.arange(self.labels.size) - np.repeat(self.starts, self.sizes)
        return ranks

    def highest(self, scores: Floats, wanted: Ints) -> Bools:
        """The records with the highest scores of each cluster, as many as wanted there."""
        return self.ranks(-scores) < wanted[self.labels]
