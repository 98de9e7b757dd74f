"""The values of a column in pieces that no cell cuts, which of them each cell covers, and how likely each is.

A piece of a number is an interval, a piece of a category is a value; missing is a piece too. Cells say how many records
are somewhere in the pieces they cover. Shares that explain this best are found by expectation and maximisation: every
cell divides its records among its pieces by the current shares, and the totals are the next shares (Turnbull 1976 for
intervals). They start from the width of each piece, which is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from querygate.core.block import (
    ALL_NULLS,
    MISSING,
    NO_NULLS,
    BlockColumn,
    CodeColumn,
    Dictionary,
    NumberColumn,
    SetColumn,
)
from querygate.core.types import Array, Bools, Floats, Ints

ROUNDS = 8
"""Iterations. Few, because with more a small table would end up on few pieces."""

UNTOLD = 0.02
"""The part of the shares that stays uniform, so that nothing is excluded."""

MOST_COVERED = 4_000_000
"""Pieces that all cells of a column may cover together."""

STEEPEST = 1 / 3
"""In half widths: the mean of a linear density that begins at 0."""

_EVEN = 1e-9  # a density that is less steep than this counts as uniform
_POINT = 1e-9  # width of a single value of a continuous column, in widths of an average piece


class TooManyPieces(Exception):
    """There are more combinations than can be kept."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a column, as a column with a row for each, and the room of each."""

    column: NumberColumn | SetColumn
    room: Floats

    @property
    def size(self) -> int:
        return self.room.size


@dataclass(frozen=True, slots=True)
class Cover:
    """Which pieces the rows of a column cover: row i has box box[i], and box b pieces held[starts[b]:starts[b + 1]]."""

    box: Ints
    starts: Ints
    held: Ints

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    def count(self, n: Array) -> Floats:
        """Records by box, given those of each row."""
        return added(self.box, n, self.sizes.size)


def added(places: Ints, values: Array, size: int) -> Floats:
    """Values added up by place."""
    return np.bincount(places, values, size).astype(np.float64)  # NumPy makes an empty sum an array of whole numbers


def likely_shares(pieces: Pieces, told: Sequence[tuple[Cover, Array]]) -> Floats:
    """How likely each piece is, given how many records each row has in each of these."""
    even = pieces.room / pieces.room.sum()
    rows = [(cover, np.repeat(np.arange(cover.sizes.size), cover.sizes), cover.count(n)) for cover, n in told]
    share = even
    for _ in range(ROUNDS):
        had = np.zeros_like(share)
        for cover, of, counts in rows:
            sums = added(of, share[cover.held], cover.sizes.size)
            given = np.divide(counts, sums, out=np.zeros_like(sums), where=sums > 0)
            had += added(cover.held, given[of], pieces.size)
        share = share * had
        share = share / share.sum() if share.any() else even
    mixed: Floats = (1 - UNTOLD) * share + UNTOLD * even
    return mixed


def lean(density: Floats) -> Floats:
    """Where the mean of a piece is likely to lie, in half widths from its middle: towards the denser neighbour, as if
    the density were a straight line through it."""
    before, after = np.append(0.0, density[:-1]), np.append(density[1:], 0.0)
    slope = np.divide(after - before, 12 * density, out=np.zeros_like(density), where=density > 0)
    leaning: Floats = np.clip(slope, -STEEPEST, STEEPEST)
    return leaning


def slope_inside(pieces: Pieces, share: Floats) -> Floats:
    """The likely slope of the density inside each piece of a number, from -1 to 1: that of a straight line between the
    pieces before and after. Beyond the first and the last piece the density is taken to be constant; for missing
    values, and in categories, it is uniform."""
    slope = np.zeros(pieces.size)
    if isinstance(pieces.column, NumberColumn):
        known = np.flatnonzero((pieces.column.null == NO_NULLS) & (pieces.column.low < pieces.column.high))
        density = share[known] / pieces.room[known]
        if known.size > 1:
            before, after = np.append(0.0, density[:-1]), np.append(density[1:], 0.0)
            before[0] = max(0.0, 2 * density[0] - density[1])
            after[-1] = max(0.0, 2 * density[-1] - density[-2])
            leaning = np.divide(after - before, 4 * density, out=np.zeros_like(density), where=density > 0)
            slope[known] = np.clip(leaning, -1.0, 1.0)
    return slope


