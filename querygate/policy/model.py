"""A policy with everything resolved: no default is left open, dates are day numbers, all of it is frozen.

Values of an integer column are ints, of a date column ints (days since 1970-01-01), of a number column floats.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from querygate.core.types import NUMERIC, Role, Type

Number: TypeAlias = "int | float"

PUBLISHED: frozenset[str] = frozenset({"quasi-identifier", "sensitive", "public"})
"""Roles whose columns reach the store. Everything else stays in the vault."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """What every class must keep of a sensitive category. Only the parameters of its kind are set.

    distinct (l), entropy (l) and recursive (c, l): Machanavajjhala et al. 2007; t-closeness (t): Li et al. 2007;
    alpha (no value may hold more than this share of a class): Wong et al. 2006.
    """

    kind: Literal["distinct", "entropy", "recursive", "t-closeness", "alpha"]
    l: Number | None = None  # noqa: E741 - the name the literature and the policy file use
    c: float | None = None
    t: float | None = None
    alpha: float | None = None


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """One source column. Fields that do not apply to its role and type are None or empty."""

    name: str
    role: Role
    type: Type | None = None
    title: str = ""
    low: Number | None = None  # public domain, both ends included
    high: Number | None = None
    grid: Number | None = None  # quasi-identifying and sensitive numbers
    cuts: tuple[Number, ...] = ()  # quasi-identifying numbers
    weight: float | None = None  # quasi-identifiers
    carry: Literal["bins", "hull"] | None = None  # sensitive numbers
    bins: Number | tuple[Number, ...] | None = None  # a width, or every edge from low to high
    guard: Number | None = None  # e; 0 is off
    values: tuple[str, ...] = ()  # public values in code-point order; empty: not declared
    diversity: Diversity | None = None  # sensitive categories

    @property
    def is_numeric(self) -> bool:
        return self.type in NUMERIC

    @property
    def is_published(self) -> bool:
        return self.role in PUBLISHED

    def meaning(self) -> dict[str, Any]:
        """What is set, apart from the name. Of a column that stays in the vault only the role matters."""
        if not self.is_published:
            return {"role": self.role}
        return _set_fields({key: value for key, value in asdict(self).items() if key != "name"})


@dataclass(frozen=True, slots=True)
class AnonymiseOptions:
    """How classes are made."""

    method: Literal["auto", "mondrian"] = "auto"
    edges: Literal["grid", "tight"] = "grid"
    class_moments: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What may be answered."""

    modes: tuple[str, ...] = ("interval",)
    min_group: int = 0


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What the inline auditor does about what it finds."""

    on_differencing: Literal["alert"] = "alert"


@dataclass(frozen=True, slots=True)
class ReferencePolicy:
    """A public table that statements may join on its key. `columns` gives each column its type."""

    name: str
    file: str  # beside the policy file
    key: str
    columns: tuple[tuple[str, Literal["category", "integer", "number"]], ...]

    def meaning(self) -> dict[str, Any]:
        """What is offered. Where the file lies does not matter; what is in it has a hash of its own."""
        return {"key": self.key, "columns": dict(self.columns)}


@dataclass(frozen=True, slots=True)
class JoinPolicy:
    """A protected table that gives the records of the source more columns, before anything else is done with them."""

    name: str
    source: str
    on: tuple[tuple[str, str], ...]  # (its column, the main source's column)
    columns: tuple[str, ...]
    kind: Literal["left", "inner"] = "left"
    many: Literal["refuse"] = "refuse"

    def meaning(self) -> dict[str, Any]:
        """How it is joined. The source is left out, like the main one: it may hold a password, a hash is public."""
        return {"on": dict(self.on), "columns": sorted(self.columns), "kind": self.kind, "many": self.many}


@dataclass(frozen=True, slots=True)
class Policy:
    """The privacy of one dataset. `columns` keeps the order of the file; `warnings` are for the custodian."""

    dataset: str
    k: int
    columns: tuple[ColumnPolicy, ...]
    title: str = ""
    unit: str = ""
    anonymise: AnonymiseOptions = field(default_factory=AnonymiseOptions)
    answers: AnswerOptions = field(default_factory=AnswerOptions)
    audit: AuditOptions = field(default_factory=AuditOptions)
    references: tuple[ReferencePolicy, ...] = ()
    joins: tuple[JoinPolicy, ...] = ()
    warnings: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnPolicy:
        """The policy of a source column, spelled as in the source. One that is not named is withheld."""
        named = (column for column in self.columns if column.name == name)
        return next(named, ColumnPolicy(name, "withheld"))

    def named(self, *roles: Role) -> tuple[ColumnPolicy, ...]:
        """The columns with one of these roles, in the order of the file."""
        return tuple(column for column in self.columns if column.role in roles)

    def canonical(self) -> str:
        """The meaning as JSON: equal for files that differ only in order, spelling or defaults written out.

        A withheld column is left out, because a column that is not named is withheld too.
        """
        meaning = asdict(self)
        del meaning["warnings"]  # they follow from the rest
        meaning["columns"] = {c.name: c.meaning() for c in self.columns if c.role != "withheld"}
        meaning["answers"]["modes"] = sorted(self.answers.modes)
        for key, tables in (("references", self.references), ("joins", self.joins)):
            meaning[key] = {table.name: table.meaning() for table in tables}
            if not tables:
                del meaning[key]  # the hash of a policy without any is what it was before there were any
        return json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form; it stands in each log entry and in each version."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def _set_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what is not set, at any depth."""
    return {
        key: _set_fields(value) if isinstance(value, dict) else value
        for key, value in fields.items()
        if value is not None and value != "" and value != ()
    }
