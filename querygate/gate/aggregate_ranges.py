"""From cells to ranges: each aggregate of a group by its statistic, over the cells of its measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from querygate.core.errors import UnsupportedSQL
from querygate.core.plan import Aggregate, MeasureCells, SelectedAmong
from querygate.core.types import Cells, Range
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells
from querygate.stats.cells import leaning_up, meet, merged
from querygate.stats.comparison import GROUP_STATISTICS, GroupCells, ToldGroup
from querygate.stats.distinct import count_distinct_of_sets, distinct_cells
from querygate.stats.exposure_tables import TABLE_STATISTICS, TableCells
from querygate.stats.knowledge.class_pairs import CLASS_PAIR_STATISTICS, ToldPair
from querygate.stats.knowledge.class_statistics import CLASS_STATISTICS
from querygate.stats.numerics import enclose
from querygate.stats.quantiles import on_edges
from querygate.stats.rank_order import RANKS
from querygate.stats.table_counts import table_of_counts

BY_ENDS = frozenset(
    {
        "count", "sum", "avg", "min", "max", "median", "quantile_cont", "quantile_disc", "geometric_mean",
        "harmonic_mean", "exceedance", "ratio_of_sums", "weighted_mean", "mean_difference",
        "proportion", "risk_difference", "risk_ratio", "odds_ratio", "chi_square",
    }
)  # fmt: skip
"""Statistics whose extremes are reached with every value at an end of its interval; others need what lies between."""


Measured: TypeAlias = "Mapping[int, MeasureCells]"
"""The cells of the measures that an aggregate needs, by their places."""

QUOTIENTS = frozenset({"ratio_of_sums", "weighted_mean"})
"""Quotients of two sums over the same records."""

_WHOLE_DOUBLES = 2**53
"""Whole numbers up to here are doubles, each one of its own."""

_APART = frozenset({"count_distinct", "entropy", "mode"})
"""Statistics that ask which values are equal."""

_MANY_DIGITS, _CLOSE, _ROOM = 2.0**33, 2.0**-30, 2.0**-20
"""From which size on, and how close to each other, numbers may be different decimals of the database that are one
double here; and the room that such an interval is given, in shares of its size."""

_INTERPOLATED = frozenset({"median", "quantile_cont"})

_GROWING = frozenset({"sum", "avg", "min", "max", "median", "quantile_cont", "quantile_disc"})
"""Statistics that are no smaller if values are larger."""


def count_range(cells: MeasureCells) -> Range:
    found = STATISTICS.get("count").range(_column_cells(cells))
    if cells.among is not None:
        found = meet(found, _counted_together(cells, cells.among))
    return found if cells.free or found.is_exact else replace(found, sharp=False, attained_low=None, attained_high=None)


def make_range(aggregate: Aggregate, measures: Measured) -> Range:
    """The range of an aggregate. Where the cells allow more than the store does, it is an outer bound and says so."""
    cells = measures[aggregate.measure]
    found = _FAMILIES[aggregate.family](aggregate, measures)
    if aggregate.statistic in QUOTIENTS:
        found = _told_of_counts(aggregate, _told_of_quotient(aggregate, found, measures), measures)
    elif aggregate.family == "table":
        found = _told_of_table(aggregate, found, measures)
    elif aggregate.may_vanish is not None:
        found = _told_of_count(found, measures[aggregate.may_vanish])
    exact = cells.free if aggregate.statistic in BY_ENDS else cells.solid
    if not exact and not found.is_exact:
        found = replace(found, sharp=False, attained_low=None, attained_high=None)
    return _told_of_classes(aggregate, found, cells)


def uses_classes(aggregate: Aggregate) -> bool:
    """Does it become sharper by what is published of classes?"""
    of_one = aggregate.family == "column" and aggregate.statistic in CLASS_STATISTICS
    return of_one or aggregate.family in ("pair", "groups")


def _told_of_classes(aggregate: Aggregate, found: Range, cells: MeasureCells) -> Range:
    """What class sums leave of a range. Both ranges hold, so what both say does; only the sharper knows who attains."""
    if not cells.classes or aggregate.family != "column" or aggregate.statistic not in CLASS_STATISTICS:
        return found
    classes = cells.classes[0]
    sharper = None if classes is None else CLASS_STATISTICS[aggregate.statistic](classes, *aggregate.parameters)
    met = meet(found, sharper)
    if sharper is None or found.sharp or (met.low, met.high) != (sharper.low, sharper.high):
        return met
    return replace(sharper, may_be_null=met.may_be_null)


def _column_cells(cells: MeasureCells) -> Cells:
    if cells.values:
        # Classes that are kept apart for their sums make many cells of few intervals.
        return merged(cells.values[0]) if cells.classes else cells.values[0]
    nothing = np.zeros_like(cells.least)
    return Cells(nothing, nothing, cells.least, cells.most, integer=True)


def _counted_together(cells: MeasureCells, among: SelectedAmong) -> Range:
    """How many records there are, by rows that belong together."""
    least, most = (np.bincount(among.place, counts, among.least.size) for counts in (cells.least, cells.most))
    held = np.bincount(among.place, minlength=among.least.size) > 0
    low = int(np.maximum(least, among.least)[held].sum())
    return Range(low, int(np.minimum(most, among.most)[held].sum()))


def _of_column(aggregate: Aggregate, measures: Measured) -> Range:
    return column_range(aggregate, measures[aggregate.measure])


def column_range(aggregate: Aggregate, measured: MeasureCells) -> Range:
    """The range of a statistic of one column, by its intervals and counts."""
    if aggregate.statistic == "count":
        return count_range(measured)
    if measured.among is None or aggregate.statistic not in _GROWING or not measured.values:
        return _of_cells(aggregate, _column_cells(measured), measured)
    high, low = (
        _of_cells(aggregate, _leaning(measured.values[0], measured.among, up=up), measured) for up in (True, False)
    )
    return replace(high, low=low.low, attained_low=None, attained_high=None, sharp=high.high == low.low)


def _of_cells(aggregate: Aggregate, cells: Cells, measured: MeasureCells) -> Range:
    if aggregate.statistic in _INTERPOLATED and measured.frame is not None:
        cells = on_edges(cells)  # of classes answers stay as they were given: they are replayed to the byte
    if aggregate.statistic in _APART:
        cells = _with_room(cells)
    return STATISTICS.get(aggregate.statistic).range(cells, *aggregate.parameters)


def _with_room(cells: Cells) -> Cells:
    """Cells of calculated numbers with room for all their records, where one double may be many decimals."""
    if cells.integer:
        return cells
    size = np.maximum(np.abs(cells.low), np.abs(cells.high))
    tight = (cells.low < cells.high) & (size >= _MANY_DIGITS) & (cells.high - cells.low < size * _CLOSE)
    if not tight.any():
        return cells
    room = np.where(tight, size * _ROOM, 0.0)
    return replace(cells, low=cells.low - room, high=cells.high + room)


def _leaning(cells: Cells, among: SelectedAmong, *, up: bool) -> Cells:
    """The cells with the largest values taken first of rows that belong together, or the smallest."""
    values = cells.high if up else -cells.low
    least, most = leaning_up(values, cells.least, cells.most, among.place, (among.least, among.most))
    return merged(replace(cells, least=least, most=most))


def _of_distinct(aggregate: Aggregate, measures: Measured) -> Range:
    """A statistic of the different values: each counts once, however many records have it.

    Some statistics read doubles, and are then of different doubles: whole numbers beyond 2^53 may be one there.
    """
    cells = _with_room(_column_cells(measures[aggregate.measure]))
    found = _of_values(aggregate, distinct_cells(cells))
    if not cells.integer or not ((cells.low < -_WHOLE_DOUBLES) | (cells.high > _WHOLE_DOUBLES)).any():
        return found
    doubles = replace(cells, low=cells.low.astype(np.float64), high=cells.high.astype(np.float64), integer=False)
    return _hull(found, _of_values(aggregate, distinct_cells(doubles)))


def _of_values(aggregate: Aggregate, values: Cells) -> Range:
    found = STATISTICS.get(aggregate.statistic).range(values, *aggregate.parameters)
    exact = bool((values.low == values.high).all() and (values.least == values.most).all())
    return found if exact else replace(found, sharp=False, attained_low=None, attained_high=None)


def _hull(a: Range, b: Range) -> Range:
    """What either of two ranges allows."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        known = a if a.low is not None else b
        return known if a.is_null and b.is_null else replace(_open(known), may_be_null=True)
    null = a.may_be_null or b.may_be_null
    return replace(_open(a), low=min(a.low, b.low), high=max(a.high, b.high), may_be_null=null)