def along_slope(u: Floats, slope: Floats) -> Floats:
    """Where the share u of a piece ends, if its density is a straight line with this slope.

    >>> along_slope(np.array([0.5, 0.5, 0.25]), np.array([0.0, 1.0, -1.0])).round(3)
    array([0.5  , 0.707, 0.134])
    """
    steep = np.abs(slope) > _EVEN
    a = np.where(steep, slope, 1.0)
    bent = (np.sqrt((1 - a) ** 2 + 4 * a * u) - 1 + a) / (2 * a)
    found: Floats = np.clip(np.where(steep, bent, u), 0.0, 1.0)
    return found


def cut_column(columns: Sequence[BlockColumn]) -> tuple[Pieces, list[Cover]]:
    """The pieces of a column that several blocks have, and what the rows of each cover."""
    if any(isinstance(column, CodeColumn) for column in columns):
        raise TypeError("a list of codes has no pieces")
    if isinstance(columns[0], SetColumn):
        return _cut_sets(cast(Sequence[SetColumn], columns))
    return _cut_numbers(cast(Sequence[NumberColumn], columns))


def _cut_sets(columns: Sequence[SetColumn]) -> tuple[Pieces, list[Cover]]:
    """Values of all blocks are the same; missing is the first piece."""
    values = columns[0].dictionary.values
    pieces = Pieces(SetColumn(np.arange(len(values) + 1), Dictionary.singletons(values)), np.ones(len(values) + 1))
    return pieces, [Cover(c.sets, c.dictionary.starts, c.dictionary.members - MISSING) for c in columns]


def _cut_numbers(columns: Sequence[NumberColumn]) -> tuple[Pieces, list[Cover]]:
    """Missing is the last piece; it is as wide as the others on average."""
    known = [column.null != ALL_NULLS for column in columns]
    low = np.concatenate([c.low[there] for c, there in zip(columns, known, strict=True)])
    high = np.concatenate([c.high[there] for c, there in zip(columns, known, strict=True)])
    first, last, room = _whole_pieces(low, high) if columns[0].integer else _real_pieces(low, high)
    zero = np.zeros(1, dtype=first.dtype)
    null = np.append(np.full(first.size, NO_NULLS), ALL_NULLS)
    column = NumberColumn(np.append(first, zero), np.append(last, zero), null)
    pieces = Pieces(column, np.append(room, room.mean() if room.size else 1.0))
    return pieces, [_covered(c, there, first, last) for c, there in zip(columns, known, strict=True)]


def _whole_pieces(low: Array, high: Array) -> tuple[Array, Array, Floats]:
    edges = np.unique(np.concatenate([low, np.minimum(high, np.iinfo(np.int64).max - 1) + 1]))
    return edges[:-1], edges[1:] - 1, np.maximum(np.diff(edges.astype(np.float64)), 1.0)


def _real_pieces(low: Array, high: Array) -> tuple[Array, Array, Floats]:
    """Intervals between neighbouring ends, and single values where a cell has no more."""
    edges = np.unique(np.concatenate([low, high]))
    single = np.unique(low[low == high])
    first, last = np.concatenate([edges[:-1], single]), np.concatenate([edges[1:], single])
    order = np.lexsort((last, first))
    first, last = first[order], last[order]
    room = np.maximum(last / 2 - first / 2, 0.0)
    average = room.mean() if room.any() else 1.0
    return first, last, np.where(last > first, np.maximum(room, average * _POINT), average * _POINT)


def _covered(column: NumberColumn, known: Bools, first: Array, last: Array) -> Cover:
    table = np.stack(
        [np.where(known, column.low, 0), np.where(known, column.high, 0), column.null.astype(column.low.dtype)]
    )
    boxes, box = np.unique(table, axis=1, return_inverse=True)
    low, high, null = boxes[0], boxes[1], boxes[2].astype(np.int64)
    begin, end = np.searchsorted(first, low), np.searchsorted(last, high, side="right")
    begin, end = np.where(null == ALL_NULLS, 0, begin), np.where(null == ALL_NULLS, 0, np.maximum(begin, end))
    inside, missing = end - begin, (null != NO_NULLS).astype(np.int64)
    starts = np.append(0, np.cumsum(inside + missing))
    if starts[-1] > MOST_COVERED:
        raise TooManyPieces
    held = np.arange(starts[-1]) - np.repeat(starts[:-1] - begin, inside + missing)
    held[starts[1:][missing > 0] - 1] = first.size
    return Cover(box.reshape(-1), starts, held)
