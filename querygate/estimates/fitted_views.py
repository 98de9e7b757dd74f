"""One table that agrees with all margins of a version: iterative proportional fitting, frame cell by frame cell.

The table of a frame cell has an axis for each column, in pieces that no class cuts. It starts from the widths of the
pieces, which are public. Then the margins are applied in turn: every class divides its records among the combinations
it covers, in proportion to the table (Deming and Stephan 1940; where classes overlap, this is expectation and
maximisation). The table of the counts is fitted first. One with sensitive columns keeps it, so that parts add up; and
where sums of classes are published, the means inside intervals are moved to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.block import NO_NULLS, Block, NumberColumn
from querygate.core.types import Bools, Floats, Ints
from querygate.estimates.column_pieces import (
    Pieces,
    TooManyPieces,
    added,
    cut_column,
    lean,
    likely_shares,
)
from querygate.estimates.margin_sides import MarginSide, ReadMargin, local_pieces, side_of
from querygate.estimates.number_places import ClassSums, common_shift, likely_sums
from querygate.estimates.points import UNIT, WeightedCells
from querygate.estimates.silent_cells import borrowed, nearest

MOST_CELLS = 1_000_000
"""Combinations of pieces in one table, over all frame cells."""


ROUNDS, CLOSE = 60, 1e-3
"""The most rounds over all margins, and the change of a class, in records, below which no further round is made."""

SUM_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class FrameTable:
    """The fitted table of one frame cell: which pieces each axis has, the weight of each combination, and for numbers
    with sums where the mean lies in its interval, in half widths from the middle."""

    pieces: tuple[Ints, ...]
    weight: Floats
    shift: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class FittedTable:
    """The columns of a table, their pieces, and its frame cells."""

    names: tuple[str, ...]
    pieces: tuple[Pieces, ...]
    frames: tuple[FrameTable, ...]

    @property
    def nbytes(self) -> int:
        return sum(frame.weight.nbytes * (1 + len(frame.shift)) for frame in self.frames)

    def cells(self, names: frozenset[str]) -> WeightedCells:
        """The table over some of its columns: a row for each combination of pieces that has weight."""
        kept = [axis for axis, name in enumerate(self.names) if name in names]
        others = tuple(axis for axis in range(len(self.names)) if axis not in kept)
        moved = sorted({name for frame in self.frames for name in frame.shift} & names)
        weights: list[Floats] = []
        places: list[list[Ints]] = [[] for _ in kept]
        shifts: dict[str, list[Floats]] = {name: [] for name in moved}
        for frame in self.frames:
            weight = frame.weight.sum(axis=others)
            held = np.flatnonzero(weight.reshape(-1) > 0.5 / UNIT)
            weights.append(weight.reshape(-1)[held])
            for place, axis, at in zip(places, kept, np.unravel_index(held, weight.shape or 1), strict=False):
                place.append(frame.pieces[axis][at])
            for name, found in shifts.items():
                at_rows = (frame.weight * frame.shift[name]).sum(axis=others).reshape(-1)[held]
                found.append(at_rows / weights[-1])
        columns = {
            self.names[axis]: self.pieces[axis].column.take(np.concatenate(place))
            for axis, place in zip(kept, places, strict=True)
        }
        weight = np.concatenate(weights)
        block = Block(np.ones(weight.size, dtype=np.int64), columns)  # each row is one piece: shares do not matter
        return WeightedCells(block, weight, {name: np.concatenate(found) for name, found in shifts.items()})


@dataclass(frozen=True, slots=True)
class _Axis:
    """A column of the table: its pieces, and how likely each of them is by all margins."""

    name: str
    pieces: Pieces
    share: Floats


@dataclass(frozen=True, slots=True)
class _Layout:
    """The axes of a table, quasi-identifiers first."""

    axes: tuple[_Axis, ...]
    quasi: int


def fit_table(counts: Sequence[Block], unit: Sequence[Block], check: Callable[[], None]) -> FittedTable:
    """The table that agrees with these margins: counts by quasi-identifiers, and counts by these and the sensitive
    columns of one unit. Raises TooManyPieces.
    """
    margins = [ReadMargin.of(block) for block in (*counts, *unit)]
    quasi = list(dict.fromkeys(name for block in counts for name in block.columns))
    axes: list[_Axis] = []
    for name in dict.fromkeys([*quasi, *(name for block in unit for name in block.columns)]):
        having = [margin for margin in margins if name in margin.block.columns]
        pieces, covers = cut_column([margin.block.columns[name] for margin in having])
        told = [(cover, margin.block.n) for margin, cover in zip(having, covers, strict=True)]
        for margin, cover in zip(having, covers, strict=True):
            margin.covers[len(axes)] = cover
        axes.append(_Axis(name, pieces, likely_shares(pieces, told)))
    local = local_pieces(margins, [axis.pieces.size for axis in axes], check)
    if sum(math.prod(map(len, held)) for held in local) > MOST_CELLS:
        raise TooManyPieces
    fitted = _fitted_frames(_Layout(tuple(axes), len(quasi)), margins, len(counts), local, check)
    return FittedTable(tuple(axis.name for axis in axes), tuple(axis.pieces for axis in axes), fitted)


def _fitted_frames(
    layout: _Layout,
    margins: Sequence[ReadMargin],
    counts: int,
    local: Sequence[Sequence[Ints]],
    check: Callable[[], None],
) -> tuple[FrameTable, ...]:
    """Frame cells whose classes say nothing come last: they start from their neighbours."""
    axes, quasi, fitted = layout.axes, layout.quasi, dict[int, FrameTable]()
    sizes = [axis.pieces.size for axis in axes]
    silent = {frame for frame, held in enumerate(local) if _is_silent(margins[counts:], frame, held, quasi)}
    for frame in sorted(range(len(local)), key=lambda frame: frame in silent):
        check()
        held = local[frame]
        sides = [side_of(margin, frame, held, sizes) for margin in margins]
        shares = [axis.share[there] for axis, there in zip(axes, held, strict=True)]
        start = _independent(shares[quasi:])
        told = {place: table.pieces[:quasi] for place, table in fitted.items() if place not in silent}
        if frame in silent and (near := nearest(held[:quasi], told, sizes)) is not None:
            table = fitted[near]
            start = borrowed(table.weight.sum(axis=tuple(range(quasi))), table.pieces[quasi:], held[quasi:], start)
        begun = _independent(shares[:quasi]), start
        fitted[frame] = _fitted(layout, held, begun, sides[:counts], sides[counts:], check)
    return tuple(fitted[frame] for frame in range(len(local)))


def _is_silent(unit: Sequence[ReadMargin], frame: int, local: Sequence[Ints], quasi: int) -> bool:
    """Do all classes here allow every possible value?"""
    sizes = [
        (cover.sizes[cover.box[margin.rows(frame)]], local[axis].size)
        for margin in unit
        for axis, cover in margin.covers.items()
        if axis >= quasi
    ]
    return bool(sizes) and all((covered >= possible).all() for covered, possible in sizes)


# -- a margin in one frame cell --------------------------------------------------------------------------------


# -- fitting -----------------------------------------------------------------------------------------------------------


def _fitted(
    layout: _Layout, local: Sequence[Ints], begun: tuple[Floats, Floats],
    counts: Sequence[MarginSide], unit: Sequence[MarginSide], check: Callable[[], None],
) -> FrameTable:  # fmt: skip
    """The table of a frame cell: first over quasi-identifiers, then over all axes. It begins with these two tables, of
    quasi-identifiers and of the sensitive columns."""
    axes, quasi = layout.axes, layout.quasi
    flat = [replace(side, shape=side.shape[:quasi]) for side in counts]
    table = _fit(begun[0], flat, None, check)
    if len(axes) == quasi:
        return FrameTable(tuple(local), table, {})
    kept = table.reshape(table.shape + (1,) * (len(axes) - quasi))
    table = _fit(kept * begun[1], unit, kept, check)
    shift = {}
    for place, axis in enumerate(axes[quasi:], start=quasi):
        if isinstance(axis.pieces.column, NumberColumn):
            pieces = axis.pieces.column.take(local[place])
            numbers = _Numbers.of(pieces, axis.pieces.room[local[place]], table, place)
            told = [side for side in unit if axis.name in side.sums]
            shift[axis.name] = _shifted(table * numbers.known, numbers, told, axis.name)
    return FrameTable(tuple(local), table, shift)


def _independent(shares: Sequence[Floats]) -> Floats:
    """A table that adds up to 1, with independent columns."""
    table = np.ones(())
    for share in shares:
        table = table[..., None] * (share / share.sum())
    return table


def _fit(table: Floats, sides: Sequence[MarginSide], kept: Floats | None, check: Callable[[], None]) -> Floats:
    """Margins are applied in turn until the table agrees with each; at the end it adds up to `kept`, if given."""
    inner = (
        () if kept is None else tuple(axis for axis in range(kept.ndim) if kept.shape[axis] == 1 != table.shape[axis])
    )
    for _ in range(ROUNDS):
        check()
        before = table
        for side in sides:
            table = table * side.spread(side.ratios(table)[1])
        if kept is not None:
            had = table.sum(axis=inner, keepdims=True)
            table = table * np.divide(kept, had, out=np.zeros_like(had), where=had > 0)
        if np.abs(table - before).sum() < CLOSE:
            break
    return table


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The pieces of a number along its axis of a table: middle and half width of each, which is 0 where it is missing,
    and where its mean is likely to lie, in half widths from the middle."""

    middle: Floats
    half: Floats
    known: Bools
    leaning: Floats

    @classmethod
    def of(cls, column: NumberColumn, room: Floats, table: Floats, axis: int) -> _Numbers:
        known = column.null == NO_NULLS
        low, high = (np.where(known, end, 0).astype(np.float64) for end in (column.low, column.high))
        weight = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
        along = [-1 if other == axis else 1 for other in range(table.ndim)]
        leaning = np.zeros(room.size)
        leaning[known] = lean(weight[known] / room[known])
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        return cls(middle.reshape(along), half.reshape(along), known.reshape(along), leaning.reshape(along))


