"""Coded records as input for views: combinations of quasi-identifiers, and all columns of some frame cells.

A sensitive column, or a group of linked ones, is a unit. Its bins are the codes that occur; sums of its numbers are
published if a sum is meaningful and no person has several rows in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import DISCRETE, Ints
from querygate.custody.columns.hierarchies import places
from querygate.custody.policy import ColumnPolicy, Policy, ViewRules
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.policy.view_rules import value_unit
from querygate.custody.publish.guarantees import column_guards, person_numbers
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.views import (
    CellLimits,
    FrameColumn,
    Measure,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    ViewPlan,
)

MOST = CellLimits()


@dataclass(frozen=True)
class Unit:
    """Sensitive columns that stay together, in the order of the policy; usually just one."""

    columns: tuple[ColumnPolicy, ...]

    @property
    def name(self) -> str:
        return self.columns[0].name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True)
class UnitBins:
    """The bins of a unit: for each of its columns the code in each bin, -1 if it is missing."""

    codes: tuple[Ints, ...]


@dataclass(frozen=True)
class QuasiTable:
    """Rows of quasi-identifiers in the order of their codes, and how many records each stands for."""

    table: RecordTable
    records: Ints


@dataclass(frozen=True)
class FrameRecords:
    """The records of some frame cells: the cell of each, and the bins of each unit."""

    table: RecordTable
    frame: Ints
    bins: tuple[UnitBins, ...]


def rules_of(policy: Policy) -> ViewRules:
    if policy.views is None:
        raise ValueError("the policy has no views")
    return policy.views


def units_of(policy: Policy) -> tuple[Unit, ...]:
    """All units of sensitive columns, in the order of their first columns."""
    group_of = {name: group for group in rules_of(policy).linked for name in group}
    found: dict[tuple[str, ...], list[ColumnPolicy]] = {}
    for column in policy.named("sensitive"):
        found.setdefault(group_of.get(column.name, (column.name,)), []).append(column)
    return tuple(Unit(tuple(columns)) for columns in found.values())


def tells_sums(state: PublicationState, column: ColumnPolicy) -> bool:
    """Whether classes publish the sum of a number. The sum over one person's rows would be about that person."""
    return has_moments(column) and not state.repeated


def make_plan(state: PublicationState) -> ViewPlan:
    rules = rules_of(state.policy)
    frame = (FrameColumn(name, _cuts(state, name, cuts)) for name, cuts in rules.frame)
    return ViewPlan(rules.views, tuple(frame), state.policy.k, rules.values, MOST)


def quasi_table(state: PublicationState) -> QuasiTable:
    """The quasi-identifiers of the whole table: each combination once, or each record if people have several."""
    found = state.staging.combinations(by_record=state.repeated)
    shares = None if state.repeated else (found.counts, 1)
    persons = person_numbers(state) if state.repeated else None
    return QuasiTable(RecordTable(_quasi(replace(state, combinations=found)), (), persons, shares), found.counts)


def frame_records(state: PublicationState, whole: QuasiTable, frame: Ints, cells: range) -> FrameRecords:
    """The records of some frame cells; `frame` is the cell of every row of the whole table."""
    state = replace(state, combinations=state.staging.combinations(by_record=True, classes=cells))
    made = [_sensitive(state, unit) for unit in units_of(state.policy)]
    here = np.flatnonzero((frame >= cells.start) & (frame < cells.stop))
    row = np.repeat(here, whole.records[here])  # records come in the order of their codes, as the rows do
    shares = (whole.table.weights // whole.records)[row], whole.table.person
    table = RecordTable(_quasi(state), tuple(column for column, _ in made), shares=shares)
    return FrameRecords(table, frame[row], tuple(bins for _, bins in made))


def in_batches(sizes: Ints, most: int) -> Iterator[range]:
    """Frame cells in batches of about this many records; a cell with more is a batch by itself."""
    begin, held = 0, 0
    for cell, size in enumerate(sizes.tolist()):
        if held and held + size > most:
            yield range(begin, cell)
            begin, held = cell, 0
        held += size
    yield range(begin, sizes.size)


# -- columns -------------------------------------------------------------------------------------------------------


def _quasi(state: PublicationState) -> tuple[QuasiIdentifier, ...]:
    prefer = dict(rules_of(state.policy).prefer)
    codes = {} if state.combinations is None else state.combinations.codes
    found = []
    for column in state.policy.dividing:
        name, size = column.name, code_size(state, column)
        cuts = _cuts(state, name, prefer.get(name, ()))
        found.append(QuasiIdentifier(name, codes[name], size, column.is_numeric, cuts, _levels(state, name)))
    return tuple(found)


def _levels(state: PublicationState, name: str) -> tuple[Ints, ...]:
    """For a category with a hierarchy, the nodes above its values."""
    if name not in state.trees:
        return ()
    tree = state.trees[name]
    leaves = places(tree, state.texts[name])[:-1]
    return tuple(level[leaves] for level in tree.levels[1:])


def code_size(state: PublicationState, column: ColumnPolicy) -> int:
    """The number of codes of a column; at least one, even if it has no values."""
    if column.is_numeric:
        return max(1, state.numbers[column.name].size)
    return max(1, len(column.groups or state.texts[column.name]))


def _cuts(state: PublicationState, name: str, points: tuple[int | float, ...]) -> tuple[int, ...]:
    return state.numbers[name].cuts(points) if points else ()


def _sensitive(state: PublicationState, unit: Unit) -> tuple[SensitiveColumn, UnitBins]:
    """The unit with the bins that occur, missing values among them."""
    coded = np.stack([_codes(state, column) for column in unit.columns])
    bins, place = np.unique(coded, axis=1, return_inverse=True)
    measures = [_measure(state, c, own) for c, own in zip(unit.columns, bins, strict=True) if c.is_numeric]
    guards = [guard for column in unit.columns for guard in column_guards(state, column)]
    made = SensitiveColumn(unit.name, place.reshape(-1), bins.shape[1], tuple(measures), tuple(guards), tuple(bins))
    return made, UnitBins(tuple(bins))


def _codes(state: PublicationState, column: ColumnPolicy) -> Ints:
    """The code of each record. Every record is a combination by itself, so its smallest code is its own."""
    known = {} if state.combinations is None else state.combinations.low_code
    return known[column.name] if column.name in known else state.staging.counts_by_combination(column.name)[1]


def _measure(state: PublicationState, column: ColumnPolicy, codes: Ints) -> Measure:
    """A number in whole units, with its ends in each bin (low above high: missing) and the width of sum cells."""
    if state.combinations is None:
        raise ValueError("records are read first")
    unit, guard, numbers = value_unit(column), column.guard or 0, state.numbers[column.name]
    raw, known = state.combinations.low[column.name], codes >= 0
    low, high = (
        np.where(known, _floor(end[np.where(known, codes, 0)], unit), 0) for end in (numbers.low, numbers.high)
    )
    span = int(guard // unit) - (0 if column.type in DISCRETE and unit == 1 else 1)
    step = max(1, int(rules_of(state.policy).sum_cell * guard // unit)) if tells_sums(state, column) else 0
    values = np.where(np.isnan(raw), 0, _floor(np.nan_to_num(raw), unit)).astype(np.int64)
    return Measure(values, np.where(known, low, 1), np.where(known, high, 0), max(0, span), step, state.policy.k)


def _floor(values: object, unit: int | float) -> Ints:
    return np.floor(np.asarray(values, dtype=np.float64) / unit).astype(np.int64)
