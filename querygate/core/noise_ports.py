"""Noisy answers: the raw rows that are read for one, and what is counted. All code that holds rows belongs to the
vault; only numbers after a mechanism are sent.

A statement reaches the rows as conditions and values in normal form, never as a text: a condition is a table of public
codes, and every row is looked up in every table. What is done for one row does not depend on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from querygate.core.expression import Expression
from querygate.core.plan import GroupKey
from querygate.core.ports import Limits
from querygate.core.predicate import Predicate
from querygate.core.types import Array, Bools, Catalog, Ints, Scalar

# -- rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowCodes:
    """A column with few public values: the place of each row's value among them; a missing value is behind the last."""

    values: Array
    codes: Array

    def part(self, chosen: slice) -> RowCodes:
        return RowCodes(self.values, self.codes[chosen])


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """A column with many values: the number of each row, any where it is missing."""

    numbers: Array
    missing: Bools

    def part(self, chosen: slice) -> RowNumbers:
        return RowNumbers(self.numbers[chosen], self.missing[chosen])


RowColumn: TypeAlias = "RowCodes | RowNumbers"


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of all rows of a version, by name.

    Where the policy tells persons apart, `persons` has the number of each row's person, -1 where it is missing: it
    never falls, and rows of one person come in the order in which they are kept, if there are too many.
    """

    size: int
    columns: Mapping[str, RowColumn]
    persons: Ints | None = None

    def part(self, chosen: slice) -> Rows:
        size = len(range(*chosen.indices(self.size)))
        persons = None if self.persons is None else self.persons[chosen]
        return Rows(size, {name: column.part(chosen) for name, column in self.columns.items()}, persons)


class RowReader(Protocol):
    """The raw rows of published versions, as far as noisy answers may use them."""

    def read(self, catalog: Catalog, names: Collection[str], limits: Limits) -> Rows:
        """These columns of all rows, and whose rows they are."""
        ...


# -- what is counted of them -----------------------------------------------------------------------------------

Figure: TypeAlias = Literal["count", "distinct", "sum", "histogram"]


@dataclass(frozen=True, slots=True)
class WantedTally:
    """One number of each group, or one histogram: of the rows for which `where` is TRUE, what becomes of `value`.

    `where` says already that the value is not NULL. A value counts as the number of steps from zero, rounded and
    clamped to [first, last], so that sums are whole numbers and exact.
    """

    figure: Figure
    where: Predicate
    value: Expression | None = None
    first: int = 0
    last: int = 0
    step: float = 1.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted in one pass: of the rows for which `where` is TRUE, per group, each of the wanted numbers.

    A group has one of the `values` of each of the keys; who has none of them is in no group.
    """

    keys: tuple[GroupKey, ...]
    values: tuple[tuple[Scalar, ...], ...]
    where: Predicate
    wanted: tuple[WantedTally, ...]


ExactNumber: TypeAlias = "int | dict[int, int]"
"""A whole number, or for a histogram how often each step occurs."""

Tallied: TypeAlias = "dict[tuple[Scalar, ...], tuple[ExactNumber, ...]]"
"""By the group's keys, each of the wanted numbers."""
