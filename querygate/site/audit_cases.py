"""Cases of audits as custodians and auditors work on them: see, unmask on record, resolve with a note.

The gate has what audits left in the log, in the words of the queries alone. Whoever wants the values of people asks for
a job, which the custody worker does; they are on record for it before it begins, and see the values once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from querygate.control import Actor
from querygate.control.log.query_entries import QueryLine
from querygate.core.errors import NotPermitted
from querygate.core.jobs import JobUnderway
from querygate.core.types import Principal
from querygate.site.account_changes import AccountChanges
from querygate.site.audit_notes import RUN, find_last
from querygate.site.job_exchange import JobExchange, result_of
from querygate.site.open_gate import OpenSite

CASE, READ = "audit.case", "audit.read"

CaseAct: TypeAlias = Literal["resolve", "reopen", "comment"]
ACTS: tuple[CaseAct, ...] = get_args(CaseAct)

LONGEST_NOTE = 4000


@dataclass(frozen=True, slots=True)
class AuditedDataset:
    """A dataset with what its last audit found; `audited` is None where there was none."""

    name: str
    audited: str | None = None
    by: str | None = None
    cases: int = 0
    open: int = 0
    alerts: int = 0


@dataclass(frozen=True, slots=True)
class CaseStep:
    """Something that was done about a case."""

    time: str
    user: str | None
    act: str
    note: str


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case with all that the log has about it. `findings` have values only where they were unmasked."""

    dataset: str
    audited: str
    k: int | None
    case: Mapping[str, Any]
    findings: Sequence[Mapping[str, Any]]
    lines: Mapping[str, QueryLine]
    steps: Sequence[CaseStep]

    @property
    def is_resolved(self) -> bool:
        decided = [step.act for step in self.steps if step.act in ("resolve", "reopen")]
        return bool(decided) and decided[-1] == "resolve"


