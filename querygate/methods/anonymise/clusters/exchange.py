"""Exchange of records between classes, thousands at a time, by linear assignment: never worse, and k holds.

One record leaves most classes at once; then every leaver is given a class again, at most one to each, so that the loss
is least. Since no class receives two, the price of a record in a class does not depend on the others, and the linear
assignment problem (Kuhn 1955; solved as by Crouse, IEEE TAES 2016) is the exact problem. Leaving all as it was is one
of its solutions, so the loss never grows; a class under k must receive somebody, so no class ever falls under k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table

LEAVING = 0.9
"""The share of classes that give a record away; the others may receive one without giving."""

FLOOR = 5e-4
"""A record leaves with a chance in proportion to the width that this saves its class, plus so much."""

FORBIDDEN = 1e7
"""Far above any sum of losses in a block, and small enough to keep nine decimal places."""


class ExchangeBlock:
    """Classes that exchange records among themselves. `rows` are their members, `home` the class of each, 0..m-1."""

    def __init__(self, table: Table, rows: Ints, home: Ints, district: Ints, guards: Sequence[Guard]) -> None:
        self.rows, self.home, self.guards = rows, home, guards
        self.classes = int(home.max()) + 1
        self.district = np.zeros(self.classes, dtype=np.int64)
        self.district[home] = district[rows]
        self.columns = [(_Numbers if a.ordered else _Categories)(a, rows) for a in table.attributes]

    def exchange(self, k: int, random: np.random.Generator) -> None:
        """Let one record leave most classes, and give each its best place."""
        leaver = self._leavers(random)
        reduced = self.home.copy()
        reduced[leaver] = self.classes  # a separate class, which is ignored
        size = np.bincount(reduced, minlength=self.classes)[: self.classes]
        width, widened = np.zeros(self.classes), np.zeros((leaver.size, self.classes))
        for column in self.columns:
            column.look(reduced, self.classes)
            width += column.width
            widened += column.widened(leaver)
        price = widened * (size + 1) - width * size
        price[:, size < k] -= FORBIDDEN  # the reward for classes that must receive a record
        origin = self.home[leaver]
        if self.district.min() < self.district.max():
            price[self.district[origin][:, None] != self.district] += FORBIDDEN
        _, target = linear_sum_assignment(price)
        self._move(leaver, origin, target)

    def _leavers(self, random: np.random.Generator) -> Ints:
        """One member of most classes."""
        saving = np.zeros(self.home.size)
        for column in self.columns:
            column.look(self.home, self.classes)
            saving += column.saving()
        key = np.log(saving + FLOOR) + random.gumbel(size=self.home.size)
        best = np.full(self.classes, -np.inf)
        np.maximum.at(best, self.home, key)
        best[random.random(self.classes) >= LEAVING] = np.inf
        chosen = np.flatnonzero(key == best[self.home])
        return chosen[np.unique(self.home[chosen], return_index=True)[1]]

    def _move(self, leaver: Ints, origin: Ints, target: Ints) -> None:
        moved = origin != target
        before = self.home.copy()
        self.home[leaver[moved]] = target[moved]
        if not self.guards or not moved.any():
            return
        # Moves that share a class stand or fall together: each such chain is feasible, and no worse, on its own.
        links = coo_array((np.ones(int(moved.sum())), (origin[moved], target[moved])), shape=(self.classes,) * 2)
        _, chain = connected_components(links, directed=False)
        touched = np.zeros(self.classes, dtype=np.bool_)
        touched[origin[moved]] = touched[target[moved]] = True
        failed = np.zeros(self.classes, dtype=np.bool_)
        failed[chain[np.flatnonzero(touched)[~self._holding(touched)]]] = True
        undone = failed[chain[self.home]]
        self.home[undone] = before[undone]

    def _holding(self, asked: Bools) -> Bools:
        """Which of the given classes keep every guard."""
        members = np.flatnonzero(asked[self.home])
        label = (np.cumsum(asked) - 1)[self.home[members]]
        fine = np.ones(int(asked.sum()), dtype=np.bool_)
        for guard in self.guards:
            fine &= guard.classes(self.rows[members], label, fine.size)
        return fine


class _Column(ABC):
    """One attribute of the members of a block. First `look` at a division; then ask. Widths are weighted."""

    def __init__(self, attribute: Attribute, rows: Ints) -> None:
        self.weight = attribute.weight
        self.codes = attribute.codes[rows]
        self.missing = self.codes == NULL
        self.has_nulls = bool(self.missing.any())

    def look(self, home: Ints, classes: int) -> None:
        """Read the classes 0..classes-1; members of the class `classes` are ignored."""
        self.home, self.classes = home, classes
        self.values, self.saved = self._look(home, classes)
        self.width = self.values
        if self.has_nulls:
            self.nulls = np.bincount(home[self.missing], minlength=classes + 1)[:classes]
            self.known = np.bincount(home[~self.missing], minlength=classes + 1)[:classes]
            self.width = np.where((self.nulls > 0) & (self.known > 0), self.weight, self.values)

    def saving(self) -> Floats:
        """By how much the class of each member becomes narrower without it."""
        if not self.has_nulls:
            return self.saved
        nulls, known, values = self.nulls[self.home], self.known[self.home], self.values[self.home]
        last_null = np.where((nulls == 1) & (known > 0), self.weight - values, 0.0)
        last_known = np.where(known == 1, self.weight, 0.0)
        return np.where(self.missing, last_null, np.where(nulls > 0, last_known, self.saved))

    def widened(self, members: Ints) -> Floats:
        """Width of each class with each of these members in it."""
        if not self.has_nulls:
            return self._widened(members)
        full = np.where(self.missing[members][:, None], self.known > 0, self.nulls > 0)
        return np.where(full, self.weight, np.where(self.missing[members][:, None], 0.0, self._widened(members)))

    @abstractmethod
    def _look(self, home: Ints, classes: int) -> tuple[Floats, Floats]:
        """Width of the values of each class, and what each member saves, missing values apart."""

    @abstractmethod
    def _widened(self, members: Ints) -> Floats:
        """As `widened`, missing values apart."""


class _Numbers(_Column):
    def __init__(self, attribute: Attribute, rows: Ints) -> None:
        super().__init__(attribute, rows)
        scale = attribute.weight / (attribute.span or 1.0)
        lower, upper = (e[self.codes] * scale for e in attribute.edges)
        # Both ends as minima.
        self.ends = np.where(self.missing, np.inf, np.stack([lower, -upper]))

    def _look(self, home: Ints, classes: int) -> tuple[Floats, Floats]:
        saved = np.zeros(home.size)
        self.hull = np.empty((2, classes))
        for hull, end in zip(self.hull, self.ends, strict=True):
            least = np.full(classes + 1, np.inf)
            np.minimum.at(least, home, end)
            extreme = end == least[home]
            second = np.full(classes + 1, np.inf)
            np.minimum.at(second, home[~extreme], end[~extreme])
            alone = (np.bincount(home[extreme], minlength=classes + 1) == 1) & (second < np.inf)
            alone = extreme & alone[home]
            saved[alone] += second[home[alone]] - end[alone]
            hull[:] = least[:classes]
        return np.where(self.hull[0] < np.inf, -self.hull.sum(axis=0), 0.0), saved

    def _widened(self, members: Ints) -> Floats:
        low, high = np.minimum(self.hull[:, None, :], self.ends[:, members, None])
        width: Floats = -low - high
        return width


class _Categories(_Column):
    def __init__(self, attribute: Attribute, rows: Ints) -> None:
        super().__init__(attribute, rows)
        # Values are renumbered, so that memory depends on the block and not on the domain.
        known = np.unique(self.codes[~self.missing])
        self.number = np.where(self.missing, known.size, np.searchsorted(known, self.codes))
        self.size = known.size
        self.price = np.arange(known.size + 2) * (attribute.weight / attribute.span)
        self.price[1] = 0.0

    def _look(self, home: Ints, classes: int) -> tuple[Floats, Floats]:
        shape = (classes + 1, self.size + 1)
        records = np.bincount(home * shape[1] + self.number, minlength=shape[0] * shape[1]).reshape(shape)
        self.present = records[:classes, : self.size] > 0
        self.different = self.present.sum(axis=1)
        width = self.price[self.different]
        saved = np.append(width - self.price[np.maximum(self.different - 1, 0)], 0.0)[home]
        return width, np.where(records[home, self.number] == 1, saved, 0.0)

    def _widened(self, members: Ints) -> Floats:
        by_value = np.where(self.present.T, self.price[self.different], self.price[self.different + 1])
        width: Floats = np.vstack([by_value, np.zeros(self.classes)])[self.number[members]]
        return width
