"""Frame cells as they are published: classes and figures of every margin, as the physical columns of the store.

In a frame cell, each margin (a view's counts, or one unit of sensitive columns in it) has classes with their boxes, and
cells of a class and a bin. A view that is silent on a unit has its classes of counts there, with any value of the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.types import Bools, Column, Ints, Margin
from querygate.custody.policy import Policy
from querygate.custody.policy.view_rules import value_unit
from querygate.custody.publish.step_state import PublicationState
from querygate.custody.publish.view_records import FrameRecords, Unit, UnitBins, rules_of, tells_sums, units_of
from querygate.methods.views import NULL, CellRelease, ClassFigures, QuasiIdentifier, RecordTable
from querygate.methods.views.frontier import Frontier

ANYTHING = -2
"""Instead of a code: nothing is published, so any value of the domain is possible, or none."""


@dataclass(frozen=True)
class Box:
    """The published codes of a quasi-identifier for each class, in ascending order: those of class c are
    codes[starts[c] : starts[c + 1]]. For a number these are only the smallest and largest; for a category with a
    hierarchy, all codes under the nodes that occur; otherwise the codes that occur.
    """

    starts: Ints
    codes: Ints
    missing: Bools

    @classmethod
    def of(cls, quasi: QuasiIdentifier, records: Ints, label: Ints, heights: Ints | None = None) -> Box:
        """The box of each class; NULL is separate. `heights` are those of the nodes of a class."""
        classes, size = int(label.max()) + 1, quasi.size + 1
        held, codes = np.divmod(np.unique(label * size + quasi.codes[records] + 1), size)
        missing = np.zeros(classes, dtype=np.bool_)
        missing[held[codes == 0]] = True
        held, codes = held[codes > 0], codes[codes > 0] - 1
        if quasi.ordered:
            is_end = np.append(True, held[1:] != held[:-1]) | np.append(held[1:] != held[:-1], True)
            held, codes = held[is_end[: held.size]], codes[is_end[: held.size]]
        if quasi.levels and heights is not None:
            held, codes = _under_nodes(quasi, held, codes, heights)
        return cls(np.searchsorted(held, np.arange(classes + 1)), codes, missing)

    @property
    def some(self) -> Bools:
        """Classes that have values."""
        found: Bools = np.diff(self.starts) > 0
        return found

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The smallest and largest code of each class; 0 if it has none."""
        if not self.codes.size:
            nothing = np.zeros(self.missing.size, dtype=np.int64)
            return nothing, nothing
        last = self.codes.size - 1
        first, final = np.minimum(self.starts[:-1], last), np.maximum(self.starts[1:] - 1, 0)
        return np.where(self.some, self.codes[first], 0), np.where(self.some, self.codes[final], 0)