class AuditCases:
    """What is done at the gate about audits. Without an exchange no audit can be run here."""

    def __init__(self, opened: OpenSite, exchange: JobExchange | None) -> None:
        self._opened, self._log, self._exchange = opened, opened.log, exchange

    # -- looking -----------------------------------------------------------------------------------------

    def overview(self) -> list[AuditedDataset]:
        """Every dataset, with the number of cases that nobody has resolved."""
        return [self._summary(name) for name in self._opened.store.datasets()]

    def _summary(self, dataset: str) -> AuditedDataset:
        if self._log.last(RUN, dataset) is None:
            return AuditedDataset(dataset)
        found: dict[str, Any] = find_last(self._opened, dataset)
        resolved = self.resolved(dataset)
        cases = [case["id"] for case in found["cases"]]
        unsettled = sum(case not in resolved for case in cases)
        return AuditedDataset(dataset, found["audited"], found["by"], len(cases), unsettled, len(found["alerts"]))

    def findings(self, by: Principal, dataset: str) -> dict[str, Any]:
        """What the last audit found. Reading it is on record."""
        self._check_known(dataset)
        self._log.note(READ, user=by.name, dataset=dataset, body={"reveal": False})
        found: dict[str, Any] = find_last(self._opened, dataset)
        return {**found, "resolved": self.resolved(dataset)}

    def resolved(self, dataset: str) -> frozenset[str]:
        """Cases that were resolved and not opened again."""
        state: dict[str, str] = {}
        for event in self._log.events_of(CASE, dataset, archived=False):
            if event["body"]["act"] in ("resolve", "reopen"):
                state[event["body"]["case"]] = event["body"]["act"]
        return frozenset(case for case, act in state.items() if act == "resolve")

    def case(self, by: Principal, dataset: str, case_id: str, *, noted: bool = True) -> CaseView:
        """One case of the last audit."""
        self._check_known(dataset)
        found: dict[str, Any] = find_last(self._opened, dataset)
        case = next((one for one in found["cases"] if one["id"] == case_id), None)
        if case is None:
            raise no_case()
        if noted:
            self._log.note(READ, user=by.name, dataset=dataset, body={"reveal": False, "case": case_id})
        lines = {query: line for query in case["queries"] if (line := self._log.query(query)) is not None}
        return CaseView(
            dataset=dataset,
            audited=found["audited"],
            k=found["k"],
            case=case,
            findings=[one for one in found["findings"] if one["case"] == case_id],
            lines=lines,
            steps=list(self._steps(dataset, case_id)),
        )

    def _steps(self, dataset: str, case_id: str) -> Iterator[CaseStep]:
        """What was done and said about a case, and who saw the values of its people; in the order of the log."""
        events = [*self._log.events_of(CASE, dataset, archived=False)]
        events += [one for one in self._log.events_of(READ, dataset, archived=False) if one["body"].get("reveal")]
        for event in sorted(events, key=lambda event: event["seq"]):
            body = event["body"]
            if body.get("case") == case_id:
                yield CaseStep(event["time"], event["user"], body.get("act", "unmask"), body.get("note", ""))

    # -- acting ------------------------------------------------------------------------------------------

    def run(self, by: Principal, dataset: str, *, wait: bool = True) -> None:
        """Audit the dataset. Raises JobUnderway where that is not done in time, or is not waited for."""
        self._check_known(dataset)
        if self._exchange is None:
            raise elsewhere("An audit needs raw records, and the gate has none.", dataset)
        self._exchange.ask("audit.run", dataset=dataset, user=by.name, body={}, shared_s=0, wait=wait)

    def act(self, by: Principal, dataset: str, case_id: str, act: CaseAct, note: str) -> None:
        """Put on record what was decided about a case, and why."""
        if not note.strip() and act != "reopen":
            raise NotPermitted("QG306", "note: is missing.", "Write what you found out, and what was agreed.")
        self.case(by, dataset, case_id, noted=False)
        body = {"case": case_id, "act": act, "note": note.strip()[:LONGEST_NOTE]}
        self._log.note(CASE, user=by.name, dataset=dataset, body=body)

    def suspend(self, by: Actor, dataset: str, case_id: str, name: str) -> None:
        """Close the account of somebody whom the case is about."""
        AccountChanges(self._opened).disable_user(name, by=by)
        body = {"case": case_id, "act": "suspend", "note": name}
        self._log.note(CASE, user=by.name, dataset=dataset, body=body)

    def unmask(self, by: Principal, dataset: str, case_id: str) -> str:
        """Have the worker name the people of a case and their values; the id of the job. On record first."""
        self.case(by, dataset, case_id, noted=False)
        self._log.note(READ, user=by.name, dataset=dataset, body={"reveal": True, "case": case_id})
        if self._exchange is None:
            raise elsewhere("The gate has no values of people.", f"{dataset} --reveal")
        try:
            self._exchange.ask("audit.reveal", dataset=dataset, user=by.name, body={"case": case_id}, wait=False)
        except JobUnderway as underway:
            return underway.job_id
        raise AssertionError("a new job is never there at once")

    def unmasked(self, by: Principal, dataset: str, case_id: str, job_id: str) -> Sequence[Mapping[str, Any]] | None:
        """The findings of a case with values, once: they are not kept. None where they are not, or no longer, there."""
        job = self._exchange.find(job_id) if self._exchange is not None else None
        if self._exchange is None or job is None or not job.has_ended or job.kind != "audit.reveal":
            return None
        if (job.user.lower(), job.dataset, job.body["case"]) != (by.name.lower(), dataset, case_id):
            return None
        self._exchange.forget(job_id)
        findings: Sequence[Mapping[str, Any]] = result_of(job)["findings"]
        return findings

    def _check_known(self, dataset: str) -> None:
        self._opened.store.current(dataset)


def no_case() -> NotPermitted:
    return NotPermitted(
        "QG307", "The last audit of this dataset has no such case.", "Open the findings of the dataset again."
    )


def elsewhere(detail: str, words: str) -> NotPermitted:
    remedy = f"Run `querygate audit run --dataset {words}` on the custodian's machine."
    return NotPermitted("QG309", detail, remedy)
