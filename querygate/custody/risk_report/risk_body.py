"""The risk report: fields are the keys of its JSON, in their order. Only aggregates, and no identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from querygate.custody.risk_report.code_table import SafeHarborTreatment
from querygate.methods.risk import Attackers, Disclosure, Driver, NumbersTold, PopulationUniqueness, ValuesTold
from querygate.methods.same_disease import InstanceRisk

After = Literal["published", "release", "policy", "extract"]
"""What "after" means: the served version, a given release, what the policy would make, or the records of a request."""


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """Shares of unique people: in the records, in the population by estimate, and in the register by count."""

    sample: float
    population: PopulationUniqueness | None = None
    register: float | None = None


@dataclass(frozen=True, slots=True)
class InstanceFigures:
    """q, r, Q and R of the people for whom being listed is the disclosure."""

    records: int
    classes: int
    largest: int
    greatest_match: float
    average_match: float
    greatest_instance: float
    average_instance: float
    unmatched: int
    short: int

    @classmethod
    def of(cls, found: InstanceRisk) -> InstanceFigures:
        """Classes are identified only by their number."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(cls)})


@dataclass(frozen=True, slots=True)
class ValuesGiven:
    """What classes give away of a column of categories."""

    column: str
    kind: Literal["values"] = field(default="values", init=False)
    records: int
    classes: int
    same: Disclosure
    likely: Disclosure
    right_overall: float
    right_by_class: float
    gain: float

    @classmethod
    def of(cls, column: str, told: ValuesTold) -> ValuesGiven:
        right = told.right_overall, told.right_by_class, told.gain
        return cls(column, told.records, told.classes, told.same, told.likely, *right)

    @property
    def disclosed(self) -> Disclosure:
        return self.same


@dataclass(frozen=True, slots=True)
class NumbersGiven:
    """What classes give away of a column of numbers."""

    column: str
    kind: Literal["numbers"] = field(default="numbers", init=False)
    records: int
    classes: int
    width: float
    narrow: Disclosure
    error_overall: float
    error_by_class: float
    gain: float

    @classmethod
    def of(cls, column: str, told: NumbersTold) -> NumbersGiven:
        errors = told.error_overall, told.error_by_class, told.gain
        return cls(column, told.records, told.classes, told.width, told.narrow, *errors)

    @property
    def disclosed(self) -> Disclosure:
        return self.narrow


@dataclass(frozen=True, slots=True)
class KnownBy:
    """How likely a person is found if all of these columns are known: lists of codes, sequences and notes, each by
    itself, and all of them with the quasi-identifiers.
    """

    columns: tuple[str, ...]
    classes: int
    greatest: float
    average: float
    alone: float


@dataclass(frozen=True, slots=True)
class SizeBar:
    """Classes of `from_` to `to` records; no upper end if `to` is None."""

    from_: int
    to: int | None
    classes: int
    records: int
    share: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The share of records with at least a risk."""

    risk: float
    share: float


@dataclass(frozen=True, slots=True)
class SideWords:
    """Each group of measures in a sentence; disclosures by column."""

    attackers: str
    uniqueness: str
    instance: str
    told: Mapping[str, str]
    drivers: str
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SideFigures:
    records: int
    left_out: int
    classes: int
    attackers: Attackers
    uniqueness: Uniqueness
    instance: InstanceFigures | None
    told: tuple[ValuesGiven | NumbersGiven, ...]
    drivers: tuple[Driver, ...]
    sizes: tuple[SizeBar, ...]
    curve: tuple[CurvePoint, ...]
    words: SideWords
    known: tuple[KnownBy, ...] = ()


@dataclass(frozen=True, slots=True)
class Sides:
    raw: SideFigures
    safe_harbor: SideFigures
    after: SideFigures
    limited: SideFigures | None = None  # older reports have none

    @property
    def all(self) -> tuple[SideFigures, SideFigures, SideFigures]:
        return self.raw, self.safe_harbor, self.after


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A measure of the sides, and whether the risk after is lower, the same or higher than Safe Harbor's."""

    measure: str
    group: str
    label: str
    unit: str  # share, count
    raw: float | None
    safe_harbor: float | None
    after: float | None
    risk_against_safe_harbor: str | None
    limited: float | None = None

    @property
    def sides(self) -> tuple[float | None, float | None, float | None, float | None]:
        """In order of decreasing detail."""
        return self.raw, self.limited, self.safe_harbor, self.after


@dataclass(frozen=True, slots=True)
class Records:
    raw: int
    after: int


@dataclass(frozen=True, slots=True)
class MeasuredColumns:
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Register:
    """The number of people, and of distinct kinds of people; and which quasi-identifiers it has."""

    people: int
    kinds: int
    columns: tuple[str, ...]
    not_in_register: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disease:
    """The column whose value was asked about; None where being listed at all is the disclosure."""

    column: str | None


@dataclass(frozen=True, slots=True)
class MembershipPower:
    """The share of people found in allele frequencies, at 5 % false positives: the most that theory allows, and by two
    tests tried on halves of the records, None where there are too few.
    """

    sites: int
    most: float
    homer: float | None
    likelihood_ratio: float | None


@dataclass(frozen=True, slots=True)
class AlleleRisk:
    """What the frequencies of a column of sequences would reveal: for all sites, and for those that a guard lets
    pass."""

    column: str
    people: int
    unguarded: MembershipPower
    guarded: MembershipPower
    bound: float
    rare: float


@dataclass(frozen=True, slots=True)
class KnownGene:
    """A disease of one gene, and how many records have it."""

    disease: str
    gene: str
    records: int


@dataclass(frozen=True, slots=True)
class GeneRisk:
    """Diagnoses that tell a gene, in records that have a sequence beside."""

    column: str
    beside: tuple[str, ...]  # columns of sequences
    records: int
    alone: int  # diseases that one record has
    known: tuple[KnownGene, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskReport:
    format: int
    dataset: str
    title: str
    version: int | None
    made: str
    policy_hash: str
    after: After
    records: Records
    columns: MeasuredColumns
    register: Register | None
    disease: Disease | None
    safe_harbor: tuple[SafeHarborTreatment, ...]
    sides: Sides
    verdict: tuple[VerdictLine, ...]
    words: tuple[str, ...]
    notes: tuple[str, ...]
    limited: tuple[SafeHarborTreatment, ...] = ()
    alleles: tuple[AlleleRisk, ...] = ()
    genes: tuple[GeneRisk, ...] = ()
