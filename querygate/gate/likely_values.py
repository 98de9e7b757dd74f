"""An estimate beside every range: the statement's own plan, answered over a likely table.

The table is made of the published store alone, and so are estimates: they tell nothing that the store does not. An
estimate is moved into its range where it lies outside. Where there is none, it says why.
Proof: docs/explanation/proofs/estimates.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ParamSpec

import numpy as np

from querygate.bounds import StackedGroups, gather_stacks
from querygate.core.block import Block, CodeColumn
from querygate.core.errors import Refusal
from querygate.core.expression import Call, Choice, Expression
from querygate.core.margin_choice import part_of
from querygate.core.plan import NONE, Aggregate, LeftOut, MeasureCells, Plan
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.predicate import HasAny, Predicate, leaves
from querygate.core.types import Estimate, Floats, Group, Ints, Range, Scalar
from querygate.estimates import weighted_statistics
from querygate.estimates.column_pieces import TooManyPieces
from querygate.estimates.points import UNIT
from querygate.gate.aggregate_ranges import QUOTIENTS
from querygate.gate.answer_rows import as_block, make_groups
from querygate.gate.likely_tables import LikelyTables, PointSheet
from querygate.gate.plan_cells import RangedGroup
from querygate.gate.window_ranges import Keys, Wholes, wanted_wholes

DIGITS = 4
"""Decimal places of the range's width that an estimate has: more would say nothing."""

NOTE = "Estimates (about) are likely, judging by what is published, but not guaranteed."
NULL = "The statistic is NULL."
NOBODY = "No records are expected here to compute it from."
TOO_LARGE = "The table to estimate from would be too large."
TOO_LONG = "There was not enough time for an estimate."
SUPPRESSED = "It uses codes about which nothing is published."
NOT_KNOWN = "There is no estimate for this statement."


P = ParamSpec("P")


class OutOfTime(Exception):
    """What is left of the request's time is for the answer itself."""


def with_estimates(
    plan: Plan,
    groups: Sequence[Group],
    tables: LikelyTables,
    release: PublishedVersion,
    limits: Limits,
    check: Callable[[], None],
) -> tuple[Group, ...]:
    """The groups of an answer, with an estimate for each range. `check` raises OutOfTime."""
    found: dict[tuple[tuple[Scalar, ...], tuple[bool, ...]], Group] = {}
    reason = NOBODY
    if any(_is_open(told) for group in groups for told in group.ranges):
        likely = _Likely(tables, release, limits, check)
        try:
            with np.errstate(all="ignore"):  # huge and tiny numbers: what is not finite is no estimate
                found = {(group.keys, group.rolled_up): group for group in likely.rows(plan, groups)}
            reason = SUPPRESSED if likely.is_untold else NOBODY
        except TooManyPieces:
            reason = TOO_LARGE
        except OutOfTime:
            reason = TOO_LONG
        except Refusal:  # the likely table may have what the ranges exclude: an aggregate that is undefined
            reason = NOT_KNOWN
    types = [output.type for output in plan.outputs if output.kind == "range"]
    made = []
    for group in groups:
        likely_group = found.get((group.keys, group.rolled_up))
        ranges = likely_group.ranges if likely_group is not None else (Range.null(),) * len(types)
        told = zip(group.ranges, ranges, types, strict=True)
        made.append(replace(group, estimates=tuple(_estimate(*each, reason) for each in told)))
    return tuple(made)


def has_estimate(group: Group) -> bool:
    """Is one of its numbers likely, and not certain?"""
    pairs = zip(group.ranges, group.estimates, strict=False)  # a question that is only tried has none
    return any(estimate.value is not None and _is_open(told) for told, estimate in pairs)


def _without_windows(plan: Plan) -> Plan:
    """The plan with nothing in the place of numbers that other groups have a part in."""
    names = {window.id for window in plan.windows}
    outputs = tuple(
        replace(output, formula=NONE) if output.kind == "range" and names & set(output.formula.columns) else output
        for output in plan.outputs
    )
    return replace(plan, windows=(), qualify=None, outputs=outputs)


def _is_open(told: Range) -> bool:
    return told.low is not None and told.low != told.high


def _estimate(told: Range, likely: Range, type_: str, reason: str) -> Estimate:
    """The likely value, moved into the range; rounded, as its last digits say nothing."""
    if told.low is None or told.high is None:
        return Estimate(None, NULL)
    if told.low == told.high:
        return Estimate(told.low)
    if likely.low is None or likely.high is None or not math.isfinite(likely.low) or not math.isfinite(likely.high):
        return Estimate(None, reason)
    value = likely.low / 2 + likely.high / 2 if likely.low != likely.high else likely.low
    if type_ != "number":  # days, flags and places of texts are whole numbers too
        value = round(value)
    elif math.isfinite(width := told.high - told.low):
        value = round(value, min(300, DIGITS - math.floor(math.log10(width))))
    return Estimate(min(max(value, told.low), told.high))


