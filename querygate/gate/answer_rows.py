"""From the ranges of aggregates to the rows of an answer: what the statement makes of its groups.

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
from querygate.core.plan import Output, Plan
from querygate.core.predicate import Predicate, columns
from querygate.core.types import DISCRETE, Array, Bools, Floats, Group, Range, Scalar
from querygate.gate.plan_cells import RangedGroup, Sheet, range_groups
from querygate.gate.window_ranges import BESIDE_GROUPS, Wholes, range_wholes, window_ranges

_MONOTONE = frozenset({"add", "sub", "neg", "mul", "div", "double", "round", "floor", "ceil", "trunc", "exp", "ln",
                       "log2", "log10", "sqrt", "whole", "sign"})  # fmt: skip


_NOT_A_NUMBER = frozenset({"corr", "regr_slope", "geometric_mean"})
"""Statistics for which the database may say NaN. That is told as NULL, yet it is not NULL to what reads it: NaN is
equal to itself and above all numbers."""

_PASSES_ON = (_MONOTONE | {"abs", "single"}) - {"sign", "whole"}
"""Functions that make NaN of NaN."""


def compute_groups(plan: Plan, block: Block, check: Callable[[], None]) -> list[Group]:
    """The rows of a plan's answer from cells of all columns, before their order."""
    return answer_groups(plan, (Sheet.whole(plan, block),), check)


def answer_groups(
    plan: Plan, sheets: Sequence[Sheet], check: Callable[[], None], *, inner: bool = False
) -> list[Group]:
    """The rows of a plan's answer, before their order. Of an inner plan, first its groups, then those over them."""
    if plan.inner is None:
        wholes = range_wholes(plan, sheets, check, None)
        return make_groups(plan, range_groups(plan, sheets, check), check, wholes=wholes, inner=inner)
    rows = answer_groups(plan.inner, sheets, check, inner=True)
    block, exists = as_block(plan.inner, rows)
    over = (Sheet.whole(replace(plan, inner=None), block),)
    wholes = range_wholes(plan, over, check, exists)
    ranged = _held(plan, range_groups(plan, over, check, exists=exists), block, rows, check)
    return make_groups(plan, ranged, check, wholes=wholes, inner=inner)


def _held(
    plan: Plan, ranged: Sequence[RangedGroup], block: Block, rows: Sequence[Group], check: Callable[[], None]
) -> list[RangedGroup]:
    """Groups of groups, with how many records these may have."""
    records = np.array([int(row.count.high or 0) if row.holds is None else row.holds for row in rows], dtype=np.int64)
    counted = replace(plan, inner=None, measures=plan.measures[:1], aggregates=())
    found = gather(counted, replace(block, n=records), check)
    most = {(group.keys, group.chosen): int(group.cells[0].most.sum()) for group in found}
    return [replace(group, holds=most.get((group.keys, group.chosen), 0)) for group in ranged]


def make_groups(
    plan: Plan, ranged: Sequence[RangedGroup], check: Callable[[], None], *, wholes: Wholes, inner: bool = False
) -> list[Group]:
    """What the statement makes of its aggregates, for the groups that HAVING and QUALIFY may keep."""
    _check_numbers(plan, ranged, inner)
    certain = np.array([group.always or (group.count.low or 0) > 0 for group in ranged], dtype=np.bool_)
    members = Membership(_groups_block(plan, ranged), check)
    early = [window for window in plan.windows if window.statistic in BESIDE_GROUPS]
    for windows in (early, [window for window in plan.windows if window not in early]):
        for window in windows:
            column = _range_column(window_ranges(window, ranged, certain, members, wholes), window.type)
            members = Membership(members.block.with_column(window.id, column), check)
        if windows is early and plan.having is not None:
            members, ranged, certain = _kept(plan.having, members, ranged, certain)
    if plan.qualify is not None:
        members, ranged, certain = _kept(plan.qualify, members, ranged, certain)
    outputs = [_output_ranges(output, plan, members, ranged) for output in plan.outputs if output.kind == "range"]
    return [
        Group(
            group.keys,
            tuple(ranges[i] for ranges in outputs),
            _records(plan, group),
            certain=bool(certain[i]),
            rolled_up=tuple(k not in group.chosen for k in range(len(plan.keys))) if len(plan.sets) > 1 else (),
            holds=group.holds,
        )
        for i, group in enumerate(ranged)
    ]


