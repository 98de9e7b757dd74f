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
from querygate.core.margin_choice import choose_margins, part_of
from querygate.core.plan import FetchedGroup, Measure, Plan
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Bools, Ints, Range, Scalar
from querygate.gate.met_ranges import met_count, met_range

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
    read_sheets = [_ReadSheet(sheet, check, exists, counts=sheet is sheets[0]) for sheet in sheets]
    groups = [group for group in read_sheets[0].groups if all(sheet.has(group) for sheet in read_sheets)]
    if len(groups) * len(plan.aggregates) > MOST_RANGES:
        raise too_large()
    found = []
    for i, group in enumerate(groups):
        check()
        told = [sheet.readings(group) for sheet in read_sheets]
        count = met_count(told[0][0])
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

    def __init__(self, sheet: Sheet, check: Callable[[], None], exists: Bools | None, *, counts: bool) -> None:
        self._plan = sheet.plan
        used = {i for aggregate in sheet.plan.aggregates for i in aggregate.measures}
        self._wanted = sorted(used | {0} if counts else used)
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

    def readings(self, group: FetchedGroup) -> dict[int, Readings]:
        """What the blocks say in this group of each measure that an aggregate of the sheet needs, and of the first if
        it is the one that counts."""
        cells = [found[group.chosen, group.keys].cells for found in self._found]
        return {
            i: read([each[i] for each in cells], self._limited(group, self._plan.measures[i])) for i in self._wanted
        }

    def _limited(self, group: FetchedGroup, measure: Measure) -> tuple[Ints, Ints] | None:
        return None if self._limits is None or measure.splits else self._limits.of(group, measure)
