"""The cells that a plan is answered from, and the ranges of its aggregates in every group.

A version with classes over all columns has one block for a plan. One that is published as views has a sheet for each
choice of margins: the aggregates that they tell of, and a block of each margin. What a range says must hold in each of
them, so ranges are met; and a group that one of them excludes is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from querygate.bounds import ClassLimits, JointLimits, Nesting, Readings, gather, moment_columns, nest, read
from querygate.core.block import Block
from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.pace import take_share
from querygate.core.margin_choice import choose_margins, part_of
from querygate.core.plan import Aggregate, FetchedGroup, Measure, MeasureCells, Plan
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Bools, Ints, Range, Scalar
from querygate.gate.ranges import count_range, make_range, uses_classes
from querygate.stats.cells import meet

MOST_RANGES = 500_000
"""Groups times statistics in one answer."""


def too_large() -> UnsupportedSQL:
    return UnsupportedSQL("QG212", "The answer would be too large.", "Ask for fewer groups or fewer columns at once.")


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
    read_sheets = [_ReadSheet(sheet, check, exists) for sheet in sheets]
    groups = [group for group in read_sheets[0].groups if all(sheet.has(group) for sheet in read_sheets)]
    if len(groups) * len(plan.aggregates) > MOST_RANGES:
        raise too_large()
    found = []
    for i, group in enumerate(groups):
        check()
        told = [sheet.readings(group) for sheet in read_sheets]
        count = _count(told[0][0])
        if count.high == 0 and not group.always:
            continue  # in each frame cell another margin says that nobody is there
        ranges: dict[int, Range] = {}
        for sheet, readings in zip(sheets, told, strict=True):
            for place, aggregate in zip(sheet.places, sheet.plan.aggregates, strict=True):
                left = (len(groups) - i) * len(plan.aggregates) - len(ranges)
                ranges[place] = met_range(aggregate, readings, left)
        in_order = tuple(ranges[place] for place in range(len(plan.aggregates)))
        found.append(RangedGroup(group.keys, group.chosen, group.always, in_order, count))
    return found


def _class_limits(
    plan: Plan, block: Block, counts: InsideCounts | None, check: Callable[[], None]
) -> ClassLimits | None:
    if counts is None:
        return None
    return ClassLimits(
        plan, block, counts.block, counts.nesting, counts.quasi, lambda part, rows: gather(part, rows, check)
    )


class _ReadSheet:
    """The groups of a sheet in each of its blocks."""

    def __init__(self, sheet: Sheet, check: Callable[[], None], exists: Bools | None) -> None:
        self._plan = sheet.plan
        inside = sheet.inside or (None,) * len(sheet.blocks)
        listed = [
            gather(sheet.plan, block, check, exists=exists, limits=_class_limits(sheet.plan, block, counts, check))
            for block, counts in zip(sheet.blocks, inside, strict=True)
        ]
        self.groups = listed[0]
        self._found = [{(group.chosen, group.keys): group for group in groups} for groups in listed]
        margins = [*zip(sheet.blocks, sheet.known, strict=False), *sheet.around]
        blocks, known = [block for block, _ in margins], [columns for _, columns in margins]
        self._limits = JointLimits(sheet.plan, blocks, known, len(listed), check) if len(margins) > 1 else None

    def has(self, group: FetchedGroup) -> bool:
        """Can somebody be in it, by every block?"""
        return all((group.chosen, group.keys) in found for found in self._found)

    def readings(self, group: FetchedGroup) -> list[Readings]:
        """What the blocks say of each measure of the sheet's plan in this group."""
        parts = zip(*(found[group.chosen, group.keys].cells for found in self._found), strict=True)
        limits = (self._limited(group, measure) for measure in self._plan.measures)
        return [read(cells, limit) for cells, limit in zip(parts, limits, strict=True)]

    def _limited(self, group: FetchedGroup, measure: Measure) -> tuple[Ints, Ints] | None:
        return None if self._limits is None or measure.splits else self._limits.of(group, measure)


# -- ranges that all readings allow ------------------------------------------------------------------------------------


def _count(readings: Readings) -> Range:
    return _honest(count_range(readings.met or readings.others[0]), readings)


def met_range(aggregate: Aggregate, readings: Sequence[Readings], left: int = 1) -> Range:
    """The range that every reading of an aggregate's measures allows, the next of so many that are left."""
    found: Range | None = None
    refusal: UnsupportedSQL | None = None
    candidates = _candidates(aggregate, readings)
    for turn, cells in enumerate(candidates):
        take_share(left * len(candidates) - turn)
        try:
            told = make_range(aggregate, cells)
        except UnsupportedSQL as refused:  # a divisor that may be zero, unless another reading knows better
            refusal = refused
            continue
        found = told if found is None else _both(found, told)
    if found is None:
        raise refusal or ValueError("an aggregate was read from nothing")
    return _honest(found, readings[aggregate.measure])


def _candidates(aggregate: Aggregate, readings: Sequence[Readings]) -> list[tuple[MeasureCells, ...]]:
    """Cells of all measures, one reading of each at a time, as long as one of those that are used has another."""
    ways = [_ways(reading, classes=uses_classes(aggregate)) for reading in readings]
    turns = max(len(ways[i]) for i in aggregate.measures)
    return [tuple(way[turn] if turn < len(way) else way[0] for way in ways) for turn in range(turns)]


def _ways(readings: Readings, *, classes: bool) -> tuple[MeasureCells, ...]:
    if readings.met is None:
        return readings.others
    if readings.settled and not (classes and any(cells.classes for cells in readings.others)):
        return (readings.met,)
    return (readings.met, *readings.others)


def _both(found: Range, other: Range) -> Range:
    """What two ranges say together; one that is NULL for certain leaves nothing else."""
    return other if other.is_null else found if found.is_null else meet(found, other)


def _honest(found: Range, readings: Readings) -> Range:
    """Other margins may exclude what a range of one of them attains: only a point is sharp."""
    if readings.others[0].frame is None or found.is_null or found.low == found.high:
        return found
    return replace(found, sharp=False, attained_low=None, attained_high=None)
