"""Classes of views that were joined, each with its public condition and the rule that made it necessary.

They depend on sensitive values, so they are for the custodian. A condition is in public values: cuts and categories.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Array, Ints
from querygate.custody.policy import ColumnPolicy
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.views import NULL, CellRelease, RecordTable
from querygate.methods.views.balance import REASON as BALANCE
from querygate.methods.views.column_frontiers import WITNESS
from querygate.methods.views.crossings import REASON as CROSSING
from querygate.methods.views.frontier import Collapse, Frontier

MOST = 30
"""Only this many are kept, those with most people."""

MOST_VALUES = 6
"""The most categories that a condition names."""


@dataclass(frozen=True, slots=True)
class JoinedClass:
    """A class that replaces `classes` smaller ones, for counts (no unit) or for a unit."""

    view: int
    unit: tuple[str, ...]
    condition: str
    people: float
    classes: int
    rule: str
    reason: str


def joined_classes(
    state: PublicationState,
    table: RecordTable,
    made: CellRelease,
    views: Sequence[Sequence[str]],
    units: Sequence[tuple[str, ...]],
) -> list[JoinedClass]:
    """The largest joined classes of one frame cell; a class that was joined again appears only in its final form."""
    found = list(_last(made.collapses, made.counts, ()))
    for unit, column in zip(units, made.columns, strict=True):
        frontiers = dict(zip(column.views, column.safe.views, strict=True))
        found += _last(column.collapses, frontiers, unit)
    sized = [(_held(made, one, frontier), unit, one, frontier) for unit, one, frontier in found]
    weight = [int(table.weights[rows].sum()) for rows, *_ in sized]
    kept = sorted(range(len(sized)), key=lambda place: (-weight[place], place))[:MOST]
    return [
        JoinedClass(
            one.view,
            unit,
            _condition(state, table, views[one.view], rows),
            weight[place] / table.person,
            int(frontier.tree.last[one.node] - frontier.tree.first[one.node]),
            rule_of(one.reason),
            one.reason,
        )
        for place in kept
        for rows, unit, one, frontier in [sized[place]]
    ]


def rule_of(reason: str) -> str:
    """Which of the three proofs required it: R1 a class, R2 people, R3 values."""
    return {CROSSING: "R2", BALANCE: "R2", WITNESS: "R3"}.get(reason, "R1")


def most_people(joined: Sequence[JoinedClass]) -> tuple[JoinedClass, ...]:
    return tuple(sorted(joined, key=lambda one: -one.people)[:MOST])


def _last(
    collapses: Sequence[Collapse], frontiers: Sequence[Frontier] | dict[int, Frontier], unit: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Collapse, Frontier]]:
    """Collapses whose node is a class in the final result, each once."""
    nodes = {(one.view, one.node): one for one in collapses}
    for (view, node), one in nodes.items():
        frontier = frontiers.get(view) if isinstance(frontiers, dict) else frontiers[view]
        if frontier is not None and node in frontier.nodes:
            yield unit, one, frontier


def _held(made: CellRelease, one: Collapse, frontier: Frontier) -> Ints:
    """The records of a class."""
    rows: Ints = made.records[frontier.top[made.leaf[one.view]] == one.node]
    return rows


def _condition(state: PublicationState, table: RecordTable, names: Sequence[str], rows: Ints) -> str:
    return ", ".join(_values(state, state.policy.column(name), table.column(name).codes[rows]) for name in names)


def _values(state: PublicationState, column: ColumnPolicy, codes: Ints) -> str:
    """The possible values of a column in a class."""
    known = np.unique(codes[codes != NULL])
    missing = ["missing"] if (codes == NULL).any() else []
    if not known.size:
        return f"{column.name} missing"
    if column.is_numeric:
        numbers = state.numbers[column.name]
        ends = [_number(column, numbers.low[known[0]]), _number(column, numbers.high[known[-1]])]
        told = [ends[0] if ends[0] == ends[1] else " to ".join(ends)]
    else:
        named = column.groups or tuple((text,) for text in state.texts[column.name])
        texts = [text for code in known.tolist() for text in named[code]]
        told = texts if len(texts) <= MOST_VALUES else [f"{len(texts)} values"]
    return f"{column.name} {' or '.join([*told, *missing])}"


def _number(column: ColumnPolicy, value: Array) -> str:
    if column.type == "date":
        return str(dt.date(1970, 1, 1) + dt.timedelta(days=int(value)))
    if column.type == "timestamp":
        return str(dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(value)))
    return f"{int(value)}" if column.type == "integer" else f"{float(value):.6g}"
