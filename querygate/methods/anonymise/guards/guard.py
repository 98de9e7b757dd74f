"""Guards: what every class must keep besides its size.

Every guard can judge classes, and is asked about the two children of the best candidates. One that can also judge every
cut of a line at once (a cut guard) does so before the best is chosen.

A guard makes the partition depend on the sensitive column, so who knows the algorithm may reason from a class that was
not divided (minimality attack: Wong, Fu, Wang, Pei, VLDB 2007). Publish nothing of the search except the classes.
"""

from __future__ import annotations

from typing import Protocol, TypeGuard

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.node_cells import Batch, Line


class Guard(Protocol):
    """A further guarantee of every class. Data are held per combination of the table."""

    @property
    def name(self) -> str:
        """What is promised, for messages; without values of the data."""

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        """Per class whether it holds; `rows` are combinations and `label` says in which class each is."""


class CutGuard(Guard, Protocol):
    """A guard that judges all cuts at once."""

    def cuts(self, batch: Batch, line: Line, at: Ints) -> Bools:
        """For a cut after each place `at` of the line: whether the guarantee holds on both sides."""


def judges_cuts(guard: Guard) -> TypeGuard[CutGuard]:
    return hasattr(guard, "cuts")


class NumericHull:
    """A sensitive number spans at least `least_width` in each class, and at least two of its public bins.

    `low` and `high` are the least and greatest raw value of each combination (nan where it has none), `low_bin` and
    `high_bin` the least and greatest bin, with NULL as a bin of its own below the others. A class whose values lie
    closer together than `least_width` fails even if some of its members are NULL, and a class of NULLs alone fails
    ((k,e)-anonymity: Zhang, Koudas, Srivastava, Yu, ICDE 2007). Where missing values are spared, such a class holds;
    bins are then of known values alone, with the least above the greatest where a combination has none.
    """

    def __init__(
        self,
        column: str,
        low: Floats,
        high: Floats,
        low_bin: Ints,
        high_bin: Ints,
        least_width: float,
        *,
        spares_missing: bool = False,
    ) -> None:
        self.name = f"the numeric guard of {column if column.isidentifier() else repr(column)}"
        self.least_width, self._spares = least_width, spares_missing
        # Ranks, not values: an offset per node then keeps running maxima apart without any rounding.
        known = ~np.isnan(low)
        self._values = np.unique(np.concatenate([low[known], high[known]]))
        high_rank = np.where(known, np.searchsorted(self._values, high), -1)
        low_rank = np.where(known, np.searchsorted(self._values, low), self._values.size)
        self._bins = (
            _bins_by_rank(self._values.size, (low_rank, low_bin), (high_rank, high_bin)) if known.all() else None
        )
        # Side by side for each combination, as they are looked up together; bins only where values do not tell them.
        figures = [high_rank, -low_rank] if self._bins is not None else [high_rank, -low_rank, high_bin, -low_bin]
        self._maxima = np.stack(figures, axis=1).astype(np.int32)
        self._width = int(np.ptp(self._maxima)) + 1 if low.size else 1
        spread = self._values[-1] - self._values[0] if self._values.size > 1 else 0.0
        if spread >= least_width and low_bin.min() == high_bin.max():
            self.name += ": its values spread far enough, but are all published as one bin"

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        order = np.argsort(label, kind="stable")
        starts = np.searchsorted(label[order], np.arange(classes))
        return self._wide(np.maximum.reduceat(self._maxima.take(rows[order], axis=0), starts, axis=0).T)

    def cuts(self, batch: Batch, line: Line, at: Ints) -> Bools:
        if self not in batch.kept:
            batch.kept[self] = np.ascontiguousarray(self._maxima.take(batch.rows, axis=0).T)
        maxima = np.stack([line.cells.greatest(figures)[line.order] for figures in batch.kept[self]]).astype(np.int64)
        left = self._running(maxima, line.node)
        right = self._running(maxima[:, ::-1], line.node[-1] - line.node[::-1])[:, ::-1]
        return self._wide(left.take(at, axis=1)) & self._wide(right.take(at + 1, axis=1))

    def _running(self, maxima: Ints, node: Ints) -> Ints:
        """Running maxima that begin anew with each node."""
        offset = node * self._width
        return np.maximum.accumulate(maxima + offset, axis=1) - offset

    def _wide(self, maxima: Ints) -> Bools:
        high, low = maxima[0], -maxima[1]
        high_bin, low_bin = (maxima[2], -maxima[3]) if self._bins is None else (self._bins[high], self._bins[low])
        width, apart = np.zeros(high.shape), high > low
        width[apart] = self._values[high[apart]] - self._values[low[apart]]
        wide: Bools = (width >= self.least_width) & (high_bin > low_bin)
        return wide | (high < 0) if self._spares else wide


def _bins_by_rank(values: int, *ends: tuple[Ints, Ints]) -> Ints | None:
    """The bin of each value, given as (rank, bin) of ends; None where values do not tell bins, or these do not rise."""
    bins = np.zeros(values, dtype=np.int64)
    for rank, found in ends:
        bins[rank] = found
    told = all((bins[rank] == found).all() for rank, found in ends)
    return bins if told and (np.diff(bins) >= 0).all() else None
