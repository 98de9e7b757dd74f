"""What a plan asks, as a text and its hash, equal for statements of equal meaning: log and audit rely on it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from querygate.core.canonical_text import told
from querygate.core.plan import GroupKey, LeftOut, Output, Plan
from querygate.core.predicate import TRUE
from querygate.sql.context import Context


def with_meaning(plan: Plan, records: Context, groups: Context) -> Plan:
    """The plan with its canonical text, which is equal for statements that ask the same: whatever their names, spelling
    and order of columns. Outputs are called by their meaning, so that an outer query says by itself which it uses."""
    asked = [_asked(output, plan, groups) for output in plan.outputs]
    cut = None
    if (plan.limit is not None or plan.offset) and plan.grouped:
        cut = [
            plan.limit,
            plan.offset,
            [[asked[order.output], order.descending, order.nulls_first] for order in plan.orders],
        ]
    body = {
        "dataset": plan.dataset,
        "inner": {**json.loads(plan.inner.canonical), "asked": None} if plan.inner is not None else None,
        "groups": sorted(sorted(key.id for key in _records_apart(plan, chosen)) for chosen in plan.sets),
        "grouped": plan.grouped,
        "where": records.meaning(plan.measures[0].where),
        "asked": sorted(asked[i] for i, output in enumerate(plan.outputs[: plan.shown]) if output.kind != "key"),
        "having": groups.meaning(plan.having if plan.having is not None else TRUE),
        "limit": cut,
        **({"qualify": groups.meaning(plan.qualify)} if plan.qualify is not None else {}),
    }
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False)
    outputs = tuple(replace(o, id=f"output {digest(text)[:24]}") for o, text in zip(plan.outputs, asked, strict=True))
    return replace(plan, outputs=outputs, canonical=canonical, hash=digest(canonical))


def _records_apart(plan: Plan, chosen: tuple[int, ...]) -> list[GroupKey]:
    """The keys of a grouping set; what GROUPING tells follows from the set."""
    return [plan.keys[i] for i in chosen if not isinstance(plan.keys[i].by, LeftOut)]


def _asked(output: Output, plan: Plan, groups: Context) -> str:
    """What an output tells of a group."""
    return plan.keys[output.source].id if output.kind == "key" else told(output.formula, groups.named)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
