"""Diversity of a sensitive column in each class, judged on the counts of its values.

The kinds: distinct, entropy and recursive (c,l)-diversity (Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam,
TKDD 2007), (alpha,k)-anonymity (Wong, Li, Fu, Wang, KDD 2006), t-closeness (Li, Li, Venkatasubramanian, ICDE 2007).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.node_cells import argsort_packed
from querygate.methods.anonymise.guards.triplets import Triplets

BLOCK = 1 << 22
"""Counts in memory at once: classes are judged in blocks, so a column with many values costs time but not memory."""

SLACK = 1e-9
"""Room for rounding in logarithms and sums of shares."""


@dataclass(frozen=True)
class Sensitive:
    """Which values of a sensitive column each combination has: triplets (combination, value, count).

    Values are coded 0..size-1; NULL is a value like any other, so every combination has at least one triplet. Coded as
    `size` it is not applicable: records that have it are left out, and a class of such records alone keeps everything.
    `whole` is how often each value occurs in the whole table, where the combinations are only a part of it.
    """

    column: str
    combination: Ints
    value: Ints
    count: Ints
    size: int
    whole: Ints | None = None


class Diversity(ABC):
    """A guard on the counts of values in a class."""

    def __init__(self, sensitive: Sensitive) -> None:
        self.column = sensitive.column
        self.size = sensitive.size
        self._held = Triplets(sensitive.column, sensitive.combination, sensitive.value, sensitive.count)
        totals = sensitive.whole
        if totals is None:
            totals = np.bincount(self._held.value, self._held.count, self.size + 1)[: self.size]
        self.shares: Floats = totals / max(1.0, float(totals.sum()))

    @property
    @abstractmethod
    def name(self) -> str:
        """What is promised."""

    @abstractmethod
    def holds(self, counts: Floats) -> Bools:
        """Per row of counts (class x value) whether the class may stand."""

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        label, value, count = self._held.of(rows, label)
        counted = value < self.size
        label, value, count = label[counted], value[counted], count[counted]
        order, label = argsort_packed(label)
        value, count = value[order], count[order]
        step = max(1, BLOCK // max(1, self.size))
        verdict = np.ones(classes, dtype=np.bool_)
        for begin in range(0, classes, step):
            end = min(begin + step, classes)
            here = slice(*np.searchsorted(label, [begin, end]))
            key = (label[here] - begin) * self.size + value[here]
            counts = np.bincount(key, count[here], (end - begin) * self.size)
            table = np.asarray(counts, np.float64).reshape(end - begin, self.size)
            asked = np.flatnonzero(table.any(axis=1))
            verdict[begin + asked] = self.holds(table[asked])
        return verdict


class Distinct(Diversity):
    """At least l different values."""

    def __init__(self, sensitive: Sensitive, l: int) -> None:  # noqa: E741 - the name in the literature
        super().__init__(sensitive)
        self.l = l

    @property
    def name(self) -> str:
        return f"distinct {self.l}-diversity of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        distinct: Ints = np.count_nonzero(counts, axis=1)
        return distinct >= self.l


class EntropyDiversity(Diversity):
    """Entropy of the values at least log l."""

    def __init__(self, sensitive: Sensitive, l: float) -> None:  # noqa: E741
        super().__init__(sensitive)
        self.l = l

    @property
    def name(self) -> str:
        return f"entropy {self.l}-diversity of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        n: Floats = counts.sum(axis=1)
        surprise: Floats = (counts * np.log(np.maximum(counts, 1.0))).sum(axis=1)
        entropy: Floats = np.log(n) - surprise / n
        return entropy >= float(np.log(self.l)) - SLACK


class Recursive(Diversity):
    """The commonest value is rarer than c times all values from the l-th commonest on: r1 < c (rl + ... + rm)."""

    def __init__(self, sensitive: Sensitive, c: float, l: int) -> None:  # noqa: E741
        super().__init__(sensitive)
        self.c, self.l = c, l

    @property
    def name(self) -> str:
        return f"recursive ({self.c},{self.l})-diversity of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        ranked = -np.sort(-counts, axis=1)
        tail: Floats = ranked[:, self.l - 1 :].sum(axis=1)
        return ranked[:, 0] < self.c * tail


class Alpha(Diversity):
    """No value above the share alpha, or above that of `each` where values have shares of their own."""

    def __init__(self, sensitive: Sensitive, alpha: float, each: Floats | None = None) -> None:
        super().__init__(sensitive)
        self.alpha = alpha
        self.each: Floats = np.full(self.size, alpha) if each is None else each

    @property
    def name(self) -> str:
        own = " or its own" if (self.each != self.alpha).any() else ""
        return f"share at most {self.alpha}{own} of each value of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        found: Bools = (counts / counts.sum(axis=1, keepdims=True) <= self.each).all(axis=1)
        return found


class Closeness(Diversity):
    """Earth mover's distance between the class and the whole table at most t.

    Equal ground distance (categories): half the sum of differences. Ordered: neighbours of `size` values are
    1 / (size - 1) apart, so the distance is the mean of the absolute cumulated differences.
    """

    def __init__(self, sensitive: Sensitive, t: float, *, ordered: bool = False) -> None:
        super().__init__(sensitive)
        self.t, self.ordered = t, ordered

    @property
    def name(self) -> str:
        return f"{self.t}-closeness of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        difference = counts / counts.sum(axis=1, keepdims=True) - self.shares
        moved = np.cumsum(difference, axis=1) if self.ordered else difference
        distance: Floats = np.abs(moved).sum(axis=1) / (max(1, self.size - 1) if self.ordered else 2)
        return distance <= self.t + SLACK
