"""How uncertain each published column is: the report's table of widths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Column, Floats, Ints, Role
from querygate.custody.publish_report.report_case import ReportCase, scale_of, unit_of
from querygate.custody.verify.diversity_check import CARRIED, published_values
from querygate.methods.anonymise import mutual_information
from querygate.methods.anonymise.class_disclosure import quantiles


@dataclass(frozen=True, slots=True)
class ColumnWidth:
    """How uncertain a column is, over records, in its unit; `share` is the mean share of its domain. `told` is the
    share of a sensitive column's information that the class gives (mutual information), where it has values of its own.
    """

    column: str
    role: Role
    unit: str
    mean: float
    quartiles: tuple[float, ...]
    domain: float | None
    share: float
    told: float | None


def widths(case: ReportCase) -> tuple[ColumnWidth, ...]:
    """For every published column, over records: widths of intervals, or numbers of values, and shares of the domain."""
    columns = [column for column in case.catalog.columns if not column.is_codes]  # what became of codes is told apart
    return tuple(_of_numbers(case, column) if column.is_numeric else _of_values(case, column) for column in columns)


def _of_numbers(case: ReportCase, column: Column) -> ColumnWidth:
    low, high, known = case.ends(column)
    width = (high - low)[known] / scale_of(column)
    domain = None if column.low is None or column.high is None else float(column.high - column.low) / scale_of(column)
    return _described(case, column, unit_of(column), width, case.counts[known], domain)


def _of_values(case: ReportCase, column: Column) -> ColumnWidth:
    return _described(case, column, "values", _set_sizes(case, column), case.counts, float(len(column.values)))


def _described(
    case: ReportCase, column: Column, unit: str, width: Floats, counts: Ints, domain: float | None
) -> ColumnWidth:
    return ColumnWidth(
        column=column.name,
        role=column.role,
        unit=unit,
        mean=float(np.average(width, weights=counts)) if width.size else 0.0,
        quartiles=quantiles(width, counts),
        domain=domain,
        share=float(np.average(shares(case, column), weights=case.counts)),
        told=_told(case, column),
    )


def _told(case: ReportCase, column: Column) -> float | None:
    if column.role != "sensitive" or case.policy.column(column.name).carry not in CARRIED:
        return None
    return mutual_information.share_told(case.box, published_values(column, case.cells), case.counts)


def shares(case: ReportCase, column: Column) -> Floats:
    """In each cell the share of its domain that a column covers: none for one value, all where some are missing."""
    if column.is_numeric:
        low, high, known = case.ends(column)
        domain = float((column.high or 0) - (column.low or 0)) or 1.0
        width = np.where(known, (high - low) / domain, 0.0)
        return np.where(case.nulls(column) == 1, 1.0, width)
    set_ids, value_ids, _ = case.written.sets(column.index)
    number = _set_sizes(case, column)
    missing = np.isin(np.asarray(case.cells[f"c{column.index}_set"]), set_ids[value_ids < 0])
    return np.where(number > 1, np.where(missing, 1.0, number / max(1, len(column.values))), 0.0)


def _set_sizes(case: ReportCase, column: Column) -> Floats:
    """How many values each cell's set has; a missing one counts as a value."""
    set_ids, _, _ = case.written.sets(column.index)
    size = np.bincount(set_ids).astype(np.float64)
    return size[np.asarray(case.cells[f"c{column.index}_set"], dtype=np.int64)]
