"""Windows: wide bins divided for the search of witnesses, though not for publication.

Who swaps bins swaps numbers too, and sums move by as much as numbers of one bin differ. So a bin that is wide (the open
ends of a column often are) is divided into windows of values, and people swap with others of their window. What keeps
the histograms of windows keeps those of bins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views.atoms import distinct_columns
from querygate.methods.views.table import Measure, SensitiveColumn

WINDOWS_IN_CELL = 6
"""A window is a sixth of a sum cell: two of them leave room on either side."""

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""In the place of an end: there is none."""


@dataclass(frozen=True)
class FinerBins:
    """Whom other bins, of earlier versions, tell apart: a label by record of a cell, and by measure and record the
    least and the greatest value of its bins there. `least` and `most` (measures x margins x records) are the ends of
    the cell of its class's sum, LEAST and GREATEST where that tells no more than bins do.
    """

    label: Ints
    low: Ints
    high: Ints
    least: Ints
    most: Ints


@dataclass(frozen=True)
class Windows:
    """`column` has windows for bins, over the records of one cell; `public` is the bin of each in the column `told`.

    `known` are windows of records whose values an attacker knows: one for each value, and nobody swaps with them.
    Windows of one `kind` have the same bin in all versions; `ends` are by measure what these bins tell of each window.
    """

    told: SensitiveColumn
    column: SensitiveColumn
    public: Ints
    known: Bools
    kind: Ints
    ends: tuple[tuple[Ints, ...], ...]
    finer: FinerBins | None = None

    @classmethod
    def of(
        cls, told: SensitiveColumn, records: Ints, known: Bools | None = None, finer: FinerBins | None = None
    ) -> Windows:
        """Those that occur, in order of bins and values; `known` says of which records the value is known, `finer` what
        earlier versions tell.
        """
        bins = told.bins[records]
        is_known = np.zeros(records.size, dtype=np.bool_) if known is None else known
        label = np.zeros_like(bins) if finer is None else finer.label
        keys = [bins, label, is_known.astype(np.int64)]
        for measure in told.measures:
            low, _ = measure.ends
            above = np.where(measure.has_number[bins], measure.values[records] - low[bins], 0)
            keys.append(np.where(is_known, above, np.where(_is_wide(measure)[bins], above // _width(measure), 0)))
        found, place = distinct_columns(np.stack(keys))
        public, own = found[0], found[2] > 0
        measures = [_inside(one, records, public, own, at) for one, at in zip(told.measures, found[3:], strict=True)]
        ends = [tuple(end[public] for end in one.ends) for one in told.measures]
        if finer is not None:
            _, first = np.unique(place, return_index=True)
            for number, (low, high) in enumerate(zip(finer.low[:, first], finer.high[:, first], strict=True)):
                measures[number] = _within(measures[number], low, high)
                ends[number] = np.maximum(ends[number][0], low), np.minimum(ends[number][1], high)
        column = SensitiveColumn(told.name, place, found.shape[1], tuple(measures))
        kind = np.cumsum(np.append(False, (np.diff(found[:2], axis=1) != 0).any(axis=0)))
        return cls(told, column, public, own, kind, tuple(ends), finer)


def _inside(measure: Measure, records: Ints, public: Ints, known: Bools, start: Ints) -> Measure:
    """The measure with the ends of windows; where there is no number, low is above high."""
    width = _width(measure)
    ends_low, ends_high = (end[public] for end in measure.ends)
    is_wide, has_number = _is_wide(measure)[public], measure.has_number[public]
    low = np.where(is_wide, ends_low + start * width, ends_low)
    high = np.where(is_wide, np.minimum(low + width - 1, ends_high), ends_high)
    low = np.where(known, ends_low + start, low)
    high = np.where(known, low, high)
    low, high = np.where(has_number, low, 1), np.where(has_number, high, 0)
    return replace(measure, values=measure.values[records], low=low, high=high)


def _width(measure: Measure) -> int:
    return max(1, measure.step // WINDOWS_IN_CELL)


def _is_wide(measure: Measure) -> Bools:
    """By bin; where no sums are published, people swap whatever their numbers."""
    found: Bools = (measure.widths >= _width(measure)) & (measure.step > 0)
    return found


def _within(measure: Measure, low: Ints, high: Ints) -> Measure:
    """The measure with windows that end no farther out than these."""
    has_number = measure.has_number[:-1]
    low, high = np.maximum(measure.low, low), np.minimum(measure.high, high)
    return replace(measure, low=np.where(has_number, low, 1), high=np.where(has_number, high, 0))
