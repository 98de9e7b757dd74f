"""The handler of each kind of job: a few lines each, over the same code as the custodian's commands.

A job comes from a gate, which somebody else may control. So its request is checked again here: the statement against
the custodian's own version and policy, the price against the custodian's own ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from querygate.core.errors import NotPermitted
from querygate.core.extracts.approval_states import ExtractBuilder, ExtractRequest
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.extracts.use_agreement import UseAgreement
from querygate.core.jobs import Job, JobKind
from querygate.core.json_body import to_json
from querygate.core.limits.deadline import within
from querygate.core.ports import PublishedVersion
from querygate.core.progress import Progress
from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.audit.audit_report import belongs, make_body
from querygate.custody.noise.noisy_answer import Noise
from querygate.custody.use_cases.audits.log_audit import audit_site
from querygate.custody.use_cases.open_noise import open_noise
from querygate.custody.worker.inline_verdicts import InlineVerdicts
from querygate.custody.worker.publish_handlers import PUBLISHING, PublishHandlers, refuse_publication
from querygate.custody.worker.worker import Handler
from querygate.gate.query_state import NOISY, Passage
from querygate.site.audit_notes import find_last, noted_run
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.log_check import verify_record
from querygate.site.open_gate import OpenSite


class JobHandlers:
    """The handlers of a site's worker. Audits are about the log of `asked`; where that is a copy of a gate's, it is
    brought up to date by `catch_up` first.
    """

    def __init__(
        self, opened: OpenSite, asked: OpenSite | None = None, catch_up: Callable[[], None] = lambda: None
    ) -> None:
        self._opened, self._asked, self._catch_up = opened, asked or opened, catch_up
        self._verdicts = InlineVerdicts(self._asked, opened.log)
        self._gate = replace(opened.gate, log=_NoLog(), auditor=None)

    def table(self) -> Mapping[JobKind, Handler]:
        """For a gate on this machine."""
        here: dict[JobKind, Handler] = {"extract.release": self.release, "audit.reveal": self.reveal}
        return {**self.table_elsewhere(), **here, **PublishHandlers(self._opened).table()}

    def table_elsewhere(self, *, extracts: bool = True) -> Mapping[JobKind, Handler]:
        """For a gate on another machine. Figures for reviewers are exact figures of raw records, and who reviews is
        known to the gate alone: without `extracts` there are none."""
        told: dict[JobKind, Handler] = {
            "extract.preview": self.preview,
            "extract.risk_page": self.draw_risk,
            "extract.build": self.build,
            "extract.report": self.read_report,
        }
        return {
            "noise.answer": self.answer_with_noise,
            "noise.check": self.check_noise,
            "noise.budget": self.read_budget,
            "audit.verdict": self.judge,
            "audit.run": self.audit,
            "audit.reveal": self.refuse_reveal,
            "log.verify": self.verify,
            **dict.fromkeys(PUBLISHING, refuse_publication),
            **(told if extracts else dict.fromkeys(told, self.refuse_extract)),
            "extract.release": self.refuse_release,
        }

    # -- noise -------------------------------------------------------------------------------------------

    def answer_with_noise(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """The ledger knows the query by its id: tried again, it pays nothing."""
        noise = self._noise(job)
        with within(self._gate.clock_s, self._gate.limits.timeout_s):
            answer = noise.answer(self._passage(job, str(job.body["query_id"])), self._gate)
        return {"answer": answer, "epsilon": answer["budget"]["spent"]}

    def check_noise(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        with within(self._gate.clock_s, self._gate.limits.timeout_s):
            return self._noise(job).check(self._passage(job, ""), self._gate)

    def read_budget(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        return self._noise(job).budget(_principal(job), self._version(job).catalog)

    def _noise(self, job: Job) -> Noise:
        """No answer is held here: the gate does that. Whoever has no account here is of the project the gate names."""
        noise = replace(self._own_noise, tick_s=0.0)
        known = {user.name.lower() for user in self._opened.accounts.list_users()}
        if job.user.lower() in known:
            return noise
        return replace(noise, project_of=lambda name: str(job.body.get("project", "")))

    @cached_property
    def _own_noise(self) -> Noise:
        return open_noise(self._opened)

    def _passage(self, job: Job, query_id: str) -> Passage:
        options = {**job.body["options"], "mode": NOISY}
        request = Request(_principal(job), job.dataset, str(job.body["sql"]), QueryOptions(**options))
        version = self._version(job)
        return Passage(query_id, request, self._gate.clock_s(), NOISY, version, version.catalog.version)

    def _version(self, job: Job) -> PublishedVersion:
        """The version that is asked about, if it is the one that the custodian serves."""
        version = self._opened.store.current(job.dataset)
        if version.catalog.version != job.body["version"] or NOISY not in version.catalog.modes:
            raise NotPermitted(
                "QG314",
                "The gate asks about another version than the custodian serves.",
                "Try again once the published versions were copied to the gate.",
            )
        return version

    # -- audits ------------------------------------------------------------------------------------------

    def judge(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        catalog = self._opened.store.current(job.dataset).catalog
        self._catch_up()
        return {"could": self._verdicts.judge(str(job.body["query_id"]), catalog, job.user, str(job.body["sql"]))}

    def audit(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        progress("auditing")
        self._catch_up()
        audited = audit_site(self._asked, job.dataset, AuditOptions(), reveal=False)
        return {"noted": noted_run(make_body(audited, job.dataset))}

    def reveal(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """What the queries of one case isolate, with values. The log already says who wants to see it.

        The case was made without secrets. With them, its queries may isolate other groups, more, or none. It is read
        from the log, as it was when it was found: later queries would make other cases.
        """
        progress("auditing")
        noted = cast("Sequence[Mapping[str, Any]]", find_last(self._asked, job.dataset)["cases"])
        cases = [case for case in noted if case["id"] == job.body["case"]]
        report = make_body(audit_site(self._asked, job.dataset, AuditOptions(), reveal=True), job.dataset)
        found = [one for case in cases for one in report.findings if belongs(one, case)]
        return {"findings": [to_json(one) for one in found]}

    def refuse_reveal(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        raise NotPermitted(
            "QG309",
            "Values of people are not sent to a gate on another machine.",
            f"Run `querygate audit run --dataset {job.dataset} --reveal` on the custodian's machine.",
        )

    def verify(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """Follow the whole log, which a serving process has no time for, and compare the ledger with it."""
        progress("reading the log", 0.0)
        self._catch_up()
        return verify_record(self._asked, progress, with_ledger=self._asked is self._opened)

    # -- extracts ----------------------------------------------------------------------------------------

    def preview(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        request = _request(job)
        self._note(job, "export.preview")
        self._catch_up()
        return self._builder(progress).preview(request.spec, requester=request.requester)

    def draw_risk(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        return {"page": self._builder(progress).risk_page(job.body["assessment"]).decode()}

    def build(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        self._note(job, "export.build")
        self._catch_up()
        extracts, request = self._extracts(progress), _request(job)
        with extracts.builds.locked(request.id):
            built = extracts.builds.make(request)
        return {"summary": built.summary, "manifest": built.manifest}

    def read_report(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        page = self._extracts(progress).builds.read_built(_request(job))
        return {"page": None if page is None else page.decode()}

    def release(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        extracts, request = self._extracts(progress), _request(job)
        with extracts.builds.locked(request.id):
            return {"manifest": extracts.builds.pack(request)}

    def refuse_extract(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        raise NotPermitted(
            "QG309",
            "The custodian's machine makes no extracts for a gate on another machine.",
            "The custodian runs `querygate export` there, or the worker with --extracts.",
        )

    def refuse_release(self, job: Job, progress: Progress) -> Mapping[str, Any]:
        """The gate keeps the record of approvals, and a gate in the wrong hands could invent them."""
        raise NotPermitted(
            "QG309",
            "Records are not sent to a gate on another machine.",
            "The custodian hands the extract over: it is in the vault, in the folder _extracts.",
        )

    def _note(self, job: Job, kind: str) -> None:
        """Log here too which figures a remote gate received, since it controls its own log."""
        if self._asked is not self._opened:
            body = {"id": str(job.body["request"]), "wish": job.body["wish"], "gate": True}
            self._opened.log.note(kind, user=job.user, dataset=job.dataset, body=body)

    def _extracts(self, progress: Progress) -> Extracts:
        return Extracts(self._opened, lambda: self._builder(progress))

    def _builder(self, progress: Progress) -> ExtractBuilder:
        from querygate.custody.use_cases.extract_builder import SiteExtractBuilder  # much comes with it

        return SiteExtractBuilder(self._opened, progress, asked=self._asked)


class _NoLog:
    """The gate has logged the intent, and gets the outcome with the result."""

    def intend(self, query_id: str, **what: Any) -> None: ...

    def repeat(self, query_id: str, answer: Any, **what: Any) -> None: ...

    def conclude(self, query_id: str, outcome: Any, **what: Any) -> None: ...

    def note(self, kind: str, **what: Any) -> None: ...


def _principal(job: Job) -> Principal:
    return Principal(job.user, job.body["role"])


def _request(job: Job) -> ExtractRequest:
    """The parts of a job's request that the vault needs."""
    body = job.body
    return ExtractRequest(
        id=str(body["request"]),
        number=0,
        requester=str(body["requester"]),
        spec=ExtractSpec.of(body["wish"]),
        state="approved",
        created=job.created,
        changed=job.created,
        manifest=body["manifest"],
        agreement=UseAgreement.of(body["agreement"]) if "agreement" in body else None,
    )
