"""The cells that a plan is answered from, and the ranges of its aggregates in every group.

A version with classes over all columns has one block for a plan. One that is published as views has a sheet for each
choice of margins: the aggregates that they tell of, and a block of each margin. What a range says must hold in each of
them, so ranges are met; and a group that one of them excludes is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from querygate.bounds import (
    ClassLimits,
    JointLimits,
    Nesting,
    Readings,
    counts_by_frame,
    gather,
    moment_columns,
    nest,
    read_groups,
)
from querygate.core.block import Block
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Choice, Lookup
from querygate.core.margin_choice import choose_margins, part_of
from querygate.core.plan import FetchedGroup, LeftOut, Measure, Plan
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Bools, Ints, Range, Scalar
from querygate.gate.range_intersection import met_count, met_ranges

Sets: TypeAlias = tuple[tuple[int, ...], ...]

MOST_RANGES = 500_000
"""Groups times statistics in one answer."""

AT_ONCE = 32
"""Groups that are read at once: more would take memory and gain little."""


def too_large() -> UnsupportedSQL:
    return UnsupportedSQL("QG212", "The answer would be too large.", "Use fewer groups or fewer columns per statement.")


@dataclass(frozen=True, slots=True)
class InsideCounts:
    """Classes of counts with the columns of a plan, and which classes of a margin they are in, as frame cells too."""

    block: Block
    nesting: Nesting
    quasi: frozenset[str]


_NESTED: WeakKeyDictionary[PublishedVersion, dict[int, Nesting | None]] = WeakKeyDictionary()
"""By version and margin; a version never changes."""

_INSIDE: WeakKeyDictionary[Block, dict[int, InsideCounts]] = WeakKeyDictionary()
"""By the block of counts, for as long as the version keeps it, and the margin."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
        names, moments = choice.plan.columns, moment_columns(choice.plan, catalog)
        inside = tuple(_inside(choice.plan, margin, release, limits) for margin in choice.margins)
        blocks = tuple(
            release.project(names, limits, moments, margin, by_class=one is not None)
            for margin, one in zip(choice.margins, inside, strict=True)
        )
        known = tuple(catalog.margins[margin].columns for margin in choice.margins)
        around = tuple(
            (release.project(names, limits, frozenset(), margin), catalog.margins[margin].columns)
            for margin in choice.around
        )
        sheets.append(Sheet(choice.plan, choice.places, blocks, known, around, inside))
    return tuple(sheets)


def _inside(plan: Plan, margin: int, release: PublishedVersion, limits: Limits) -> InsideCounts | None:
    """The classes of counts inside those of a margin of a sensitive column; None where they say no more."""
    margins = release.catalog.margins
    own = margins[margin]
    quasi = frozenset(own.quasi)
    asked = plan.columns & quasi
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
    for first in range(0, len(groups), AT_ONCE):
        some = groups[first : first + AT_ONCE]
        told = list(zip(some, *(sheet.readings(some) for sheet in read_sheets), strict=True))
        counts = [met_count(first[0]) for _, first, *_ in told] if counted is None else [*map(counted.count, some)]
        # Nobody is in some groups: in each frame cell another margin says so.
        there = [i for i, group in enumerate(some) if counts[i].high != 0 or group.always]
        ranges: dict[int, list[Range]] = {}
        for at, sheet in enumerate(sheets, 1):
            for place, aggregate in zip(sheet.places, sheet.plan.aggregates, strict=True):
                left = (len(groups) - first) * len(plan.aggregates) - len(ranges) * len(there)
                ranges[place] = met_ranges(aggregate, [told[i][at] for i in there], left, check)
        in_order = [ranges[place] for place in range(len(plan.aggregates))]
        for of_group, i in enumerate(there):
            own = tuple(of_aggregate[of_group] for of_aggregate in in_order)
            found.append(RangedGroup(some[i].keys, some[i].chosen, some[i].always, own, counts[i]))
    return found