class _Likely:
    """Answers of one version over likely tables."""

    def __init__(
        self, tables: LikelyTables, release: PublishedVersion, limits: Limits, check: Callable[[], None]
    ) -> None:
        self._tables, self._release, self._limits, self._check = tables, release, limits, check
        self.is_untold = False

    def rows(self, plan: Plan, shown: Sequence[Group]) -> list[Group]:
        """The rows of a plan; where windows of what is likely have no value, without those."""
        try:
            return self.groups(plan, shown)
        except Refusal:
            if not plan.windows:
                raise
            return self.groups(_without_windows(plan), shown)

    def groups(self, plan: Plan, shown: Sequence[Group] | None = None) -> list[Group]:
        """The rows of a plan, each range a point. Of those `shown` that nobody is expected in, too; of an inner plan,
        the rows in which somebody is. Windows are over all rows that are likely, or over those that HAVING may keep."""
        inner = None if plan.inner is None else as_block(plan.inner, self.groups(plan.inner))[0]
        ranged, wholes = self._of(plan, inner), self._wholes(plan, inner)
        if shown is None:
            there = [group for group in ranged if group.always or (group.count.low or 0) >= weighted_statistics.HALF]
            return make_groups(plan, there, self._check, wholes=wholes, inner=True)
        if plan.windows and plan.having is not None:
            kept = {(group.keys, _chosen(plan, group)) for group in shown}
            ranged = [group for group in ranged if (group.keys, group.chosen) in kept]
        known = {(group.keys, group.chosen) for group in ranged}
        empty = tuple(Range.exact(0) if "count" in a.statistic else Range.null() for a in plan.aggregates)
        wanted = [(group.keys, _chosen(plan, group)) for group in shown]
        ranged += [RangedGroup(*each, True, empty, Range.exact(0)) for each in wanted if each not in known]
        there = [replace(group, always=True) for group in ranged]
        asked = replace(plan, having=None, qualify=None, limit=None, offset=0)
        return make_groups(asked, there, self._check, wholes=wholes)

    def _of(self, plan: Plan, inner: Block | None) -> list[RangedGroup]:
        """The groups of a plan over points, or over the likely rows of its inner plan."""
        if inner is not None:
            return self._ranged(plan, [_over_groups(plan, inner)], 1)
        return self._ranged(plan, self._tables.sheets(plan, self._release, self._limits, self._check), UNIT)

    def _wholes(self, plan: Plan, inner: Block | None) -> Wholes:
        """What the aggregates that windows ask for are of groups together."""
        found: dict[tuple[int, ...], dict[Keys, dict[int, Range]]] = {}
        for among, wanted in wanted_wholes(plan).items():
            whole = replace(part_of(plan, wanted), sets=(among,), windows=(), having=None, qualify=None)
            found[among] = {
                tuple(group.keys[i] for i in among): dict(zip(wanted, group.ranges, strict=True))
                for group in self._of(whole, inner)
            }
        return found

    def _ranged(self, plan: Plan, sheets: Sequence[PointSheet], unit: int) -> list[RangedGroup]:
        """Each group of each grouping set, with what its aggregates are over the points."""
        found: dict[tuple[tuple[Scalar, ...], tuple[int, ...]], dict[int, Range]] = {}
        counts: dict[tuple[tuple[Scalar, ...], tuple[int, ...]], tuple[Range, bool]] = {}
        for sheet in sheets:
            untold = _untold_measures(sheet.plan, sheet.points)
            self.is_untold |= bool(untold)
            for stacked in gather_stacks(sheet.plan, sheet.points, self._check):
                ats = [(group.keys, group.chosen) for group in stacked.groups]
                for at, group, count in zip(ats, stacked.groups, _counts(stacked, unit), strict=True):
                    counts.setdefault(at, (Range.exact(count), group.always))
                for place, aggregate in zip(sheet.places, sheet.plan.aggregates, strict=True):
                    no_one_knows = bool(untold & aggregate.measures)
                    points = itertools.repeat(Range.null()) if no_one_knows else _points(aggregate, stacked, unit)
                    for at, point in zip(ats, points, strict=False):
                        self._check()
                        found.setdefault(at, {})[place] = point
        places = range(len(plan.aggregates))
        return [
            RangedGroup(
                *at, always, tuple(found.get(at, {}).get(place, Range.null()) for place in places), count
            )
            for at, (count, always) in counts.items()
        ]  # fmt: skip


