"""A plan on a block: the cells of every possible group, for every measure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from querygate.bounds.class_limits import ClassLimits
from querygate.bounds.class_sums import ClassRows, undecided
from querygate.bounds.expression_values import expression_bounds, result_places
from querygate.bounds.frame_counts import Counted, FrameCounts
from querygate.bounds.group_rows import GroupRows
from querygate.bounds.group_spread import ExpandedRows
from querygate.bounds.kept_spreads import KeptSpreads
from querygate.bounds.membership import Membership
from querygate.bounds.true_intervals import pieces_of
from querygate.core.block import Block, NumberColumn
from querygate.core.cell_stack import CellStack
from querygate.core.expression import Call, Choice, Constant, Expression, Lookup, Ref, told_key
from querygate.core.frozen_classes import frozen
from querygate.core.plan import FetchedGroup, GroupKey, LeftOut, Measure, MeasureCells, Plan
from querygate.core.predicate import (
    TRUE,
    And,
    Atom,
    Comparison,
    Or,
    Predicate,
    both,
    columns,
    either,
    is_free,
    leaves,
    negate,
)
from querygate.core.types import CALCULABLE, Bools, Cells, Ints, Scalar, SqlValue

_AFFINE = frozenset({"add", "sub", "neg"})

_SPREADS = KeptSpreads()

MOST_AT_ONCE = 2**18
"""Groups times frame cells that are counted at once."""


def gather(
    plan: Plan,
    block: Block,
    check: Callable[[], None] = lambda: None,
    *,
    exists: Bools | None = None,
    limits: ClassLimits | None = None,
    wanted: frozenset[int] | None = None,
) -> list[FetchedGroup]:
    """Groups in the order of their keys, NULL last. A statement without GROUP BY has exactly one group.

    `check` is called now and then; it raises when the statement's time is up. `exists` says which rows certainly
    exist, if rows are groups of an inner query; otherwise all do. `limits` say how many records of classes are
    selected, in a margin. `wanted` are the positions of the measures to compute, if the groups are known already.
    """
    stacks = gather_stacks(plan, block, check, exists=exists, limits=limits, wanted=wanted)
    return [group for each in stacks for group in each.groups_with_cells()]


@frozen
class StackedGroups:
    """Groups, and for each measure of the plan the cells of all of them; None for a measure that is not wanted."""

    groups: tuple[FetchedGroup, ...]
    stacks: tuple[CellStack | None, ...]

    def groups_with_cells(self) -> Iterator[FetchedGroup]:
        parts = [[_UNREAD] * len(self.groups) if stack is None else stack.parts() for stack in self.stacks]
        for group, *cells in zip(self.groups, *parts, strict=True):
            yield FetchedGroup(group.keys, tuple(cells), group.always, group.chosen)


_UNREAD = MeasureCells(*np.zeros((3, 0), dtype=np.int64))
"""For a measure that is not wanted."""


def gather_stacks(
    plan: Plan,
    block: Block,
    check: Callable[[], None] = lambda: None,
    *,
    exists: Bools | None = None,
    limits: ClassLimits | None = None,
    wanted: frozenset[int] | None = None,
) -> list[StackedGroups]:
    """The same with the cells of many groups together: one stack for each grouping set and each combination of the
    values of keys that are choices, so that every block gives the same number."""
    found: list[StackedGroups] = []
    for chosen in plan.sets:
        found += _gather_set(plan, chosen, block, check, exists, limits, wanted)
    return found


def _gather_set(
    plan: Plan,
    chosen: tuple[int, ...],
    block: Block,
    check: Callable[[], None],
    exists: Bools | None,
    limits: ClassLimits | None,
    wanted: frozenset[int] | None,
) -> Iterator[StackedGroups]:
    """The groups of one grouping set."""
    spreading = {i: by for i in chosen if isinstance(by := plan.keys[i].by, Lookup)}
    rows = _SPREADS.get(block, tuple((by, plan.keys[i].values) for i, by in spreading.items()))
    if exists is not None:
        rows = replace(rows, alone=rows.alone & exists[rows.block.number(ROW).low.astype(np.int64)])
    fixed = {i: by.of(chosen) for i in chosen if isinstance(by := plan.keys[i].by, LeftOut)}
    apart_by = [i for i in chosen if i not in fixed]
    total = not any(not isinstance(plan.keys[i].by, Constant) for i in apart_by)  # no key that distinguishes records
    decided, loose = _decided_columns(spreading.values())
    cut = frozenset(by.column for by in spreading.values())
    classes = ClassRows(block) if block.classified is not None else None
    for constants, condition in _cases(plan.keys, [i for i in apart_by if i not in spreading]):
        members = Membership(rows.block, check)
        measures = plan.measures
        if condition != TRUE:
            measures = tuple(replace(m, where=both([m.where, condition])) for m in plan.measures)
        measured = [_cells(measure, rows, members) for measure in measures]
        apart = [False] * len(measures)
        for i in range(len(measures)) if wanted is None else sorted(wanted):
            measure = measures[i]
            is_free = _is_free(measure, decided, loose, rows.block)
            apart[i] = is_free and not _is_tied(measure, cut, rows.block)
            if not apart[i] or _ignores(measure, rows.block):
                measured[i] = replace(measured[i], free=False, solid=False)
        if spreading:
            told = _told(plan.keys, {**fixed, **constants}, spreading, rows.keys)
            there = np.bincount(rows.place, measured[0].most, len(rows.keys)) > 0  # somebody can be there
            found = [
                (FetchedGroup(keys, (), chosen=chosen), own)
                for keys, own, is_there in zip(told, rows.members, there.tolist(), strict=True)
                if is_there
            ]
        else:
            (keys,) = _told(plan.keys, {**fixed, **constants}, (), [()])
            found = [(FetchedGroup(keys, (), total, chosen), rows.members[0])]
            found = [each for each in found if total or measured[0].most[each[1]].any()]
        each = _Measured(plan.measures, measures, measured, apart, wanted)
        yield each.of_groups(found, classes, limits, rows.block)
        check()


def counts_by_frame(
    counted: Counted, block: Block, frames: int, check: Callable[[], None] = lambda: None
) -> FrameCounts:
    """The least and most records of each frame cell in each group, 0 for groups without records. `frames` is the number
    of frame cells.
    """
    plan_keys, chosen, where = counted
    spreading = {i: by for i in chosen if isinstance(by := plan_keys[i].by, Lookup)}
    rows = _SPREADS.get(block, tuple((by, plan_keys[i].values) for i, by in spreading.items()))
    keys: list[tuple[Scalar, ...]] = []
    counts: list[tuple[Ints, Ints]] = []
    for constants, condition in _cases(plan_keys, [i for i in chosen if i not in spreading]):
        asked = where if condition == TRUE else both([where, condition])
        least, most = Membership(rows.block, check).counts(asked)
        for some, *table in _by_group(rows, (least * rows.alone, most), frames, check):
            keys += _told(plan_keys, constants, spreading, some)
            counts.append((table[0], table[1]))
    return FrameCounts.made(keys, counts, frames)


def _by_group(
    rows: ExpandedRows, counts: tuple[Ints, Ints], frames: int, check: Callable[[], None]
) -> Iterator[tuple[Sequence[tuple[int, ...]], Ints, Ints]]:
    """Groups with their counts by frame cell. Many groups are taken one after the other, without the empty ones, since
    all at once would take memory and gain nothing."""
    frame, every = rows.block.frame, len(rows.keys) * frames
    if frame is None:
        raise ValueError("this block does not belong to a margin")
    if every <= MOST_AT_ONCE or len(rows.keys) == 1:
        at = rows.place * frames + frame
        least, most = (np.bincount(at, n, every).astype(np.int64).reshape(len(rows.keys), frames) for n in counts)
        yield rows.keys, least, most
        return
    for key, own in zip(rows.keys, rows.members, strict=True):
        check()
        if counts[1][own].any():
            least, most = (np.bincount(frame[own], n[own], frames).astype(np.int64)[None] for n in counts)
            yield [key], least, most


ROW = "row"
"""The column that numbers the rows of a block of groups."""


def _told(
    keys: Sequence[GroupKey], fixed: Mapping[int, Scalar], spreading: Iterable[int], found: Iterable[Sequence[int]]
) -> Iterator[tuple[Scalar, ...]]:
    """The keys of groups; `found` has the position of each value among those that the key can have."""
    told = [fixed.get(i) for i in range(len(keys))]
    values = [(i, keys[i].values) for i in spreading]
    for places in found:
        for (i, listed), place in zip(values, places, strict=True):
            told[i] = listed[place]
        yield tuple(told)


def _cases(keys: Sequence[GroupKey], places: Sequence[int]) -> Iterator[tuple[dict[int, Scalar], Predicate]]:
    """Every combination of the values of keys that are choices, with the condition that leads to it."""
    if not places:
        yield {}, TRUE
        return
    ways: list[list[tuple[Scalar, Predicate]]] = []
    for i in places:
        by = keys[i].by
        led = isinstance(by, Choice)
        ways.append([(v, _leads_to(by, v) if led else TRUE) for v in keys[i].values])  # type: ignore[arg-type]
    for combination in itertools.product(*ways):
        told = {i: value for i, (value, _) in zip(places, combination, strict=True)}
        yield told, both(condition for _, condition in combination)


def _leads_to(by: Choice, value: Scalar) -> Predicate:
    return either(way for way, result in by.ways if isinstance(result, Constant) and told_key(result.value) == value)


# -- the cells of a measure ----------------------------------------------------------------------------------------


def _cells(measure: Measure, rows: ExpandedRows, members: Membership) -> MeasureCells:
    """Count bounds and values of one measure, a cell per row of the spread block."""
    least, most = members.counts(measure.where)
    least = least * rows.alone
    sets: tuple[frozenset[int], ...] = ()
    ends, solid = [], True
    for value in measure.values:
        if value.type not in CALCULABLE:
            sets = _value_sets(value, rows.block)
            continue
        ends.append(expression_bounds(value, members, measure.where))
        solid = solid and _is_solid(value, measure.where, members, most)
    for low, high in ends:
        possible = low <= high
        if not possible.all():
            least, most = np.where(possible, least, 0), np.where(possible, most, 0)
    values = tuple(Cells(low, high, least, most, integer=low.dtype.kind == "i") for low, high in ends)
    splits = tuple(_split(measure.where, condition, rows, members) for condition in measure.splits)
    return MeasureCells(rows.block.n, least, most, values, sets, splits, solid=solid, frame=rows.block.frame)


def _split(
    where: Predicate, condition: Predicate, rows: ExpandedRows, members: Membership
) -> tuple[Ints, Ints, Ints, Ints]:
    found = []
    for side in (condition, negate(condition)):
        least, most = members.counts(both([where, side]))
        found += [np.where(rows.alone, least, 0), most]
    return (found[0], found[1], found[2], found[3])


def _value_sets(e: Expression, block: Block) -> tuple[frozenset[int], ...]:
    """The results, by number, that each row's category may have; NULL is not among them."""
    column = block.category(e.columns[0])
    values = column.dictionary.values
    table = e if isinstance(e, Lookup) else Lookup.over_values(e.columns[0], e.type, values, (*values, None))
    number: dict[SqlValue, int] = {result: i for i, result in enumerate(dict.fromkeys(table.results))}
    number[None] = -1
    ids = np.array([number[result] for result in table.results], dtype=np.int64)
    members = ids[result_places(table, values)][column.dictionary.members].tolist()
    starts = column.dictionary.starts.tolist()
    by_set = [frozenset(members[a:b]) - {-1} for a, b in itertools.pairwise(starts)]
    return tuple(by_set[s] for s in column.sets.tolist())


