"""Frames: public cells that no class crosses, so that everything else happens inside one cell.

A cell follows public cuts of its columns. Neighbours are joined where one has too few people, or would tell that some
value is that of fewer than k. A cell whose views could have too many classes, or that has too many people, is divided
further: at codes of its ordered columns first, and by categories that all views have then. How many people have which
quasi-identifiers decides, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views.atoms import distinct_columns
from querygate.methods.views.code_splits import balanced_cut, peeled
from querygate.methods.views.table import QuasiIdentifier, RecordTable
from querygate.methods.views.value_uncertainty import hides


@dataclass(frozen=True)
class FrameColumn:
    """A column of the frame; `cuts` are the codes just above a cut. A category is divided by its values."""

    name: str
    cuts: tuple[int, ...] = ()


@dataclass(frozen=True)
class CellLimits:
    """About so many classes all views may have in a cell together, and so many people; with more it is divided."""

    classes: int = 1_000
    people: int = 50_000


def frame_cells(
    table: RecordTable, frame: Sequence[FrameColumn], views: Sequence[Sequence[str]], k: int, most: CellLimits
) -> Ints:
    """The cell of each record, 0..m-1. Every cell has k people and hides its values, if the table does."""
    cells = [np.arange(table.records)]
    for one in frame:
        cells = [part for cell in cells for part in _divided(table, one, cell, k)]
    order = [table.column(one.name) for one in frame]
    shared = [column for column in table.quasi if all(column.name in view for view in views)]
    order += [column for column in shared if column not in order and not column.levels]  # whose nodes trees divide
    order.sort(key=lambda column: not column.ordered)
    found = np.zeros(table.records, dtype=np.int64)
    number = 0
    for cell in cells:
        for part in _refined(table, order, views, cell, k, most):
            found[part], number = number, number + 1
    return found


def _divided(table: RecordTable, one: FrameColumn, cell: Ints, k: int) -> Iterator[Ints]:
    """The parts of a cell in order of the column; a part that is too small, or does not hide its values, goes on into
    the next.
    """
    column = table.column(one.name)
    part = column.codes[cell]
    if column.ordered:
        part = np.searchsorted(np.unique([0, *one.cuts]), part, side="right")
    order = np.argsort(part, kind="stable")
    parts, waiting = list[Ints](), cell[:0]
    for rows in np.split(cell[order], np.flatnonzero(np.diff(part[order])) + 1):
        waiting = np.concatenate([waiting, rows])
        if _is_enough(table, waiting, k):
            parts, waiting = [*parts, waiting], cell[:0]
    if waiting.size:  # what is left over at the end joins the last part
        parts[-1:] = [np.concatenate([*parts[-1:], waiting])]
    yield from parts


def _is_enough(table: RecordTable, cell: Ints, k: int) -> bool:
    weight, least = int(table.weights[cell].sum()), k * table.person
    own = ((one, one.lifted(one.codes[cell], one.top)) for one in table.quasi)
    return weight >= least and hides(own, weight, least, table.person)


def _refined(
    table: RecordTable,
    order: Sequence[QuasiIdentifier],
    views: Sequence[Sequence[str]],
    cell: Ints,
    k: int,
    most: CellLimits,
) -> Iterator[Ints]:
    waiting = [cell]
    while waiting:
        cell = waiting.pop()
        left = None
        people = int(table.weights[cell].sum()) // table.person
        if people > most.people or _most_classes(table, views, cell, people // k) > most.classes:
            for column in order:
                codes, weights, least = column.codes[cell], table.weights[cell], k * table.person
                left = balanced_cut(codes, weights, least) if column.ordered else peeled(codes, weights, least)
                if left is not None and all(_is_enough(table, cell[side], k) for side in (left, ~left)):
                    break
                left = None
        if left is None:
            yield cell
        else:
            waiting += [cell[~left], cell[left]]


def _most_classes(table: RecordTable, views: Sequence[Sequence[str]], cell: Ints, by_people: int) -> int:
    number = 0
    for view in views:
        codes = np.stack([table.column(name).codes[cell] for name in view])
        number += min(by_people, distinct_columns(codes)[0].shape[1])
    return number
