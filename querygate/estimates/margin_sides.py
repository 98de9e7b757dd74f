"""A margin in one frame cell: which parts of a table add up to which of its counts and sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.block import Block
from querygate.core.types import Floats, Ints
from querygate.estimates.column_pieces import (
    Cover,
    TooManyPieces,
    added,
)

MOST_PAIRS = 6_000_000
"""Pairs of a class and a combination that it covers."""


@dataclass(frozen=True, slots=True)
class ReadMargin:
    """The block of a margin, and the pieces that its rows cover on each axis that it has."""

    block: Block
    covers: dict[int, Cover]
    order: Ints
    starts: Ints

    @classmethod
    def of(cls, block: Block) -> ReadMargin:
        """Rows are sorted by frame cell once: there may be many cells."""
        if block.frame is None:
            raise ValueError("this block does not belong to a margin")
        order = np.argsort(block.frame, kind="stable")
        frames = np.arange(2 + int(block.frame.max(initial=-1)))
        return cls(block, {}, order, np.searchsorted(block.frame[order], frames))

    @property
    def frames(self) -> int:
        return self.starts.size - 1

    def rows(self, frame: int) -> Ints:
        if frame >= self.frames:
            return self.order[:0]
        return self.order[self.starts[frame] : self.starts[frame + 1]]


@dataclass(frozen=True, slots=True)
class SumsByRow:
    """Classes of a margin with the sum of a number in each: the class of each row, -1 for none."""

    of_row: Ints
    n: Ints
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class MarginSide:
    """A margin in one frame cell: rows of n records; pairs of a row and a combination that it covers on its axes."""

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    n: Floats
    row: Ints
    cell: Ints
    sums: Mapping[str, SumsByRow]

    def total(self, table: Floats) -> Floats:
        """The table added up to the axes of the margin."""
        summed: Floats = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in self.axes))
        return summed.reshape(-1)

    def spread(self, values: Floats) -> Floats:
        """A value for each combination on these axes, as a factor of the table."""
        return values.reshape(self.shape)

    def ratios(self, table: Floats) -> tuple[Floats, Floats]:
        """Each row's published count over its total in the table, and the resulting factor of each combination."""
        had = added(self.row, self.total(table)[self.cell], self.n.size)
        ratio = np.divide(self.n, had, out=np.zeros_like(had), where=had > 0)
        return ratio, added(self.cell, ratio[self.row], math.prod(self.shape))

    def parts(self, table: Floats) -> Floats:
        """For each pair, the part of the combination that belongs to the row: all of it where no classes overlap."""
        ratio, factor = self.ratios(table)
        of = factor[self.cell]
        return np.divide(ratio[self.row], of, out=np.zeros_like(of), where=of > 0)


def local_pieces(margins: Sequence[ReadMargin], sizes: Sequence[int], check: Callable[[], None]) -> list[list[Ints]]:
    """By frame cell and axis, the pieces that every margin with the axis allows."""
    frames = max(margin.frames for margin in margins)
    found = [[np.ones(size, dtype=np.bool_) for size in sizes] for _ in range(frames)]
    for margin in margins:
        for frame in range(frames):
            check()
            rows = margin.rows(frame)
            for axis, cover in margin.covers.items():
                boxes = np.unique(cover.box[rows])
                there = np.zeros(sizes[axis], dtype=np.bool_)
                for box in boxes.tolist():
                    there[cover.held[cover.starts[box] : cover.starts[box + 1]]] = True
                found[frame][axis] &= there
    return [[np.flatnonzero(axis) for axis in axes] for axes in found]


def side_of(margin: ReadMargin, frame: int, local: Sequence[Ints], sizes: Sequence[int]) -> MarginSide:
    rows = margin.rows(frame)
    row, cell = np.arange(rows.size), np.zeros(rows.size, dtype=np.int64)
    for axis, cover in margin.covers.items():
        at = np.full(sizes[axis], -1, dtype=np.int64)
        at[local[axis]] = np.arange(local[axis].size)
        box = cover.box[rows][row]
        times = cover.sizes[box]
        if times.sum() > MOST_PAIRS:
            raise TooManyPieces
        pair = np.repeat(np.arange(row.size), times)
        place = at[cover.held[cover.starts[box][pair] + np.arange(pair.size) - (np.cumsum(times) - times)[pair]]]
        inside = place >= 0
        row, cell = row[pair][inside], cell[pair][inside] * local[axis].size + place[inside]
    axes = tuple(margin.covers)
    shape = tuple(len(local[axis]) if axis in axes else 1 for axis in range(len(local)))
    return MarginSide(axes, shape, margin.block.n[rows].astype(np.float64), row, cell, _sums_of(margin.block, rows))


def _sums_of(block: Block, rows: Ints) -> dict[str, SumsByRow]:
    if block.classified is None:
        return {}
    label = block.classified.label[rows]
    return {
        name: SumsByRow(told.places(label), told.n, told.sum_low, told.sum_high)
        for name, told in block.classified.moments.items()
        if told.label.size
    }