def _decided_columns(keys: Iterable[Lookup]) -> tuple[frozenset[str], frozenset[str]]:
    """Columns whose value a key determines, and columns that a key cuts into several pieces."""
    decided, loose = set(), set()
    for by in keys:
        one_to_one = len(set(by.results)) == len(by.results)
        if by.of_category and one_to_one:
            decided.add(by.column)
        elif by.of_category or not one_to_one:
            loose.add(by.column)
    return frozenset(decided), frozenset(loose)


def _is_free(measure: Measure, decided: frozenset[str], loose: frozenset[str], block: Block) -> bool:
    """Bounds are sharp only if each column occurs once and nothing but intervals is known about the values.

    A value may use a column of the condition if the condition clips it in a separate atom.
    """
    names = [name for value in measure.values for name in value.columns]
    if loose & (columns(measure.where) | frozenset(names)):
        return False
    for name in names:
        column = block.columns[name]
        if isinstance(column, NumberColumn) and column.tight:
            return False
    if measure.splits and not _are_apart([columns(measure.where) | set(names), *map(columns, measure.splits)]):
        return False
    if len(set(names)) < len(names) or not all(is_free(split) for split in measure.splits):
        return False
    alone = all(isinstance(value, Ref | Lookup) or _is_monotone(value) for value in measure.values)
    exact = not any(_is_rounded(part) for part in leaves([measure.where, *measure.splits]))
    return exact and alone and is_free(measure.where, decided) and _decides(measure.where, set(names))


