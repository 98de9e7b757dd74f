"""The exchange between the gate and the vault: gates put jobs here, workers pull them and put results back.

What has to be on record of a result is put there in the transaction that ends its job: the outcome of a query, the
state of a request for an extract. So whoever is killed, and when, both are there or neither. Nothing here opens a
vault.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from querygate.control import Jobs
from querygate.control.log.query_entries import OUTCOME
from querygate.control.ports import Connection
from querygate.core.errors import Fault, NotPermitted, QueryGateError
from querygate.core.extracts.approval_states import BuiltExtract
from querygate.core.jobs import Job, JobKind, JobOutcome, JobState, JobUnderway, problem_body, read_problem
from querygate.core.limits.deadline import seconds_left
from querygate.core.types import Principal
from querygate.site.audit_notes import note_run_in
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.open_gate import OpenSite, now

POLL_S = 0.01
"""How often whoever waits for a result looks for it."""

MARGIN_S = 0.1
"""Of the time of a request, left for telling that the job is still underway."""


TIMED = frozenset({"noise.answer", "noise.check", "noise.budget"})
"""Kinds whose end, and nothing else, shows at a tick: how long they take may depend on what they read."""

DRAWN_S = 3600.0
"""So long a risk report that was drawn is given again."""

UNSEEN_S = 900.0
"""So long values of people wait for whoever asked for them."""


class JobExchange:
    """The jobs of a site, and what follows from their results. Safe to share between threads."""

    def __init__(self, opened: OpenSite, pause: Callable[[float], None] = time.sleep) -> None:
        self._opened, self._log, self._pause = opened, opened.log, pause
        self._jobs = Jobs(opened.log.database, opened.log.clock, secrets.token_bytes)
        self._extracts = Extracts(opened, via="http")
        self._lease_s: float = opened.site.settings["job_lease_s"]
        self._tick = timedelta(milliseconds=opened.site.settings["noise_tick_ms"])

    # -- the gate's side ---------------------------------------------------------------------------------

    def ask(
        self,
        kind: JobKind,
        *,
        dataset: str,
        user: str,
        body: Mapping[str, Any],
        shared_s: float | None = None,
        wait: bool = True,
    ) -> Mapping[str, Any]:
        """The result of a job, waited for as long as the request may take. Raises what kept the worker from one, and
        JobUnderway where it is not there yet."""
        job = self._jobs.put(kind, dataset=dataset, user=user, body=body, shared_s=shared_s)
        clock_s, limit_s = self._opened.gate.clock_s, self._opened.gate.limits.timeout_s
        until_s = clock_s() + (seconds_left(limit_s) - MARGIN_S if wait else 0)
        while not job.has_ended:
            if clock_s() >= until_s:
                raise JobUnderway(job.id)
            self._pause(POLL_S)
            job = self._jobs.find(job.id) or job
        return result_of(job)

    def last(self, kind: JobKind, dataset: str, user: str, body: Mapping[str, Any]) -> Job | None:
        """The newest job like this, if there is one; nothing is begun."""
        return self._jobs.last(kind, dataset, user, body)

    def find(self, job_id: str) -> Job | None:
        return self._jobs.find(job_id)

    def shows_end(self, job: Job) -> bool:
        """Whether anybody may see that it has ended; of timed ones, at the tick after that, counted from when it was
        put."""
        if job.finished is None or job.kind not in TIMED or not self._tick:
            return job.finished is not None
        began, ended = datetime.fromisoformat(job.created), datetime.fromisoformat(job.finished)
        ticks = -((began - ended) // self._tick)
        return now() >= began + ticks * self._tick

    def forget(self, job_id: str) -> None:
        """A job that has ended, and what came of it."""
        self._jobs.forget(job_id)

    def cancel(self, job_id: str) -> None:
        """Stop a job: at once where nobody works on it, otherwise at its next step."""
        self._jobs.cancel(job_id)
        self._end_stale()

    # -- the worker's side -------------------------------------------------------------------------------

    def lease(self, worker: str, kinds: Sequence[JobKind]) -> Job | None:
        """The oldest job of these kinds that nobody has."""
        self._end_stale()
        return self._jobs.lease(worker, kinds, self._lease_s)

    def renew(self, worker: str, job_id: str, progress: str | None = None, fraction: float | None = None) -> Job | None:
        """Hold it for longer; None if it is no longer this worker's."""
        return self._jobs.renew(worker, job_id, self._lease_s, progress, fraction)

    def give_back(self, worker: str, job_id: str) -> None:
        self._jobs.give_back(worker, job_id)

    def finish(self, worker: str, job_id: str, outcome: JobOutcome) -> bool:
        """End a job with what came of it; False where it is no longer this worker's. To say it twice is as once."""
        job = self._jobs.find(job_id)
        if job is None or job.worker != worker:
            return False
        if job.has_ended:
            return True
        problem = outcome.problem or _misshapen(job, outcome.result or {})
        if problem is None:
            result = outcome.result or {}
            try:
                ended = self._end(job, "done", result, worker, _DONE.get(job.kind, _nothing))
                self._draw_risk(job, result)
                return ended
            except QueryGateError as error:  # the request was revoked while its extract was built
                problem = error
        state: JobState = "cancelled" if job.is_cancelling and problem.code == CANCELLED else "failed"
        try:
            return self._end(job, state, problem_body(problem), worker, _FAILED.get(job.kind, _nothing))
        except QueryGateError:  # nothing can be said of it where it belongs any more
            return self._end(job, state, problem_body(problem), worker, _nothing)

    def sweep(self) -> int:
        """Forget what ended long ago."""
        return self._jobs.sweep(self._opened.site.settings["job_days"] * 86_400, UNSEEN_S)

    def waiting(self) -> tuple[int, str | None]:
        """How many jobs wait, and since when the first of them does."""
        return self._jobs.waiting()

    def latest(self, number: int) -> list[Job]:
        """The newest jobs, for whoever runs the site."""
        return self._jobs.latest(number)

    def own(self, user: str, family: str, dataset: str, number: int) -> list[Job]:
        """The newest jobs of somebody."""
        return self._jobs.own(user, family, dataset, number)

    def _end(
        self,
        job: Job,
        state: JobState,
        result: Mapping[str, Any],
        worker: str | None,
        then: Callable[[JobExchange, Connection, Job], None],
    ) -> bool:
        def may(held: Job) -> bool:
            return held.worker == worker if worker is not None else held.state == "queued" or self._jobs.is_over(held)

        ended = self._jobs.end(job.id, state, result, may=may, then=lambda link, job: then(self, link, job))
        return ended is not None

    def _draw_risk(self, job: Job, result: Mapping[str, Any]) -> None:
        """Whoever decides on a request reads its risk report next: by then it is drawn. See ExtractsByJob.risk_page."""
        of_preview, of_build = job.kind == "extract.preview", job.kind == "extract.build"
        found = result if of_preview else result["summary"] if of_build else {}
        if found.get("assessment") is not None:
            body = {key: value for key, value in job.body.items() if key != "version"}
            body |= {"assessment": found["assessment"]} | ({"manifest": result["manifest"]} if of_build else {})
            self._jobs.put("extract.risk_page", dataset=job.dataset, user=job.user, body=body, shared_s=DRAWN_S)

    def _end_stale(self) -> None:
        """End what nobody will take up. Its outcome is on record as any other."""
        for job in self._jobs.stale():
            problem = cancelled() if job.is_cancelling else Fault(job.id)
            state: JobState = "cancelled" if job.is_cancelling else "failed"
            try:
                self._end(job, state, problem_body(problem), None, _FAILED.get(job.kind, _nothing))
            except QueryGateError:
                self._end(job, state, problem_body(problem), None, _nothing)

    # -- what follows from a result, within the transaction that ends the job ------------------------------

    def _conclude(self, connection: Connection, job: Job) -> None:
        """The outcome of a query, beside its intent."""
        result = job.result or {}
        if job.state == "done":
            ending = {"outcome": "answered", "code": None, "answer": result["answer"], "epsilon": result["epsilon"]}
        else:
            code = str(result["code"])
            how = "failed" if code in ("QG900", CANCELLED) or code.startswith("QG8") else "refused"
            ending = {"outcome": how, "code": code, "answer": None, "epsilon": None}
        query_id, intent = str(job.body["query_id"]), dict(job.body["intent"])
        self._log.append(connection, OUTCOME, query_id, job.user, job.dataset, {**intent, **ending})

    def _take_build(self, connection: Connection, job: Job) -> None:
        result = job.result or {}
        built = BuiltExtract(result["summary"], result["manifest"])
        self._extracts.builds.take_build(self._principal(job), job.body["request"], built, connection)

    def _take_failure(self, connection: Connection, job: Job) -> None:
        problem = read_problem(job.result or {})
        self._extracts.builds.take_failure(self._principal(job), job.body["request"], problem, connection)

    def _take_release(self, connection: Connection, job: Job) -> None:
        manifest = str((job.result or {})["manifest"])
        self._extracts.builds.take_release(self._principal(job), job.body["request"], manifest, connection)

    def _note_audit(self, connection: Connection, job: Job) -> None:
        note_run_in(connection, self._log, job.dataset, (job.result or {})["noted"], user=job.user)

    def _principal(self, job: Job) -> Principal:
        """Whoever asked, with the role they have by now."""
        for user in self._opened.accounts.list_users():
            if user.name == job.user and user.disabled is None and user.removed is None:
                return Principal(user.name, user.role)
        raise NotPermitted(
            "QG302", "The account that requested this was closed.", "Request it again with another account."
        )


