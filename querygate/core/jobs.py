"""Work that needs the vault: a gate queues a job, a custodian's worker pulls it and returns its result.

    queued -> leased -> done | failed | cancelled

A worker that dies loses its lease, and another one takes over the job. A job that has ended never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from querygate.core.errors import (
    BudgetExhausted,
    ConfigError,
    DisclosureRefused,
    ExtractRefused,
    Fault,
    NotPermitted,
    QueryGateError,
    SyntaxRefused,
    UnsupportedSQL,
)

JobKind = Literal[
    "noise.answer",
    "noise.check",
    "noise.budget",
    "audit.verdict",
    "audit.run",
    "audit.reveal",
    "log.verify",
    "publish.check",
    "publish.draft",
    "publish.preview",
    "publish.version",
    "publish.serve",
    "publish.withdraw",
    "publish.map",
    "publish.what_if",
    "extract.preview",
    "extract.risk_page",
    "extract.build",
    "extract.report",
    "extract.release",
]
JobState = Literal["queued", "leased", "done", "failed", "cancelled"]

KINDS: tuple[JobKind, ...] = get_args(JobKind)
QUICK: tuple[JobKind, ...] = ("noise.answer", "noise.check", "noise.budget", "audit.verdict", "publish.check")
"""Kinds that somebody waits for. Others may take long, and must not keep these waiting."""

LONG: tuple[JobKind, ...] = tuple(kind for kind in KINDS if kind not in QUICK)

COMMON: frozenset[JobKind] = frozenset({"extract.preview", "extract.risk_page", "extract.report"})
"""Kinds that are done once for all who decide on a request, and that all of them see."""

ENDED: frozenset[JobState] = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Job:
    """The state of a job. `body` is the request; `result` the outcome: figures, or a problem if it failed. `lease`
    is the time until which its worker may be silent; `attempt` counts the workers that took it."""

    id: str
    kind: JobKind
    dataset: str
    user: str
    body: Mapping[str, Any]
    state: JobState
    created: str
    attempt: int = 0
    worker: str | None = None
    lease: str | None = None
    progress: str = ""
    fraction: float | None = None
    is_cancelling: bool = False
    result: Mapping[str, Any] | None = None
    finished: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What a worker returns: a result, or a problem."""

    result: Mapping[str, Any] | None = None
    problem: QueryGateError | None = None


class JobUnderway(Exception):
    """Not an error: the work continues in the background, and the user can look at the job."""

    def __init__(self, job_id: str) -> None:
        super().__init__(job_id)
        self.job_id = job_id


# -- problems, as they travel ----------------------------------------------------------------------------------------

_FAMILIES: tuple[type[QueryGateError], ...] = (
    SyntaxRefused,
    UnsupportedSQL,
    NotPermitted,
    BudgetExhausted,
    DisclosureRefused,
    ExtractRefused,
    ConfigError,
)


def problem_body(problem: QueryGateError) -> dict[str, str]:
    """A problem as a result of a job has it.

    >>> problem_body(NotPermitted("QG302", "No.", "Ask."))
    {'code': 'QG302', 'detail': 'No.', 'remedy': 'Ask.'}
    """
    body = {"code": problem.code, "detail": problem.detail, "remedy": problem.remedy}
    body |= {"suggestion": problem.suggestion} if problem.suggestion else {}
    return body | ({"incident": problem.incident} if isinstance(problem, Fault) else {})


def read_problem(body: Mapping[str, Any]) -> QueryGateError:
    """The problem again. A code that this version does not know is a fault.

    >>> read_problem({"code": "QG302", "detail": "No.", "remedy": "Ask."}).remedy
    'Ask.'
    """
    code = str(body.get("code"))
    family = next((one for one in _FAMILIES if code.startswith(one.family)), None)
    if family is None:
        return Fault(str(body.get("incident", "unknown")))
    suggestion = body.get("suggestion")
    return family(code, str(body["detail"]), str(body.get("remedy", "")), suggestion=suggestion)
