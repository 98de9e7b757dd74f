"""Delta-growth (Tao, Xiao, Li, Zhang, ICDE 2008): belief in a value grows by at most a given difference."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools, Floats
from querygate.methods.anonymise.guards.diversity import SLACK, Diversity, Sensitive


class Growth(Diversity):
    """No value's share of a class is above its share of the whole table by more than `most`."""

    def __init__(self, sensitive: Sensitive, most: float) -> None:
        super().__init__(sensitive)
        self.most = most

    @property
    def name(self) -> str:
        return f"{self.most}-growth of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        more: Floats = counts / counts.sum(axis=1, keepdims=True) - self.shares
        found: Bools = np.max(more, axis=1) <= self.most + SLACK
        return found