CANCELLED = "QG315"


def cancelled() -> NotPermitted:
    return NotPermitted(CANCELLED, "The job was cancelled before it was done.", "Ask again.")


def result_of(job: Job) -> Mapping[str, Any]:
    """The result of a job that has ended; raises the problem that kept it from one."""
    if job.state != "done":
        raise read_problem(job.result or {})
    return job.result or {}


def _misshapen(job: Job, result: Mapping[str, Any]) -> QueryGateError | None:
    """What goes on record must be what the job was about: whoever has a worker's key could put anything back."""
    fits = _FITS.get(job.kind)
    return None if fits is None or fits(job, result) else Fault(job.id)


def _is_answer(job: Job, result: Mapping[str, Any]) -> bool:
    answer, epsilon = result.get("answer"), result.get("epsilon")
    if not isinstance(answer, Mapping) or not isinstance(epsilon, (int, float)) or not 0 <= epsilon < math.inf:
        return False
    told = tuple(map(answer.get, ("query_id", "dataset", "version")))
    is_whole = isinstance(answer.get("rows"), list) and isinstance(answer.get("columns"), list)
    return is_whole and told == (job.body["query_id"], job.dataset, job.body["version"])


_FITS: Mapping[JobKind, Callable[[Job, Mapping[str, Any]], bool]] = {
    "noise.answer": _is_answer,
    "extract.build": lambda job, result: (
        isinstance(result.get("manifest"), str) and isinstance(result.get("summary"), Mapping)
    ),
    "extract.release": lambda job, result: isinstance(result.get("manifest"), str),
    "audit.run": lambda job, result: isinstance(result.get("noted"), Mapping),
    "audit.reveal": lambda job, result: isinstance(result.get("findings"), list),
}


def _nothing(exchange: JobExchange, connection: Connection, job: Job) -> None:
    pass


_DONE: Mapping[JobKind, Callable[[JobExchange, Connection, Job], None]] = {
    "noise.answer": JobExchange._conclude,
    "extract.build": JobExchange._take_build,
    "extract.release": JobExchange._take_release,
    "audit.run": JobExchange._note_audit,
}
_FAILED: Mapping[JobKind, Callable[[JobExchange, Connection, Job], None]] = {
    "noise.answer": JobExchange._conclude,
    "extract.build": JobExchange._take_failure,
}
