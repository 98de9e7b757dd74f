"""Ranges that all readings of a measure allow: what each margin says holds, so what they say together does."""

from __future__ import annotations

from collections.abc import Mapping

from querygate.bounds import Readings
from querygate.core.errors import UnsupportedSQL
from querygate.core.limits.pace import take_share
from querygate.core.plan import Aggregate, MeasureCells
from querygate.core.types import Range
from querygate.gate.aggregate_ranges import column_range, count_range, make_range, uses_classes
from querygate.stats.cells import meet
from querygate.stats.knowledge.class_ranges import class_mean
from querygate.stats.knowledge.mean_reach import cells_reach, classes_reach


def met_count(readings: Readings) -> Range:
    """The number of records."""
    return _honest(count_range(readings.met or readings.others[0]), readings)


def met_range(aggregate: Aggregate, readings: Mapping[int, Readings], left: int = 1) -> Range:
    """The range that every reading of an aggregate's measures allows, the next of so many that are left."""
    if aggregate.statistic == "avg" and aggregate.family == "column":
        found = _mean(aggregate, readings[aggregate.measure])
        if found is not None:
            return found
    return _in_order(aggregate, readings, left)


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


def _mean(aggregate: Aggregate, readings: Readings) -> Range | None:
    """The same of a mean, beginning with the reading that says most: of the others a selection that reaches beyond is
    enough to know that they say no more. None where it matters in which order they are read: of points, and of ranges
    that are apart by roundings."""
    ways = sorted(_ways(readings, classes=True), key=lambda cells: int(cells.most.sum()) - int(cells.least.sum()))
    if len(ways) == 1 or readings.others[0].frame is None:
        return None
    found: Range | None = None
    for cells in ways:
        classes = cells.classes[0] if cells.classes else None
        if classes is not None and not (found is not None and not found.may_be_null and classes_reach(classes, found)):
            found = _within(found, class_mean(classes))
    for cells in ways:
        if found is None or found.may_be_null or not cells_reach(cells.values[0], cells.among, found):
            told = column_range(aggregate, cells)
            if told.is_null:
                return None
            found = _within(found, told)
    if found is None or found.low is None or found.high is None or found.low >= found.high:
        return None
    return _honest(found, readings)


def _within(found: Range | None, told: Range | None) -> Range | None:
    """Both ends as narrow as either says; nothing is left where they are apart."""
    if found is None or told is None:
        return told or found
    low, high = max(found.low, told.low), min(found.high, told.high)  # type: ignore[type-var]  # none of them is NULL
    return Range(low, high, None, None, sharp=False, may_be_null=found.may_be_null and told.may_be_null)