def _is_rounded(p: Predicate) -> bool:
    """A comparison of doubles that were calculated: ends moved outwards may leave open what is decided."""
    if not isinstance(p, Comparison):
        return False
    return any(isinstance(side, Call | Choice) and side.type == "number" for side in (p.left, p.right))


def _decides(where: Predicate, names: set[str]) -> bool:
    """Whether the condition restricts these columns only by atoms of its top-level AND, so that clipping is exact."""
    if not names & columns(where):
        return True
    parts = where.parts if isinstance(where, And) else (where,)
    return all(isinstance(part, Atom) or not names & columns(part) for part in parts) and not isinstance(where, Or)


def _are_apart(sets: Sequence[frozenset[str]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))


def _is_monotone(e: Expression) -> bool:
    """Whether every function in the tree reaches the ends of its hull at ends of its arguments."""
    match e:
        case Choice() | Call(name="single" | "decimal"):
            return False
        case Call(arguments=arguments):
            return all(_is_monotone(argument) for argument in arguments)
    return True


def _is_solid(e: Expression, where: Predicate, members: Membership, most: Ints) -> bool:
    """Whether every value between the ends is possible too: the column itself, or moved, in one piece."""
    if isinstance(e, Call):
        whole = e.name in _AFFINE and sum(bool(a.columns) for a in e.arguments) == 1
        return whole and all(_is_solid(a, where, members, most) for a in e.arguments if a.columns)
    if not isinstance(e, Ref):
        return False
    column = members.block.number(e.column)
    for part in where.parts if isinstance(where, And) else (where,):
        if isinstance(part, Atom) and part.column == e.column and not part.true.is_everything:
            pieces = pieces_of(part, column)
            if pieces is None:
                return True
            low, high = pieces.clip(column.low, column.high)
            if not (pieces.contain(low, high) | (low > high) | (most == 0)).all():
                return False
    return True


