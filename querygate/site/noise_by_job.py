"""Noisy answers at a gate without raw rows: it reads the statement, puts it on record, and a worker does the rest.

The gate holds what comes back until a tick of the clock, as it holds refusals: when an answer leaves tells little of
how long the worker took.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, cast

from querygate.core.answer_bodies import AnswerBody, BudgetBody, Verdict
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.frozen_classes import frozen
from querygate.core.jobs import JobKind, JobUnderway
from querygate.core.types import Catalog, Principal
from querygate.gate.query_record import follow, intend
from querygate.gate.query_state import Gate, Passage
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite
from querygate.sql.noisy_plan import understand_noisy


@frozen
class AskedPassage(Passage):
    """A request on its way to the exchange; `meaning` is the hash of its plan."""

    meaning: str = ""


class NoiseByJob:
    """What stands behind `gate.passage.NoisyPath` where the raw rows are not."""

    def __init__(self, opened: OpenSite, exchange: JobExchange, wait: Callable[[float], None] = time.sleep) -> None:
        self._exchange, self._accounts, self._wait = exchange, opened.accounts, wait
        self._tick_s: float = opened.site.settings["noise_tick_ms"] / 1000

    def answer(self, passage: Passage, gate: Gate) -> AnswerBody:
        """The intent is on record before a worker hears of it, and the outcome before this returns."""
        try:
            asked = follow(_begin(passage), gate, (_understand, _intend), gate.log)
            return self._answer(asked)
        except QueryGateError as error:
            error.query_id = passage.query_id
            raise
        finally:
            if self._tick_s > 0:
                self._wait(self._tick_s - (gate.clock_s() - passage.began_s) % self._tick_s)

    def check(self, passage: Passage, gate: Gate) -> Verdict:
        _understand(_begin(passage), gate)  # refuses here, and shows where in the statement
        options = asdict(passage.request.options)
        question = self._question(passage.request.principal, passage.catalog)
        body = {**question, "sql": passage.request.sql, "options": options}
        return cast(Verdict, self._at_once("noise.check", passage.request.principal, passage.catalog, body))

    def budget(self, principal: Principal, catalog: Catalog) -> BudgetBody:
        body = self._question(principal, catalog)
        return cast(BudgetBody, self._at_once("noise.budget", principal, catalog, body))

    def _answer(self, asked: AskedPassage) -> AnswerBody:
        principal, catalog = asked.request.principal, asked.catalog
        body = {
            **self._question(principal, catalog),
            "query_id": asked.query_id,
            "sql": asked.request.sql,
            "options": asdict(asked.request.options),
            "intent": {
                "version": catalog.version,
                "sql": asked.request.sql,
                "mode": asked.mode,
                "canonical_hash": asked.meaning,
                "policy_hash": catalog.policy_hash,
            },
        }
        found = self._exchange.ask("noise.answer", dataset=catalog.dataset, user=principal.name, body=body)
        return cast(AnswerBody, found["answer"])

    def _at_once(
        self, kind: JobKind, principal: Principal, catalog: Catalog, body: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """What is quick or not there at all; QG314 where it is not."""
        try:
            return self._exchange.ask(kind, dataset=catalog.dataset, user=principal.name, body=body)
        except JobUnderway as underway:
            self._exchange.cancel(underway.job_id)
            raise no_worker() from None

    def _question(self, principal: Principal, catalog: Catalog) -> dict[str, Any]:
        """Who asks about which version. The worker's own ledger has the last word on what may be spent."""
        found = (user for user in self._accounts.list_users() if user.name.lower() == principal.name.lower())
        project = next((user.project or "" for user in found), "")
        return {"version": catalog.version, "role": principal.role, "project": project}


def no_worker() -> NotPermitted:
    return NotPermitted(
        "QG314",
        "This needs the raw rows, and no worker with access to them took the job in time.",
        "Try again in a moment. If this continues, ask the custodian whether `querygate work` is running.",
    )


def _begin(passage: Passage) -> AskedPassage:
    return AskedPassage(
        passage.query_id, passage.request, passage.began_s, passage.mode, passage.release, passage.version
    )


def _understand(asked: AskedPassage, gate: Gate) -> AskedPassage:
    plan = understand_noisy(asked.request.sql, asked.catalog, gate.native, gate.limits)
    return replace(asked, meaning=plan.plan.hash)


def _intend(asked: AskedPassage, gate: Gate) -> AskedPassage:
    intend(asked, gate, asked.meaning)
    return asked
