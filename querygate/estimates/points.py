"""Cells as weighted points: records spread inside their cells.

Points of all cells follow one sequence that fills a cube evenly (Kronecker's, with powers of the root of x^(d + 1) = x
+ 1), so that a condition selects nearly its share of each cell, and comes even closer over many cells. Nothing is
random: equal cells make equal points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from querygate.core.block import (
    ALL_NULLS,
    MISSING,
    NO_NULLS,
    Block,
    BlockColumn,
    ClassMoments,
    CodeColumn,
    CodeSets,
    NumberColumn,
    SetColumn,
)
from querygate.core.types import Bools, Floats, Ints
from querygate.estimates.column_pieces import (
    Cover,
    TooManyPieces,
    added,
    along_slope,
    cut_column,
    likely_shares,
    slope_inside,
)
from querygate.estimates.number_places import ClassSums, common_shift, likely_sums

UNIT = 2**20
"""The weight of a record in a block of points: counts of blocks are whole numbers."""

POINTS, EACH = 30_000, 16
"""The number of points made of a block, and the most of each row; every row gets at least one."""

MOST_POINTS = 400_000
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class WeightedCells:
    """Rows of cells with weights. `shift` says where the mean of a number lies in its interval, by row: in half widths
    from the middle, from -1 to 1."""

    block: Block
    weight: Floats
    shift: Mapping[str, Floats] = field(default_factory=dict)


def make_points(cells: WeightedCells) -> Block:
    """A block in which every row is a point: numbers are exact, and categories have one value."""
    block = cells.block
    times = np.where(_is_spread(block), max(1, min(EACH, POINTS // max(1, block.size))), 1)
    if times.sum() > MOST_POINTS:
        raise TooManyPieces
    rows = np.repeat(np.arange(block.size), times)
    weight = (cells.weight / times)[rows]
    coordinates = _Coordinates(rows.size, 2 * len(block.columns))
    columns: dict[str, BlockColumn] = {}
    for name, column in block.columns.items():
        if isinstance(column, CodeColumn):
            columns[name] = _code_points(column.take(rows), coordinates.next())
            continue
        piece, along = _drawn(column, cells.weight, rows, coordinates.next(), bent=name not in cells.shift)
        if isinstance(column, NumberColumn) and isinstance(piece, NumberColumn):
            points = _NumberPoints(column.take(rows), piece, along)
            shift = cells.shift[name][rows] if name in cells.shift else _class_shift(block, name, points, rows, weight)
            piece = points.moved(shift, coordinates.next())
        columns[name] = piece
    return Block(np.round(weight * UNIT).astype(np.int64), columns)


def merged_points(points: Block, names: frozenset[str]) -> Block:
    """Merges points that differ only in these numbers, using their mean: counts, sums and means stay the same."""
    key = np.zeros(points.size, dtype=np.int64)
    for name, column in points.columns.items():
        if isinstance(column, NumberColumn):
            parts = [column.null] if name in names else [column.null, column.low]
        else:
            parts = [column.sets]
        for part in parts:
            values, place = np.unique(part, return_inverse=True)
            key = np.unique(key * values.size + place.reshape(-1), return_inverse=True)[1].reshape(-1)
    _, first, place, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    n = np.zeros(first.size, dtype=np.int64)
    np.add.at(n, place, points.n)
    columns: dict[str, BlockColumn] = {name: column.take(first) for name, column in points.columns.items()}
    with np.errstate(all="ignore"):
        for name in names:
            known = points.number(name)
            total = np.bincount(place, points.n.astype(np.float64) * known.low, first.size)
            mean = np.where((times == 1) | (n == 0), known.low[first], total / n)
            columns[name] = NumberColumn(mean, mean, known.null[first])
    return Block(n, columns)


def _is_spread(block: Block) -> Bools:
    """Which rows are more than one point."""
    found = np.zeros(block.size, dtype=np.bool_)
    for column in block.columns.values():
        if isinstance(column, NumberColumn):
            found |= ((column.low < column.high) & (column.null != ALL_NULLS)) | (column.null % ALL_NULLS != NO_NULLS)
        elif isinstance(column, SetColumn):
            found |= column.dictionary.sizes[column.sets] > 1
        else:
            found |= True
    return found


class _Coordinates:
    """Coordinates in [0, 1) of these points, one dimension after another."""

    def __init__(self, size: int, dimensions: int) -> None:
        root = 2.0
        for _ in range(64):
            root = (1.0 + root) ** (1.0 / (dimensions + 1))
        self._steps = iter((root ** -np.arange(1.0, dimensions + 1)).tolist())
        self._number = np.arange(1, size + 1, dtype=np.float64)

    def next(self) -> Floats:
        part: Floats = np.modf(0.5 + self._number * next(self._steps))[0]
        return part


# -- where in its cell a point lies ------------------------------------------------------------------------------------


def _drawn(
    column: NumberColumn | SetColumn, weight: Floats, rows: Ints, u: Floats, *, bent: bool
) -> tuple[NumberColumn | SetColumn, Floats]:
    """The piece of each point, and how far along it the point lies: u goes along all pieces of its row. If `bent`, more
    of them lie at the denser side of a piece: spread evenly, coarse pieces would make distributions too wide."""
    pieces, (cover,) = cut_column([column])
    share = likely_shares(pieces, [(cover, weight)])
    likely = _in_boxes(cover, share)
    along = np.append(0.0, np.cumsum(likely))
    box = cover.box[rows]
    first, last = cover.starts[box], cover.starts[box + 1] - 1
    aim = along[first] + u * (along[last + 1] - along[first])
    place = np.clip(np.searchsorted(along, aim, side="right") - 1, first, last)
    part = np.divide(aim - along[place], likely[place], out=np.full(aim.size, 0.5), where=likely[place] > 0)
    part = np.clip(part, 0.0, 1.0)
    if bent:
        part = along_slope(part, slope_inside(pieces, share)[cover.held[place]])
    return pieces.column.take(cover.held[place]), part


def _in_boxes(cover: Cover, share: Floats) -> Floats:
    """The shares of the pieces of each box, adding up to 1; uniform where nothing is known."""
    of = np.repeat(np.arange(cover.sizes.size), cover.sizes)
    likely = share[cover.held]
    sums = added(of, likely, cover.sizes.size)[of]
    return np.divide(likely, sums, out=1.0 / cover.sizes[of], where=sums > 0)


@dataclass(frozen=True, slots=True)
class _NumberPoints:
    """Points of a number: their intervals, the pieces of these in which they lie, and how far along."""

    whole: NumberColumn
    piece: NumberColumn
    along: Floats

    @property
    def known(self) -> Bools:
        known: Bools = self.piece.null == NO_NULLS
        return known

    @property
    def value(self) -> Floats | Ints:
        low, high = self.piece.low, self.piece.high
        if not self.piece.integer:
            return np.clip(low * (1.0 - self.along) + high * self.along, low, high)
        step = np.floor(self.along * (high.astype(np.float64) - low + 1.0)).astype(np.int64)
        return np.minimum(low + step, high)

    def moved(self, shift: Floats | None, u: Floats) -> NumberColumn:
        """Points nearer to one end of their intervals. Whole numbers are rounded up or down by u: their mean stays."""
        value = self.value
        if shift is not None:
            low, high = self.whole.low, self.whole.high
            way = np.where(shift > 0, high / 2 - value / 2, value / 2 - low / 2) * 2 * shift
            value = value + np.floor(way + u).astype(np.int64) if self.piece.integer else value + way
            value = np.where(self.known, np.clip(value, low, high), self.piece.low)
        return NumberColumn(value, value, self.piece.null)


# -- sums of classes ---------------------------------------------------------------------------------------------------


def _class_shift(block: Block, name: str, points: _NumberPoints, rows: Ints, weight: Floats) -> Floats | None:
    """The shift that gives the points of every class its sum; None where no sums are published."""
    told = None if block.classified is None else block.classified.moments.get(name)
    if block.classified is None or told is None or not told.label.size:
        return None
    place = told.places(block.classified.label)[rows]
    shift = np.zeros(rows.size)
    here = (place >= 0) & points.known
    shift[here] = _shift_of(told, place, weight, points, here)[place[here]]
    return shift


def _shift_of(told: ClassMoments, place: Ints, weight: Floats, points: _NumberPoints, here: Bools) -> Floats:
    low, high, value = (
        np.asarray(a, dtype=np.float64)[here] for a in (points.whole.low, points.whole.high, points.value)
    )

    def summed(part: Floats) -> Floats:
        return added(place[here], weight[here] * part, told.label.size)

    held = summed(np.ones(value.size))
    scale = np.divide(told.n, held, out=np.zeros(held.size), where=held > 0)
    now, up, down = scale * summed(value), scale * summed(high - value), scale * summed(value - low)
    spread = scale * summed((high - low) ** 2 / 12)
    sums = ClassSums(now, now - down, now + up, spread, told.sum_low, told.sum_high)
    wanted = likely_sums(sums, common_shift(sums)) - now
    room = np.where(wanted > 0, up, down)
    return np.clip(np.divide(wanted, room, out=np.zeros(room.size), where=room > 0), -1.0, 1.0)


# -- lists of codes ----------------------------------------------------------------------------------------------------


def _code_points(column: CodeColumn, u: Floats) -> CodeColumn:
    """Every item of a list as one of its codes, each in turn; one that may stand for none as none, since what may be
    hidden is not guessed. A code that is in no item stays suppressed: nothing is published about who has it."""
    told = column.dictionary
    known = np.flatnonzero(~told.suppressed)
    item_of = np.full(len(told.codes), MISSING)
    item_of[known] = np.arange(known.size)
    sizes = np.diff(told.starts)[column.sets]
    rows = np.repeat(np.arange(column.sets.size), sizes)
    item = told.members[told.starts[column.sets][rows] + np.arange(rows.size) - (np.cumsum(sizes) - sizes)[rows]]
    order = np.argsort(told.entry_item, kind="stable")
    first = np.cumsum(told.sizes) - told.sizes
    turn = np.modf(u[rows] + item * _GOLDEN)[0]
    entry = first[item] + np.minimum(np.floor(turn * told.sizes[item]).astype(np.int64), told.sizes[item] - 1)
    code = told.entry_code[order][entry]
    unsure = np.bincount(told.entry_item[told.entry_code == MISSING], minlength=told.sizes.size) > 0
    held = ~unsure[item]
    starts = np.append(0, np.cumsum(np.bincount(rows[held], minlength=column.sets.size)))
    sets = CodeSets(told.codes, np.arange(known.size), known, starts, item_of[code[held]])
    return CodeColumn(np.arange(column.sets.size), sets)
