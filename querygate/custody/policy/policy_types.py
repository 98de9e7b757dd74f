"""A policy with everything resolved: no default is left open, dates are day numbers, all of it is frozen.

Values of an integer column are ints, of a date column ints (days since 1970-01-01), of a number column floats.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias

from querygate.core.derived_columns import DerivedColumn
from querygate.core.types import USUAL_LEAST, NoiseOptions, Role
from querygate.custody.policy.column_policy import ClassMoments, ColumnPolicy, Meaning, Number, set_fields

ClassMethod: TypeAlias = Literal[
    "auto",
    "mondrian",
    "mondrian-relaxed",
    "snake",
    "snake-polished",
    "boxes",
    "top-down",
    "bottom-up",
    "top-down-greedy",
    "r-tree",
    "gather",
    "univariate",
]
ReferenceType: TypeAlias = Literal["category", "integer", "number"]
JoinKind: TypeAlias = Literal["left", "inner"]
StatisticKind: TypeAlias = Literal["mean", "var", "sd", "median", "cov", "corr", "count"]


@dataclass(frozen=True, slots=True)
class StatisticPolicy:
    """A statistic that should stay sharp; "count" is of no column, and stands for counts of many conditions.

    >>> str(StatisticPolicy("corr", ("age", "sbp")))
    'corr(age,sbp)'
    """

    kind: StatisticKind
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}({','.join(self.columns)})" if self.columns else self.kind


@dataclass(frozen=True, slots=True)
class AnonymiseOptions:
    """How classes are made."""

    method: ClassMethod = "auto"
    edges: Literal["grid", "tight"] = "grid"
    class_moments: ClassMoments = "none"
    search: Literal["guarded", "blind"] = "guarded"
    statistics: tuple[StatisticPolicy, ...] = ()
    max_width: tuple[tuple[StatisticPolicy, float], ...] = ()
    largest_k: bool = False

    def utility(self) -> dict[str, Meaning]:
        """What is wanted of the statistics, as far as anything is."""
        wanted: dict[str, Meaning] = {
            "statistics": sorted(map(str, self.statistics)),
            "max_width": {str(statistic): width for statistic, width in self.max_width},
            "largest_k": self.largest_k,
        }
        return {key: value for key, value in wanted.items() if value}


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What may be answered."""

    modes: tuple[str, ...] = ("interval",)
    min_group: int = 0

    @property
    def noisy_only(self) -> bool:
        return self.modes == ("laplace",)


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """What is done about a query that with earlier ones isolates fewer than k records: told to the custodian, told to
    whoever asked as well, or not answered."""

    on_differencing: Literal["alert", "warn", "refuse"] = "alert"


@dataclass(frozen=True, slots=True)
class RepublishOptions:
    """What is done where versions, laid together, tell people apart who were hidden in each of them."""

    on_overlap: Literal["refuse", "sticky", "retire"] = "refuse"
    few_changes: Literal["refuse", "report"] = "refuse"  # of people who came, left or changed in groups below k


@dataclass(frozen=True, slots=True)
class ReferencePolicy:
    """A public table that statements may join on its key. `columns` gives each column its type."""

    name: str
    file: str  # beside the policy file
    key: str
    columns: tuple[tuple[str, ReferenceType], ...]

    def meaning(self) -> dict[str, Meaning]:
        """What is offered. Where the file lies does not matter; what is in it has a hash of its own."""
        return {"key": self.key, "columns": dict(self.columns)}


@dataclass(frozen=True, slots=True)
class JoinPolicy:
    """A protected table that gives the records of the source more columns, before anything else is done with them."""

    name: str
    source: str
    on: tuple[tuple[str, str], ...]  # (its column, the main source's column)
    columns: tuple[str, ...]
    kind: JoinKind = "left"
    many: Literal["refuse"] = "refuse"

    def meaning(self) -> dict[str, Meaning]:
        """How it is joined. The source is left out, like the main one: it may hold a password, a hash is public."""
        return {"on": dict(self.on), "columns": sorted(self.columns), "kind": self.kind, "many": self.many}


@dataclass(frozen=True, slots=True)
class EventsPolicy:
    """A protected table with any number of rows per person, and what is worked out from it for each of them."""

    name: str
    source: str  # empty: the source of the publication
    on: tuple[tuple[str, str], ...]  # (its column, the main source's column)
    time: str = ""  # when an event was; empty: not told
    derived: tuple[DerivedColumn, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.derived)

    def meaning(self) -> dict[str, Meaning]:
        """What is worked out, and from what. The source is left out, as of a table that is joined."""
        derived = {column.name: set_fields(asdict(column)) for column in self.derived}
        return {"on": dict(self.on), "time": self.time, "derived": derived}


