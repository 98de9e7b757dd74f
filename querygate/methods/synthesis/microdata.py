"""Records to be condensed, what comes out, and the refusal when that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from querygate.core.types import Floats, Ints

Kind: TypeAlias = Literal["number", "integer", "category", "boolean"]

MISSING = -1
"""The code of a missing category; a missing number is NaN."""

LARGEST = 1e100
"""Numbers beyond this are refused as infinities are: their squares could not be summed."""

MOST_CELLS = 100_000_000
"""Records times features that may be held at once."""


class Uncondensable(ValueError):
    """Records that cannot be condensed as asked. Texts name columns and sizes, never a value."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Variable:
    """A column: its kind and what is permissible there. Bounds and sizes are public, so never taken from the data."""

    name: str
    kind: Kind
    low: float | None = None
    high: float | None = None
    size: int = 0  # number of categories, coded 0..size-1

    @property
    def is_number(self) -> bool:
        return self.kind in ("number", "integer")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest permissible number; of an integer both are whole."""
        low = -np.inf if self.low is None else float(self.low)
        high = np.inf if self.high is None else float(self.high)
        return (float(np.ceil(low)), float(np.floor(high))) if self.kind == "integer" else (low, high)

    @property
    def categories(self) -> int:
        return 2 if self.kind == "boolean" else self.size


@dataclass(frozen=True)
class Microdata:
    """One value per record and variable: numbers as floats (NaN: missing), categories as codes (-1: missing)."""

    variables: tuple[Variable, ...]
    columns: Mapping[str, Floats | Ints]

    @property
    def records(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def variable(self, name: str) -> Variable:
        found = next((v for v in self.variables if v.name == name), None)
        if found is None:
            raise KeyError(f"no variable {name!r}")
        return found

    def take(self, rows: Ints) -> Microdata:
        """These records, in this order."""
        return Microdata(self.variables, {name: column[rows] for name, column in self.columns.items()})


@dataclass(frozen=True)
class CondensedRecords:
    """Condensed records, in the order of the originals so that clusters can be compared.

    That order must not leave the house: row i has the status of the i-th original and lies in its cluster. What is
    released is `shuffled`.
    """

    data: Microdata
    labels: Ints  # cluster of each record, 0..c-1
    raw: Floats  # features before they became permissible values
    kept: tuple[str, ...]  # variables of which a cluster's own values were given back, in another order

    def shuffled(self, rng: np.random.Generator) -> Microdata:
        """The records in an order that tells nothing."""
        return self.data.take(rng.permutation(self.labels.size))


def check_microdata(data: Microdata) -> None:
    """Raise Uncondensable unless every value is one that its variable permits."""
    if not data.variables or not data.records:
        raise Uncondensable("There are no records to condense.", "Select more records or columns.")
    names = [variable.name for variable in data.variables]
    if len(set(names)) < len(names) or set(names) != set(data.columns):
        raise ValueError("every variable has one column, and every column a variable")
    for variable in data.variables:
        column = data.columns[variable.name]
        if column.shape != (data.records,):
            raise ValueError(f"{variable.name}: one value per record")
        check = _check_number if variable.is_number else _check_category
        check(variable, column)


def _check_number(variable: Variable, column: Floats | Ints) -> None:
    known = column[~np.isnan(column)]
    if np.any(np.abs(known) > LARGEST):
        raise Uncondensable(f"{variable.name} has an infinite value.", "Exclude such records, or leave out the column.")
    low, high = variable.bounds
    if np.any((known < low) | (known > high)):
        raise Uncondensable(
            f"{variable.name} has values outside its permissible bounds.",
            "Widen the bounds in the policy, or correct the data.",
        )
    if variable.kind == "integer" and np.any(known != np.rint(known)):
        raise Uncondensable(f"{variable.name} has values that are not whole.", "Make it a number in the policy.")


def _check_category(variable: Variable, column: Floats | Ints) -> None:
    if not np.issubdtype(column.dtype, np.integer):
        raise ValueError(f"{variable.name}: codes are whole numbers")
    if np.any((column < MISSING) | (column >= variable.categories)):
        raise Uncondensable(
            f"{variable.name} has values outside its permissible categories.",
            "Add them to the policy, or correct the data.",
        )


def rare_columns(data: Microdata, k: int) -> tuple[str, ...]:
    """Categories of which some value is held by fewer than k records: those appear in the extract as often as in truth.

    A reviewer may want such values joined before; condensing alone does not hide that somebody has one.
    """
    found = []
    for variable in data.variables:
        column = data.columns[variable.name]
        if not variable.is_number:
            counts = np.bincount(column[column != MISSING].astype(np.int64), minlength=1)
            if np.any((counts > 0) & (counts < k)):
                found.append(variable.name)
    return tuple(found)
