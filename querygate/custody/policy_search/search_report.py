"""The report on a search for release policies: fields are the keys of its JSON, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from querygate.core.json_body import OPTIONAL


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """The risk of a policy, compared with Safe Harbor and with the unchanged records."""

    risk: float
    greatest: float
    k_map: int
    classes: int
    records: int
    unmatched: int
    short: int
    of_safe_harbor: float
    of_intact: float
    within: bool
    words: str


@dataclass(frozen=True, slots=True)
class SafeHarborFigures(PolicyFigures):
    rules: tuple[str, ...]
    does: Mapping[str, str]  # by column


@dataclass(frozen=True, slots=True)
class KindFigures(PolicyFigures):
    """Those of the policy that stands for a kind; `file` is where it is written, if it is."""

    rules: tuple[str, ...]
    text: str
    members: int
    about: str
    required: Mapping[str, float] = field(default_factory=dict)  # by requirement, what is kept
    file: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class SearchedColumn:
    name: str
    told: str


@dataclass(frozen=True, slots=True)
class SearchedPopulation:
    """The people, and the file they come from, if it is known."""

    people: int
    outside: int
    words: tuple[str, ...]
    file: str | None = field(default=None, metadata=OPTIONAL)
    count: str | None = field(default=None, metadata=OPTIONAL)
    sha256: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class SearchFigures:
    method: str
    iterations: int
    seed: int
    policies: int
    best: int
    words: str


@dataclass(frozen=True, slots=True)
class SearchReport:
    format: int
    dataset: str
    policy_hash: str
    year: int
    columns: tuple[SearchedColumn, ...]
    other_columns: tuple[str, ...]
    population: SearchedPopulation
    threshold: float
    threshold_from: str
    requirements: tuple[str, ...]
    safe_harbor: SafeHarborFigures
    intact: PolicyFigures
    search: SearchFigures
    kinds: tuple[KindFigures, ...]
