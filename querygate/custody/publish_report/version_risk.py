"""The risks of a version: being found, what a class gives away, and standing out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from querygate.core.types import Column, Ints
from querygate.custody.columns.population import Population
from querygate.custody.publish_report.column_widths import shares
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.verify.diversity_check import (
    WrittenCells,
    missing_values,
    population_matches,
    published_values,
)
from querygate.methods.anonymise.class_disclosure import fence, narrow_hulls, shared_values
from querygate.methods.risk import Attack, attack

THRESHOLDS = (1 / 20, 1 / 5)
"""Risk limits of data protection rules: for public data, and for a few trusted people."""


@dataclass(frozen=True, slots=True)
class ShareAbove:
    """The share of records above a risk."""

    risk: float
    share: float


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    greatest: float
    average: float
    above: tuple[ShareAbove, ...]


@dataclass(frozen=True, slots=True)
class CodesRisk:
    """The risk from a prosecutor who also knows all codes of a person. `alone` is the share of records with whose codes
    there is no other in their class.
    """

    columns: tuple[str, ...]
    greatest: float
    average: float
    above: tuple[ShareAbove, ...]
    alone: float


@dataclass(frozen=True, slots=True)
class Risk:
    prosecutor: AttackerRisk
    codes: CodesRisk | None  # None where no list of codes is published
    journalist: AttackerRisk | None
    marketer: float


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Classes in which everybody has the same value, and those in which nearly everybody has."""

    column: str
    is_guarded: bool
    kind: Literal["values"] = field(default="values", init=False)
    classes: int
    records: int
    likely_classes: int
    likely_records: int


@dataclass(frozen=True, slots=True)
class CloseNumbers:
    """Classes whose numbers are within a limit of each other."""

    column: str
    is_guarded: bool
    kind: Literal["numbers"] = field(default="numbers", init=False)
    limit: float
    classes: int
    records: int


@dataclass(frozen=True, slots=True)
class WideClasses:
    """Classes that cover more of the domains than a limit."""

    limit: float
    classes: int
    records: int


@dataclass(frozen=True, slots=True)
class FarValues:
    column: str
    records: int


@dataclass(frozen=True, slots=True)
class Outliers:
    wide: WideClasses
    far: tuple[FarValues, ...]


def risk(case: ReportCase) -> Risk:
    """The risk of being found, for each of three attackers; the journalist's if the policy names a population."""
    people = None if case.population is None else _people(case, case.population)
    found = attack(case.sizes, people, thresholds=THRESHOLDS)
    return Risk(
        prosecutor=_shown(found.prosecutor),
        codes=_with_codes(case),
        journalist=None if found.journalist is None else _shown(found.journalist),
        marketer=found.marketer.average,
    )


def _with_codes(case: ReportCase) -> CodesRisk | None:
    """Anyone who knows a person's codes knows the items published of them, in all lists together."""
    lists = [column for column in case.catalog.columns if column.is_codes]
    if not lists:
        return None
    seen = np.stack([case.box, *(np.asarray(case.cells[f"c{column.index}_items"]) for column in lists)], axis=1)
    _, which = np.unique(seen, axis=0, return_inverse=True)
    sizes = np.bincount(which.reshape(-1), case.counts).astype(np.int64)
    found = _shown(attack(sizes, thresholds=THRESHOLDS).prosecutor)
    alone = float((sizes == 1).sum() / case.counts.sum())
    return CodesRisk(tuple(column.name for column in lists), found.greatest, found.average, found.above, alone)


def _people(case: ReportCase, population: Population) -> Ints:
    staging = case.rows.staging()
    try:
        release = WrittenCells(case.catalog.columns, case.cells, case.box, case.written, staging)
        return population_matches(release, population)
    finally:
        staging.close()


def _shown(found: Attack) -> AttackerRisk:
    return AttackerRisk(found.greatest, found.average, tuple(ShareAbove(one.limit, one.share) for one in found.above))


def disclosure(case: ReportCase) -> tuple[SharedValues | CloseNumbers, ...]:
    """What classes give away of each sensitive column, without anybody being found."""
    return tuple(_disclosed(case, column) for column in case.catalog.columns if column.role == "sensitive")


def _disclosed(case: ReportCase, column: Column) -> SharedValues | CloseNumbers:
    wanted = case.policy.column(column.name)
    is_guarded = bool(wanted.diversity)
    if not column.is_numeric:
        missing = missing_values(column, case.cells, case.written)
        asked = ~missing if wanted.spares_missing else np.ones_like(missing)
        same, likely = shared_values(case.box[asked], published_values(column, case.cells)[asked], case.counts[asked])
        return SharedValues(column.name, is_guarded, same.classes, same.records, likely.classes, likely.records)
    limit = float(wanted.guard or 2 * (wanted.grid or 0))
    told = narrow_hulls(case.sizes, *case.box_hulls(column.name), limit)
    return CloseNumbers(column.name, is_guarded, limit, told.classes, told.records)


def outliers(case: ReportCase) -> Outliers:
    """Classes far wider than the others, and values of sensitive numbers far from the others."""
    wide = WideClasses(0.0, 0, 0)
    if case.quasi:
        share = np.mean([shares(case, column)[case.first] for column in case.quasi], axis=0)
        limit = fence(share, case.sizes)
        above = share > limit
        wide = WideClasses(limit, int(above.sum()), int(case.sizes[above].sum()))
    numbers = [c for c in case.catalog.columns if c.role == "sensitive" and c.is_numeric]
    return Outliers(wide, tuple(FarValues(c.name, case.rows.far_out(c.name)) for c in numbers))