@dataclass(frozen=True, slots=True)
class KMapPolicy:
    """The population that classes are looked up in, and how many people of it each must match."""

    population: str  # beside the policy file
    k: int
    columns: tuple[str, ...] = ()  # quasi-identifiers that the file has; empty: all of them
    count: str = ""  # the column that says how many people a row stands for; empty: one

    def meaning(self) -> dict[str, Meaning]:
        """What is promised. Where the file lies does not matter."""
        return {"k": self.k, "columns": sorted(self.columns), "count": self.count}


@dataclass(frozen=True, slots=True)
class ViewRules:
    """The views that a dataset is published as, in place of classes over all quasi-identifiers.

    Columns of a view are in the order of its splits. `cuts` are those that no class crosses in a column of the frame.
    """

    spanning: tuple[tuple[str, ...], ...]  # one or two, certified together
    frame: tuple[tuple[str, tuple[Number, ...]], ...] = ()  # column, its public cuts; a category has none
    extra: tuple[tuple[str, ...], ...] = ()  # inserted in this order, each coarsened alone
    prefer: tuple[tuple[str, tuple[Number, ...]], ...] = ()  # column, cuts that questions are likely to follow
    linked: tuple[tuple[str, ...], ...] = ()  # sensitive columns that stay together
    values: int = 2  # that everybody could have
    sum_cell: int = 3  # the width of what a sum is told as, in guards
    on_uncertified: Literal["coarsen", "refuse"] = "coarsen"

    @property
    def views(self) -> tuple[tuple[str, ...], ...]:
        return (*self.spanning, *self.extra)

    @property
    def told(self) -> tuple[tuple[str, ...], ...]:
        """The quasi-identifiers that each view tells of: its own, and those of the frame."""
        return tuple(tuple(dict.fromkeys((*view, *(name for name, _ in self.frame)))) for view in self.views)

    def meaning(self) -> dict[str, Meaning]:
        """What is set; the order of views matters, that of columns in a group does not."""
        pairs: dict[str, Meaning] = {"frame": dict(self.frame), "prefer": dict(self.prefer)}
        linked = sorted(sorted(group) for group in self.linked)
        return asdict(self) | pairs | {"linked": linked}


SAFE_HARBOR: Literal["safe-harbor"] = "safe-harbor"


@dataclass(frozen=True, slots=True)
class ReleasePolicy:
    """The population that released records are looked up in, and the risks that they must not exceed."""

    population: str  # beside the policy file
    threshold: float | Literal["safe-harbor"] = SAFE_HARBOR  # a number, or the risk of Safe Harbor on the same records
    columns: tuple[str, ...] = ()  # quasi-identifiers that the file has; empty: all of them
    count: str = ""  # the column that says how many people a row stands for; empty: one
    instance: float | None = None  # the greatest instance risk of a same-disease file; None: that of Safe Harbor
    require: tuple[str, ...] = ()  # of sensitive columns, in the form of release_requirements

    def meaning(self) -> dict[str, Meaning]:
        """What is promised. Where the file lies does not matter."""
        bound: dict[str, Meaning] = {} if self.instance is None else {"instance": self.instance}
        bound |= {"require": list(self.require)} if self.require else {}
        return {"threshold": self.threshold, "columns": sorted(self.columns), "count": self.count, **bound}


@dataclass(frozen=True, slots=True)
class RandomisedPolicy:
    """Records may leave with values that may be others by chance: by which methods, and how much."""

    rho1: float  # a belief of at most this
    rho2: float  # must not become one above this, over all columns together
    methods: tuple[str, ...] = ("randomised-response",)
    kept: float = 0.8  # of values, by pram
    window: float = 0.05  # of ranks, by rank-swap
    noise: Literal["laplace", "normal"] = "laplace"  # of numbers, by distortion
    spread: float = 0.0  # its standard deviation, as a share of the domain; 0: as little as beliefs allow


