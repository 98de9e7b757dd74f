"""The port through which a custodian's audit sees the records behind a log. No gate is given one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from querygate.core.types import Bools, Floats, Ints, SqlValue

MOST_DISTINCT = 64
"""Values of a secret that a statement may group by: each is a condition of its own."""


class Unanswerable(Exception):
    """The database cannot evaluate an expression of a logged statement. The text quotes nothing."""


@dataclass(frozen=True, slots=True)
class SecretTests:
    """What statements compare a secret column with; whether they calculate with it, or ask if it is missing."""

    literals: tuple[str, ...] = ()
    calculates: bool = False
    asks_missing: bool = False


class AuditRecords(Protocol):
    """Records by place: a place is a distinct combination of the columns an attacker may know.

    Conditions, keys and values are expressions in DuckDB's SQL over the columns.
    """

    columns: tuple[str, ...]
    has_secrets: bool
    """Without them, conditions are tried on imagined records."""

    def settle(self, known: Sequence[str]) -> int:
        """Number the places by these columns; returns how many there are."""
        ...

    def values(self, column: str) -> list[SqlValue]:
        """The value of a known column in each place."""
        ...

    def mask(self, condition: str) -> Bools:
        """Per place whether a condition on known columns is TRUE."""
        ...

    def masks(self, conditions: Sequence[str]) -> list[Bools | None]:
        """The same for many at once; None for those that cannot be evaluated."""
        ...

    def groups(self, keys: Sequence[str]) -> tuple[Ints, list[tuple[SqlValue, ...]]]:
        """The group of each place by these expressions of known columns, and the keys of each group."""
        ...

    def distinct(self, value: str) -> list[SqlValue]:
        """The different values of an expression over records, NULL among them; at most `MOST_DISTINCT`."""
        ...

    def largest(self, value: str, secret: str) -> tuple[Floats, Floats, Floats]:
        """Of each place the sum of the value without its sign, its largest and its second largest, where the secret
        condition holds."""
        ...

    def counts(self, value: str, secret: str) -> Ints:
        """Records of each place that have the value (any record, if empty) and of whom the secret condition holds."""
        ...

    def sums(self, value: str, secret: str) -> list[Fraction]:
        """The exact total of the value (the number of records, if empty) in each place, where the secret condition
        holds."""
        ...

    def expect(self, tests: Mapping[str, SecretTests]) -> None:
        """Told before `held` and `distinct`: all that statements compare secret columns with."""
        ...

    def held(self, secret: str) -> Bools:
        """Of which records a secret condition holds, so that rewordings of it are one."""
        ...

    def extent(self, value: str) -> tuple[SqlValue, SqlValue]:
        """The least and the greatest value there is."""
        ...
