"""Totals as rows of a matrix: cells (place, minterm) that are in exactly the same totals are one column.

>>> import numpy as np
>>> from querygate.methods.audit.totals import QueryTotal
>>> young, all_ = np.array([1, 1, 0], bool), np.array([1, 1, 1], bool)
>>> totals = [QueryTotal("q1", "u", "sbp", young), QueryTotal("q2", "u", "sbp", all_)]
>>> laid = lay_out(totals, np.array([3, 2, 1]), 1)
>>> laid.label[:, 0], laid.over
(array([1, 1, 0]), array([[0, 1],
       [1, 1]], dtype=int16))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.audit.totals import Pattern, QueryTotal

Rows = npt.NDArray[np.int16]
"""Totals over columns: what each is multiplied by. Differences of two are still far from the ends of 16 bits."""


@dataclass(frozen=True, eq=False)
class TotalCells:
    """The column of each cell, and the totals over columns. Places nobody is in have no column (-1)."""

    label: Ints  # places x minterms
    over: Rows
    sizes: Ints  # cells of each column

    def groups(self, pattern: Pattern) -> PlaceGroups:
        """Places told apart by nothing that the pattern looks at; of each group, what it is over columns."""
        chosen = [m for m, times in enumerate(pattern) if times]
        times = np.array([pattern[m] for m in chosen], dtype=np.int64)
        used = self.label[:, 0] >= 0
        labels, inverse = np.unique(self.label[used][:, chosen], axis=0, return_inverse=True)
        group = np.full(len(used), -1, dtype=np.int64)
        group[used] = inverse.reshape(-1)
        number = np.bincount(inverse.reshape(-1), minlength=len(labels))
        same = labels[:, :, None] == labels[:, None, :]
        # rows are constant on a column, so only what is constant on whole columns can follow from them
        whole = self.sizes[labels] == number[:, None] * same.sum(axis=2)
        alike = (same * times).sum(axis=2) == same.sum(axis=2) * times
        first = ~np.tril(same, -1).any(axis=2)
        return PlaceGroups(group, labels, np.where(first, times, 0), (whole & alike).all(axis=1))


@dataclass(frozen=True, eq=False)
class PlaceGroups:
    """Groups of places for one pattern of minterms."""

    group: Ints  # of each place; -1 where nobody is
    labels: Ints  # groups x minterms of the pattern: columns
    times: Ints  # the same: what each column is multiplied by; zero where a column is listed again
    possible: Bools  # whether its total is a sum over whole columns

    def sums(self, probes: Floats) -> Floats:
        """Probes over columns, added up over each group (not reduced)."""
        found: Floats = (probes[:, self.labels] * self.times).sum(axis=2)
        return found

    def target(self, group: int, columns: int) -> Ints:
        found = np.zeros(columns, dtype=np.int64)
        np.add.at(found, self.labels[group], self.times[group])
        return found


def lay_out(totals: Sequence[QueryTotal], weights: Ints, minterms: int) -> TotalCells:
    """Each total draws a random word, a cell's signature is the sum of the words of the totals it is in.

    Two different columns have equal signatures once in 2^64 tries; the rows are compared with the totals given, so
    that this shows.
    """
    used = weights > 0
    words = np.random.default_rng(len(totals)).integers(0, 2**63, len(totals), dtype=np.uint64)
    signatures = np.zeros((len(used), minterms), dtype=np.uint64)
    for word, total in zip(words, totals, strict=True):
        for pattern, members in total.cells:
            signatures[members] += word * np.array(pattern, dtype=np.int64).astype(np.uint64)
    found, first, inverse = np.unique(signatures[used].reshape(-1), return_index=True, return_inverse=True)
    label = np.full(signatures.shape, -1, dtype=np.int64)
    label[used] = inverse.reshape(-1, minterms)
    over = np.zeros((len(totals), len(found)), dtype=np.int16)
    place, minterm = np.flatnonzero(used)[first // minterms], first % minterms
    for i, total in enumerate(totals):
        for pattern, members in total.cells:
            over[i] += np.where(members[place], np.array(pattern, dtype=np.int16)[minterm], np.int16(0))
        if not np.array_equal(over[i][label[used]], dense(total, minterms)[used]):
            raise ArithmeticError("two different columns have one signature")
    return TotalCells(label, over, np.bincount(inverse.reshape(-1), minlength=len(found)))


def dense(total: QueryTotal, minterms: int) -> Rows:
    """What each cell is multiplied by: places x minterms."""
    found = np.zeros((len(total.members), minterms), dtype=np.int16)
    for pattern, members in total.cells:
        found[members] = np.array(pattern, dtype=np.int16)
    return found


def stacked(totals: Sequence[QueryTotal], weights: Ints, minterms: int) -> Rows:
    """All of them: totals x places x minterms, and nothing where nobody is."""
    return np.array([dense(total, minterms) * (weights > 0)[:, None] for total in totals])


def planes(rows: Rows) -> Bools:
    """Totals as sets of bits: for each minterm whether a place counts, and where any counts against, whether it does
    not. A total that is nowhere less than another has all bits of it."""
    signs = [rows > 0, rows >= 0] if (rows < 0).any() else [rows > 0]
    return np.concatenate([sign.transpose(0, 2, 1).reshape(len(rows), -1) for sign in signs], axis=1)
