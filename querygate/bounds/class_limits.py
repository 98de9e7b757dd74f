"""How many records of each class of a sensitive column satisfy the conditions on quasi-identifiers.

In a view the classes of a sensitive column are unions of classes of counts. Where a condition cuts through such a
class, the classes of counts inside it still say how many of its members are selected. The boxes of classes in one frame
cell are disjoint, so the members of a class of counts belong to the one class whose box contains theirs. Proof:
docs/explanation/proofs/views-answers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from querygate.bounds.asked_parts import MOST_KEPT, AskedParts
from querygate.bounds.frame_counts import Counted, FrameCounts
from querygate.bounds.group_rows import GroupRows
from querygate.core.block import ALL_NULLS, MISSING, NO_NULLS, SOME_NULLS, Block, NumberColumn, SetColumn
from querygate.core.frozen_classes import frozen
from querygate.core.plan import FetchedGroup, Measure, MeasureCells, Plan, SelectedAmong
from querygate.core.predicate import Predicate, both
from querygate.core.types import Bools, Cells, Ints, Scalar

MOST_CLASSES = 20_000
"""With more classes in a margin, the ends of conditions matter little, and comparing boxes takes long."""

_AT_ONCE = 2**18
"""Groups times classes, or rows, that are computed at once: more would take memory and gain nothing."""

Gather = Callable[[Plan, Block], "list[FetchedGroup]"]
Count = Callable[[Counted, Block, int], FrameCounts]


@frozen
class Nesting:
    """Classes of a margin by rising label, with their sizes; and of classes of counts, by rising label, the position of
    the class that contains each, one past the last if unknown. `is_known` says for which classes all classes of counts
    are found.
    """

    label: Ints
    size: Ints
    is_known: Bools
    inner_label: Ints
    within: Ints

    def places(self, labels: Ints) -> Ints:
        return np.searchsorted(self.label, labels)

    def counted(self, counts: Block) -> Block:
        """Classes of counts, each with the place of the class that it is in for a frame cell."""
        if counts.classified is None:
            raise ValueError("this block was not projected by class")
        within = self.within[np.searchsorted(self.inner_label, counts.classified.label)]
        return replace(counts, frame=within, classified=None)


def nest(coarse: Block, fine: Block) -> Nesting | None:
    """The classes of counts (`fine`) inside those of another margin of the same view; both with all columns of the
    view, one row for each class. None where there are too many, or where nothing is gained.
    """
    if coarse.classified is None or fine.classified is None or coarse.frame is None or fine.frame is None:
        raise ValueError("classes of margins are told apart by label and frame")
    if coarse.size == fine.size or fine.size > MOST_CLASSES:
        return None
    order, inner = np.argsort(coarse.classified.label), np.argsort(fine.classified.label)
    label, inner_label = coarse.classified.label[order], fine.classified.label[inner]
    frame, inner_frame = coarse.frame[order], fine.frame[inner]
    coarse, fine = coarse.take(order), fine.take(inner)
    within = np.full(fine.size, coarse.size)  # in none
    is_known = np.zeros(coarse.size, dtype=np.bool_)
    for cell in np.unique(frame).tolist():
        outer, inside = np.flatnonzero(frame == cell), np.flatnonzero(inner_frame == cell)
        has = _has_inside(coarse.take(outer), fine.take(inside))
        if (has.sum(axis=1) != 1).any() or _overlap(coarse.take(outer)):
            continue
        within[inside] = outer[has.argmax(axis=1)]
        members = np.bincount(has.argmax(axis=1), fine.n[inside], outer.size)
        is_known[outer] = members == coarse.n[outer]
    return Nesting(label, coarse.n, is_known, inner_label, within)


def _has_inside(coarse: Block, fine: Block) -> Bools:
    """Fine rows x coarse rows: does the coarse box contain the fine one?"""
    found: Bools = np.ones((fine.size, coarse.size), dtype=np.bool_)
    for name, outer in coarse.columns.items():
        inner = fine.columns[name]
        if isinstance(outer, NumberColumn) and isinstance(inner, NumberColumn):
            lies = (outer.low <= inner.low[:, None]) & (inner.high[:, None] <= outer.high) & (outer.null != ALL_NULLS)
            null = inner.null[:, None]
            found &= np.where(null == ALL_NULLS, outer.null != NO_NULLS, lies)
            found &= (null != SOME_NULLS) | (outer.null == SOME_NULLS)
        elif isinstance(outer, SetColumn) and isinstance(inner, SetColumn):
            found &= ~(_members(inner) @ ~_members(outer).T)
        else:
            found[:] = False
    return found


def _overlap(block: Block) -> bool:
    """Could somebody be in two of these boxes?"""
    shared: Bools = np.ones((block.size, block.size), dtype=np.bool_)
    for column in block.columns.values():
        if isinstance(column, NumberColumn):
            known, missing = column.null != ALL_NULLS, column.null != NO_NULLS
            meet = (column.low <= column.high[:, None]) & (column.low[:, None] <= column.high)
            shared &= (meet & known & known[:, None]) | (missing & missing[:, None])
        elif isinstance(column, SetColumn):
            shared &= _members(column) @ _members(column).T
    np.fill_diagonal(shared, False)
    return bool(shared.any())


def _members(column: SetColumn) -> Bools:
    """Rows x values, missing first."""
    dictionary = column.dictionary
    table: Bools = np.zeros((dictionary.sizes.size, len(dictionary.values) + 1), dtype=np.bool_)
    table[np.repeat(np.arange(dictionary.sizes.size), dictionary.sizes), dictionary.members - MISSING] = True
    return table[column.sets]


@frozen
class _Meeting:
    """Records that certainly meet something."""

    by_row: Ints
    by_class: Ints


_MEETINGS: WeakKeyDictionary[Block, dict[tuple[Predicate, ...], _Meeting]] = WeakKeyDictionary()
"""The records with values in some columns, cached by block."""


@frozen
class _Totals:
    """By group and class, the least and most records that satisfy the conditions on quasi-identifiers; and by group, or
    once where all groups are alike, the records that certainly satisfy the rest."""

    least: Ints
    most: Ints
    by_row: Ints
    by_class: Ints


class _Narrowed(NamedTuple):
    """Counts of rows, and of the classes of each group."""

    least: Ints
    most: Ints
    among: tuple[Ints, Ints]


@dataclass
class ClassLimits:
    """Limits for the groups of a plan that are read from a block of a margin, `block`, by class. `counts` has the
    columns of the plan that are in `quasi`, as `Nesting.counted` has them; `gather` reads a plan on a block, and
    `count` counts on one by frame cell.
    """

    plan: Plan
    block: Block
    counts: Block
    nesting: Nesting
    quasi: frozenset[str]
    gather: Gather
    count: Count
    _asked: dict[AskedParts, FrameCounts] = field(default_factory=dict)
    _met: dict[AskedParts, dict[tuple[Scalar, ...], _Meeting]] = field(default_factory=dict)

    def narrowed(
        self, groups: Sequence[FetchedGroup], rows: GroupRows, measure: Measure, cells: MeasureCells, part: Block
    ) -> MeasureCells:
        """The cells, narrowed by what is known about the groups and about how many members of each class are selected:
        `rows` are the rows of the groups in a part of the block, spread over groups."""
        if part.classified is None or measure.splits:
            return cells
        least, most, place = cells.least.copy(), cells.most.copy(), np.zeros_like(cells.least)
        told = []
        at_once = max(1, _AT_ONCE // max(1, self.nesting.size.size, self.block.size))
        for first in range(0, len(groups), at_once):
            some = rows.some(first, first + at_once)
            totals = self._totals(groups[first : first + at_once], measure)
            if totals is None:
                return cells
            here, origin = some.rows, part.classified.row[some.rows]
            at = some.of * self.nesting.size.size + self._place[origin]
            narrow = self._limited(totals, some.of, at, origin, (cells.least[here], cells.most[here]))
            least[here], most[here], place[here] = narrow.least, narrow.most, at + first * self.nesting.size.size
            told.append(narrow.among)
        values = tuple(Cells(value.low, value.high, least, most, value.integer) for value in cells.values)
        among = SelectedAmong(place, *(np.concatenate(ends).ravel() for ends in zip(*told, strict=True)))
        return replace(cells, least=least, most=most, values=values, among=among)

    def _limited(self, totals: _Totals, of: Ints, at: Ints, origin: Ints, counts: tuple[Ints, Ints]) -> _Narrowed:
        """Groups have no row in common, so the classes of all groups are computed at once."""
        size, least, most = self.nesting.size, totals.least, totals.most
        now_least, now_most = counts
        met = totals.by_row[of, origin] if len(totals.by_row) > 1 else totals.by_row[0][origin]
        at_least = np.maximum(now_least, met - (size - least).ravel()[at])
        least = np.maximum(least - (size - totals.by_class), 0)
        sums = [np.bincount(at, counts, least.size).astype(np.int64) for counts in (at_least, now_most)]
        at_most = np.minimum(now_most, most.ravel()[at] - (sums[0][at] - at_least))
        at_least = np.maximum(at_least, least.ravel()[at] - (sums[1][at] - now_most))
        if (at_least > at_most).any():
            raise ValueError("margins of this version contradict each other: the store is damaged")
        return _Narrowed(at_least, at_most, (least, most))

    @cached_property
    def _place(self) -> Ints:
        """The class of each row of the block."""
        if self.block.classified is None:
            raise ValueError("this block was not projected by class")
        return self.nesting.places(self.block.classified.label)

    def _totals(self, groups: Sequence[FetchedGroup], measure: Measure) -> _Totals | None:
        """None if there is no condition on quasi-identifiers."""
        asked = AskedParts.of(self.plan, groups[0].chosen, measure.where)
        own = asked.within(self.plan, self.quasi)
        rest = asked.without(own)
        if own.is_nothing:
            return None
        counts, of_rest, size = self._asked.get(own), self._met.get(rest), self.nesting.size.size
        if counts is None:  # classes of counts that are in no known class come after the last
            counts = self.count(Counted(self.plan.keys, own.keys, both(own.parts)), self.counts, 1 + size)
            self._asked[own] = counts
        if of_rest is None:
            of_rest = self._met[rest] = self._by_row(rest)
        least, most = (ends[:, :size] for ends in counts.of([own.keys_of(group) for group in groups]))
        kinds = [of_rest.get(rest.keys_of(group)) or self._nobody for group in (groups if rest.keys else groups[:1])]
        return _Totals(
            np.where(self.nesting.is_known, least, 0),
            np.where(self.nesting.is_known, most, self.nesting.size),
            np.array([met.by_row for met in kinds]),
            np.array([met.by_class for met in kinds]),
        )

    @cached_property
    def _nobody(self) -> _Meeting:
        return _Meeting(np.zeros_like(self.block.n), np.zeros_like(self.nesting.size))

    def _by_row(self, rest: AskedParts) -> dict[tuple[Scalar, ...], _Meeting]:
        if not rest.is_of_all:
            return self._read_by_row(rest)
        kept = _MEETINGS.setdefault(self.block, {})
        met = kept.get(rest.parts)
        if met is None:
            (met,) = self._read_by_row(rest).values()
            if len(kept) < MOST_KEPT:
                kept[rest.parts] = met
        return {rest.keys_of(None): met}

    def _read_by_row(self, rest: AskedParts) -> dict[tuple[Scalar, ...], _Meeting]:
        if rest.is_nothing:
            return {rest.keys_of(None): self._meeting(self.block.n)}
        block = replace(self.block, frame=np.arange(self.block.size), classified=None)
        found = {}
        for group in self.gather(_plan_of(self.plan, rest), block):
            cells, met = group.cells[0], np.zeros_like(self.block.n)
            met[cells.frame] = cells.least
            found[group.keys] = self._meeting(met)
        return found

    def _meeting(self, by_row: Ints) -> _Meeting:
        by_class = np.bincount(self._place, by_row, self.nesting.size.size)
        return _Meeting(by_row, by_class.astype(np.int64))


def _plan_of(plan: Plan, asked: AskedParts) -> Plan:
    return replace(plan, sets=(asked.keys,), measures=(Measure(both(asked.parts)),), aggregates=())