def _untold_measures(plan: Plan, points: Block) -> frozenset[int]:
    """The measures that select by codes of which nothing is published; all of them, where groups are made by such."""

    def asks(conditions: Iterable[Predicate]) -> bool:
        for part in leaves(conditions):
            column = points.columns.get(part.column) if isinstance(part, HasAny) else None
            if isinstance(part, HasAny) and isinstance(column, CodeColumn):
                told = column.dictionary
                if any(hidden and code in part.codes for code, hidden in zip(told.codes, told.suppressed, strict=True)):
                    return True
        return False

    if any(not isinstance(key.by, LeftOut) and asks(_conditions(key.by)) for key in plan.keys):
        return frozenset(range(len(plan.measures)))
    asked = [[m.where, *m.splits, *(part for value in m.values for part in _conditions(value))] for m in plan.measures]
    return frozenset(i for i, conditions in enumerate(asked) if asks(conditions))


def _conditions(e: Expression) -> Iterator[Predicate]:
    """The conditions of CASE inside an expression."""
    if isinstance(e, Call):
        for argument in e.arguments:
            yield from _conditions(argument)
    elif isinstance(e, Choice):
        for condition, value in e.branches:
            yield condition
            yield from _conditions(value)
        yield from _conditions(e.otherwise)


def _over_groups(plan: Plan, block: Block) -> PointSheet:
    return PointSheet(replace(plan, inner=None), tuple(range(len(plan.aggregates))), block)


def _chosen(plan: Plan, group: Group) -> tuple[int, ...]:
    if not group.rolled_up:
        return plan.sets[0]
    kept = tuple(place for place, rolled_up in enumerate(group.rolled_up) if not rolled_up)
    return next(chosen for chosen in plan.sets if set(chosen) == set(kept))


def _counts(stacked: StackedGroups, unit: int) -> list[float]:
    """How many records each group has."""
    stack = stacked.stacks[0]
    if stack is None:
        return []
    weight = _weight(stack.cells, unit)
    return [float(weight[rows].sum()) for rows in stack.rows_of_groups()]


def _points(aggregate: Aggregate, stacked: StackedGroups, unit: int) -> Iterator[Range]:
    """An aggregate in each group as a range without width."""
    stack = stacked.stacks[aggregate.measure]
    if stack is None:
        return
    if aggregate.family == "column":
        weight, x = _weight(stack.cells, unit), _column(stack.cells)
        for rows in stack.rows_of_groups():
            yield _point(_of_column, aggregate, x[rows], weight[rows])
        return
    for group in stacked.groups_with_cells():
        yield _point(figure, aggregate, group.cells, unit)


def _point(figured: Callable[P, weighted_statistics.Figure], *of: P.args, **named: P.kwargs) -> Range:
    """NULL where there is no value, or none that a double can be."""
    try:
        value = figured(*of, **named)
    except ArithmeticError:
        return Range.null()
    return Range.null() if value is None or not math.isfinite(value) else Range.exact(value)


# -- an aggregate over points ------------------------------------------------------------------------------------------


def figure(aggregate: Aggregate, measures: Sequence[MeasureCells], unit: int = UNIT) -> weighted_statistics.Figure:
    """An aggregate over cells that are points."""
    cells = measures[aggregate.measure]
    weight = _weight(cells, unit)
    values = [_middle(value.low, value.high) for value in cells.values]
    match aggregate.family:
        case "sets":
            return weighted_statistics.of_values(cells.sets, weight)
        case "pair":
            x, y = values if aggregate.statistic in QUOTIENTS else values[::-1]
            return weighted_statistics.of_pair(aggregate.statistic, x, y, weight)
        case "groups":
            first, second = ((s[0] + s[1]) / (2.0 * unit) for s in (cells.splits[0][:2], cells.splits[0][2:]))
            return weighted_statistics.of_groups(aggregate.statistic, values[0], first, second)
        case "table":
            return _of_table(aggregate.statistic, cells, weight)
    x = _column(cells)
    if aggregate.family == "distinct":
        x, weight = weighted_statistics.distinct(x, weight)
    return _of_column(aggregate, x, weight)


def _column(cells: MeasureCells) -> Floats:
    """The value of each point."""
    return _middle(cells.values[0].low, cells.values[0].high) if cells.values else np.zeros(cells.least.size)


def _of_column(aggregate: Aggregate, x: Floats, weight: Floats) -> weighted_statistics.Figure:
    of_column = weighted_statistics.OF_COLUMN.get(aggregate.statistic)
    return None if of_column is None else of_column(x, weight, *aggregate.parameters)


def _of_table(statistic: str, cells: MeasureCells, weight: Floats) -> weighted_statistics.Figure:
    exposed, outcome = (split[1] > split[3] for split in cells.splits)
    of = [float(weight[a & b].sum()) for a in (exposed, ~exposed) for b in (outcome, ~outcome)]
    return weighted_statistics.of_table(statistic, of[0], of[1], of[2], of[3])


def _weight(cells: MeasureCells, unit: int) -> Floats:
    return (cells.least + cells.most) / (2.0 * unit)


def _middle(low: Floats | Ints, high: Floats | Ints) -> Floats:
    """Ends that are apart were only rounded outwards."""
    return np.where(low == high, low, low / 2.0 + high / 2.0).astype(np.float64)
