"""Safe Harbor as a policy file: what each column looks like among the 18 kinds, and what is done about it.

A quasi-identifier is coarsened if the rule lets a part be published: ZIP codes to three digits, dates to the year, ages
and birth years with one group for 90 and over. Everything else that looks like an identifier stays out. A column that
is published otherwise, but holds such values as they are, stays out as well: only quasi-identifiers have cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.safe_harbor import OLD
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.policy_search.axes import Axis, looks_like, make_axis
from querygate.custody.policy_search.lattice_study import kept_by
from querygate.custody.policy_search.policy_edits import with_cells, with_groups
from querygate.methods.policy_search import IDENTIFIERS, PolicyLattice, Suggestion, find_direct

_KEPT = ("title",)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the preset does to a column, and why."""

    column: str
    kind: str
    does: str
    why: str


def harboured(
    policy: Policy, raw: RawTable, people: Population | None, year: int
) -> tuple[RawTable, tuple[Decision, ...]]:
    """The tables of the policy file after Safe Harbor, and a decision for each column that looks like something."""
    columns = {name: dict(table) for name, table in raw["columns"].items()}
    decided = []
    for column in policy.columns:
        found = looks_like(column)
        if not column.is_published or found is None or (found.treatment == "age" and not _may_be_old(column)):
            continue
        columns[column.name], does = _treated(column, columns[column.name], found, people, year)
        kind = next(one.kind for one in IDENTIFIERS if one.letter == found.letter)
        decided.append(Decision(column.name, kind, does, found.why))
    if not any(table.get("role") == "quasi-identifier" for table in columns.values()):
        raise ConfigError(
            "QG801",
            "No quasi-identifier remains after Safe Harbor.",
            "Safe Harbor drops all of them; check the columns, and rename those that were mistaken for something else.",
        )
    return {**raw, "columns": columns}, tuple(decided)


def limited(policy: Policy, raw: RawTable) -> tuple[RawTable, tuple[Decision, ...]]:
    """The tables of the policy file for limited data sets, which it allows; direct identifiers stay out."""
    columns = {name: dict(table) for name, table in raw["columns"].items()}
    decided = []
    for column in policy.columns:
        found = find_direct(column.name) if column.is_published else None
        if found is not None:
            columns[column.name] = _left_out(columns[column.name])
            decided.append(Decision(column.name, found.kind, "left out", "its name"))
    if not any(table.get("role") == "quasi-identifier" for table in columns.values()):
        raise ConfigError(
            "QG801",
            "No quasi-identifier remains in a limited data set.",
            "Check the columns, and rename those that were mistaken for direct identifiers.",
        )
    return {**raw, "columns": columns, "limited_data_set": {}}, tuple(decided)


def _left_out(table: RawTable) -> RawTable:
    return {"role": "identifier", **{key: table[key] for key in _KEPT if key in table}}


def _may_be_old(column: ColumnPolicy) -> bool:
    return not column.is_numeric or column.high is None or column.high >= OLD


def _treated(
    column: ColumnPolicy, table: RawTable, found: Suggestion, people: Population | None, year: int
) -> tuple[RawTable, str]:
    out = _left_out(table)
    if found.treatment == "drop":
        return out, "left out"
    if column.role != "quasi-identifier":
        return out, "left out: only a quasi-identifier can be generalised"
    if column.edges or column.groups:
        return dict(table), "as in the policy's cells; check that they are coarse enough"
    if found.treatment == "zip3" and column.is_numeric:
        return out, "left out: write ZIP codes as text to publish three digits"
    if not column.is_numeric and found.treatment != "zip3":
        return out, "left out: write it as a number or a date to generalise it"
    axis = make_axis(column, people or Population({}, {}, np.zeros(0, dtype=np.int64)), fixed=False)
    spans = _spans(axis, found.treatment, year)
    if found.treatment != "zip3":
        return with_cells(table, axis, spans), _DOES[found.treatment]
    alone = sum(1 for start, end in spans if end - start == 1)
    more = (
        f"; {counted(alone, 'area has', 'areas have')} one listed ZIP code, which reveals it: list more in `values`"
        if alone
        else ""
    )
    return with_groups(table, axis, spans), _DOES[found.treatment] + more


def _spans(axis: Axis, treatment: str, year: int) -> tuple[tuple[int, int], ...]:
    lattice = PolicyLattice((axis.attribute,))
    return lattice.policy(kept_by(axis, treatment, year)).spans(axis.attribute.name)


_DOES = {
    "zip3": "three digits; areas with few people combined as 000",
    "year": "the year",
    "birth year": "the year of birth, 90 and over combined",
    "age": "single ages, 90 and over combined",
}
