"""The cells that a plan is answered from, and the ranges of its aggregates in every group.

A version with classes over all columns has one block for a plan. One that is published as views has a sheet for each
choice of margins: the aggregates that they tell of, and a block of each margin. What a range says must hold in each of
them, so ranges are met; and a group that one of them excludes is not there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from querygate.bounds import (
    ClassLimits,
    Counted,
    FrameCounts,
    JointLimits,
    Nesting,
    StackedGroups,
    counts_by_frame,
    gather,
    gather_stacks,
    moment_columns,
    nest,
    read_stacks,
)
from querygate.core.block import Block
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Choice, Lookup
from querygate.core.frozen_classes import frozen
from querygate.core.margin_choice import choose_margins, part_of
from querygate.core.plan import FetchedGroup, LeftOut, Measure, Plan
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.predicate import Predicate
from querygate.core.types import Bools, Ints, Range, Scalar
from querygate.gate.range_intersection import MeasuredGroups, met_count, met_ranges

Sets: TypeAlias = tuple[tuple[int, ...], ...]

MOST_RANGES = 500_000
"""Groups times statistics in one answer."""

AT_ONCE = 32
"""Groups that are read at once: more would take memory and gain little."""


def too_large() -> UnsupportedSQL:
    return UnsupportedSQL("QG212", "The answer would be too large.", "Use fewer groups or fewer columns per statement.")


@frozen
class InsideCounts:
    """Classes of counts with the columns of a plan, and which classes of a margin they are in, as frame cells too."""

    block: Block
    nesting: Nesting
    quasi: frozenset[str]


_NESTED: WeakKeyDictionary[PublishedVersion, dict[int, Nesting | None]] = WeakKeyDictionary()
"""By version and margin; a version never changes."""

_INSIDE: WeakKeyDictionary[Block, dict[int, InsideCounts]] = WeakKeyDictionary()
"""By the block of counts, for as long as the version keeps it, and the margin."""


@frozen
class Sheet:
    """Aggregates of a plan, by their places in it, and the blocks that tell of them: the plan without the others.

    Of margins, `known` are the columns of each; a block that is no margin's has all. `around` are blocks of margins
    that have fewer of the plan's columns, with these, and limit how many records there are. `inside` are for each block
    the classes of counts inside its classes, where they say more.
    """

    plan: Plan
    places: tuple[int, ...]
    blocks: tuple[Block, ...]
    known: tuple[frozenset[str], ...] = ()
    around: tuple[tuple[Block, frozenset[str]], ...] = ()
    inside: tuple[InsideCounts | None, ...] = ()

    @classmethod
    def whole(cls, plan: Plan, block: Block) -> Sheet:
        """One block for the whole of a plan, or of its innermost one."""
        while plan.inner is not None:
            plan = plan.inner
        return cls(_without_totals(plan), tuple(range(len(plan.aggregates))), (block,))


def _without_totals(plan: Plan) -> Plan:
    """One block tells all of a table at once, so that its counts need not be read by themselves."""
    if not any(aggregate.family == "table" for aggregate in plan.aggregates):
        return plan
    alone = (replace(one, sides=()) if one.family == "table" else one for one in plan.aggregates)
    return part_of(replace(plan, aggregates=tuple(alone)), range(len(plan.aggregates)))


@frozen
class RangedGroup:
    """A possible group: the range of each aggregate in case it is there, and of the number of its records; of a group
    of groups, how many records these may have.
    """

    keys: tuple[Scalar, ...]
    chosen: tuple[int, ...]
    always: bool
    ranges: tuple[Range, ...]
    count: Range
    holds: int | None = None


def fetch_sheets(plan: Plan, release: PublishedVersion, limits: Limits) -> tuple[Sheet, ...]:
    """What the records of a plan, or of its innermost one, are read from."""
    catalog = release.catalog
    if not catalog.margins:
        return (Sheet.whole(plan, release.project(plan.columns, limits, moment_columns(plan, catalog))),)
    sheets = []
    for choice in choose_margins(plan, catalog):
        names, moments = choice.columns, moment_columns(choice.plan, catalog)
        inside = tuple(_inside(names, margin, release, limits) for margin in choice.margins)
        blocks = tuple(
            release.project(names, limits, moments, margin, by_class=one is not None)
            for margin, one in zip(choice.margins, inside, strict=True)
        )
        known = tuple(catalog.margins[margin].columns for margin in choice.margins)
        held = [catalog.margins[margin].columns for margin in choice.around]
        around = tuple(  # of these columns alone, for the first sheet counts the same block
            (release.project(names & own, limits, (), margin), own)
            for margin, own in zip(choice.around, held, strict=True)
        )
        sheets.append(Sheet(choice.plan, choice.places, blocks, known, around, inside))
    return tuple(sheets)


def _inside(names: frozenset[str], margin: int, release: PublishedVersion, limits: Limits) -> InsideCounts | None:
    """The classes of counts inside those of a margin of a sensitive column; None where they say no more."""
    margins = release.catalog.margins
    own = margins[margin]
    quasi = frozenset(own.quasi)
    asked = names & quasi
    if not own.sensitive or not asked:
        return None
    counts = next((i for i, one in enumerate(margins) if not one.sensitive and frozenset(one.quasi) == quasi), None)
    if counts is None:
        return None
    known = _NESTED.setdefault(release, {})
    if margin not in known:
        coarse, fine = (release.project(quasi, limits, (), i, by_class=True) for i in (margin, counts))
        known[margin] = nest(coarse, fine)
    nesting = known[margin]
    if nesting is None:
        return None
    block = release.project(asked, limits, (), counts, by_class=True)
    inside = _INSIDE.setdefault(block, {})
    if margin not in inside:
        inside[margin] = InsideCounts(nesting.counted(block), nesting, quasi)
    return inside[margin]


def range_groups(
    plan: Plan, sheets: Sequence[Sheet], check: Callable[[], None], *, exists: Bools | None = None
) -> list[RangedGroup]:
    """Ranges for every group that can be there. The first sheet counts the groups; `exists` is as in `gather`."""
    once = _Gathered(check)
    counted = _CountedGroups.of(sheets[0], once) if exists is None and len(sheets) > 1 else None
    if counted is not None:
        sheets = sheets[1:]
    read_sheets = [_ReadSheet(sheet, once, exists, counts=counted is None and sheet is sheets[0]) for sheet in sheets]
    groups = counted.groups if counted is not None else read_sheets[0].groups
    groups = [group for group in groups if all(sheet.has(group) for sheet in read_sheets)]
    if len(groups) * len(plan.aggregates) > MOST_RANGES:
        raise too_large()
    found: list[RangedGroup] = []
    left = len(groups) * len(plan.aggregates)
    for some in _at_once(groups, read_sheets):
        measured = [sheet.readings(some) for sheet in read_sheets]
        if counted is not None:
            counts = counted.counts(some)
        else:
            counts = [met_count(measured[0].of(0, i)) for i in range(len(some))]
        # Nobody is in some groups: in each frame cell another margin says so.
        there = [i for i, group in enumerate(some) if counts[i].high != 0 or group.always]
        ranges: dict[int, list[Range]] = {}
        for sheet, readings in zip(sheets, measured, strict=True):
            for place, aggregate in zip(sheet.places, sheet.plan.aggregates, strict=True):
                ranges[place] = met_ranges(aggregate, readings, there, left - len(ranges) * len(there), check)
        left -= len(some) * len(plan.aggregates)
        in_order = [ranges[place] for place in range(len(plan.aggregates))]
        for of_group, i in enumerate(there):
            own = tuple(of_aggregate[of_group] for of_aggregate in in_order)
            found.append(RangedGroup(some[i].keys, some[i].chosen, some[i].always, own, counts[i]))
    return found


def _at_once(groups: Sequence[FetchedGroup], sheets: Sequence[_ReadSheet]) -> Iterator[list[FetchedGroup]]:
    """Groups whose cells are together in every sheet, not too many at once."""
    for _, together in itertools.groupby(groups, sheets[0].stack_of if sheets else lambda group: 0):
        rest = list(together)
        yield from (rest[first : first + AT_ONCE] for first in range(0, len(rest), AT_ONCE))


class _Gathered:
    """Plans read on blocks, once each: several sheets of one statement ask the same of the same counts."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self._known: dict[tuple[Block, Sets, tuple[Measure, ...]], list[FetchedGroup]] = {}
        self._counted: dict[tuple[Block, tuple[int, ...], Predicate, int], FrameCounts] = {}

    def gather(self, plan: Plan, block: Block) -> list[FetchedGroup]:
        """The keys are the same in all of them."""
        at = (block, plan.sets, plan.measures)
        if at not in self._known:
            self._known[at] = gather(plan, block, self.check)
        return self._known[at]

    def count(self, counted: Counted, block: Block, frames: int) -> FrameCounts:
        """As `counts_by_frame` does."""
        at = (block, counted.chosen, counted.where, frames)
        found = self._counted.get(at)
        if found is None:
            found = self._counted[at] = counts_by_frame(counted, block, frames, self.check)
        return found

    def stacks(
        self, plan: Plan, block: Block, counts: InsideCounts | None, exists: Bools | None, wanted: frozenset[int] | None
    ) -> list[StackedGroups]:
        """With what classes of counts inside those of the block say."""
        inside = None if counts is None else (counts.block, counts.nesting, counts.quasi)
        limits = None if inside is None else ClassLimits(plan, block, *inside, self.gather, self.count)
        return gather_stacks(plan, block, self.check, exists=exists, limits=limits, wanted=wanted)


