"""Who holds which bin of a sensitive column inside a frame cell, as far as the views tell people apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views.atoms import Atoms, by_atom
from querygate.methods.views.frontier import Frontier
from querygate.methods.views.table import SensitiveColumn
from querygate.methods.views.windows import Windows


@dataclass(frozen=True)
class Holders:
    """Groups of records in one atom with one bin (a window of a public bin, where that is wide)."""

    windows: Windows
    atoms: Atoms
    atom: Ints
    bin: Ints
    count: Ints
    totals: Ints
    """By measure and group, what the values add up to."""
    row_group: Ints
    """The group of each record of the cell."""

    @classmethod
    def of(cls, windows: Windows, views: Sequence[Frontier], leaf: Ints) -> Holders:
        """The records of a cell, with their leaves (views x records)."""
        atoms, atom = Atoms.of(views, leaf)
        column = windows.column
        found, group = np.unique(atom * column.size + column.codes, return_inverse=True)
        group = group.reshape(-1)
        values = [np.where(one.has_number[column.codes], one.values, 0) for one in column.measures]
        totals = [by_atom(group, value, found.size) for value in values]
        return cls(
            windows,
            atoms,
            found // column.size,
            found % column.size,
            np.bincount(group, minlength=found.size),
            np.array(totals, dtype=np.int64).reshape(len(values), found.size),
            group,
        )

    @property
    def column(self) -> SensitiveColumn:
        return self.windows.column

    @cached_property
    def held(self) -> Ints:
        """Records by atom and bin, without those whose value is known."""
        table = np.zeros((self.atoms.number, self.column.size), dtype=np.int64)
        table[self.atom, self.bin] = self.count
        table[:, self.windows.known] = 0
        return table

    @cached_property
    def groups_of(self) -> list[Ints]:
        """The groups that have each bin."""
        order = np.argsort(self.bin, kind="stable")
        return np.split(order, np.searchsorted(self.bin[order], np.arange(1, self.column.size)))

    def having(self, bins: Ints) -> tuple[Ints, Ints]:
        """The groups that have the first of these bins, then those that have the second, and so on; and whose turn it
        is at each.
        """
        groups = [self.groups_of[one] for one in bins.tolist()]
        return np.repeat(np.arange(bins.size), [one.size for one in groups]), np.concatenate(groups)

    @cached_property
    def records_of(self) -> Ints:
        """Records by bin."""
        return by_atom(self.bin, self.count, self.column.size)

    def partners(self, own: int) -> Ints:
        """Bins that belong to other public ones, most promising first.

        Of linked columns those that differ in most; for numbers those that span the guard, the nearest first; for
        categories the commonest first.
        """
        public = self.windows.public
        others = np.flatnonzero((public != public[own]) & ~self.windows.known)
        number = self.records_of[others]
        too_near = np.zeros(others.size, dtype=np.bool_)
        beyond = np.zeros(others.size, dtype=np.int64)
        for measure in self.column.measures:
            if measure.has_number[own]:
                low, high = measure.ends
                span = np.maximum(high[others], high[own]) - np.minimum(low[others], low[own]) + 1
                too_near |= (span < measure.span) | ~measure.has_number[others]
                beyond = np.maximum(beyond, span - measure.span)
        same = sum((value[public[others]] == value[public[own]]).astype(np.int64) for value in self.windows.told.values)
        order = np.lexsort((others, -number, beyond, too_near, same))
        ranked: Ints = others[order]
        return ranked


@dataclass
class Possible:
    """Which bins each group has been shown to be able to have; grows as witnesses are found."""

    holders: Holders
    values: int
    bins: Bools
    """Groups x bins."""

    @classmethod
    def begin(cls, holders: Holders, values: int) -> Possible:
        """Everybody can have the bin they have, and those of others in their atom."""
        return cls(holders, values, holders.held[holders.atom] > 0)

    def is_safe(self) -> Bools:
        """Per group: enough values of every column, and such as span every guard. Who is known has nothing to lose."""
        windows = self.holders.windows
        told, public = windows.told, windows.public
        starts = np.flatnonzero(np.diff(windows.kind, prepend=-1))  # windows of one kind are side by side
        can, names = np.logical_or.reduceat(self.bins, starts, axis=1), public[starts]
        safe: Bools = np.ones(len(can), dtype=np.bool_)
        for value in told.values:
            order = np.argsort(value[names], kind="stable")
            begins = np.flatnonzero(np.append(True, np.diff(value[names][order]) != 0))
            safe &= np.logical_or.reduceat(can[:, order], begins, axis=1).sum(axis=1) >= self.values
        for measure, ends in zip(told.measures, windows.ends, strict=True):
            low, high = (end[starts] for end in ends)
            known = can & measure.has_number[names]
            greatest = np.where(known, high, np.iinfo(np.int64).min).max(axis=1)
            least = np.where(known, low, np.iinfo(np.int64).max).min(axis=1)
            has_own = measure.has_number[public[self.holders.bin]]
            span = np.where(has_own, greatest, 0) - np.where(has_own, least, 0) + 1
            safe &= ~has_own | (span >= measure.span)
        return safe | windows.known[self.holders.bin]