def _shifted(table: Floats, numbers: _Numbers, sides: Sequence[MarginSide], name: str) -> Floats:
    """Where means lie in their intervals so that classes have their sums, or nearly so. The table holds known values
    only."""
    shift = numbers.leaning + np.zeros_like(table)
    told = [_SummedSide.of(side, table, numbers, name) for side in sides]
    if not told:
        return shift
    sums = [side.class_sums(shift) for side in told]
    common = common_shift(ClassSums.joined(sums))
    shift = np.clip(shift + common.by, -1.0, 1.0)
    wanted = [likely_sums(each, common) for each in sums]
    for _ in range(SUM_ROUNDS):
        for side, aim in zip(told, wanted, strict=True):
            step = np.divide(aim - side.sums(shift), side.room, out=np.zeros_like(aim), where=side.room > 0)
            shift = np.clip(shift + side.spread(step), -1.0, 1.0)
    return shift


@dataclass(frozen=True, slots=True)
class _SummedSide:
    """Classes of a margin with published sums, in one frame cell: pairs of a class and a combination, with the records
    that the class has there; and by class how far the sum can move, and its variance if values are anywhere."""

    side: MarginSide
    whose: Ints
    cell: Ints
    part: Floats
    scale: Floats
    low: Floats
    high: Floats
    table: Floats
    numbers: _Numbers
    room: Floats
    variance: Floats

    @classmethod
    def of(cls, side: MarginSide, table: Floats, numbers: _Numbers, name: str) -> _SummedSide:
        sums = side.sums[name]
        pairs = np.flatnonzero(sums.of_row[side.row] >= 0)
        of, cell, part = sums.of_row[side.row[pairs]], side.cell[pairs], side.parts(table)[pairs]

        def by_class(values: Floats) -> Floats:
            return added(of, part * side.total(values)[cell], sums.n.size)

        held = by_class(table)
        scale = np.divide(sums.n, held, out=np.zeros_like(held), where=held > 0)
        room, variance = scale * by_class(table * numbers.half), scale * by_class(table * numbers.half**2) / 3
        return cls(side, of, cell, part, scale, sums.low, sums.high, table, numbers, room, variance)

    def sums(self, shift: Floats) -> Floats:
        """By class, with the means of numbers moved in this way."""
        values = self.side.total(self.table * (self.numbers.middle + shift * self.numbers.half))
        return self.scale * added(self.whose, self.part * values[self.cell], self.low.size)

    def class_sums(self, shift: Floats) -> ClassSums:
        least, greatest = (self.sums(np.full_like(shift, end)) for end in (-1.0, 1.0))
        return ClassSums(self.sums(shift), least, greatest, self.variance, self.low, self.high)

    def spread(self, step: Floats) -> Floats:
        """A step of each class as one of the combinations that it has."""
        return self.side.spread(added(self.cell, self.part * step[self.whose], math.prod(self.side.shape)))
