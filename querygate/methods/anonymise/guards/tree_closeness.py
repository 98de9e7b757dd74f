"""t-closeness where values stand in a tree: Li, Li, Venkatasubramanian, ICDE 2007, section 4.3.

Two values are as far apart as their lowest common ancestor is high, divided by the height of the tree. The earth mover
then pays, at each inner node, for what its children exchange among themselves and for nothing else, so that one pass
over the nodes gives the distance.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.guards.diversity import SLACK, Diversity, Sensitive


class TreeCloseness(Diversity):
    """Earth mover's distance along a tree, between the class and the whole table, at most t.

    `levels[h]` gives each value the number of its ancestor at height h: `levels[0]` parts all values, the last joins
    all of them.
    """

    def __init__(self, sensitive: Sensitive, t: float, levels: Ints) -> None:
        super().__init__(sensitive)
        self.t = t
        if levels.ndim != 2 or levels.shape[0] < 2 or levels.shape[1] != self.size or np.ptp(levels[-1]):
            raise ValueError(f"{self.column}: a tree has one ancestor per value and height, and one root")
        self._levels = [np.unique(level, return_inverse=True)[1] for level in levels]

    @property
    def name(self) -> str:
        return f"{self.t}-closeness of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        extra = counts / counts.sum(axis=1, keepdims=True) - self.shares
        height = len(self._levels) - 1
        distance: Floats = np.zeros(len(counts))
        for h in range(1, height + 1):
            below, here = self._levels[h - 1], self._levels[h]
            _, first = np.unique(below, return_index=True)
            parent = here[first]
            surplus, lack = (_summed(np.maximum(sign * _summed(extra, below), 0.0), parent) for sign in (1, -1))
            distance += np.minimum(surplus, lack).sum(axis=1) * h / height
        return distance <= self.t + SLACK


def _summed(columns: Floats, group: Ints) -> Floats:
    """Columns added up by group."""
    return columns @ np.eye(int(group.max()) + 1)[group]