def _records(plan: Plan, group: RangedGroup) -> Range:
    """How many records a group may have: no more and no fewer than COUNT(*) says, which other margins tell of too."""
    found = group.count
    for aggregate, told in zip(plan.aggregates, group.ranges, strict=True):
        if aggregate.family == "column" and aggregate.statistic == "count" and aggregate.measure == 0:
            low, high = max(found.low or 0, told.low or 0), min(found.high or 0, told.high or 0)
            found = Range(low, high) if low <= high and aggregate.may_vanish is None else found
    return found


def _kept(
    p: Predicate, members: Membership, ranged: Sequence[RangedGroup], certain: Bools
) -> tuple[Membership, list[RangedGroup], Bools]:
    """The groups for which a condition may hold, and which of them are there for certain."""
    least, most = members.counts(p)
    rows = np.flatnonzero(most > 0)
    kept = [ranged[i] for i in rows.tolist()]
    return members.on(members.block.take(rows)), kept, (certain & (least > 0))[rows]


def _check_numbers(plan: Plan, ranged: Sequence[RangedGroup], inner: bool) -> None:
    """Refuse to read on from an aggregate that may be NaN; it can be shown, and be part of plain arithmetic."""
    read = set(columns(plan.having)) if plan.having is not None else set()
    ordered = {order.output for order in plan.orders} if plan.limit is not None or plan.offset else set()
    for window in plan.windows:
        read |= {*window.argument.columns, *(name for rank in window.ranks for name in rank.formula.columns)}
    for i, output in enumerate(plan.outputs):
        if output.formula is not None and (inner or i in ordered or not _passes_on(output.formula)):
            read |= set(output.formula.columns)
    for i, aggregate in enumerate(plan.aggregates):
        if (
            aggregate.statistic in _NOT_A_NUMBER
            and aggregate.id in read
            and any(g.ranges[i].may_be_null for g in ranged)
        ):
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


def _groups_block(plan: Plan, ranged: Sequence[RangedGroup]) -> Block:
    """One row per group: keys are known, aggregates lie in their ranges. Without columns where nothing reads them."""
    columns: dict[str, BlockColumn] = {}
    formed = (output for output in plan.outputs if output.kind == "range" and _aggregate_of(output, plan) is None)
    if not plan.windows and plan.having is None and plan.qualify is None and not any(formed):
        return Block(np.ones(len(ranged), dtype=np.int64), columns)
    for i, key in enumerate(plan.keys):
        columns[key.id] = _key_column([group.keys[i] for group in ranged], key.type)
    for i, aggregate in enumerate(plan.aggregates):
        ranges = [group.ranges[i] for group in ranged]
        if aggregate.statistic == "count" and aggregate.measure == 0:  # the group is there, so somebody is in it
            there = [1 if not group.always else 0 for group in ranged]
            ranges = [replace(r, low=max(r.low or 0, n)) for r, n in zip(ranges, there, strict=True)]
        columns[aggregate.id] = _range_column(ranges, aggregate.type)
    return Block(np.ones(len(ranged), dtype=np.int64), columns)


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


def _output_ranges(output: Output, plan: Plan, members: Membership, ranged: Sequence[RangedGroup]) -> list[Range]:
    """The range of one output for every group."""
    place, formula = _aggregate_of(output, plan), output.formula
    if place is not None:
        return [group.ranges[place] for group in ranged]
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
    return _with_attained(formula, plan, members, ranged, ranges)


def _aggregate_of(output: Output, plan: Plan) -> int | None:
    """The place of the aggregate that an output shows as it is."""
    formula = output.formula
    if not isinstance(formula, Ref):
        return None
    return next((i for i, a in enumerate(plan.aggregates) if a.id == formula.column), None)


def _with_attained(
    formula: Expression, plan: Plan, members: Membership, ranged: Sequence[RangedGroup], ranges: list[Range]
) -> list[Range]:
    """A monotone function of one aggregate reaches what the aggregate reaches."""
    place = next((i for i, a in enumerate(plan.aggregates) if formula.columns == (a.id,)), None)
    if place is None or not _is_monotone(formula):
        return ranges
    told = [group.ranges[place] for group in ranged]
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
    """What an answer shows of a group: keys, ranges and estimates in the order of the select list."""
    ranged = [output for output in plan.outputs if output.kind == "range"]
    shown = plan.outputs[: plan.shown]
    keys = [o.source for o in shown if o.kind == "key"]
    places = [ranged.index(o) for o in shown if o.kind == "range"]
    ranges = tuple(group.ranges[place] for place in places)
    estimates = tuple(group.estimates[place] for place in places) if group.estimates else ()
    rolled_up = tuple(group.rolled_up[k] for k in keys) if group.rolled_up else ()
    shown_keys = tuple(group.keys[k] for k in keys)
    return Group(shown_keys, ranges, group.count, group.certain, rolled_up, estimates, first=group.first)
