"""UNION ALL at the top: answers one after the other, under the names of the first."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import zip_longest

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call
from querygate.core.plan import Output, Plan
from querygate.sql.plan_hash import digest


def join_plans(plans: list[Plan]) -> Plan:
    """The branches of a UNION ALL as one plan."""
    first, *others = plans
    if not others:
        return first
    columns = list(zip_longest(*(plan.outputs[: plan.shown] for plan in plans)))
    if any(None in column or not _are_alike(column) for column in columns):
        raise UnsupportedSQL(
            "QG206",
            "The branches of UNION ALL have different columns.",
            "Give every branch the same keys and aggregates, with the same types.",
        )
    mixed = frozenset(i for i, column in enumerate(columns) if len({output.type for output in column}) > 1)
    first, *others = (_in_doubles(plan, mixed) for plan in plans)
    text = json.dumps(sorted(plan.canonical for plan in plans), ensure_ascii=False)
    return replace(first, following=tuple(others), canonical=text, hash=digest(text))


def _are_alike(column: tuple[Output, ...]) -> bool:
    """Of one kind and one type; whole numbers beside others become doubles."""
    types = {output.type for output in column}
    return len({output.kind for output in column}) == 1 and (len(types) == 1 or types == {"integer", "number"})


def _in_doubles(plan: Plan, places: frozenset[int]) -> Plan:
    """The plan with its ranges at these places as doubles, as the database makes them beside others."""
    outputs = [
        replace(output, type="number", formula=Call("double", (output.formula,)))
        if i in places and output.kind == "range"
        else output
        for i, output in enumerate(plan.outputs)
    ]
    return replace(plan, outputs=tuple(outputs))
