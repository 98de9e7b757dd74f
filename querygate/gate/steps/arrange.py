"""ORDER BY and LIMIT, without hiding groups that may belong to the answer; then the answer is complete."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.plan import Plan
from querygate.core.types import Answer, AnswerColumn, Group, Limited
from querygate.gate import order_and_limit as order
from querygate.gate.answer_rows import shown_part
from querygate.gate.likely_values import NOTE as NOT_GUARANTEED
from querygate.gate.likely_values import has_estimate
from querygate.gate.query_state import INTERVAL, Gate, State


def arrange(state: State, gate: Gate) -> State:
    catalog = state.catalog
    shown: list[Group] = []
    limited: Limited | None = None
    notes = [*state.notes, *state.plan.notes]
    notes += [f"Groups that cannot contain {catalog.min_group} records are not shown."] if catalog.min_group else []
    for plan, groups in zip(state.plan.branches, state.groups, strict=True):
        arranged, told = order.arrange(groups, plan)
        here = [shown_part(plan, group) for group in arranged if group.may_show(catalog.min_group)]
        limited, shown = order.find_limit(plan, here) or limited, shown + here
        notes += [note for note in told if note not in notes]
    if catalog.min_group and not shown and any(state.groups):
        notes.append(f"No row can contain {catalog.min_group} records, so none is shown: ask about more people.")
    notes += [NOT_GUARANTEED] if any(map(has_estimate, shown)) else []
    columns, elapsed_ms = make_columns(state.plan), round((gate.clock_s() - state.began_s) * 1000, 1)
    made = Answer(
        state.query_id, catalog.dataset, catalog.version, INTERVAL, columns, tuple(shown), tuple(notes), elapsed_ms,
        limited,
    )  # fmt: skip
    return replace(state, answer=made)


def make_columns(plan: Plan) -> tuple[AnswerColumn, ...]:
    """The select list as columns of the answer."""
    seen = {"key": 0, "range": 0}
    columns = []
    for output in plan.outputs[: plan.shown]:
        place = seen[output.kind]
        columns.append(AnswerColumn(output.name, output.kind, output.type, place, output.texts, output.digits))
        seen[output.kind] += 1
    return tuple(columns)
