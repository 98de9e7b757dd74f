"""From cells to ranges: each aggregate by its statistic, then what the statement makes of the aggregates.

The groups of a statement are rows of a block of their own: keys are known, aggregates lie in their ranges. HAVING,
arithmetic over aggregates and queries over groups are then the same array work as conditions and expressions over
records. A row of an answer is there only if somebody is in its group, so ranges are told for that case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from querygate.bounds import ROW, Membership, expression_bounds, gather
from querygate.core.block import (
    ALL_NULLS,
    MISSING,
    NO_NULLS,
    SOME_NULLS,
    Block,
    BlockColumn,
    Dictionary,
    NumberColumn,
    SetColumn,
)
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call, Constant, Expression, Ref
from querygate.core.pace import take_share
from querygate.core.plan import Aggregate, FetchedGroup, MeasureCells, Output, Plan
from querygate.core.predicate import columns
from querygate.core.types import DISCRETE, Array, Bools, Cells, Floats, Group, Range, Scalar
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells
from querygate.stats.cells import meet, merged
from querygate.stats.comparison import GROUP_STATISTICS, GroupCells, ToldGroup
from querygate.stats.distinct import count_distinct_of_sets, distinct_cells
from querygate.stats.exposure_tables import TABLE_STATISTICS, TableCells
from querygate.stats.knowledge.class_pairs import CLASS_PAIR_STATISTICS, ToldPair
from querygate.stats.knowledge.class_statistics import CLASS_STATISTICS

BY_ENDS = frozenset(
    {
        "count", "sum", "avg", "min", "max", "median", "quantile_cont", "quantile_disc", "geometric_mean",
        "harmonic_mean", "exceedance", "ratio_of_sums", "mean_difference",
        "proportion", "risk_difference", "risk_ratio", "odds_ratio", "chi_square",
    }
)  # fmt: skip
"""Statistics whose extremes are reached with every value at an end of its interval; others need what lies between."""

_MONOTONE = frozenset({"add", "sub", "neg", "mul", "div", "double", "round", "floor", "ceil", "trunc", "exp", "ln",
                       "log2", "log10", "sqrt", "whole", "sign"})  # fmt: skip


_NOT_A_NUMBER = frozenset({"corr", "regr_slope", "geometric_mean"})
"""Statistics for which the database may say NaN. That is told as NULL, yet it is not NULL to what reads it: NaN is
equal to itself and above all numbers."""

_PASSES_ON = (_MONOTONE | {"abs"}) - {"sign", "whole"}
"""Functions that make NaN of NaN."""


MOST_RANGES = 500_000
"""Groups times statistics in one answer."""


def too_large() -> UnsupportedSQL:
    return UnsupportedSQL("QG212", "The answer would be too large.", "Ask for fewer groups or fewer columns at once.")


def compute_groups(plan: Plan, block: Block, check: Callable[[], None], *, inner: bool = False) -> list[Group]:
    """The rows of a plan's answer, before their order. Of an inner plan, first its groups, then those over them."""
    exists: Bools | None = None
    if plan.inner is not None:
        block, exists = as_block(plan.inner, compute_groups(plan.inner, block, check, inner=True))
    return make_groups(plan, gather(plan, block, check, exists=exists), check, inner=inner)


def make_groups(
    plan: Plan, fetched: Sequence[FetchedGroup], check: Callable[[], None], *, inner: bool = False
) -> list[Group]:
    """Ranges for every group, and only those that HAVING may keep."""
    if len(fetched) * len(plan.aggregates) > MOST_RANGES:
        raise too_large()
    found: list[tuple[Range, ...]] = []
    for i, group in enumerate(fetched):
        check()
        ranges = []
        for j, aggregate in enumerate(plan.aggregates):
            take_share((len(fetched) - i) * len(plan.aggregates) - j)
            ranges.append(make_range(aggregate, group.cells))
        found.append(tuple(ranges))
    _check_numbers(plan, found, inner)
    counts = [count_range(group.cells[0]) for group in fetched]
    certain = np.array(
        [group.always or (count.low or 0) > 0 for group, count in zip(fetched, counts, strict=True)], dtype=np.bool_
    )
    block = _groups_block(plan, fetched, found)
    kept = np.ones(len(fetched), dtype=np.bool_)
    members = Membership(block, check)
    if plan.having is not None:
        least, most = members.counts(plan.having)
        kept, certain = most > 0, certain & (least > 0)
        rows = np.flatnonzero(kept).tolist()
        members = Membership(block.take(np.array(rows, dtype=np.int64)), check)
        fetched, found = [fetched[i] for i in rows], [found[i] for i in rows]
        counts, certain = [counts[i] for i in rows], certain[rows]
    outputs = [_output_ranges(output, plan, members, found) for output in plan.outputs if output.kind == "range"]
    return [
        Group(
            group.keys,
            tuple(ranges[i] for ranges in outputs),
            counts[i],
            certain=bool(certain[i]),
            rolled_up=tuple(k not in group.chosen for k in range(len(plan.keys))) if len(plan.sets) > 1 else (),
        )
        for i, group in enumerate(fetched)
    ]


