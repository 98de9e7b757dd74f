"""A question that is sent again because its answer got lost on the way: it is answered from the log, not asked anew.

Whoever sends it gives it a key. The key is taken before the question is asked, with the id under which the log will
have it; so nothing that happens in between makes two questions of it, and nobody pays twice for noise.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, replace
from datetime import timedelta

from querygate.control.idempotency_keys import AskedOnce, Claim
from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import NotPermitted, QueryGateError, Refusal, Span
from querygate.core.jobs import JobUnderway, problem_body, read_problem
from querygate.core.types import Request
from querygate.gate.answer import ask
from querygate.site.open_gate import OpenSite, now

HEADER = "Idempotency-Key"
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,64}")

PATIENCE = 3
"""After so many times the time limit of a question nobody is at it any more."""

AGAIN_S = 1.0
_FLEETING = (429, 503)
"""Statuses of refusals that the next attempt may not meet."""


class QuestionsOnce:
    """Asks a question under its key, or gives what came of it before."""

    def __init__(self, opened: OpenSite) -> None:
        self._gate, self._log = opened.gate, opened.log
        patience = timedelta(seconds=PATIENCE * opened.gate.limits.timeout_s)
        self._asked = AskedOnce(opened.log.database, now, patience)

    def ask(self, request: Request, key: str) -> AnswerBody:
        """Raises what the question met; JobUnderway where a worker is at it; QG325 where another request is."""
        if not _ACCEPTED.fullmatch(key):
            raise _malformed(
                f"{HEADER}: is not accepted.", "Use up to 64 letters, digits and - . _ : and a new name each time."
            )
        user, question = request.principal.name, _digest(request)
        claim = self._asked.claim(user, key, question, self._gate.new_id)
        if claim.question != question:  # before it is taken up again: the key stays that of the first question
            raise _malformed(f"{HEADER}: was used for another question.", "Use a new one for each question.")
        if claim.is_stale and self._log.answer(claim.query_id) is None:
            claim = self._asked.claim(user, key, question, self._gate.new_id, again=True)
        return self._first(request, key, claim) if claim.is_own else self._again(claim)

    def _first(self, request: Request, key: str, claim: Claim) -> AnswerBody:
        user = request.principal.name
        try:
            body = ask(request, replace(self._gate, new_id=lambda: claim.query_id))
        except JobUnderway as underway:
            self._asked.settle(user, key, claim, job=underway.job_id)
            raise
        except QueryGateError as error:
            if isinstance(error, Refusal) and error.meaning.status not in _FLEETING:
                self._asked.settle(user, key, claim, problem=_written(error))
            else:
                self._asked.forget(user, key, claim)
            raise
        except BaseException:
            self._asked.forget(user, key, claim)
            raise
        self._asked.settle(user, key, claim)
        return body

    def _again(self, claim: Claim) -> AnswerBody:
        if claim.problem is not None:
            raise _read(claim.problem, claim.query_id)
        if claim.job is not None:
            raise JobUnderway(claim.job)
        found = self._log.answer(claim.query_id) if claim.is_settled or claim.is_stale else None
        if found is None:
            busy = NotPermitted(
                "QG325", "This request was sent before and is still being answered.", "Send it again in a moment."
            )
            busy.retry_after_s = AGAIN_S
            raise busy
        return found[1]


def _digest(request: Request) -> str:
    """What makes two questions the same: not how the answer is to be shown."""
    asked = [request.dataset, request.sql, asdict(replace(request.options, readable=False))]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def _written(error: QueryGateError) -> str:
    return json.dumps({**problem_body(error), "span": None if error.span is None else asdict(error.span)})


def _read(text: str, query_id: str) -> QueryGateError:
    body = json.loads(text)
    error = read_problem(body)
    error.span = None if body["span"] is None else Span(**body["span"])
    error.query_id = query_id
    return error


def _malformed(detail: str, remedy: str) -> NotPermitted:
    return NotPermitted("QG306", detail, remedy)
