"""What a statement would do, without doing it: the same words at every front door, from the public catalog alone."""

from __future__ import annotations

import math

from querygate.bounds import moment_columns
from querygate.core.answer_bodies import Verdict
from querygate.core.margin_choice import choose_margins
from querygate.core.plan import LeftOut, Plan
from querygate.core.predicate import And, Or, Predicate, columns_once, parts_apart
from querygate.core.types import Catalog


def make_verdict(plan: Plan, catalog: Catalog) -> Verdict:
    """The answer to a dry run: accepted, with these columns, at most so many groups, at this cost."""
    sharpened = sorted({name for branch in plan.branches for name in moment_columns(branch, catalog)})
    verdict: Verdict = {
        "accepted": True,
        "columns": [{"name": o.name, "kind": o.kind, "type": o.type} for o in plan.outputs[: plan.shown]],
        "groups_at_most": sum(_most_groups(branch, catalog) for branch in plan.branches),
        "width": expected_width(plan, catalog),
        "sharpened_by": sharpened,
        "canonical": plan.hash,
        "cost": {"epsilon": 0},
        "notes": list(plan.notes),
    }
    if not sharpened:
        del verdict["sharpened_by"]
    if catalog.margins:
        used = {i for branch in plan.branches for choice in choose_margins(branch, catalog) for i in choice.margins}
        views = dict.fromkeys(catalog.margins[i].quasi for i in sorted(used))
        verdict["views"] = [list(view) for view in views]
    return verdict


def _most_groups(plan: Plan, catalog: Catalog) -> int:
    """How many groups there can be: each key has so many values, and NULL where the column can be missing."""
    sizes = []
    for key in plan.keys:
        names = [catalog.column(name) for name in key.by.columns]
        null = plan.inner is not None or any(c is None or c.nullable for c in names) or len(key.values) == 1
        sizes.append(1 if isinstance(key.by, LeftOut) else len(key.values) if null else len(key.values) - 1)
    return sum(math.prod(sizes[i] for i in chosen) for chosen in plan.sets)


def expected_width(plan: Plan, catalog: Catalog) -> str:
    """A word on how wide ranges will be, from the schema alone.

    exact: only public columns are used. sharp: as narrow as the store allows. outer: the form of the statement (a
    column in several places) may cost width on top, or several views tell of it, of which no range uses all.
    """
    used = [catalog.column(name) for name in plan.columns]
    if all(column is not None and column.role == "public" for column in used):
        return "exact"
    lists = [[columns_of(m.where), [name for v in m.values for name in v.columns]] for m in plan.measures]
    repeated = any(len(set(names)) < len(names) for both in lists for names in both) or plan.inner is not None
    return "outer" if repeated or catalog.margins else "sharp"


def columns_of(where: Predicate) -> list[str]:
    """The columns of a condition, one entry for each part that speaks of them."""
    if isinstance(where, (And, Or)):
        return [name for part in parts_apart(where) for name in columns_of(part)]
    return list(columns_once(where))