class _Gathered:
    """Plans read on blocks, once each: several sheets of one statement ask the same of the same counts."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self._known: dict[tuple[Block, Sets, tuple[Measure, ...]], list[FetchedGroup]] = {}
        self._counted: dict[
            tuple[Block, Sets, tuple[Measure, ...], int], dict[tuple[Scalar, ...], tuple[Ints, Ints]]
        ] = {}

    def gather(self, plan: Plan, block: Block) -> list[FetchedGroup]:
        """The keys are the same in all of them."""
        at = (block, plan.sets, plan.measures)
        if at not in self._known:
            self._known[at] = gather(plan, block, self.check)
        return self._known[at]

    def count(self, plan: Plan, block: Block, frames: int) -> dict[tuple[Scalar, ...], tuple[Ints, Ints]]:
        """As `counts_by_frame` does."""
        at = (block, plan.sets, plan.measures, frames)
        if at not in self._counted:
            self._counted[at] = counts_by_frame(plan, block, frames, self.check)
        return self._counted[at]

    def within(
        self, plan: Plan, block: Block, counts: InsideCounts | None, exists: Bools | None, wanted: frozenset[int] | None
    ) -> list[FetchedGroup]:
        """With what classes of counts inside those of the block say."""
        if counts is None and exists is None:
            return self.gather(plan, block)
        inside = None if counts is None else (counts.block, counts.nesting, counts.quasi)
        limits = None if inside is None else ClassLimits(plan, block, *inside, self.gather, self.count)
        return gather(plan, block, self.check, exists=exists, limits=limits, wanted=wanted)


class _CountedGroups:
    """The groups of a sheet of margins that counts them and asks for nothing else: numbers of records by frame cell say
    all that cells would."""

    def __init__(self, sheet: Sheet, once: _Gathered) -> None:
        plan = replace(sheet.plan, measures=sheet.plan.measures[:1], aggregates=())
        (chosen,) = plan.sets
        is_total = not any(isinstance(plan.keys[i].by, Lookup | Choice) for i in chosen)
        frames = 1 + max(int(block.frame.max(initial=-1)) for block in sheet.blocks if block.frame is not None)
        self._told = [once.count(plan, block, frames) for block in sheet.blocks]
        self._measure, self._limits = plan.measures[0], None
        if len(sheet.blocks) > 1:
            self._limits = JointLimits(plan, sheet.blocks, sheet.known, len(sheet.blocks), once.count, once.check)
        self.groups = [
            FetchedGroup(keys, (), is_total, chosen)
            for keys, (_, most) in self._told[0].items()
            if is_total or (most.any() and all(keys in told and told[keys][1].any() for told in self._told[1:]))
        ]

    @classmethod
    def of(cls, sheet: Sheet, once: _Gathered) -> _CountedGroups | None:
        """None where there is more to it than counting."""
        plain = len(sheet.plan.sets) == 1 and not any(isinstance(key.by, LeftOut) for key in sheet.plan.keys)
        return cls(sheet, once) if plain and sheet.known and not sheet.around and not sheet.places else None

    def count(self, group: FetchedGroup) -> Range:
        """How many records it has, by all margins together."""
        limits = None if self._limits is None else self._limits.of(group, self._measure)
        told = [each[group.keys] for each in self._told] + ([] if limits is None else [limits])
        least, most = np.maximum.reduce([low for low, _ in told]), np.minimum.reduce([high for _, high in told])
        if (least > most).any():
            raise ValueError("margins of this version contradict each other: the store is damaged")
        low, high = int(least.sum()), int(most.sum())
        return Range.exact(low) if low == high else Range(low, high, sharp=False)


class _ReadSheet:
    """The groups of a sheet in each of its blocks."""

    def __init__(self, sheet: Sheet, once: _Gathered, exists: Bools | None, *, counts: bool) -> None:
        self._plan = sheet.plan
        used = {i for aggregate in sheet.plan.aggregates for i in aggregate.measures}
        self._wanted = sorted(used | {0} if counts else used)
        inside = sheet.inside or (None,) * len(sheet.blocks)
        wanted = None if counts else frozenset(used)
        listed = [once.within(sheet.plan, *each, exists, wanted) for each in zip(sheet.blocks, inside, strict=True)]
        self.groups = listed[0]
        self._found = [{(group.chosen, group.keys): group for group in groups} for groups in listed]
        margins = [*zip(sheet.blocks, sheet.known, strict=False), *sheet.around]
        blocks, known = [block for block, _ in margins], [columns for _, columns in margins]
        self._limits = None
        if len(margins) > 1:
            self._limits = JointLimits(sheet.plan, blocks, known, len(listed), once.count, once.check)

    def has(self, group: FetchedGroup) -> bool:
        """Can somebody be in it, by every block?"""
        return all((group.chosen, group.keys) in found for found in self._found)

    def readings(self, groups: Sequence[FetchedGroup]) -> list[dict[int, Readings]]:
        """What the blocks say in these groups of each measure that an aggregate of the sheet needs, and of the first if
        it is the one that counts."""
        cells = [[found[group.chosen, group.keys].cells for found in self._found] for group in groups]
        told = {
            i: read_groups(
                [[each[i] for each in of_group] for of_group in cells],
                [self._limited(group, self._plan.measures[i]) for group in groups],
            )
            for i in self._wanted
        }
        return [{i: readings[place] for i, readings in told.items()} for place in range(len(groups))]

    def _limited(self, group: FetchedGroup, measure: Measure) -> tuple[Ints, Ints] | None:
        return None if self._limits is None or measure.splits else self._limits.of(group, measure)