class _CountedGroups:
    """The groups of a sheet of margins that counts them and asks for nothing else: numbers of records by frame cell say
    all that cells would."""

    def __init__(self, sheet: Sheet, once: _Gathered) -> None:
        plan, counted = sheet.plan, Counted.of(sheet.plan)
        chosen = counted.chosen
        is_total = not any(isinstance(plan.keys[i].by, Lookup | Choice) for i in chosen)
        frames = 1 + max(int(block.frame.max(initial=-1)) for block in sheet.blocks if block.frame is not None)
        self._told = [once.count(counted, block, frames) for block in sheet.blocks]
        self._measure, self._limits = plan.measures[0], None
        if len(sheet.blocks) > 1:
            self._limits = JointLimits(plan, sheet.blocks, sheet.known, len(sheet.blocks), once.count, once.check)
        every = list(self._told[0].rows)
        there = np.logical_and.reduce([told.of(every)[1].any(axis=1) for told in self._told])
        self.groups = [
            FetchedGroup(keys, (), is_total, chosen)
            for keys, is_there in zip(every, there.tolist(), strict=True)
            if is_total or is_there
        ]

    @classmethod
    def of(cls, sheet: Sheet, once: _Gathered) -> _CountedGroups | None:
        """None where there is more to it than counting."""
        plain = len(sheet.plan.sets) == 1 and not any(isinstance(key.by, LeftOut) for key in sheet.plan.keys)
        return cls(sheet, once) if plain and sheet.known and not sheet.around and not sheet.places else None

    def counts(self, groups: Sequence[FetchedGroup]) -> list[Range]:
        """How many records each of them has, by all margins together."""
        limits = None if self._limits is None else self._limits.of(groups, self._measure)
        keys = [group.keys for group in groups]
        told = [each.of(keys) for each in self._told] + ([] if limits is None else [limits])
        least, most = np.maximum.reduce([low for low, _ in told]), np.minimum.reduce([high for _, high in told])
        if (least > most).any():
            raise ValueError("margins of this version contradict each other: the store is damaged")
        ends = zip(least.sum(axis=1).tolist(), most.sum(axis=1).tolist(), strict=True)
        return [Range.exact(low) if low == high else Range(low, high, sharp=False) for low, high in ends]


