"""Guards on the raw values of a sensitive number: how far they spread in a class, and how they crowd together.

(k,e)-anonymity: Zhang, Koudas, Srivastava, Yu, "Aggregate query answering on anonymized tables", ICDE 2007.
(epsilon,m)-anonymity: Li, Tao, Xiao, "Preservation of proximity privacy in publishing numerical sensitive data",
SIGMOD 2008.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.node_cells import argsort_packed, starts_of
from querygate.methods.anonymise.guards.diversity import SLACK
from querygate.methods.anonymise.guards.triplets import Triplets


@dataclass(frozen=True)
class Numbers:
    """Raw values of a sensitive number: triplets (combination, value, records); nan is a missing value.

    Where missing values are spared, records without a value are left out, and a class of such records alone keeps
    everything.
    """

    column: str
    combination: Ints
    value: Floats
    count: Ints
    spares_missing: bool = False


@dataclass(frozen=True)
class RankedValues:
    """Entries ordered by class and value: `key` is class * stride + rank of the value, and missing values rank last."""

    key: Ints
    rank: Ints
    count: Ints
    label: Ints
    stride: int


class NumberGuard(ABC):
    """A guard on the values of a class in rising order.

    Classes are judged on ranks among all values of the column, so that nothing is rounded and no matrix of classes by
    values is needed: a measured number may have as many values as there are people.
    """

    def __init__(self, numbers: Numbers) -> None:
        self.column, self._spares = numbers.column, numbers.spares_missing
        known = ~np.isnan(numbers.value)
        self.values: Floats = np.unique(numbers.value[known])
        rank = np.where(known, np.searchsorted(self.values, numbers.value), self.values.size)
        self._held = Triplets(numbers.column, numbers.combination, rank, numbers.count)

    @property
    @abstractmethod
    def name(self) -> str:
        """What is promised."""

    @abstractmethod
    def holds(self, entries: RankedValues, classes: int) -> Bools:
        """Per class whether it may stand."""

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        label, rank, count = self._held.of(rows, label)
        stride = self.values.size + 1
        spared = np.zeros(classes, dtype=np.bool_)
        if self._spares:
            known = rank < self.values.size
            label, rank, count = label[known], rank[known], count[known]
            spared = np.bincount(label, minlength=classes) == 0
        order, key = argsort_packed(label * stride + rank)
        return self.holds(RankedValues(key, rank[order], count[order], label[order], stride), classes) | spared


class SpreadGuard(NumberGuard):
    """(k,e)-anonymity: values at least `e` apart and, if so wanted, at least `distinct` different ones.

    A missing value is no number: it neither widens a class nor counts as one of its values. A class without any value
    fails, unless missing values are spared.
    """

    def __init__(self, numbers: Numbers, e: float, distinct: int = 1) -> None:
        super().__init__(numbers)
        self.e, self.distinct = e, distinct

    @property
    def name(self) -> str:
        return f"({self.distinct},{self.e})-anonymity of {self.column}"

    def holds(self, entries: RankedValues, classes: int) -> Bools:
        different = entries.rank[(first := starts_of(entries.key))]
        label = entries.label[first]
        label, different = label[different < self.values.size], different[different < self.values.size]
        number: Ints = np.bincount(label, minlength=classes)
        apart = np.full(classes, -np.inf)
        begin = starts_of(label)
        end = np.append(begin[1:], label.size)[: begin.size] - 1
        apart[label[begin]] = self.values[different[end]] - self.values[different[begin]]
        return (number >= self.distinct) & (apart >= self.e)


class Proximity(NumberGuard):
    """(epsilon,m)-anonymity: within epsilon of any member's value lies at most one m-th of its class.

    A missing value is near other missing values and far from every number. The model is not monotone: two classes that
    keep it may make one that does not, so whoever joins classes has to ask again.
    """

    def __init__(self, numbers: Numbers, epsilon: float, m: float) -> None:
        super().__init__(numbers)
        self.epsilon, self.m = epsilon, m
        wide = epsilon * (1 + SLACK)  # rounding may only count too many as near
        missing = self.values.size
        self._from = np.append(np.searchsorted(self.values, self.values - wide, "left"), missing)
        self._to = np.append(np.searchsorted(self.values, self.values + wide, "right"), missing + 1)

    @property
    def name(self) -> str:
        return f"({self.epsilon},{self.m})-anonymity of {self.column}"

    def holds(self, entries: RankedValues, classes: int) -> Bools:
        base = entries.label * entries.stride
        before = np.append(0, np.cumsum(entries.count))
        low = np.searchsorted(entries.key, base + self._from[entries.rank])
        high = np.searchsorted(entries.key, base + self._to[entries.rank])
        near = before[high] - before[low]
        most = np.zeros(classes, dtype=np.int64)
        np.maximum.at(most, entries.label, near)
        size = np.bincount(entries.label, entries.count, classes)
        verdict: Bools = most * self.m <= size + SLACK
        return verdict
