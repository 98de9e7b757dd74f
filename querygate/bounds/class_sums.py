"""Rows with their classes, for numbers with published class sums.

A class sum includes all members, so the rows that a group cannot select are included too. The row of the projected
block that a row came from distinguishes its parts in different groups.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from querygate.bounds.group_rows import GroupRows
from querygate.bounds.true_intervals import pieces_of
from querygate.core.block import ALL_NULLS, SOME_NULLS, Block, ClassMoments, NumberColumn
from querygate.core.cell_stack import ClassStack
from querygate.core.expression import Ref
from querygate.core.frozen_classes import frozen
from querygate.core.plan import Measure, MeasureCells, Plan
from querygate.core.predicate import Atom, columns, is_not_null, leaves
from querygate.core.types import Bools, Catalog, Cells, ClassCells, Floats, Ints

SUMMED = frozenset(
    {
        "sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "cv", "mean_ci_low", "mean_ci_high", "min",
        "max", "geometric_mean", "harmonic_mean",
    }
)  # fmt: skip
"""The statistics of one column that class sums make sharper. For two columns, and for comparisons of groups, all of
them."""


def summed_columns(plan: Plan) -> frozenset[str]:
    """The columns whose class sums would make an answer sharper."""
    if plan.inner is not None:
        return summed_columns(plan.inner)
    wanted = [a for a in plan.aggregates if a.family in ("pair", "groups") or a.statistic in SUMMED]
    wanted = [a for a in wanted if a.family != "distinct"]
    values = [value for a in wanted for value in plan.measures[a.measure].values]
    return frozenset(value.column for value in values if isinstance(value, Ref))


def moment_columns(plan: Plan, catalog: Catalog) -> frozenset[str]:
    """The columns whose class moments are worth reading: measured ones, and those that a condition may cut inside a
    class with a single interval, whose sum then limits how many members lie beyond a threshold."""
    if plan.inner is not None:
        return moment_columns(plan.inner, catalog)
    told = {column.name: column for column in catalog.columns if column.moments != "none"}
    conditions = (p for measure in plan.measures for p in (measure.where, *measure.splits))
    cutting = (leaf for leaf in leaves(conditions) if isinstance(leaf, Atom) and leaf.column in told)
    cut = {leaf.column for leaf in cutting if leaf != is_not_null(leaf.column)}
    summed = summed_columns(plan)
    return frozenset(name for name in told if name in summed or (name in cut and told[name].shared))


_AT_ONCE = 2**20
"""Groups times rows that are computed at once: more would take memory and gain nothing."""

NOTHING = ClassMoments(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), *np.zeros((4, 0)))
"""For a column without class sums: beside one that has them, its intervals are added up by class too."""


@frozen
class KnownRows:
    """The rows of a block with values of one number, sorted by class label and then by value.

    `number` is the class of each row of the block, among all classes; `order` are the rows that have values, and
    `number_in_order` the classes of these. For each class, `told` has the ends of its sum and variance, and `frame` its
    frame cell, if any.
    """

    classes: int
    number: Ints
    order: Ints
    number_in_order: Ints
    floor: Floats | Ints
    ceiling: Floats | Ints
    size: Ints
    some_missing: Bools
    told: tuple[Floats, Floats, Floats, Floats]
    frame: Ints | None

    @classmethod
    def of(cls, block: Block, name: str) -> KnownRows:
        if block.classified is None:
            raise ValueError("this block was not projected by class")
        column, label = block.number(name), block.classified.label
        labels, number = np.unique(label, return_inverse=True)
        number, order = number.reshape(-1), np.lexsort((column.high, column.low, label))
        order = order[column.null[order] != ALL_NULLS]
        group, floor, ceiling, size = number[order], column.low[order], column.high[order], block.n[order]
        frame = None
        if block.frame is not None:
            frame = np.zeros_like(labels)
            frame[group] = block.frame[order]  # no class crosses a frame cell
        told = _told(block.classified.moments.get(name, NOTHING), labels, floor, ceiling, size, group)
        some_missing = column.null[order] == SOME_NULLS
        return cls(labels.size, number, order, group, floor, ceiling, size, some_missing, told, frame)


_KNOWN: WeakKeyDictionary[Block, dict[str, KnownRows]] = WeakKeyDictionary()
"""Cached by block: statements that differ only in their conditions share them."""


class ClassRows:
    """The rows of a projected block by their class."""

    def __init__(self, block: Block) -> None:
        if block.classified is None:
            raise ValueError("this block was not projected by class")
        self.block, self._moments = block, block.classified.moments
        self._known = _KNOWN.setdefault(block, {})

    def of_values(
        self, measure: Measure, found: MeasureCells, groups: GroupRows, part: Block, *, apart: bool
    ) -> tuple[ClassStack | None, ...]:
        """The classes of groups for each column that a measure uses directly; nothing where no class sum is
        published."""
        names = [value.column if isinstance(value, Ref) else None for value in measure.values]
        if not found.values or not any(name in self._moments for name in names):
            return ()
        return tuple(
            None if name is None else self._of_groups(name, values, found, groups, part, apart)
            for name, values in zip(names, found.values, strict=True)
        )

    def _of_groups(
        self, name: str, values: Cells, found: MeasureCells, groups: GroupRows, part: Block, apart: bool
    ) -> ClassStack | None:
        if part.classified is None:
            return None
        if name not in self._known:
            self._known[name] = KnownRows.of(self.block, name)
        known, stacks = self._known[name], []
        at_once = max(1, _AT_ONCE // max(1, known.classes, self.block.size))
        for first in range(0, groups.number, at_once):
            some = groups.some(first, first + at_once)
            told = _GroupClasses.touched(known, part.classified.row[some.rows], some)
            stacks.append(told.stack(values, found, self.block.number(name).integer, apart))
        return ClassStack.joined(stacks)


@frozen
class _GroupClasses:
    """All members of the classes that groups touch: `every` are places among the known rows, and `group` the class of
    each among those of all groups. Per touched class `classes` is its number and `class_of` its group; `at` is where
    each row of a group is among all these, and `is_told` says for which groups class sums are known.

    They are not where the number of missing values is unknown. In a margin that happens in frame cells where a view
    withholds the column; the classes of other frame cells still add up.
    """

    known: KnownRows
    rows: GroupRows
    every: Ints
    group: Ints
    classes: Ints
    class_of: Ints
    at: Ints
    is_told: Bools

    @classmethod
    def touched(cls, known: KnownRows, origin: Ints, rows: GroupRows) -> _GroupClasses:
        touched = np.zeros((rows.number, known.classes), dtype=np.bool_)
        touched[rows.of, known.number[origin]] = True
        of, every = touched[:, known.number_in_order].nonzero()
        place = np.full((rows.number, known.number.size), -1)
        place[of, known.order[every]] = np.arange(every.size)
        at = place[rows.of, origin]
        is_told = np.bincount(rows.of, minlength=rows.number) > 0
        is_told[rows.of[at < 0]] = False  # a row without a known value, or one twice in a group: no spread block has it
        is_told[of[np.bincount(at[at >= 0], minlength=every.size) > 1]] = False
        if known.frame is None:
            is_told[of[known.some_missing[every]]] = False
        class_of, classes = touched.nonzero()
        group = (np.cumsum(touched) - 1).reshape(touched.shape)[of, known.number_in_order[every]]
        return cls(known, rows, every, group, classes, class_of, at, is_told)

    def stack(self, values: Cells, found: MeasureCells, integer: bool, apart: bool) -> ClassStack:
        """The same for all groups together, with the bounds found for their rows."""
        known, every = self.known, self.every
        floor, ceiling, size = known.floor[every], known.ceiling[every], known.size[every]
        least, most = np.zeros((2, every.size), dtype=size.dtype)
        low, high = floor.copy(), ceiling.copy()
        (placed,) = (self.at >= 0).nonzero()
        at, held = self.at[placed], self.rows.rows[placed]
        least[at], most[at] = found.least[held], found.most[held]
        low[at], high[at] = values.low[held], values.high[held]
        total_least = total_most = None
        if found.among is not None:
            place = np.zeros_like(self.classes)
            place[self.group[at]] = found.among.place[held]
            total_least, total_most = found.among.least[place], found.among.most[place]
        frame = None if known.frame is None else known.frame[self.classes]
        sum_low, sum_high, var_low, var_high = (ends[self.classes] for ends in known.told)
        cells = ClassCells(
            low, high, floor, ceiling, size, least, most, self.group, sum_low, sum_high, var_low, var_high, integer,
            apart, frame, total_least, total_most,
        )  # fmt: skip
        return ClassStack(cells, self.class_of, self.is_told)


def _told(
    moments: ClassMoments, classes: Ints, floor: Floats | Ints, ceiling: Floats | Ints, size: Ints, group: Ints
) -> tuple[Floats, Floats, Floats, Floats]:
    """Ends of sums and variances by class. A class without a published sum has any sum that its intervals allow, and so
    has one with an unknown number of missing values: then `size` may be too large.
    """
    at = moments.places(classes)
    members = np.bincount(group, size, classes.size).astype(np.int64)
    known = (at >= 0) & (moments.n[at] == members) if moments.n.size else at >= 0
    reach = np.bincount(group, size * np.maximum(np.abs(floor), np.abs(ceiling)).astype(np.float64), classes.size)
    margin = 1e-12 * reach  # far more than adding the intervals of a class can lose to rounding
    lowest = np.bincount(group, size * floor.astype(np.float64), classes.size) - margin
    highest = np.bincount(group, size * ceiling.astype(np.float64), classes.size) + margin
    if not known.any():
        nothing = np.full(classes.size, np.nan)
        return lowest, highest, nothing, nothing
    sums = np.where(known, moments.sum_low[at], lowest), np.where(known, moments.sum_high[at], highest)
    return *sums, np.where(known, moments.var_low[at], np.nan), np.where(known, moments.var_high[at], np.nan)


# -- what class sums say, and what ignores them --------------------------------------------------------------------


def undecided(measure: Measure, block: Block) -> frozenset[str]:
    """Numbers with class sums that a condition leaves undecided in some row: which records are selected then depends on
    their values.

    A condition that holds for all values of a row, or for none, does not depend on the class sum.
    """
    open_: set[str] = set()
    for leaf in leaves([measure.where, *measure.splits]):
        names = columns(leaf) & block.told
        if names and not (isinstance(leaf, Atom) and _decides(leaf, block.number(leaf.column))):
            open_ |= names
    return frozenset(open_)


def _decides(atom: Atom, column: NumberColumn) -> bool:
    if atom.true.is_everything:
        return not (column.null == SOME_NULLS).any()
    pieces = pieces_of(atom, column)
    known = column.null != ALL_NULLS
    if pieces is None or not known.any():
        return not (column.null == SOME_NULLS).any()
    decided: Bools = pieces.contain(column.low, column.high) | ~pieces.meet(column.low, column.high)
    return bool(decided[known].all()) and not (column.null == SOME_NULLS).any()