class _ReadSheet:
    """The groups of a sheet in each of its blocks."""

    def __init__(self, sheet: Sheet, once: _Gathered, exists: Bools | None, *, counts: bool) -> None:
        self._plan = sheet.plan
        used = {i for aggregate in sheet.plan.aggregates for i in aggregate.measures}
        self._wanted = sorted(used | {0} if counts else used)
        inside = sheet.inside or (None,) * len(sheet.blocks)
        wanted = None if counts else frozenset(used)
        read = zip(sheet.blocks, inside, strict=True)
        self._stacks = [once.stacks(sheet.plan, *each, exists, wanted) for each in read]
        self.groups = [group for each in self._stacks[0] for group in each.groups]
        self._places = [_places(stacks) for stacks in self._stacks]
        margins = [*zip(sheet.blocks, sheet.known, strict=False), *sheet.around]
        blocks, known = [block for block, _ in margins], [columns for _, columns in margins]
        self._limits = None
        if len(margins) > 1:
            self._limits = JointLimits(sheet.plan, blocks, known, len(sheet.blocks), once.count, once.check)

    def has(self, group: FetchedGroup) -> bool:
        """Can somebody be in it, by every block?"""
        return all((group.chosen, group.keys) in places for places in self._places)

    def stack_of(self, group: FetchedGroup) -> int:
        """Which stack of each block it is in."""
        return self._places[0][group.chosen, group.keys][0]

    def readings(self, groups: Sequence[FetchedGroup]) -> MeasuredGroups:
        """What the blocks say in these groups, of one stack, of each measure that an aggregate of the sheet needs, and
        of the first if it is the one that counts."""
        at = self.stack_of(groups[0])
        places = [[own[group.chosen, group.keys][1] for group in groups] for own in self._places]
        told = {}
        for i in self._wanted:
            stacks = [(each[at].stacks[i], own) for each, own in zip(self._stacks, places, strict=True)]
            taken = [stack.take(own) for stack, own in stacks if stack is not None]
            told[i] = read_stacks(taken, self._limited(groups, self._plan.measures[i]))
        return MeasuredGroups(told)

    def _limited(self, groups: Sequence[FetchedGroup], measure: Measure) -> tuple[Ints, Ints] | None:
        return None if self._limits is None or measure.splits else self._limits.of(groups, measure)


def _places(stacks: Sequence[StackedGroups]) -> dict[tuple[tuple[int, ...], tuple[Scalar, ...]], tuple[int, int]]:
    """The stack of each group, and its place in there."""
    return {
        (group.chosen, group.keys): (at, place)
        for at, stack in enumerate(stacks)
        for place, group in enumerate(stack.groups)
    }
