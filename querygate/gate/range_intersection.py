"""Ranges that all readings of a measure allow: what each margin says holds, so what they say together does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from querygate.bounds import Readings
from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.pace import take_share
from querygate.core.plan import Aggregate, MeasureCells
from querygate.core.types import Range
from querygate.gate.aggregate_ranges import column_range, count_range, make_range, uses_classes
from querygate.stats.cells import meet
from querygate.stats.knowledge.class_means import class_means
from querygate.stats.mean_stack import stacked_means


def met_count(readings: Readings) -> Range:
    """The number of records."""
    return _honest(count_range(readings.met or readings.others[0]), readings)


def met_ranges(
    aggregate: Aggregate, groups: Sequence[Mapping[int, Readings]], left: int, check: Callable[[], None]
) -> list[Range]:
    """The range that every reading of an aggregate's measures allows, in each of these groups: the next of so many that
    are left."""
    is_mean = aggregate.statistic == "avg" and aggregate.family == "column"
    means = _means(aggregate, [readings[aggregate.measure] for readings in groups]) if is_mean else [None] * len(groups)
    found = []
    for i, (mean, readings) in enumerate(zip(means, groups, strict=True)):
        check()
        found.append(_in_order(aggregate, readings, left - i) if mean is None else mean)
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
    return _honest(found, readings[aggregate.measure])


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


def _honest(found: Range, readings: Readings) -> Range:
    """Other margins may exclude what a range of one of them attains: only a point is sharp."""
    if readings.others[0].frame is None or found.is_null or found.low == found.high:
        return found
    return Range(found.low, found.high, None, None, sharp=False, may_be_null=found.may_be_null)


# -- means -------------------------------------------------------------------------------------------------------------


_CLOSE = 1e-9
"""Ends that are closer than this part of them are roundings of one value, or nearly so."""


def _means(aggregate: Aggregate, groups: Sequence[Readings]) -> list[Range | None]:
    """The same of means, those of all groups and readings at once. None where it matters how they are rounded: of
    points, of ranges that are apart by roundings, and of groups in which nobody has a value."""
    ways = [_ways(readings, classes=True) for readings in groups]
    ways = [each if len(each) > 1 and all(cells.most.any() for cells in each) else () for each in ways]
    every = [(i, cells) for i, each in enumerate(ways) for cells in each]
    found: list[Range | None] = [None] * len(groups)
    told = [(i, cells, cells.classes[0]) for i, cells in every if cells.classes and cells.classes[0] is not None]
    known = set()
    for (i, cells, _), mean in zip(told, class_means([classes for *_, classes in told]), strict=True):
        found[i] = _within(found[i], mean.range)
        if mean.range is not None and mean.is_narrowest:
            known.add(id(cells))
    plain = [(i, cells) for i, cells in every if id(cells) not in known]
    for (i, _), by_rows in zip(plain, _plain_means(aggregate, [cells for _, cells in plain]), strict=True):
        found[i] = _within(found[i], by_rows)
    return [
        None if met is None or not _are_apart(met) else _honest(met, readings)
        for met, readings in zip(found, groups, strict=True)
    ]


def _plain_means(aggregate: Aggregate, cells: Sequence[MeasureCells]) -> list[Range]:
    """By intervals and counts alone."""
    if not cells:
        return []
    found = stacked_means([each.values[0] for each in cells], [each.among for each in cells])
    return found if found is not None else [column_range(aggregate, each) for each in cells]


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
