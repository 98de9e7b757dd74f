"""Ranges that all readings of a measure allow: what each margin says holds, so what they say together does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from querygate.bounds import Readings, StackedReadings
from querygate.core.cell_stack import CellStack, ClassStack, joined_values, together
from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.pace import take_share
from querygate.core.plan import Aggregate, MeasureCells
from querygate.core.types import Bools, Ints, Range
from querygate.gate.aggregate_ranges import column_range, count_range, make_range, uses_classes
from querygate.stats.cells import meet
from querygate.stats.knowledge.class_means import class_means
from querygate.stats.mean_stack import stacked_means


def met_count(readings: Readings) -> Range:
    """The number of records."""
    return _honest(count_range(readings.met or readings.others[0]), readings.is_of_margin)


class MeasuredGroups:
    """The readings of measures in several groups: of all of them at once, or of one."""

    def __init__(self, stacks: Mapping[int, StackedReadings]) -> None:
        self.stacks = stacks
        self._parts: dict[int, list[Readings]] = {}

    def of(self, measure: int, group: int) -> Readings:
        if measure not in self._parts:
            self._parts[measure] = self.stacks[measure].parts()
        return self._parts[measure][group]


def met_ranges(
    aggregate: Aggregate, measured: MeasuredGroups, groups: Sequence[int], left: int, check: Callable[[], None]
) -> list[Range]:
    """The range that every reading of an aggregate's measures allows, in each of these groups: the next of so many that
    are left."""
    is_mean = aggregate.statistic == "avg" and aggregate.family == "column"
    means = _means(aggregate, measured) if is_mean else {}
    found = []
    for turn, group in enumerate(groups):
        check()
        mean = means.get(group)
        if mean is None:
            readings = {i: measured.of(i, group) for i in aggregate.measures}
            mean = _in_order(aggregate, readings, left - turn)
        found.append(mean)
    return found


def _in_order(aggregate: Aggregate, readings: Mapping[int, Readings], left: int) -> Range:
    """All readings, one after the other."""
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
    return _honest(found, readings[aggregate.measure].is_of_margin)


def _candidates(aggregate: Aggregate, readings: Mapping[int, Readings]) -> list[dict[int, MeasureCells]]:
    """Cells of the measures that are used, one reading of each at a time, as long as one of them has another."""
    classes = uses_classes(aggregate)
    ways = {i: _ways(readings[i], classes=classes) for i in aggregate.measures}
    turns = max(map(len, ways.values()))
    return [{i: way[turn] if turn < len(way) else way[0] for i, way in ways.items()} for turn in range(turns)]


def _ways(readings: Readings, *, classes: bool) -> tuple[MeasureCells, ...]:
    if readings.met is None:
        return readings.others
    if readings.settled and not (classes and any(cells.classes for cells in readings.others)):
        return (readings.met,)
    return (readings.met, *readings.others)


def _both(found: Range, other: Range) -> Range:
    """What two ranges say together; one that is NULL for certain leaves nothing else."""
    return other if other.is_null else found if found.is_null else meet(found, other)


def _honest(found: Range, is_of_margin: bool) -> Range:
    """Other margins may exclude what a range of one of them attains: only a point is sharp."""
    if not is_of_margin or found.is_null or found.low == found.high:
        return found
    return Range(found.low, found.high, None, None, sharp=False, may_be_null=found.may_be_null)


# -- means -------------------------------------------------------------------------------------------------------------


_CLOSE = 1e-9
"""Ends that are closer than this part of them are roundings of one value, or nearly so."""


def _means(aggregate: Aggregate, measured: MeasuredGroups) -> dict[int, Range]:
    """The same of means, those of all groups and readings at once. Some groups are left out: where it matters how they
    are rounded (of points, and of ranges that are apart by roundings), and where nobody has a value."""
    readings = measured.stacks[aggregate.measure]
    ways, wanted = _stacked_ways(readings)
    if not wanted.any():
        return {}
    found: list[Range | None] = [None] * wanted.shape[1]
    told = [(way, stack.classes[0]) for way, stack in enumerate(ways) if stack.classes and stack.classes[0] is not None]
    if told:
        means = iter(class_means(ClassStack.joined([classes for _, classes in told])))
        for way, _ in told:
            for group, mean in enumerate(itertools.islice(means, wanted.shape[1])):
                if wanted[way, group] and mean.range is not None:
                    found[group] = _within(found[group], mean.range)
                    wanted[way, group] = not mean.is_narrowest
    for (_, group), by_rows in zip(*_plain_means(aggregate, ways, wanted), strict=True):
        found[group] = _within(found[group], by_rows)
    is_of_margin = readings.margins[0].cells.frame is not None
    apart = ((group, mean) for group, mean in enumerate(found) if mean is not None and _are_apart(mean))
    return {group: _honest(mean, is_of_margin) for group, mean in apart}


def _stacked_ways(readings: StackedReadings) -> tuple[list[CellStack], Bools]:
    """All readings; and which of them, in which groups, are to be met: none in groups with one reading alone, or with
    one by which nobody has a value."""
    ways = [each for each in (readings.mosaic, readings.met, *readings.margins) if each is not None]
    wanted = np.ones((len(ways), ways[0].groups), dtype=np.bool_)
    if readings.mosaic is not None:
        wanted[0] = readings.has_mosaic
    is_plain = wanted.sum(axis=0) < 2
    if readings.met is not None and not any(margin.classes for margin in readings.margins):
        is_plain |= readings.settled
    nobody = wanted & ~np.stack([way.has_any() for way in ways])
    wanted[:, is_plain | nobody.any(axis=0)] = False
    return ways, wanted


def _plain_means(
    aggregate: Aggregate, ways: Sequence[CellStack], wanted: Bools
) -> tuple[list[tuple[int, int]], list[Range]]:
    """By intervals and counts alone: of which way and group, and the means."""
    places = list(zip(*(at.tolist() for at in wanted.nonzero()), strict=True))
    if not places:
        return [], []
    number = (np.cumsum(wanted) - 1).reshape(wanted.shape)
    of: list[Ints] = []
    cells: list[MeasureCells] = []
    for way, stack in enumerate(ways):
        (rows,) = wanted[way][stack.of].nonzero()
        if rows.size:
            of.append(number[way][stack.of[rows]])
            cells.append(stack.cells.take(rows))
    found = stacked_means(joined_values(cells), np.concatenate(of), len(places), together(cells))
    if found is not None:
        return places, found
    parts = [stack.parts() for stack in ways]
    return places, [column_range(aggregate, parts[way][group]) for way, group in places]


def _are_apart(mean: Range) -> bool:
    if mean.low is None or mean.high is None:
        return False
    return mean.high - mean.low > _CLOSE * max(abs(mean.low), abs(mean.high))


def _within(found: Range | None, told: Range | None) -> Range | None:
    """Both ends as narrow as either says; nothing is left where they are apart."""
    if found is None or told is None or told.is_null:
        return told or found
    if found.is_null:
        return found
    low, high = max(found.low, told.low), min(found.high, told.high)  # type: ignore[type-var]  # none of them is NULL
    return Range(low, high, None, None, sharp=False, may_be_null=found.may_be_null and told.may_be_null)
