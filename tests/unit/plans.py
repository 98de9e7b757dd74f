"""Plans made by hand, for what reads plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from querygate.core.expression import Lookup, Ref
from querygate.core.plan import Aggregate, GroupKey, Measure, Output, Plan
from querygate.core.predicate import TRUE, Predicate

COUNT = Aggregate("count", "column", "count", 0, "integer")
NUMBER = Output("n", "range", "integer", formula=Ref("count", "integer"))


def category_key(column: str, values: tuple[str, ...]) -> GroupKey:
    """A category as it is."""
    table = Lookup.over_values(column, "category", values, (*values, None))
    return GroupKey(f"key {column}", "category", table, (*values, None))


def make_plan(
    where: Predicate = TRUE,
    *,
    keys: Sequence[GroupKey] = (),
    aggregates: Sequence[Aggregate] = (COUNT,),
    outputs: Sequence[Output] = (NUMBER,),
    **more: Any,
) -> Plan:
    """A plan with one measure, the selection itself; its keys are shown before the outputs."""
    shown = (*(Output(key.id, "key", key.type, i) for i, key in enumerate(keys)), *outputs)
    given: dict[str, Any] = {"having": None, "orders": (), "limit": None, "shown": len(shown), **more}
    return Plan(
        dataset="t",
        keys=tuple(keys),
        sets=(tuple(range(len(keys))),),
        grouped=bool(keys),
        measures=(Measure(where),),
        aggregates=tuple(aggregates),
        outputs=shown,
        canonical="",
        hash="",
        **given,
    )