def _under_nodes(quasi: QuasiIdentifier, held: Ints, codes: Ints, heights: Ints) -> tuple[Ints, Ints]:
    """Pairs of a class and a code, with all codes under the same nodes; in order."""
    parts = [np.stack([held, codes])[:, heights[held] == 0]]
    for height in range(1, quasi.top + 1):
        here, level = heights[held] == height, quasi.levels[height - 1]
        nodes = int(level.max()) + 1
        pairs = np.unique(held[here] * nodes + level[codes[here]])
        order = np.argsort(level, kind="stable")
        begin, end = (np.searchsorted(level[order], pairs % nodes, side=side) for side in ("left", "right"))
        under = np.repeat(begin - np.cumsum(end - begin) + (end - begin), end - begin) + np.arange((end - begin).sum())
        parts.append(np.stack([np.repeat(pairs // nodes, end - begin), order[under]]))
    found = np.concatenate(parts, axis=1)
    found = found[:, np.lexsort((found[1], found[0]))]
    return found[0], found[1]


@dataclass(frozen=True)
class ClassSums:
    """What is published of the sums of one number, by class: the number of known values, and the ends of the cell that
    holds the sum."""

    column: str
    known: Ints
    low: Ints
    high: Ints


@dataclass(frozen=True)
class MarginCells:
    """One margin in one frame cell. `label` is the class of each cell, `codes` are those of the unit's columns."""

    boxes: Mapping[str, Box]
    label: Ints
    n: Ints
    codes: Mapping[str, Ints]
    sums: tuple[ClassSums, ...] = ()

    @property
    def classes(self) -> int:
        return int(self.label.max()) + 1


def margins_of(state: PublicationState) -> tuple[Margin, ...]:
    """The counts of each view, followed by its units."""
    units = [tuple(column.name for column in unit.columns) for unit in units_of(state.policy)]
    views = enumerate(rules_of(state.policy).told)
    return tuple(Margin(place, view, unit) for place, view in views for unit in [(), *units])


# -- one frame cell -----------------------------------------------------------------------------------------------


def margin_cells(
    state: PublicationState, records: FrameRecords, units: Sequence[Unit], made: CellRelease
) -> list[MarginCells]:
    """All margins of a frame cell, in the order of the catalog."""
    found = []
    for view in range(len(made.counts)):
        label = made.counts[view].of(made.leaf[view])
        boxes = _boxes(records.table, state.policy, view, made.counts[view], made)
        n = np.bincount(label)
        classes = np.arange(n.size)
        found.append(MarginCells(boxes, classes, n, {}))
        for place, unit in enumerate(units):
            told = next((figures for figures in made.columns[place].figures if figures.view == view), None)
            frontier = made.frontier(view, unit.name)
            if told is None or frontier is None:
                anything = {column.name: np.full(n.size, ANYTHING) for column in unit.columns}
                found.append(MarginCells(boxes, classes, n, anything))
            else:
                own_boxes = _boxes(records.table, state.policy, view, frontier, made)
                found.append(_told(state, unit, records.bins[place], told, own_boxes))
    return found


def _boxes(table: RecordTable, policy: Policy, view: int, frontier: Frontier, made: CellRelease) -> dict[str, Box]:
    """Columns of the frame that the view does not divide have no height, since they are not hierarchies."""
    rules, label = rules_of(policy), frontier.of(made.leaf[view])
    told = np.zeros((0, 0)) if frontier.tree.heights is None else frontier.tree.heights[frontier.nodes].T
    heights = dict(zip(rules.views[view], told, strict=False))
    return {name: Box.of(table.column(name), made.records, label, heights.get(name)) for name in rules.told[view]}


def _told(
    state: PublicationState, unit: Unit, bins: UnitBins, figures: ClassFigures, boxes: Mapping[str, Box]
) -> MarginCells:
    histogram = figures.histogram[:, :-1]  # missing values are among the bins
    label, held = np.nonzero(histogram)
    codes = {column.name: own[held] for column, own in zip(unit.columns, bins.codes, strict=True)}
    sums = []
    numbers = [(c, own) for c, own in zip(unit.columns, bins.codes, strict=True) if c.is_numeric]
    for place, (column, own) in enumerate(numbers):
        if tells_sums(state, column):
            known = histogram[:, own >= 0].sum(axis=1)
            sums.append(ClassSums(column.name, known, figures.sum_low[place], figures.sum_high[place]))
    return MarginCells(boxes, label, histogram[label, held], codes, tuple(sums))


# -- all of them, as the tables of the store -----------------------------------------------------------------------


@dataclass
class _Parts:
    """One physical column in pieces; None stands for cells without it."""

    kind: pa.DataType
    pieces: list[pa.Array] = field(default_factory=list)

    def add(self, values: Any, missing: Bools | None = None) -> None:
        self.pieces.append(pa.array(values, mask=missing).cast(self.kind))

    def skip(self, cells: int) -> None:
        self.pieces.append(pa.nulls(cells, self.kind))


class ViewTables:
    """Margins of frame cells, added in order, as the physical columns of the store."""

    def __init__(self, state: PublicationState, columns: Sequence[Column]) -> None:
        self._state, self._columns = state, {column.name: column for column in columns}
        self._margins = margins_of(state)
        self._parts: dict[str, _Parts] = {
            **{name: _Parts(pa.int32()) for name in ("margin", "frame")},
            **{name: _Parts(pa.int64()) for name in ("class", "class_n", "n")},
            **{name: _Parts(kind) for column in columns for name, kind in _physical(column)},
        }
        self._sets: dict[str, dict[tuple[int, ...], int]] = {c.name: {} for c in columns if not c.is_numeric}
        self._members = {column.name: self._values_of_codes(column) for column in columns if not column.is_numeric}
        self._known: dict[tuple[str, bytes, bool], int] = {}  # codes of a category: their set
        self._sums: list[tuple[Ints, ...]] = []
        self.classes = self.cells = 0

    def add(self, frame: int, margins: Iterable[MarginCells]) -> None:
        for place, one in enumerate(margins):
            label, size = one.label, np.bincount(one.label, one.n).astype(np.int64)
            cells = label.size
            for name, values in (
                *(("margin", np.full(cells, place)), ("frame", np.full(cells, frame))),
                *(("class", label + self.classes), ("class_n", size[label]), ("n", one.n)),
            ):
                self._parts[name].add(values)
            for column in self._columns.values():
                if column.name in one.boxes:
                    self._put_box(column, one.boxes[column.name], label)
                elif column.name in one.codes:
                    self._put_codes(column, one.codes[column.name])
                else:
                    for name, _ in _physical(column):
                        self._parts[name].skip(cells)
            self._put_sums(one.sums)
            self.classes, self.cells = self.classes + one.classes, self.cells + cells

    def _put_box(self, column: Column, box: Box, label: Ints) -> None:
        if column.is_numeric:
            low, high = box.ends
            nulls = np.where(box.some, np.where(box.missing, 1, 0), 2)
            self._put_ends(column, low[label], high[label], nulls[label])
            return
        ids = []
        for held, gone in zip(np.split(box.codes, box.starts[1:-1]), box.missing.tolist(), strict=True):
            key = column.name, held.tobytes(), gone
            if key not in self._known:
                values = [value for code in held.tolist() for value in self._members[column.name][code]]
                self._known[key] = self._set(column, [NULL] * gone + values)
            ids.append(self._known[key])
        self._parts[f"c{column.index}_set"].add(np.array(ids)[label])

    def _put_codes(self, column: Column, codes: Ints) -> None:
        if column.is_numeric:
            nulls = np.where(codes == NULL, 2, np.where(codes == ANYTHING, int(column.nullable), 0))
            self._put_ends(column, codes, codes, nulls)
            return
        values, place = np.unique(codes, return_inverse=True)
        ids = np.array([self._set(column, self._meant(column, int(code))) for code in values])
        self._parts[f"c{column.index}_set"].add(ids[place.reshape(-1)])

    def _meant(self, column: Column, code: int) -> list[int]:
        """The values of a category that a code stands for."""
        return [*([NULL] if column.nullable else []), *range(len(column.values))] if code == ANYTHING else [code]

    def _put_ends(self, column: Column, low: Ints, high: Ints, nulls: Ints) -> None:
        numbers, known = self._state.numbers[column.name], nulls != 2
        for name, ends, code, whole in (
            ("lo", numbers.low, low, column.low or 0),
            ("hi", numbers.high, high, column.high or 0),
        ):
            values = np.where(code == ANYTHING, whole, ends[np.maximum(code, 0)])
            self._parts[f"c{column.index}_{name}"].add(np.where(known, values, 0), ~known)
        if column.nullable:
            self._parts[f"c{column.index}_null"].add(nulls)

    def _put_sums(self, sums: Iterable[ClassSums]) -> None:
        for one in sums:
            told = np.flatnonzero(one.known)
            unit = value_unit(self._state.policy.column(one.column))
            # Values were rounded down to whole units: each may be up to one more.
            more = one.known[told] if unit != 1 else 0
            index = np.full(told.size, self._columns[one.column].index)
            ends = _outward(one.low[told], unit, -np.inf), _outward(one.high[told] + more, unit, np.inf)
            self._sums.append((index, told + self.classes, one.known[told], *ends))

    def _values_of_codes(self, column: Column) -> list[list[int]]:
        """The values that each code of a quasi-identifying category stands for."""
        policy = self._state.policy.column(column.name)
        place = {text: i for i, text in enumerate(column.values)}
        return [sorted(place[v] for v in group) for group in policy.groups] or [[i] for i in range(len(column.values))]

    def _set(self, column: Column, values: Iterable[int]) -> int:
        known = self._sets[column.name]
        return known.setdefault(tuple(sorted(values)), len(known))

    def tables(self) -> dict[str, pa.Table]:
        """Cells, members of value sets, and sums of classes."""
        members = [
            (self._columns[name].index, number, value, len(values) == 1)
            for name, sets in self._sets.items()
            for values, number in sets.items()
            for value in values
        ]
        found = {
            "cells": pa.table({name: pa.chunked_array(part.pieces, part.kind) for name, part in self._parts.items()}),
            "set_value": pa.table(
                {
                    name: pa.array([row[i] for row in members], kind)
                    for i, (name, kind) in enumerate(
                        (
                            *(("column_id", pa.int32()), ("set_id", pa.int32())),
                            *(("value_id", pa.int32()), ("alone", pa.bool_())),
                        )
                    )
                }
            ),
        }
        return found | ({"class_moment": self._moments()} if self._tells_sums else {})

    @property
    def _tells_sums(self) -> bool:
        return any(column.moments != "none" for column in self._columns.values())

    def _moments(self) -> pa.Table:
        names = ("column_id", "class", "n", "sum_lo", "sum_hi")
        kinds = (pa.int32(), pa.int64(), pa.int64(), pa.float64(), pa.float64())
        found = [np.concatenate(part) for part in zip(*self._sums, strict=True)] if self._sums else [np.zeros(0)] * 5
        told = {n: pa.array(values).cast(kind) for n, values, kind in zip(names, found, kinds, strict=True)}
        return pa.table({**told, **{name: pa.nulls(len(found[0]), pa.float64()) for name in ("var_lo", "var_hi")}})


def _physical(column: Column) -> tuple[tuple[str, pa.DataType], ...]:
    stem = f"c{column.index}"
    if not column.is_numeric:
        return ((f"{stem}_set", pa.int32()),)
    kind = pa.int64() if column.is_discrete else pa.float64()
    return ((f"{stem}_lo", kind), (f"{stem}_hi", kind), *(((f"{stem}_null", pa.int8()),) if column.nullable else ()))


def _outward(units: Ints, unit: int | float, way: float) -> Any:
    """A number of units as doubles, rounded outward."""
    values = units.astype(np.float64) * float(unit)
    is_exact = np.abs(units) < 2**53
    return np.where(is_exact, values, np.nextafter(values, way))
