"""How many members of a class can be beyond a threshold, given the sum of the class (Markov's inequality).

Only for rows that hold all known values of their class. Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from querygate.bounds.true_intervals import Pieces
from querygate.core.block import NO_NULLS, Block, NumberColumn
from querygate.core.types import Bools, Floats, Ints

UNIT = 2.0**-53


class SumRows(NamedTuple):
    """Rows that are all known members of a class, with their interval and between what they add up."""

    rows: Ints
    n: Ints
    low: Floats
    high: Floats
    sum_low: Floats
    sum_high: Floats
    integer: bool


def summed_rows(name: str, column: NumberColumn, block: Block) -> SumRows | None:
    """The rows of a block that have a sum of their own."""
    moments = None if block.classified is None else block.classified.moments.get(name)
    if moments is None or block.classified is None or not moments.label.size:
        return None
    at = moments.places(block.classified.label)
    rows = np.flatnonzero(
        (at >= 0) & (moments.n[at] == block.n) & (column.null == NO_NULLS) & (column.low < column.high)
    )
    low, high = column.low[rows].astype(np.float64), column.high[rows].astype(np.float64)
    at = at[rows]
    return SumRows(rows, block.n[rows], low, high, moments.sum_low[at], moments.sum_high[at], column.integer)


def inside(summed: SumRows, pieces: Pieces) -> tuple[Ints, Ints]:
    """(least, most) members of each row in the one piece [first, last] of a condition."""
    first, last = float(pieces.first[0]), float(pieces.last[0])
    nobody, everybody = np.zeros_like(summed.n), summed.n
    from_first, to_first = _at_least(summed, first)
    reaches, starts = summed.high <= last, summed.low >= first
    from_last, to_last = _beyond(summed, last)
    least_above, most_above = np.where(starts, everybody, from_first), np.where(starts, everybody, to_first)
    least_over, most_over = np.where(reaches, nobody, from_last), np.where(reaches, nobody, to_last)
    least = np.maximum(least_above - most_over, 0)
    return least, np.minimum(most_above, summed.n - least_over)


def _at_least(summed: SumRows, threshold: float) -> tuple[Ints, Ints]:
    """(least, most) with x >= threshold. All others are below it: by at least one if they are whole numbers."""
    return _counted(summed, threshold, threshold - 1.0 if summed.integer else threshold)


def _beyond(summed: SumRows, threshold: float) -> tuple[Ints, Ints]:
    """(least, most) with x > threshold."""
    return _counted(summed, threshold + 1.0 if summed.integer else threshold, threshold)


def _counted(summed: SumRows, over: float, under: float) -> tuple[Ints, Ints]:
    """s members of `over` at least and the others of `under` at most: s over + (n - s) low <= sum, and so on.

    Ends outside the row are harmless numbers, quotients are moved outwards by more than their roundings.
    """
    n, low, high = summed.n, summed.low, summed.high
    if not (np.isfinite(over) and np.isfinite(under)):
        return np.zeros_like(n), n
    margin = 64 * UNIT * n * np.maximum(np.maximum(np.abs(low), np.abs(high)), max(abs(over), abs(under)))
    cut: Bools = (over > low) & (over <= high) & (under >= low) & (under < high)
    up, down = np.where(cut, over - low, 1.0), np.where(cut, high - under, 1.0)
    most = np.floor((summed.sum_high - n * low + margin) / up * (1.0 + 8 * UNIT))
    least = np.ceil((summed.sum_low - n * under - margin) / down * (1.0 - 8 * UNIT))
    bounds = np.where(cut, least, 0.0), np.where(cut, most, n)
    first, last = (np.clip(bound, 0, n).astype(np.int64) for bound in bounds)
    return np.minimum(first, last), np.maximum(first, last)
