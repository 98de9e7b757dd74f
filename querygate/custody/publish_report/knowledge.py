"""What an attacker who knows more than the release believes of a sensitive value: by any pieces of knowledge, and by
what the data themselves show never to happen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Column
from querygate.custody.columns.rule_conditions import rule_columns, rule_conditions
from querygate.custody.extract.raw_tables import floats_of
from querygate.custody.policy.diversity_rules import USUAL_EXPECTED
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.verify.diversity_check import missing_values, published_values
from querygate.methods.anonymise import knowledge_check

PIECES = 3
MOST_RECORDS = 500_000
"""Above, rules are not mined for the report."""


@dataclass(frozen=True, slots=True)
class KnownRules:
    """Rules that the data follow without exception, the fewest values that they leave for anybody, and the surest
    belief of somebody who knows all of them.
    """

    rules: int
    plausible: int
    belief: float


@dataclass(frozen=True, slots=True)
class KnowledgeRisk:
    """For a category: the surest belief in a value with 0, 1, 2 ... of the worst pieces of knowledge, and with
    rules."""

    column: str
    beliefs: tuple[float, ...]
    mined: KnownRules | None  # None where there are too many records to mine, or nothing that people are known by


def knowledge(case: ReportCase) -> tuple[KnowledgeRisk, ...]:
    """A line for each sensitive category."""
    found = []
    for column in case.catalog.columns:
        if column.role != "sensitive" or column.is_numeric:
            continue
        values, asked = published_values(column, case.cells), np.ones(case.box.size, dtype=np.bool_)
        if case.policy.column(column.name).spares_missing:
            asked = ~missing_values(column, case.cells, case.written)
        if asked.any():
            release = case.box[asked], values[asked], case.counts[asked]
            beliefs = tuple(knowledge_check.worst_belief(*release, pieces) for pieces in range(PIECES + 1))
            found.append(KnowledgeRisk(column.name, beliefs, _mined(case, column)))
    return tuple(found)


def _mined(case: ReportCase, column: Column) -> KnownRules | None:
    known = rule_columns(case.policy)
    if not known or case.rows.rows > MOST_RECORDS:
        return None
    box_of = np.zeros(int(np.max(case.cells["class"])) + 1, dtype=np.int64)
    box_of[case.cells["class"]] = case.box
    classes, raw = case.rows.classed([*(one.name for one in known), column.name])
    conditions = [
        rule_conditions(one, floats_of(raw[one.name]) if one.is_numeric else raw[one.name].combine_chunks())
        for one in known
    ]
    values = rule_conditions(case.policy.column(column.name), raw[column.name].combine_chunks())
    asked = values > 0 if case.policy.column(column.name).spares_missing else np.ones_like(values, dtype=np.bool_)
    told = knowledge_check.mined_knowledge(
        box_of[classes][asked], [one[asked] for one in conditions], values[asked], expected=USUAL_EXPECTED
    )
    return KnownRules(told.rules, told.plausible, told.belief)
