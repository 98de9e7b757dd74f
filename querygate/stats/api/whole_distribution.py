"""The whole distribution, as a band of cumulative shares and as a histogram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from querygate.core.types import Cells, Range
from querygate.stats import distribution
from querygate.stats.distribution import PBox
from querygate.stats.enclosure import Enclosure
from querygate.stats.inputs import Column, Counts, read_cells
from querygate.stats.plots.distribution_plot import draw_band, draw_histogram

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Band:
    """Two curves between which the cumulative share of the records certainly lies, also called a p-box."""

    pbox: PBox
    cells: Cells = field(compare=False)

    def share(self, t: float) -> Enclosure:
        """Share of the records with a value up to t.

        >>> ecdf([120, 135, 150], [134, 149, 165], [4, 2, 2]).share(140)
        share <= 140: 0.5 .. 0.75, sharp
        """
        return Enclosure(f"share <= {t:g}", self.pbox.share(t), self.cells)

    def __repr__(self) -> str:
        if not self.pbox.at.size:
            return "ecdf: undefined"
        remark = ", may be undefined" if self.pbox.may_be_null else ""
        return f"ecdf: from {self.pbox.at[0]:g} to {self.pbox.at[-1]:g}, {self.pbox.at.size} steps{remark}"

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw both curves and the band between them. Needs matplotlib: `pip install 'querygate[plot]'`."""
        return draw_band(self, figure)


def ecdf(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Band:
    """Empirical cumulative distribution: for every t the range of the share of records up to t.

    >>> band = ecdf([40, 50, 60], [49, 59, 69], [5, (0, 3), 4])
    >>> band
    ecdf: from 40 to 69, 6 steps
    >>> band.share(55)
    share <= 55: 0.416 .. 0.667, sharp
    """
    cells = read_cells(lo, hi, counts, integer=integer)
    return Band(distribution.ecdf(cells), cells)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Ranges of the numbers of records per bin; it has the bins in order, each as an `Enclosure`."""

    boundaries: tuple[float, ...]
    bins: tuple[Range, ...]
    cells: Cells = field(compare=False)

    def __iter__(self) -> Iterator[Enclosure]:
        return (Enclosure(label, found, self.cells) for label, found in zip(self.labels, self.bins, strict=True))

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins in words; a value on a boundary belongs to the bin below it."""
        if not self.boundaries:
            return ("all",)
        ends = [f"{boundary:g}" for boundary in self.boundaries]
        inner = (f"{low} to {high}" for low, high in pairwise(ends))
        return (f"up to {ends[0]}", *inner, f"above {ends[-1]}")

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw a bar per bin, solid up to the least number of records and pale up to the most. Needs matplotlib."""
        return draw_histogram(self, figure)


def histogram(
    lo: Column, hi: Column = None, counts: Counts = None, *, boundaries: Sequence[float], integer: bool = False
) -> Histogram:
    """Number of records in each bin: up to the first boundary, between two, above the last. A value on a boundary is
    counted in the bin below it, as by SQL's `<=`.

    >>> histogram([40, 50, 60], [49, 59, 69], [5, 3, 4], boundaries=[45, 60])
    up to 45: 0 .. 5, sharp
    45 to 60: 3 .. 12, sharp
    above 60: 0 .. 4, sharp
    """
    cells = read_cells(lo, hi, counts, integer=integer)
    edges = tuple(float(boundary) for boundary in boundaries)
    return Histogram(edges, distribution.histogram(cells, edges), cells)
