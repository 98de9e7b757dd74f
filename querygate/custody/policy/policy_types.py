"""A resolved policy: every default is filled in, dates are day numbers, everything is frozen.

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
    "mondrian-target",
    "boxes-by-point",
    "univariate",
]
ReferenceType: TypeAlias = Literal["category", "integer", "number"]
JoinKind: TypeAlias = Literal["left", "inner"]
StatisticKind: TypeAlias = Literal["mean", "var", "sd", "median", "cov", "corr", "count"]


@dataclass(frozen=True, slots=True)
class StatisticPolicy:
    """A statistic that should stay sharp; "count" has no column, and stands for counts under many conditions.

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
    target: str = ""  # the column that classes are to keep predictable

    def utility(self) -> dict[str, Meaning]:
        """The requirements for statistics, if any."""
        wanted: dict[str, Meaning] = {
            "statistics": sorted(map(str, self.statistics)),
            "max_width": {str(statistic): width for statistic, width in self.max_width},
            "largest_k": self.largest_k,
            "target": self.target,
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
    """What happens to a query that with earlier ones isolates fewer than k records: the custodian is told, the user is
    warned too, or it is refused."""

    on_differencing: Literal["alert", "warn", "refuse"] = "alert"


@dataclass(frozen=True, slots=True)
class RepublishOptions:
    """What happens if versions, combined, distinguish people who were hidden in each of them."""

    on_overlap: Literal["refuse", "sticky", "extend", "retire"] = "refuse"
    few_changes: Literal["refuse", "report"] = "refuse"  # of people who came, left or changed in groups below k


@dataclass(frozen=True, slots=True)
class ReferencePolicy:
    """A public table that statements may join on its key. `columns` gives each column its type."""

    name: str
    file: str  # beside the policy file
    key: str
    columns: tuple[tuple[str, ReferenceType], ...]

    def meaning(self) -> dict[str, Meaning]:
        """What it provides. The location of the file does not matter; its content has its own hash."""
        return {"key": self.key, "columns": dict(self.columns)}


@dataclass(frozen=True, slots=True)
class JoinPolicy:
    """A protected table with further columns for the records of the source, joined before anything else."""

    name: str
    source: str
    on: tuple[tuple[str, str], ...]  # (its column, the main source's column)
    columns: tuple[str, ...]
    kind: JoinKind = "left"
    many: Literal["refuse"] = "refuse"

    def meaning(self) -> dict[str, Meaning]:
        """How it is joined. The source is left out, like the main one: it may contain a password, and a hash is
        public."""
        return {"on": dict(self.on), "columns": sorted(self.columns), "kind": self.kind, "many": self.many}


@dataclass(frozen=True, slots=True)
class EventsPolicy:
    """A protected table with any number of rows per person, and the columns derived from it."""

    name: str
    source: str  # empty: the source of the publication
    on: tuple[tuple[str, str], ...]  # (its column, the main source's column)
    time: str = ""  # the time of an event; empty: none
    derived: tuple[DerivedColumn, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.derived)

    def meaning(self) -> dict[str, Meaning]:
        """What is derived, and from what. The source is left out, as for a joined table."""
        derived = {column.name: set_fields(asdict(column)) for column in self.derived}
        return {"on": dict(self.on), "time": self.time, "derived": derived}


@dataclass(frozen=True, slots=True)
class KMapPolicy:
    """The population that classes are compared with, and how many of its people each must match."""

    population: str  # beside the policy file
    k: int
    columns: tuple[str, ...] = ()  # quasi-identifiers that the file has; empty: all of them
    count: str = ""  # the column that says how many people a row stands for; empty: one

    def meaning(self) -> dict[str, Meaning]:
        """What is promised. Where the file lies does not matter."""
        return {"k": self.k, "columns": sorted(self.columns), "count": self.count}


@dataclass(frozen=True, slots=True)
class ViewRules:
    """The views that a dataset is published as, instead of classes over all quasi-identifiers.

    Columns of a view are in the order of its splits. `cuts` are the cuts of the frame's columns, which no class
    crosses.
    """

    spanning: tuple[tuple[str, ...], ...]  # one or two, certified together
    frame: tuple[tuple[str, tuple[Number, ...]], ...] = ()  # column and its public cuts; a category has none
    extra: tuple[tuple[str, ...], ...] = ()  # inserted in this order; only the newest is coarsened
    prefer: tuple[tuple[str, tuple[Number, ...]], ...] = ()  # column, cuts that questions are likely to follow
    linked: tuple[tuple[str, ...], ...] = ()  # sensitive columns that stay together
    values: int = 2  # values that everybody could have
    sum_cell: int = 3  # the width of the cells of sums, in guards
    on_uncertified: Literal["coarsen", "refuse"] = "coarsen"

    @property
    def views(self) -> tuple[tuple[str, ...], ...]:
        return (*self.spanning, *self.extra)

    @property
    def told(self) -> tuple[tuple[str, ...], ...]:
        """The quasi-identifiers of each view: its own, and those of the frame."""
        return tuple(tuple(dict.fromkeys((*view, *(name for name, _ in self.frame)))) for view in self.views)

    def meaning(self) -> dict[str, Meaning]:
        """The values set; the order of views matters, that of columns in a group does not."""
        pairs: dict[str, Meaning] = {"frame": dict(self.frame), "prefer": dict(self.prefer)}
        linked = sorted(sorted(group) for group in self.linked)
        return asdict(self) | pairs | {"linked": linked}


SAFE_HARBOR: Literal["safe-harbor"] = "safe-harbor"


@dataclass(frozen=True, slots=True)
class ReleasePolicy:
    """The population that released records are compared with, and the risks that they must not exceed."""

    population: str  # beside the policy file
    threshold: float | Literal["safe-harbor"] = SAFE_HARBOR  # a number, or the risk of Safe Harbor on the same records
    columns: tuple[str, ...] = ()  # quasi-identifiers that the file has; empty: all of them
    count: str = ""  # the column that says how many people a row stands for; empty: one
    instance: float | None = None  # the greatest instance risk of a same-disease file; None: that of Safe Harbor
    require: tuple[str, ...] = ()  # for sensitive columns, in the form of release_requirements

    def meaning(self) -> dict[str, Meaning]:
        """What is promised. Where the file lies does not matter."""
        bound: dict[str, Meaning] = {} if self.instance is None else {"instance": self.instance}
        bound |= {"require": list(self.require)} if self.require else {}
        return {"threshold": self.threshold, "columns": sorted(self.columns), "count": self.count, **bound}


@dataclass(frozen=True, slots=True)
class RandomisedPolicy:
    """Records may be released with randomised values: by which methods, and how strongly."""

    rho1: float  # a belief of at most this ...
    rho2: float  # ... must not rise above this, over all columns together
    methods: tuple[str, ...] = ("randomised-response",)
    kept: float = 0.8  # of values, by pram
    window: float = 0.05  # of ranks, by rank-swap
    noise: Literal["laplace", "normal"] = "laplace"  # of numbers, by distortion
    spread: float = 0.0  # its standard deviation, as a share of the domain; 0: as little as beliefs allow


@dataclass(frozen=True, slots=True)
class LimitedPolicy:
    """Limited data sets may be released. `checked` columns look like direct identifiers, but somebody has checked that
    they are not."""

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
    person: str = ""  # the column that identifies persons; empty: none
    k_counts: Literal["persons", "rows"] = "persons"  # rows: although an identifier may occur in several of them
    republish: RepublishOptions = field(default_factory=RepublishOptions)
    noise: NoiseOptions | None = None
    release: ReleasePolicy | None = None
    limited: LimitedPolicy | None = None
    randomised: RandomisedPolicy | None = None
    views: ViewRules | None = None  # None: classes over all quasi-identifiers
    warnings: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnPolicy:
        """The policy of a source column, spelled as in the source. Columns that are not named are withheld."""
        named = (column for column in self.columns if column.name == name)
        return next(named, ColumnPolicy(name, "withheld"))

    def named(self, *roles: Role) -> tuple[ColumnPolicy, ...]:
        """The columns with one of these roles, in the order of the file."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def dividing(self) -> tuple[ColumnPolicy, ...]:
        """The columns that define the classes of views: public columns are certified like quasi-identifiers."""
        return self.named("quasi-identifier", "public")

    def cuts_of(self, column: ColumnPolicy) -> tuple[Number, ...]:
        """Where conditions on a quasi-identifier are likely to end: its cuts, or those that views prefer."""
        if column.role != "quasi-identifier":
            return ()
        return column.cuts or dict(self.views.prefer if self.views else ()).get(column.name, ())

    @property
    def published(self) -> tuple[ColumnPolicy, ...]:
        """Published columns in the order of the file. A list of codes with published groups is not published itself."""
        grouped = {column.of_codes.column for column in self.columns if column.of_codes is not None}
        return tuple(column for column in self.columns if column.is_published and column.name not in grouped)

    def of_one_table(self) -> Policy:
        """The policy for rows that already have the columns of all other tables."""
        return replace(self, references=(), joins=(), events=())

    @property
    def brought(self) -> dict[str, str]:
        """Columns from other tables, and the policy's table for each."""
        joined = {name: f"join.{join.name}.columns" for join in self.joins for name in join.columns}
        return joined | {name: f"derive.{name}" for events in self.events for name in events.columns}

    @property
    def wishes(self) -> frozenset[str]:
        """Columns with people's wishes. They are read into the vault, whatever their role."""
        return frozenset(d.by for column in self.columns for d in column.diversity if d.by)

    @property
    def visits(self) -> frozenset[str]:
        """Columns with the codes of each visit. They are read into the vault, but not published."""
        return frozenset(column.codes.protect.column for column in self.columns if column.codes) - {""}

    def canonical(self) -> str:
        """The meaning as JSON: equal for files that differ only in order, spelling or defaults written out.

        A withheld column is left out, because columns that are not named are withheld too; but how its values are read
        is included, since an age may be derived from them.
        """
        # Warnings follow from the rest; the others have their own `meaning`.
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
                del meaning[key]  # so that the hash of a policy without any stays the same as in earlier versions
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
        for key in ("statistics", "max_width", "largest_k", "target"):
            del meaning["anonymise"][key]
        meaning["anonymise"] |= self.anonymise.utility()
        return json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form, recorded in each log entry and each version."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()
