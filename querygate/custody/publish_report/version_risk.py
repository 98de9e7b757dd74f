"""The risks of a version: of being found, of what a class gives away, and of standing out."""

from __future__ import annotations

from typing import Any

import numpy as np

from querygate.core.types import Column, Ints
from querygate.custody.columns.population import Population
from querygate.custody.publish_report.headline import shares
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.verify.guarantee_check import WrittenCells, population_matches, published_values
from querygate.methods.anonymise.class_disclosure import fence, narrow_hulls, shared_values
from querygate.methods.risk import Attack, attack

THRESHOLDS = (1 / 20, 1 / 5)
"""Risks that data protection rules draw a line at: for data that anybody may have, and for a trusted few."""


def risk(case: ReportCase) -> dict[str, Any]:
    """Of being found, for each of three attackers; the journalist's where the policy names a population."""
    people = None if case.population is None else _people(case, case.population)
    found = attack(case.sizes, people, thresholds=THRESHOLDS)
    return {
        "prosecutor": _shown(found.prosecutor),
        "journalist": None if found.journalist is None else _shown(found.journalist),
        "marketer": found.marketer.average,
    }


def _people(case: ReportCase, population: Population) -> Ints:
    workshop = case.rows.workshop()
    try:
        release = WrittenCells(case.catalog.columns, case.cells, case.box, case.written, workshop)
        return population_matches(release, population)
    finally:
        workshop.close()


def _shown(found: Attack) -> dict[str, Any]:
    above = [{"risk": one.limit, "share": one.share} for one in found.above]
    return {"greatest": found.greatest, "average": found.average, "above": above}


def disclosure(case: ReportCase) -> list[dict[str, Any]]:
    """What classes give away of each sensitive column, without anybody being found."""
    return [_disclosed(case, column) for column in case.catalog.columns if column.role == "sensitive"]


def _disclosed(case: ReportCase, column: Column) -> dict[str, Any]:
    line: dict[str, Any] = {"column": column.name, "is_guarded": bool(case.policy.column(column.name).diversity)}
    if not column.is_numeric:
        same, likely = shared_values(case.box, published_values(column, case.cells), case.counts)
        return line | {
            "kind": "values",
            "classes": same.classes,
            "records": same.records,
            "likely_classes": likely.classes,
            "likely_records": likely.records,
        }
    wanted = case.policy.column(column.name)
    limit = float(wanted.guard or 2 * (wanted.grid or 0))
    told = narrow_hulls(case.sizes, *case.box_hulls(column.name), limit)
    return line | {"kind": "numbers", "limit": limit, "classes": told.classes, "records": told.records}


def outliers(case: ReportCase) -> dict[str, Any]:
    """Classes far wider than the others, and values of sensitive numbers far from the others."""
    wide = {"limit": 0.0, "classes": 0, "records": 0}
    if case.quasi:
        share = np.mean([shares(case, column)[case.first] for column in case.quasi], axis=0)
        limit = fence(share, case.sizes)
        above = share > limit
        wide = {"limit": limit, "classes": int(above.sum()), "records": int(case.sizes[above].sum())}
    numbers = [c for c in case.catalog.columns if c.role == "sensitive" and c.is_numeric]
    return {"wide": wide, "far": [{"column": c.name, "records": case.rows.far_out(c.name)} for c in numbers]}
