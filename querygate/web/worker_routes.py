"""The exchange over HTTPS, for a worker on another machine: it comes and asks, so that nothing has to listen there.

A key with the right to work opens these routes and, where it was made for that alone, nothing else. What a worker puts
back is a result: raw rows never come here.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response, request

from querygate.core.errors import NotPermitted
from querygate.core.jobs import KINDS, Job, JobKind, JobOutcome, read_problem
from querygate.core.types import Principal
from querygate.site.job_exchange import JobExchange
from querygate.site.log_pages import read_log_page
from querygate.site.open_gate import OpenSite
from querygate.web.problems import malformed
from querygate.web.query_routes import give
from querygate.web.request_body import LONGEST_NAME, check_fields, read_object, read_text

WORKER = 'Send {"worker": "..."}.'
LONGEST_STEP = 200


class WorkViews:
    """One method per route of a worker, called as the route's name."""

    def __init__(self, opened: OpenSite, exchange: JobExchange | None) -> None:
        self._opened, self._exchange = opened, exchange
        self._most_bytes: int = opened.site.settings["max_result_kb"] * 1024

    def lease_job(self, principal: Principal) -> Response:
        body = read_object(WORKER)
        check_fields(body, "", ("worker", "kinds"))
        kinds = body.get("kinds")
        if not isinstance(kinds, list) or not all(kind in KINDS for kind in kinds):
            raise malformed(f"kinds: must be a list of {', '.join(KINDS)}.")
        wanted: list[JobKind] = [kind for kind in KINDS if kind in kinds]
        return give({"job": _body(self._open().lease(_name(principal, body), wanted))})

    def renew_job(self, principal: Principal, job_id: str) -> Response:
        body = read_object(WORKER)
        check_fields(body, "", ("worker", "progress", "fraction"))
        step, share = body.get("progress"), body.get("fraction")
        if not (step is None or isinstance(step, str)) or not (share is None or _is_share(share)):
            raise malformed("progress must be text, and fraction a number from 0 to 1.")
        told = None if step is None else read_text(body, "progress")[:LONGEST_STEP]
        held = self._open().renew(_name(principal, body), job_id, told, None if share is None else float(str(share)))
        return give({"job": _body(held)})

    def return_job(self, principal: Principal, job_id: str) -> Response:
        body = read_object(WORKER)
        check_fields(body, "", ("worker",))
        self._open().give_back(_name(principal, body), job_id)
        return give({"taken": True})

    def finish_job(self, principal: Principal, job_id: str) -> Response:
        request.max_content_length = self._most_bytes  # results may be larger than questions
        body = read_object(WORKER)
        check_fields(body, "", ("worker", "result", "problem"))
        result, problem = body.get("result"), body.get("problem")
        if isinstance(result, dict) == isinstance(problem, dict):
            raise malformed("Send either result or problem, as an object.")
        outcome = JobOutcome(result) if isinstance(result, dict) else JobOutcome(problem=read_problem(_object(problem)))
        return give({"taken": self._open().finish(_name(principal, body), job_id, outcome)})

    def read_log_entries(self, principal: Principal) -> Response:
        """What audits are about, as it is chained: the worker keeps a copy, and notices if it is ever another."""
        text = request.args.get("after", "0")
        if not (text.isascii() and text.isdigit() and len(text) <= 15):
            raise malformed("after: must be a whole number.")
        people = [
            {"name": user.name, "project": user.project, "organisation": user.organisation}
            for user in self._opened.accounts.list_users()
        ]
        return give({"entries": read_log_page(self._opened.log, int(text)), "people": people})

    def _open(self) -> JobExchange:
        if self._exchange is None:
            raise NotPermitted(
                "QG310", "This gate serves from its store alone, and has no jobs.", "Serve it without --store-only."
            )
        return self._exchange


def _name(principal: Principal, body: dict[str, Any]) -> str:
    """A worker is known by whose key it has and what it calls itself: nobody ends the jobs of others."""
    return f"{principal.name}/{read_text(body, 'worker')[: 2 * LONGEST_NAME]}"


def _body(job: Job | None) -> dict[str, Any] | None:
    return None if job is None else asdict(job)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