def _ignores(measure: Measure, block: Block) -> bool:
    """Whether more is published about the values than intervals and counts: class sums."""
    return any(name in block.told for value in measure.values for name in value.columns)


def _is_tied(measure: Measure, cut: frozenset[str], block: Block) -> bool:
    """Whether the selection depends on a column with class sums."""
    return bool(block.told) and (not block.told.isdisjoint(cut) or bool(undecided(measure, block)))


@frozen
class _Measured:
    """Measures as they were asked for, with the condition of a case, and their cells in a spread block; `apart` is as
    in `ClassCells`, and `wanted` are the places of those that are read (None: all)."""

    asked: Sequence[Measure]
    measures: Sequence[Measure]
    cells: Sequence[MeasureCells]
    apart: Sequence[bool]
    wanted: frozenset[int] | None

    def of_groups(
        self,
        found: Sequence[tuple[FetchedGroup, Ints]],
        classes: ClassRows | None,
        limits: ClassLimits | None,
        block: Block,
    ) -> StackedGroups:
        """The cells of groups, with class sums where a measure uses a column that has them."""
        groups = tuple(group for group, _ in found)
        if not groups:
            return StackedGroups((), (None,) * len(self.cells))
        rows = GroupRows.joined([own for _, own in found])
        stacks: list[CellStack | None] = []
        for i, (asked, measure, cells) in enumerate(zip(self.asked, self.measures, self.cells, strict=True)):
            if self.wanted is not None and i not in self.wanted:
                stacks.append(None)
                continue
            held = rows.held(cells.most)
            if limits is not None:
                cells = limits.narrowed(groups, held, asked, cells, block)
                held = held.held(cells.most)
            told = () if classes is None else classes.of_values(measure, cells, held, block, apart=self.apart[i])
            stacks.append(CellStack(cells.take(held.rows), held.of, held.number, told))
        return self._possible(StackedGroups(groups, tuple(stacks)))

    def _possible(self, found: StackedGroups) -> StackedGroups:
        """The groups that may have records, unless the caller knows them already."""
        if self.wanted is not None or found.stacks[0] is None:
            return found
        is_there = found.stacks[0].has_any().tolist()
        kept = [i for i, group in enumerate(found.groups) if group.always or is_there[i]]
        if len(kept) == len(found.groups):
            return found
        stacks = tuple(None if stack is None or not kept else stack.take(kept) for stack in found.stacks)
        return StackedGroups(tuple(found.groups[i] for i in kept), stacks)
