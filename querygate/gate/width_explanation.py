"""Why an answer is as wide as it is, and which questions nearby are sharp.

What a range loses when an end, a set of values or a key follows what is published is what that place has cost; what is
left at last is how values are published. All of it is a function of the published store and the statement, as the
answer itself is: nothing is told here that could not be found by asking the same questions one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from querygate.core.answer_bodies import CauseBody, ExplanationBody, SharperBody, StraddleBody, WidthBody
from querygate.core.errors import NotPermitted
from querygate.core.limits.deadline import over_the_limit
from querygate.core.plan import Plan
from querygate.core.types import Answer, Catalog
from querygate.gate.nearby_questions import Ask, NearbyQuestions, Step, Trial
from querygate.gate.plan_cells import Sheet
from querygate.gate.straddled_cells import PlaceCells
from querygate.gate.widths import mean_widths, range_names, width_number
from querygate.sql import Place, StatementPlaces

WITHHELD = (
    "Queries of this dataset are audited before they are answered. Reasons and narrower queries would reveal answers "
    "that were not audited, so they are not given."
)


def withhold_reasons(answer: Answer) -> ExplanationBody:
    """The widths that the answer has itself, and nothing of questions nearby: what the inline auditor would refuse may
    be among them, and to judge one is to count it as answered."""
    widths = zip(range_names(answer), mean_widths(answer), strict=True)
    columns: list[WidthBody] = [{"name": name, "width": width_number(width), "causes": []} for name, width in widths]
    return {"columns": columns, "straddling": [], "suggestions": [], "complete": False, "withheld": WITHHELD}


def explain_width(
    sql: str, plan: Plan, answer: Answer, sheets: Iterable[Sheet], catalog: Catalog, ask: Ask
) -> ExplanationBody:
    """The causes of the width of each range, what straddles, and questions that are sharper."""
    statement, cells, widths = StatementPlaces(sql, catalog), PlaceCells(tuple(sheets)), mean_widths(answer)
    straddled: dict[Place, StraddleBody] = {}
    nearby = NearbyQuestions(statement, answer, cells, ask)
    in_time = True
    try:
        for place in statement.places if any(widths) else ():
            found = cells.straddle(place)
            if found is not None:
                straddled[place] = found
        if any(widths):
            nearby.search(list(straddled))
    except NotPermitted as refusal:  # what was found until now is told
        if refusal.code != over_the_limit().code:
            raise
        in_time = False
    values = _value_columns(plan, answer)
    named = enumerate(range_names(answer))
    body: ExplanationBody = {
        "columns": [_width_body(name, j, widths[j], nearby.steps, values[j]) for j, name in named],
        "straddling": [
            _without_few(found, catalog.min_group)
            for found in straddled.values()
            if found["records"] >= catalog.min_group
        ],
        "suggestions": [_sharper_body(trial, statement) for trial in nearby.best()],
        "complete": in_time and not nearby.is_exhausted,
    }
    return {**body, "apart": cells.apart} if cells.apart else body


def _without_few(found: StraddleBody, least: int) -> StraddleBody:
    """Published ranges of fewer records than a group may have are not shown, as in answers."""
    largest = [one for one in found["largest"] if one["records"] >= least]
    return {**found, "largest": largest}


def _value_columns(plan: Plan, answer: Answer) -> list[str]:
    """Of each range column, the columns whose values it is computed from."""
    while plan.inner is not None:
        plan = plan.inner
    of_aggregate = {
        a.id: [n for m in sorted(a.measures) for v in plan.measures[m].values for n in v.columns]
        for a in plan.aggregates
    }
    every = list(dict.fromkeys(name for names in of_aggregate.values() for name in names))
    outputs = [output for output in plan.outputs[: plan.shown] if output.kind == "range"]
    found = []
    for j, _ in enumerate(range_names(answer)):
        used = outputs[j].formula.columns if j < len(outputs) else ()
        names = [name for id_ in used for name in of_aggregate.get(id_, every)]
        found.append(", ".join(dict.fromkeys(names)))
    return found


def _width_body(name: str, output: int, width: float, steps: Sequence[Step], values: str) -> WidthBody:
    """A range and what its width consists of. The causes add up to it."""
    causes: list[CauseBody] = []
    left = width
    for place, trial in steps:
        after = min(left, trial.widths[output])
        if after < left:
            causes.append(_cause(place.column.name, place.text, place.kind, left - after, width))
            left = after
    if left > 0:
        causes.append(_cause(values, "", "ranges" if values else "rest", left, width))
    return {"name": name, "width": width_number(width), "causes": causes}


def _cause(column: str, at: str, part: str, width: float, whole: float) -> CauseBody:
    share = round(width / whole, 3) if math.isfinite(whole) else None
    return {"column": column, "at": at, "part": part, "width": width_number(width), "share": share}


def _sharper_body(trial: Trial, statement: StatementPlaces) -> SharperBody:
    return {
        "sql": trial.sql,
        "changes": statement.told(trial.fillings),
        "widths": {name: width_number(width) for name, width in zip(trial.names, trial.widths, strict=True)},
        "exact": not any(trial.widths),
        "narrower": None if trial.left == 0 else float(f"{1 / trial.left:.3g}"),
    }
