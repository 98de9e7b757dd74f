"""A plan carried out on exact rows: the slow and obvious reading of what a Plan says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from querygate.core.plan import Order, Output, Plan
from querygate.core.predicate import truth

Row = dict[str, Any]


def carry_out(plan: Plan, rows: Sequence[Row]) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """(sort key, shown values) of each group, sorted; before LIMIT."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if truth(plan.measures[0].where, row) == "true":
            groups.setdefault(tuple(row[name] for name in plan.groups), []).append(row)
    if not plan.groups:
        groups.setdefault((), [])
    found = []
    for keys, members in groups.items():
        values = [_value(output, keys, members, plan) for output in plan.outputs]
        found.append((tuple(_sort_key(values[o.output], o) for o in plan.orders), tuple(values[: plan.shown])))
    return sorted(found, key=lambda pair: pair[0])


def _value(output: Output, keys: tuple[Any, ...], members: Sequence[Row], plan: Plan) -> Any:
    if output.kind == "key":
        return keys[output.source]
    measure = plan.measures[output.source]
    selected = [row for row in members if truth(measure.where, row) == "true"]
    if output.statistic == "count":
        return len(selected)
    values = [row[measure.column] for row in selected]
    assert None not in values, "a statistic is never given a missing value"
    if not values:
        return None
    total = sum(values) if all(isinstance(value, int) for value in values) else math.fsum(values)
    return {"sum": total, "avg": total / len(values), "min": min(values), "max": max(values)}[output.statistic]


class _Down:
    """Any value, in falling order."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Down) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Down) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


def _sort_key(value: Any, order: Order) -> tuple[Any, ...]:
    if value is None:
        return (0 if order.nulls_first else 2,)
    return (1, _Down(value) if order.descending else value)


def agrees(plan: Plan, rows: Sequence[Row], given: Sequence[tuple[Any, ...]]) -> bool:
    """Are these rows, as a database gave them in this order, an answer to the plan? Ties may come in any order."""
    expected = carry_out(plan, rows)
    wanted = len(expected) if plan.limit is None else min(plan.limit, len(expected))
    if len(given) != wanted:
        return False
    start = 0
    while start < wanted:
        tied = [values for key, values in expected if key == expected[start][0]]
        for values in given[start : start + len(tied)]:
            same = next((t for t in tied if all(map(_same, t, values))), None)
            if same is None:
                return False
            tied.remove(same)
        start += len([key for key, _ in expected if key == expected[start][0]])
    return True


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    return bool(a == b)
