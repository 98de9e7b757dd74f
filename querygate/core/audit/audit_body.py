"""What an audit of a log found: fields are the keys of its JSON, in their order. Values only where revealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from querygate.core.json_body import OPTIONAL

Severity: TypeAlias = Literal["notice", "attempt", "exposed", "disclosed"]


@dataclass(frozen=True, slots=True)
class IsolatedGroup:
    records: int
    where: str


@dataclass(frozen=True, slots=True)
class CombinedAnswer:
    """A line of the arithmetic: which answer, times which number, over how many records."""

    measure: str
    query: str
    times: str
    records: int | None = field(default=None, metadata=OPTIONAL)
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class InferredValue:
    """What follows for a measure; `exact` is what exact answers would have told."""

    column: str
    from_: str | None = None
    low: float | None = None
    high: float | None = None
    exact: float | None = field(default=None, metadata=OPTIONAL)
    hidden: bool | None = field(default=None, metadata=OPTIONAL)
    limited: bool | None = field(default=None, metadata=OPTIONAL)
    """The range is narrower than the arithmetic alone would leave it."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    id: str
    kind: str
    severity: Severity
    queries: tuple[str, ...]
    users: tuple[str, ...]
    view: str
    isolates: IsolatedGroup
    combination: tuple[CombinedAnswer, ...]
    inferred: tuple[InferredValue, ...]
    explanation: str
    version: int | None = field(default=None, metadata=OPTIONAL)
    table: str | None = field(default=None, metadata=OPTIONAL)
    case: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class AuditCase:
    """Findings that belong together, by their ids."""

    id: str
    severity: Severity
    kinds: tuple[str, ...]
    users: tuple[str, ...]
    view: str
    queries: tuple[str, ...]
    first: str | None
    last: str | None
    records: int
    signs: tuple[str, ...]
    findings: tuple[str, ...]
    version: int | None = field(default=None, metadata=OPTIONAL)
    table: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class UnprovedFinding:
    """What the search found and the check of its proof rejected: a fault of the auditor, under an incident number."""

    incident: str
    kind: str
    queries: tuple[str, ...]
    users: tuple[str, ...]
    view: str
    version: int | None = field(default=None, metadata=OPTIONAL)
    table: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class UnauditedQuery:
    """With an incident number where the auditor failed on it."""

    query: str
    reason: str
    incident: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class OmittedTest:
    view: str
    measure: str
    reason: str
    incident: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Cases and findings stand with the gravest first; each finding names its case. `queries_audited` of `queries`."""

    title: str
    k: int | None
    queries: int
    queries_audited: int
    users: tuple[str, ...]
    views: Mapping[str, tuple[str, ...]]
    revealed: bool
    severities: Mapping[str, int]
    cases: tuple[AuditCase, ...]
    findings: tuple[AuditFinding, ...]
    unproved: tuple[UnprovedFinding, ...]
    not_audited: tuple[UnauditedQuery, ...]
    left_out: tuple[OmittedTest, ...]

    @property
    def incidents(self) -> tuple[str, ...]:
        """Under which the auditor's own failures are in its log."""
        failed = [one.incident for one in self.unproved]
        failed += [one.incident for one in self.not_audited if one.incident]
        failed += [one.incident for one in self.left_out if one.incident]
        return tuple(dict.fromkeys(failed))