def _open(found: Range) -> Range:
    return replace(found, sharp=False, attained_low=None, attained_high=None)


def _of_sets(aggregate: Aggregate, measures: Measured) -> Range:
    cells = measures[aggregate.measure]
    return count_distinct_of_sets(cells.sets, cells.least, cells.most)


def _of_pair(aggregate: Aggregate, measures: Measured) -> Range:
    """SQL names y first, except in a quotient of sums."""
    cells = measures[aggregate.measure]
    x, y = cells.values if aggregate.statistic in QUOTIENTS else cells.values[::-1]
    pairs = PairCells(x.low, x.high, y.low, y.high, cells.least, cells.most, x.integer and y.integer)
    if not cells.classes or aggregate.statistic not in CLASS_PAIR_STATISTICS:
        return PAIR_STATISTICS.get(aggregate.statistic).range(pairs)
    told = cells.classes if aggregate.statistic in QUOTIENTS else cells.classes[::-1]
    sharper = CLASS_PAIR_STATISTICS[aggregate.statistic](ToldPair(pairs, *told))
    return meet(PAIR_STATISTICS.get(aggregate.statistic).range(pairs), sharper)


def _of_groups(aggregate: Aggregate, measures: Measured) -> Range:
    cells = measures[aggregate.measure]
    value, (first_least, first_most, second_least, second_most) = cells.values[0], cells.splits[0]
    groups = GroupCells(
        value.low, value.high, cells.size, first_least, first_most, second_least, second_most, value.integer,
        (_told_group(aggregate, 0, measures), _told_group(aggregate, 1, measures)),
    )  # fmt: skip
    return GROUP_STATISTICS.get(aggregate.statistic).range(groups)


