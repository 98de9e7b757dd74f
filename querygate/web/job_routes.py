"""Jobs over HTTP: how one stands, its progress as it happens, and to stop it. A job is seen by whoever asked, alone;
what those who decide on a request share, by all of them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

from flask import Response

from querygate.core.errors import NotPermitted
from querygate.core.jobs import COMMON, Job, JobUnderway
from querygate.core.types import Principal
from querygate.gate import render
from querygate.site.job_exchange import TIMED, JobExchange
from querygate.site.open_gate import OpenSite
from querygate.web.query_routes import give, with_policy
from querygate.web.routes import API

EVENTS_S = 25.0
"""After so long a stream of events ends; whoever wants to know more opens the next one."""

LOOK_S = 0.25
AGAIN_MS = 1000

HIDDEN = frozenset({"audit.verdict"})
"""Kinds that no person has asked for."""

UNTOLD = frozenset({"extract.build", "extract.release", "audit.run", "audit.reveal", "publish.what_if"})
"""Kinds whose result is to be found elsewhere: with the request, among the findings, and on pages of their own."""


class JobViews:
    """One method per route about jobs, called as the route's name. Without an exchange there are none."""

    def __init__(self, opened: OpenSite, exchange: JobExchange | None) -> None:
        self._exchange, self._log = exchange, opened.log
        # A stream holds a thread; most of them stay for questions.
        self._streams = threading.BoundedSemaphore(max(1, opened.site.settings["threads"] // 4))

    def read_job(self, principal: Principal, job_id: str) -> Response:
        body = self.body_of(principal, job_id)
        is_answer = body["kind"] == "noise.answer" and "result" in body
        return with_policy(give(body), body["result"]["query_id"], self._log) if is_answer else give(body)

    def body_of(self, principal: Principal, job_id: str) -> dict[str, Any]:
        """How a job of one's own stands."""
        return self._body(self._find(principal, job_id))

    def follow_job(self, principal: Principal, job_id: str) -> Response:
        self._find(principal, job_id)
        response = Response(self._events(principal, job_id), content_type="text/event-stream")
        response.headers["X-Accel-Buffering"] = "no"
        return response

    def cancel_job(self, principal: Principal, job_id: str) -> Response:
        job = self._find(principal, job_id)
        if self._exchange is not None and not job.has_ended:
            self._exchange.cancel(job.id)
        return give(self._body(self._find(principal, job_id)))

    def _events(self, principal: Principal, job_id: str) -> Iterator[str]:
        """The job whenever it has changed, until it has ended or the time is over. Where all streams are taken, as it
        stands now."""
        yield f"retry: {AGAIN_MS}\n\n"
        has_stream = self._streams.acquire(blocking=False)
        try:
            last, until_s = "", time.monotonic() + (EVENTS_S if has_stream else 0)
            while True:
                job = self._find(principal, job_id)
                body = self._body(job)
                text = json.dumps(body, ensure_ascii=False)
                if text != last:
                    last = text
                    yield f"event: job\ndata: {text}\n\n"
                if body["finished"] is not None or time.monotonic() >= until_s:
                    return
                time.sleep(LOOK_S)
        finally:
            if has_stream:
                self._streams.release()

    def _find(self, principal: Principal, job_id: str) -> Job:
        """One wording, so that nobody learns which jobs others have."""
        job = self._exchange.find(job_id) if self._exchange is not None else None
        if job is None or job.kind in HIDDEN or not _is_for(principal, job):
            raise NotPermitted(
                "QG316", "There is no job with this id, or you may not see it.", "Send the request again."
            )
        return job

    def _body(self, job: Job) -> dict[str, Any]:
        state, result, finished = job.state, job.result, job.finished
        if job.has_ended and self._exchange is not None and not self._exchange.shows_end(job):
            state, result, finished = "leased", None, None
        body: dict[str, Any] = {
            **job_links(job.id),
            "kind": job.kind,
            "dataset": job.dataset,
            "state": state,
            "progress": "" if job.kind in TIMED else job.progress,
            "fraction": None if job.kind in TIMED else job.fraction,
            "created": job.created,
            "finished": finished,
        }
        if "request" in job.body:
            body["request"] = job.body["request"]
        if finished is not None and result is not None:
            if state != "done":
                body["problem"] = dict(result)
            elif job.kind not in UNTOLD:
                body["result"] = dict(result["answer"] if job.kind == "noise.answer" else result)
        return body


def _is_for(principal: Principal, job: Job) -> bool:
    """Whether it is their own, or common to those who decide on a request; nobody decides on theirs."""
    if job.kind in COMMON:
        return principal.may("review") and str(job.body["requester"]).lower() != principal.name.lower()
    return job.user.lower() == principal.name.lower()


def underway(problem: JobUnderway) -> Response:
    """202: where to look for what is not there yet."""
    response = Response(
        render.to_json({**job_links(problem.job_id), "state": "queued"}), 202, content_type="application/json"
    )
    response.headers["Location"] = f"{API}/jobs/{problem.job_id}"
    response.headers["Retry-After"] = "1"
    return response


def job_links(job_id: str) -> dict[str, str]:
    return {"job": job_id, "status": f"{API}/jobs/{job_id}", "events": f"{API}/jobs/{job_id}/events"}
