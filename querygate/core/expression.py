"""Expressions over the columns of one record, as far as the gate can bound them.

What speaks of a single column with few values (a category, a flag, whole numbers or days of a public domain) is
*tabulated*: the database itself says what each value becomes, so the meaning is its own and any hull is sharp. What is
left (continuous columns, several columns) is a tree of functions that interval arithmetic can bound.

Every expression knows its type, the columns it reads (one entry for each time it does), a canonical text that is equal
for equal meanings as far as that is known, and a condition, `present`, that is TRUE where its value is not NULL.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias

import numpy as np

from querygate.core.dates import day_of
from querygate.core.predicate import (
    FALSE,
    TRUE,
    And,
    Atom,
    Comparison,
    Or,
    Predicate,
    Truth,
    both,
    canonical,
    columns,
    either,
    is_not_null,
    is_true,
    negate,
)
from querygate.core.types import CALCULABLE, Bools, Floats, Ints, Scalar, SqlValue
from querygate.core.valueset import ValueSet

Expression: TypeAlias = "Ref | Constant | Lookup | Call | Choice"
COMMUTATIVE = frozenset({"add", "mul", "least", "greatest"})


@dataclass(frozen=True)
class Ref:
    """A column as it is."""

    column: str
    type: str = "number"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def canonical(self) -> str:
        return repr(self.column)

    @property
    def present(self) -> Predicate:
        return is_not_null(self.column)


@dataclass(frozen=True)
class Constant:
    """A value, or NULL (None). A decimal that no double equals is enclosed by two: `low` and `high`."""

    value: SqlValue
    type: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    @property
    def canonical(self) -> str:
        return f"{self.type} {self.value!r}"

    @property
    def present(self) -> Predicate:
        return FALSE if self.value is None else TRUE


@dataclass(frozen=True)
class Lookup:
    """A function of one column, value by value. Two are equal when they do the same.

    A category has its values (`of_category`); a numeric axis is cut into pieces: piece i holds the values from
    starts[i] up to the next start, the first reaches down and the last up without end. `results` tells what each
    becomes, and at the last place what NULL becomes.
    """

    column: str
    type: str
    of_category: bool
    results: tuple[SqlValue, ...] = field(compare=False)
    starts: Floats | Ints = field(compare=False)
    values: tuple[str, ...] = field(compare=False)
    meaning: str = ""

    @classmethod
    def over_values(cls, column: str, type_: str, values: tuple[str, ...], results: tuple[SqlValue, ...]) -> Lookup:
        return cls(column, type_, True, results, np.empty(0), values, _digest((values, results)))

    @classmethod
    def over_pieces(cls, column: str, type_: str, starts: Floats | Ints, results: tuple[SqlValue, ...]) -> Lookup:
        """Neighbours that become the same are one piece; beyond the ends of the domain there are no values."""
        body = results[:-1]
        new = [i for i in range(len(body)) if i == 0 or (body[i] is not body[i - 1] and body[i] != body[i - 1])]
        kept, begin = tuple(body[i] for i in new), starts[new]
        told = (begin[1:].tolist(), kept, results[-1])
        return cls(column, type_, False, (*kept, results[-1]), begin, (), _digest(told))

    def without_null(self) -> Lookup:
        """The same table, which says nothing of NULL: for a column that has none."""
        results = (*self.results[:-1], None)
        if self.of_category:
            return Lookup.over_values(self.column, self.type, self.values, results)
        return Lookup.over_pieces(self.column, self.type, self.starts, results)

    def numbered(self) -> Lookup:
        """The same pieces of a numeric axis with a whole number for each different result, in order of the axis."""
        numbers: dict[SqlValue, int] = {}
        results = tuple(None if r is None else numbers.setdefault(r, len(numbers)) for r in self.results)
        return Lookup.over_pieces(self.column, "integer", self.starts, results)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def canonical(self) -> str:
        return f"{self.column!r}{{{self.meaning}}}"

    @cached_property
    def present(self) -> Predicate:
        known = np.array([result is not None for result in self.results], dtype=np.bool_)
        return self.atom(known, ~known)

    def atom(self, true: Bools, false: Bools) -> Predicate:
        """The condition that is TRUE and FALSE at these places of the table, and NULL elsewhere."""
        null: Truth = "true" if true[-1] else "false" if false[-1] else "null"
        return both([Atom(self.column, self._set(true[:-1]), self._set(false[:-1]), null)])

    def where(self, keep: Callable[[SqlValue], object]) -> Predicate:
        """The condition that the result is (not NULL and) what `keep` says; NULL where the result is."""
        told = [None if result is None else bool(keep(result)) for result in self.results]
        return self.atom(np.array([t is True for t in told]), np.array([t is False for t in told]))

    def _set(self, mask: Bools) -> ValueSet:
        if self.of_category:
            if mask.all():
                return ValueSet.everything()
            return ValueSet.points("text", [v for v, held in zip(self.values, mask, strict=True) if held])
        if not mask.size:
            return ValueSet.nothing()
        flips = self.starts[1:][mask[1:] != mask[:-1]].tolist()
        return ValueSet(bool(mask[0]), tuple((flip, 0) for flip in flips))

    @cached_property
    def ends(self) -> tuple[Floats | Ints, Floats | Ints]:
        """(low, high) of each result as arrays, whole numbers for whole results; NULL is an empty interval."""
        if self.type in ("integer", "date", "boolean", "null"):
            known = [None if r is None else int(day_number(r)) for r in self.results]
            top, bottom = np.iinfo(np.int64).max, np.iinfo(np.int64).min
            return (
                np.array([top if r is None else r for r in known], dtype=np.int64),
                np.array([bottom if r is None else r for r in known], dtype=np.int64),
            )
        pairs = [(math.inf, -math.inf) if r is None else enclosed(day_number(r)) for r in self.results]
        table = np.array(pairs, dtype=np.float64)
        return table[:, 0], table[:, 1]


@dataclass(frozen=True)
class Call:
    """A function whose result is NULL exactly when an argument is."""

    name: str
    arguments: tuple[Expression, ...]
    type: str = "number"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for argument in self.arguments for name in argument.columns)

    @property
    def canonical(self) -> str:
        texts = [argument.canonical for argument in self.arguments]
        return f"{self.name}({', '.join(sorted(texts) if self.name in COMMUTATIVE else texts)})"

    @property
    def present(self) -> Predicate:
        return both(argument.present for argument in self.arguments)

    @cached_property
    def size(self) -> int:
        """How many pieces it has when it is written out."""
        return 1 + sum(map(size_of, self.arguments))


@dataclass(frozen=True)
class Choice:
    """CASE: the value of the first branch whose condition is TRUE. COALESCE is a choice by presence.

    `complete` says that for every record one condition is TRUE, and no other.
    """

    branches: tuple[tuple[Predicate, Expression], ...]
    otherwise: Expression
    type: str = "number"
    complete: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        names = [name for condition, value in self.branches for name in (*sorted(columns(condition)), *value.columns)]
        return (*names, *self.otherwise.columns)

    @property
    def canonical(self) -> str:
        parts = [f"when {canonical(condition)} then {value.canonical}" for condition, value in self.branches]
        return f"case({', '.join(parts)}, else {self.otherwise.canonical})"

    @cached_property
    def present(self) -> Predicate:
        """Some branch is taken whose value is there, or none is and the default is there."""
        return either([both([way, value.present]) for way, value in self.ways])

    @cached_property
    def size(self) -> int:
        """How many pieces it has when it is written out: one that stands in several branches counts in each."""
        return 1 + size_of(self.otherwise) + sum(1 + size_of(value) for _, value in self.branches)

    @cached_property
    def ways(self) -> tuple[tuple[Predicate, Expression], ...]:
        """Each value with the condition, never NULL, under which it is taken."""
        if self.complete:
            return self.branches
        found: list[tuple[Predicate, Expression]] = []
        before: list[Predicate] = []
        for condition, value in self.branches:
            found.append((both([*before, is_true(condition)]), value))
            before.append(negate(is_true(condition)))
        return (*found, (both(before), self.otherwise))


def size_of(e: Expression) -> int:
    """How many pieces an expression has when it is written out."""
    return e.size if isinstance(e, Call | Choice) else 1


def value_size(e: Expression) -> int:
    """How many operations give the value of one record, if every branch is calculated."""
    match e:
        case Call(_, arguments):
            return 1 + sum(map(value_size, arguments))
        case Choice(branches, otherwise):
            return value_size(otherwise) + sum(condition_size(p) + value_size(value) for p, value in branches)
    return 1


def condition_size(p: Predicate) -> int:
    """How many operations give the truth of a condition for one record, if every part is calculated."""
    match p:
        case And(parts) | Or(parts):
            return sum(map(condition_size, parts))
        case Comparison(left, _, right):
            sides = value_size(left) + value_size(right)  # type: ignore[arg-type]  # operands are expressions
            return 1 + sides + condition_size(p.when)
    return 1


def choices_in(e: Expression) -> int:
    """How many choices stand inside each other."""
    match e:
        case Call(_, arguments):
            return max(map(choices_in, arguments), default=0)
        case Choice():
            return 1 + max(choices_in(value) for value in (e.otherwise, *(value for _, value in e.branches)))
    return 0


def is_number(e: Expression) -> bool:
    """Can it be calculated with? Days and moments can, as whole numbers; flags and texts cannot."""
    return e.type in CALCULABLE


def day_number(value: SqlValue) -> int | float | Decimal:
    """A date as its day number; a number as it is.

    >>> day_number(dt.date(1970, 1, 2))
    1
    """
    if isinstance(value, int | float | Decimal):
        return value
    if isinstance(value, dt.date):
        return day_of(value)
    raise TypeError("neither a number nor a date")


def enclosed(value: int | float | Decimal) -> tuple[float, float]:
    """The doubles around a number: one and the same where it is a double itself.

    >>> enclosed(Decimal("0.5")), enclosed(Decimal("0.1"))[0] < Decimal("0.1") < enclosed(Decimal("0.1"))[1]
    ((0.5, 0.5), True)
    """
    near = float(value)
    if near == value:
        return near, near
    return (near, math.nextafter(near, math.inf)) if near < value else (math.nextafter(near, -math.inf), near)


def _digest(told: object) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()[:32]


def told_key(value: SqlValue) -> Scalar:
    """The key of a group as an answer tells it: flags and days as texts, decimals as doubles.

    >>> told_key(True), told_key(None), told_key(Decimal("0.5"))
    ('true', None, 0.5)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value