# -- aggregates ------------------------------------------------------------------------------------------------------


def count_range(cells: MeasureCells) -> Range:
    found = STATISTICS.get("count").range(_column_cells(cells))
    return found if cells.free or found.is_exact else replace(found, sharp=False, attained_low=None, attained_high=None)


def make_range(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    """The range of an aggregate. Where the cells allow more than the store does, it is an outer bound and says so."""
    cells = measures[aggregate.measure]
    found = _FAMILIES[aggregate.family](aggregate, measures)
    if aggregate.statistic == "ratio_of_sums":
        found = _told_of_quotient(aggregate, found, measures)
    elif aggregate.may_vanish is not None:
        found = _told_of_count(found, measures[aggregate.may_vanish])
    exact = cells.free if aggregate.statistic in BY_ENDS else cells.solid
    if not exact and not found.is_exact:
        found = replace(found, sharp=False, attained_low=None, attained_high=None)
    return _told_of_classes(aggregate, found, cells)


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


def _of_column(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    return STATISTICS.get(aggregate.statistic).range(_column_cells(measures[aggregate.measure]), *aggregate.parameters)


def _of_distinct(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    """A statistic of the different values: each counts once, however many records have it."""
    values = distinct_cells(_column_cells(measures[aggregate.measure]))
    found = STATISTICS.get(aggregate.statistic).range(values, *aggregate.parameters)
    exact = bool((values.low == values.high).all() and (values.least == values.most).all())
    return found if exact else replace(found, sharp=False, attained_low=None, attained_high=None)


def _of_sets(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    cells = measures[aggregate.measure]
    return count_distinct_of_sets(cells.sets, cells.least, cells.most)


def _of_pair(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    """SQL names y first, except in a quotient of sums."""
    cells = measures[aggregate.measure]
    x, y = cells.values if aggregate.statistic == "ratio_of_sums" else cells.values[::-1]
    pairs = PairCells(x.low, x.high, y.low, y.high, cells.least, cells.most, x.integer and y.integer)
    if not cells.classes:
        return PAIR_STATISTICS.get(aggregate.statistic).range(pairs)
    told = cells.classes if aggregate.statistic == "ratio_of_sums" else cells.classes[::-1]
    sharper = CLASS_PAIR_STATISTICS[aggregate.statistic](ToldPair(pairs, *told))
    return meet(PAIR_STATISTICS.get(aggregate.statistic).range(pairs), sharper)


def _of_groups(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    cells = measures[aggregate.measure]
    value, (first_least, first_most, second_least, second_most) = cells.values[0], cells.splits[0]
    groups = GroupCells(
        value.low, value.high, cells.size, first_least, first_most, second_least, second_most, value.integer,
        (_told_group(aggregate, 0, measures), _told_group(aggregate, 1, measures)),
    )  # fmt: skip
    return GROUP_STATISTICS.get(aggregate.statistic).range(groups)


def _told_group(aggregate: Aggregate, side: int, measures: Sequence[MeasureCells]) -> ToldGroup:
    """A group by itself: the condition that makes it may say more of its values, and so may its classes."""
    alone = [
        replace(aggregate, family="column", statistic=statistic, measure=aggregate.sides[side])
        for statistic in (("avg",) if aggregate.statistic == "mean_difference" else ("avg", "var_samp"))
    ]
    return ToldGroup(*(make_range(each, measures) for each in alone))


def _of_table(aggregate: Aggregate, measures: Sequence[MeasureCells]) -> Range:
    cells = measures[aggregate.measure]
    (_, exposed, _, unexposed), (_, with_outcome, _, without) = cells.splits
    least = np.minimum(cells.least, np.minimum(exposed + unexposed, with_outcome + without))
    table = TableCells(exposed, unexposed, with_outcome, without, least, cells.most)
    return TABLE_STATISTICS.get(aggregate.statistic).range(table)


_FAMILIES: dict[str, Callable[[Aggregate, Sequence[MeasureCells]], Range]] = {
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


def _told_of_quotient(aggregate: Aggregate, found: Range, measures: Sequence[MeasureCells]) -> Range:
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


def _check_numbers(plan: Plan, found: Sequence[tuple[Range, ...]], inner: bool) -> None:
    """Refuse to read on from an aggregate that may be NaN; it can be shown, and be part of plain arithmetic."""
    read = set(columns(plan.having)) if plan.having is not None else set()
    ordered = {order.output for order in plan.orders} if plan.limit is not None or plan.offset else set()
    for i, output in enumerate(plan.outputs):
        if output.formula is not None and (inner or i in ordered or not _passes_on(output.formula)):
            read |= set(output.formula.columns)
    for i, aggregate in enumerate(plan.aggregates):
        if aggregate.statistic in _NOT_A_NUMBER and aggregate.id in read and any(r[i].may_be_null for r in found):
            raise UnsupportedSQL(
                "QG215",
                "An aggregate that is compared or aggregated here may be undefined: a correlation or slope without "
                "variation, or a geometric mean of negative numbers.",
                "Show it on its own, without a condition, a CASE or a LIMIT on it.",
            )


def _passes_on(e: Expression) -> bool:
    """Is it NaN wherever what it reads is?"""
    if isinstance(e, Call):
        return e.name in _PASSES_ON and all(_passes_on(argument) for argument in e.arguments)
    return isinstance(e, Ref | Constant)


# -- groups as rows --------------------------------------------------------------------------------------------------


def _groups_block(plan: Plan, fetched: Sequence[FetchedGroup], found: Sequence[tuple[Range, ...]]) -> Block:
    """One row per group: keys are known, aggregates lie in their ranges."""
    columns: dict[str, BlockColumn] = {}
    for i, key in enumerate(plan.keys):
        columns[key.id] = _key_column([group.keys[i] for group in fetched], key.type)
    for i, aggregate in enumerate(plan.aggregates):
        ranges = [ranges[i] for ranges in found]
        if aggregate.statistic == "count" and aggregate.measure == 0:  # the group is there, so somebody is in it
            there = [1 if not group.always else 0 for group in fetched]
            ranges = [replace(r, low=max(r.low or 0, n)) for r, n in zip(ranges, there, strict=True)]
        columns[aggregate.id] = _range_column(ranges, aggregate.type)
    return Block(np.ones(len(fetched), dtype=np.int64), columns)


def _key_column(keys: Sequence[Scalar], type_: str) -> BlockColumn:
    if type_ in ("integer", "number"):
        return _range_column([Range.null() if k is None else Range.exact(k) for k in keys], type_)  # type: ignore[arg-type]
    values = sorted({str(key) for key in keys if key is not None})
    place = {value: i for i, value in enumerate(values)}
    ids = np.array([MISSING if key is None else place[str(key)] for key in keys], dtype=np.int64)
    return SetColumn(ids + 1, Dictionary.singletons(values))


def _range_column(ranges: Sequence[Range], type_: str) -> NumberColumn:
    """Ranges as intervals. A count is a whole number however large, so beyond 64 bits it goes as a double."""
    ends = [(0, 0) if r.low is None or r.high is None else (r.low, r.high) for r in ranges]
    null = [ALL_NULLS if r.low is None else SOME_NULLS if r.may_be_null else NO_NULLS for r in ranges]
    whole = type_ in DISCRETE and all(isinstance(e, int) and abs(e) < 2**62 for pair in ends for e in pair)
    table: Array = np.array(ends, dtype=np.int64 if whole else np.float64).reshape(-1, 2)
    low, high = table[:, 0].copy(), table[:, 1].copy()
    if not whole:
        low, high = _outward_of(ends, low, high)
    return NumberColumn(low, high, np.array(null, dtype=np.int64))


def _outward_of(ends: Sequence[tuple[int | float, int | float]], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Whole numbers that no double equals are rounded outwards."""
    for i, (a, b) in enumerate(ends):
        if isinstance(a, int) and float(low[i]) > a:  # Python compares them exactly, numpy as doubles
            low[i] = math.nextafter(low[i], -math.inf)
        if isinstance(b, int) and float(high[i]) < b:
            high[i] = math.nextafter(high[i], math.inf)
    return low, high


def _output_ranges(output: Output, plan: Plan, members: Membership, found: Sequence[tuple[Range, ...]]) -> list[Range]:
    """The range of one output for every group."""
    formula = output.formula
    if isinstance(formula, Ref):
        place = next((i for i, a in enumerate(plan.aggregates) if a.id == formula.column), None)
        if place is not None:
            return [ranges[place] for ranges in found]
    there_least, there_most = members.counts(formula.present)
    low, high = expression_bounds(formula, members, formula.present)
    ranges = []
    for i in range(members.block.size):
        if there_most[i] == 0:
            ranges.append(Range.null())
            continue
        ends = (low[i].item(), high[i].item())
        made = Range(ends[0], ends[1], None, None, sharp=ends[0] == ends[1], may_be_null=bool(there_least[i] == 0))
        ranges.append(made)
    return _with_attained(formula, plan, members, found, ranges)


def _with_attained(
    formula: Expression, plan: Plan, members: Membership, found: Sequence[tuple[Range, ...]], ranges: list[Range]
) -> list[Range]:
    """A monotone function of one aggregate reaches what the aggregate reaches."""
    place = next((i for i, a in enumerate(plan.aggregates) if formula.columns == (a.id,)), None)
    if place is None or not _is_monotone(formula):
        return ranges
    told = [ranges_[place] for ranges_ in found]
    usable = [
        i for i, r in enumerate(told)
        if ranges[i].low is not None and r.attained_low is not None and r.attained_high is not None
        and math.isfinite(r.attained_low) and math.isfinite(r.attained_high)
    ]  # fmt: skip
    rows = np.array(usable, dtype=np.int64)
    reached = []
    for name in ("attained_low", "attained_high"):
        points = [Range.exact(getattr(told[i], name)) for i in usable]
        column = _range_column(points, plan.aggregates[place].type)
        block = members.block.take(rows).with_column(plan.aggregates[place].id, column)
        box = expression_bounds(formula, Membership(block), formula.present)
        reached.append([(a.item() + b.item()) / 2 for a, b in zip(box.low, box.high, strict=True)])
    for j, i in enumerate(usable):
        low, high = sorted((reached[0][j], reached[1][j]))
        ranges[i] = replace(ranges[i], attained_low=low, attained_high=high, sharp=told[i].sharp)
    return ranges


def _is_monotone(e: Expression) -> bool:
    """In the only column it reads: sums, products with constants, rising functions."""
    if isinstance(e, Call):
        return e.name in _MONOTONE and all(_is_monotone(argument) for argument in e.arguments)
    return True


def as_block(plan: Plan, groups: Sequence[Group]) -> tuple[Block, Bools]:
    """The answer of an inner query as the records of an outer one, and which of them are there for certain."""
    numbers = np.arange(len(groups), dtype=np.int64)
    columns: dict[str, BlockColumn] = {ROW: NumberColumn(numbers, numbers, np.zeros_like(numbers))}
    ranged = [output for output in plan.outputs if output.kind == "range"]
    for output in plan.outputs[: plan.shown]:
        if output.kind == "key":
            columns[output.id] = _key_column([group.keys[output.source] for group in groups], output.type)
        else:
            place = ranged.index(output)
            columns[output.id] = _range_column([group.ranges[place] for group in groups], output.type)
    exists = np.array([group.certain for group in groups], dtype=np.bool_)
    return Block(np.ones(len(groups), dtype=np.int64), columns), exists


def shown_part(plan: Plan, group: Group) -> Group:
    """What an answer shows of a group: keys and ranges in the order of the select list."""
    ranged = [output for output in plan.outputs if output.kind == "range"]
    shown = plan.outputs[: plan.shown]
    keys = [o.source for o in shown if o.kind == "key"]
    ranges = tuple(group.ranges[ranged.index(o)] for o in shown if o.kind == "range")
    rolled_up = tuple(group.rolled_up[k] for k in keys) if group.rolled_up else ()
    return Group(tuple(group.keys[k] for k in keys), ranges, group.count, group.certain, rolled_up)
