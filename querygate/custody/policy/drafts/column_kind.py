"""The kind of a column by its name, unless its values are plainly of another kind."""

from __future__ import annotations

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy import column_names
from querygate.custody.policy.clinical_measures import measure_of
from querygate.custody.policy.column_names import ColumnKind

MEASURED = ("birth", "finer_age")
"""Kinds that the names of measures resemble."""

EARLIEST = 1000
"""Numbers with fractions below this are no dates: as days of a spreadsheet, they are before 1903."""


def kind_in(c: ColumnFigures) -> ColumnKind | None:
    """The kind that the name suggests, if the values can be of it."""
    kind = column_names.kind_of(c.name)
    if kind is None or kind.name not in MEASURED:
        return kind
    is_other = measure_of(c) is not None or (kind.name == "birth" and _is_no_date(c))
    return None if is_other else kind


def is_kind(c: ColumnFigures, name: str) -> bool:
    kind = kind_in(c)
    return kind is not None and kind.name == name


def _is_no_date(c: ColumnFigures) -> bool:
    """Yes or no, or small numbers with fractions. Whole numbers may be years or days, and so may larger ones."""
    is_fraction = c.all_are("number") and not c.all_are("integer") and (c.high or 0) < EARLIEST
    return c.all_are("boolean") or is_fraction