@dataclass(frozen=True, slots=True)
class LimitedPolicy:
    """Limited data sets may leave. `checked` columns look like direct identifiers and are none: somebody has looked."""

    checked: tuple[str, ...] = ()  # in the order of their names


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
    audit: AuditPolicy = field(default_factory=AuditPolicy)
    references: tuple[ReferencePolicy, ...] = ()
    joins: tuple[JoinPolicy, ...] = ()
    events: tuple[EventsPolicy, ...] = ()
    k_map: KMapPolicy | None = None
    person: str = ""  # the identifier that tells persons apart; empty: not told
    k_counts: Literal["persons", "rows"] = "persons"  # rows: although identifiers may be in several of them
    republish: RepublishOptions = field(default_factory=RepublishOptions)
    noise: NoiseOptions | None = None
    release: ReleasePolicy | None = None
    limited: LimitedPolicy | None = None
    randomised: RandomisedPolicy | None = None
    views: ViewRules | None = None  # None: classes over all quasi-identifiers
    warnings: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnPolicy:
        """The policy of a source column, spelled as in the source. One that is not named is withheld."""
        named = (column for column in self.columns if column.name == name)
        return next(named, ColumnPolicy(name, "withheld"))

    def named(self, *roles: Role) -> tuple[ColumnPolicy, ...]:
        """The columns with one of these roles, in the order of the file."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def dividing(self) -> tuple[ColumnPolicy, ...]:
        """The columns that the classes of views are over: a public value is certified as a quasi-identifier is."""
        return self.named("quasi-identifier", "public")

    @property
    def published(self) -> tuple[ColumnPolicy, ...]:
        """In the order of the file. A list of codes whose groups are told is not told itself."""
        grouped = {column.of_codes.column for column in self.columns if column.of_codes is not None}
        return tuple(column for column in self.columns if column.is_published and column.name not in grouped)

    def of_one_table(self) -> Policy:
        """For rows that have the columns of all other tables already."""
        return replace(self, references=(), joins=(), events=())

    @property
    def brought(self) -> dict[str, str]:
        """Columns that other tables bring, and the table of the policy that each comes from."""
        joined = {name: f"join.{join.name}.columns" for join in self.joins for name in join.columns}
        return joined | {name: f"derive.{name}" for events in self.events for name in events.columns}

    @property
    def wishes(self) -> frozenset[str]:
        """Columns that say what people guard. They are read into the vault, whatever their role."""
        return frozenset(d.by for column in self.columns for d in column.diversity if d.by)

    @property
    def visits(self) -> frozenset[str]:
        """Columns that tell which codes were given together. They are read into the vault, and not published."""
        return frozenset(column.codes.protect.column for column in self.columns if column.codes) - {""}

    def canonical(self) -> str:
        """The meaning as JSON: equal for files that differ only in order, spelling or defaults written out.

        A withheld column is left out, because a column that is not named is withheld too; but not how its values are
        read, since an age may be worked out from them.
        """
        # Warnings follow from the rest, and the others have a meaning of their own.
        plain = replace(
            self, columns=(), references=(), joins=(), events=(), k_map=None, release=None, views=None, warnings=()
        )
        meaning = asdict(plain)
        del meaning["warnings"]
        meaning["columns"] = {c.name: c.meaning() for c in self.columns if c.role != "withheld" or c.is_amended}
        meaning["answers"]["modes"] = sorted(self.answers.modes)
        for key, tables in (("references", self.references), ("joins", self.joins), ("events", self.events)):
            meaning[key] = {table.name: table.meaning() for table in tables}
            if not tables:
                del meaning[key]  # the hash of a policy without any is what it was before there were any
        meaning["k_map"] = self.k_map.meaning() if self.k_map else None
        if self.k_map is None:
            del meaning["k_map"]
        meaning["release"] = self.release.meaning() if self.release else None
        if self.release is None:
            del meaning["release"]
        if self.limited is None:
            del meaning["limited"]
        if self.randomised is None:
            del meaning["randomised"]
        elif (self.randomised.noise, self.randomised.spread) == ("laplace", 0.0):
            del meaning["randomised"]["noise"], meaning["randomised"]["spread"]
        meaning["views"] = self.views.meaning() if self.views else None
        if self.views is None:
            del meaning["views"]
        if self.anonymise.search == "guarded":
            del meaning["anonymise"]["search"]
        if not self.person:
            del meaning["person"]
        if self.k_counts == "persons":
            del meaning["k_counts"]
        if self.noise is None:
            del meaning["noise"]
        else:
            if self.noise == replace(self.noise, epsilon_least=USUAL_LEAST):
                del meaning["noise"]["epsilon_least"]
            if self.noise.epsilon_per_extract is None:
                del meaning["noise"]["epsilon_per_extract"]
        if self.republish == RepublishOptions():
            del meaning["republish"]
        for key in ("statistics", "max_width", "largest_k"):
            del meaning["anonymise"][key]
        meaning["anonymise"] |= self.anonymise.utility()
        return json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form; it stands in each log entry and in each version."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()