def _told_group(aggregate: Aggregate, side: int, measures: Measured) -> ToldGroup:
    """A group by itself: the condition that makes it may say more of its values, and so may its classes.

    Of order alone nothing is gained by means."""
    if aggregate.statistic in RANKS:
        return ToldGroup()
    alone = [
        replace(aggregate, family="column", statistic=statistic, measure=aggregate.sides[side])
        for statistic in (("avg",) if aggregate.statistic == "mean_difference" else ("avg", "var_samp"))
    ]
    return ToldGroup(*(make_range(each, measures) for each in alone))


def _of_table(aggregate: Aggregate, measures: Measured) -> Range:
    cells = measures[aggregate.measure]
    (_, exposed, _, unexposed), (_, with_outcome, _, without) = cells.splits
    least = np.minimum(cells.least, np.minimum(exposed + unexposed, with_outcome + without))
    table = TableCells(exposed, unexposed, with_outcome, without, least, cells.most)
    return TABLE_STATISTICS.get(aggregate.statistic).range(table)


_FAMILIES: dict[str, Callable[[Aggregate, Measured], Range]] = {
    "column": _of_column,
    "distinct": _of_distinct,
    "sets": _of_sets,
    "pair": _of_pair,
    "groups": _of_groups,
    "table": _of_table,
}


def _told_of_count(found: Range, told: MeasureCells) -> Range:
    """COUNT_IF is NULL where its condition is NULL for everybody."""
    if not told.most.any():
        return Range.null()
    return found if told.least.any() else replace(found, may_be_null=True)


def _told_of_counts(aggregate: Aggregate, found: Range, measures: Measured) -> Range:
    """What margins tell of each count of a quotient: one may know more of the part, another of the whole."""
    if not aggregate.sides or measures[aggregate.measure].frame is None:
        return found
    over, under = (count_range(measures[side]) for side in aggregate.sides)
    if not under.low or over.low is None:
        return found
    low, high = Fraction(over.low) / Fraction(under.high or 0), Fraction(over.high or 0) / Fraction(under.low)
    quotient = Range(enclose(low).low, enclose(high).high, sharp=False, may_be_null=found.may_be_null)
    return meet(found, quotient)


def _told_of_table(aggregate: Aggregate, found: Range, measures: Measured) -> Range:
    """What margins tell of each count of a table: one may know more of the ill, another of those who are exposed."""
    if not aggregate.sides or measures[aggregate.measure].frame is None or found.low is None:
        return found
    told = table_of_counts(aggregate.statistic, [count_range(measures[side]) for side in aggregate.sides])
    return found if told is None else meet(found, replace(told, may_be_null=found.may_be_null))


def _told_of_quotient(aggregate: Aggregate, found: Range, measures: Measured) -> Range:
    """What a quotient is where there is nothing to divide, or nothing to divide by."""
    cells = measures[aggregate.measure]
    if aggregate.empty == "refuse" and not cells.least.any():
        raise UnsupportedSQL(
            "QG215",
            "The divisor may be zero, so no range can be computed.",
            "Divide by NULLIF(divisor, 0), or group.",
        )
    null = aggregate.empty == "null" and not cells.least.any()
    if aggregate.may_vanish is not None:
        null = null or not measures[aggregate.may_vanish].least.any()
    return replace(found, may_be_null=null) if found.low is not None else found
