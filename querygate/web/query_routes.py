"""The views of the API: decode, call the gate, render. What is decided is decided elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from flask import Response, g, request

from querygate.control import Log, stamp
from querygate.control.log.query_entries import QueryLine
from querygate.core.answer_bodies import AnswerBody, ReadableBody
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.limits.deadline import within
from querygate.core.types import Principal, QueryOptions, Request
from querygate.gate import render
from querygate.gate.answer import ask, read_budget
from querygate.gate.dataset_list import make_summary, served_catalogs
from querygate.gate.description import describe_version
from querygate.gate.dry_run import check
from querygate.gate.grant_check import check_known, known_datasets
from querygate.gate.query_state import MODES
from querygate.gate.twin import DEFAULT_ROWS, DRAWN_FROM, TWIN_FORMATS, TwinWish, write_twin
from querygate.gate.width_explanation_text import explanation_lines
from querygate.site.audit_cases import AuditCases, elsewhere
from querygate.site.audit_notes import find_last
from querygate.site.health import control_health, store_health
from querygate.site.idempotent_question import HEADER, QuestionsOnce
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite
from querygate.web.openapi import make_openapi
from querygate.web.problems import malformed
from querygate.web.query_route_table import DEFAULT_HISTORY, MOST_HTTP_ROWS
from querygate.web.request_body import LONGEST_NAME, check_fields, read_object, read_text
from querygate.web.route import JSON

DEFAULT_ENTRIES, MOST_ENTRIES = 100, 1000
MOST_PRICED = 100
POLICY_HEADER = "X-QueryGate-Policy"


class Api:
    """One method per route of the API, called as the route's name. Those that need a key get its principal."""

    def __init__(self, opened: OpenSite, exchange: JobExchange | None = None) -> None:
        self._opened, self._exchange = opened, exchange
        self._gate, self._once = opened.gate, QuestionsOnce(opened)

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self, principal: Principal) -> Response:
        question, key = read_question(principal), request.headers.get(HEADER)
        body = ask(question, self._gate) if key is None else self._once.ask(question, key)
        g.answer_rows = len(body["rows"])
        form = wanted_form()
        if form != "json":
            return give_form(body, form, self._opened.log)
        if question.options.readable:
            headings, rows = render.readable(body)
            readable: ReadableBody = {"headings": headings, "rows": rows}
            if "explanation" in body:
                readable["explanation"] = list(explanation_lines(body["explanation"]))
            body = {**body, "readable": readable}
        return with_policy(give(body), body["query_id"], self._opened.log)

    def check(self, principal: Principal) -> Response:
        return give(check(read_question(principal), self._gate))

    def price(self, principal: Principal) -> Response:
        questions = read_batch(principal)
        with within(self._gate.clock_s, self._gate.limits.timeout_s):  # all of them together
            verdicts = [check(question, self._gate) for question in questions]
        epsilon = sum(Decimal(repr(float(verdict["cost"]["epsilon"]))) for verdict in verdicts)
        return give({"statements": verdicts, "cost": {"epsilon": float(epsilon)}})

    def read_budget(self, principal: Principal) -> Response:
        dataset = request.args.get("dataset")
        if not dataset or len(dataset) > LONGEST_NAME:
            raise malformed("dataset: must be the name of a dataset.", "Add ?dataset=NAME.")
        return give(read_budget(principal, dataset, self._gate))

    def fetch_answer(self, principal: Principal, query_id: str, form: str) -> Response:
        found = self._opened.log.answer(query_id)
        if found is None or not (principal.may("oversee") or principal.name == found[0]):
            # One wording, so that nobody learns which queries others have asked.
            raise NotPermitted(
                "QG304", "There is no answer with this id, or you may not see it.", "Send the query again."
            )
        if principal.name != found[0]:
            self._opened.log.note("answer.read", user=principal.name, body={"query_id": query_id})
        g.answer_rows = len(found[1]["rows"])
        return give_form(found[1], form, self._opened.log)

    def read_history(self, principal: Principal) -> Response:
        limit, dataset = _read_whole("limit", DEFAULT_HISTORY, MOST_ENTRIES), request.args.get("dataset")
        before = read_moment("before")
        lines = list(self._opened.log.queries(user=principal.name, dataset=dataset, limit=limit, before=before))
        return give({"entries": lines[::-1], "next": _next_page(lines, limit)})

    # -- looking around ----------------------------------------------------------------------------------

    def list_datasets(self, principal: Principal) -> Response:
        store = self._gate.store
        known = known_datasets(principal, store.datasets(), self._gate.grants)
        found = served_catalogs(store, broken=lambda error: None, among=known)  # readiness tells the operator
        return give({"datasets": list(map(make_summary, found))})

    def describe_dataset(self, principal: Principal, dataset: str) -> Response:
        gate = self._gate
        check_known(principal, dataset, gate.grants)
        release = gate.store.current(dataset)
        return give(describe_version(release, gate.native, gate.limits, gate.clock_s))

    def fetch_twin(self, principal: Principal, dataset: str, form: str) -> Response:
        rows, seed = _read_whole("rows", DEFAULT_ROWS, MOST_HTTP_ROWS), _read_whole("seed", 0, 2**63 - 1, least=0)
        media, write = TWIN_FORMATS[form]
        made = write_twin(TwinWish(dataset, rows, seed), principal, self._gate)
        g.answer_rows = made.num_rows
        response = Response(write(made), content_type=media)
        response.headers["Content-Disposition"] = f'attachment; filename="twin.{form}"'
        response.headers["X-QueryGate-Drawn-From"] = made.schema.metadata[DRAWN_FROM.encode()].decode()
        return response

    def read_log(self, principal: Principal) -> Response:
        since, before = read_moment("since"), read_moment("before")
        limit = _read_whole("limit", DEFAULT_ENTRIES, MOST_ENTRIES)
        user, dataset = request.args.get("user"), request.args.get("dataset")
        moments = {"since": since, "before": before}
        asked = {**{name: one and stamp(one) for name, one in moments.items()}, "user": user, "limit": limit}
        body = {name: value for name, value in asked.items() if value is not None}
        self._opened.log.note("log.read", user=principal.name, dataset=dataset, body=body)
        entries = list(self._opened.log.queries(since, user, dataset, limit, before))
        return give({"entries": entries, "next": _next_page(entries, limit)})

    # -- audits: what the custodian's own process found ---------------------------------------------------

    def read_findings(self, principal: Principal) -> Response:
        dataset, reveal = request.args.get("dataset"), request.args.get("reveal", "false")
        if not dataset or len(dataset) > LONGEST_NAME:
            raise malformed("dataset: must be the name of a dataset.", "Add ?dataset=NAME.")
        if reveal not in ("true", "false"):
            raise malformed("reveal: must be true or false.")
        self._gate.store.current(dataset)
        self._opened.log.note("audit.read", user=principal.name, dataset=dataset, body={"reveal": reveal == "true"})
        if reveal == "true":
            raise elsewhere("The gate has no values of people.", f"{dataset} --reveal")
        return give(find_last(self._opened, dataset))

    def run_audit(self, principal: Principal) -> Response:
        body = read_object('Send {"dataset": "..."}.')
        check_fields(body, "", ("dataset",))
        dataset = read_text(body, "dataset")
        AuditCases(self._opened, self._exchange).run(principal, dataset)
        return give(find_last(self._opened, dataset))

    # -- for whoever runs the site -----------------------------------------------------------------------

    def healthz(self) -> Response:
        return give({"status": "ok"})

    def readyz(self) -> Response:
        control = control_health(self._opened.site)
        store = all(health.ok for health in store_health(self._opened))
        if not (store and control.ok):
            what = "The control database is not writable." if store else "The store cannot be read."
            raise ConfigError("QG804", what, "Run `querygate doctor` on the server.")
        return give({"status": "ready", "checks": {"store": "ok", "control": "ok"}})

    def openapi(self) -> Response:
        return give(make_openapi())


# -- reading what was sent -----------------------------------------------------------------------------------


def read_question(principal: Principal) -> Request:
    """The question that was sent."""
    return make_question(principal, read_object())


def make_question(principal: Principal, body: dict[str, Any]) -> Request:
    """The body of a question: exactly these fields, of these types. Anything else is refused by name."""
    check_fields(body, "", ("dataset", "sql", "options"))
    options = body.get("options", {})
    if not isinstance(options, dict):
        raise malformed("options: must be an object.")
    check_fields(options, "options.", ("mode", "readable", "epsilon", "consistent", "explain"))
    if options.get("mode", "interval") not in MODES:
        raise malformed(f"options.mode: must be one of {', '.join(MODES)}.")
    epsilon = options.get("epsilon", 1)
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0 < epsilon < math.inf:
        raise malformed("options.epsilon: must be a number above 0.")
    for name in ("readable", "consistent", "explain"):
        if not isinstance(options.get(name, False), bool):
            raise malformed(f"options.{name}: must be true or false.")
    dataset, sql = read_text(body, "dataset"), read_text(body, "sql")
    if len(dataset) > LONGEST_NAME:
        raise malformed(f"dataset: must have at most {LONGEST_NAME} characters.")
    return Request(principal, dataset, sql, QueryOptions(**options))


def read_batch(principal: Principal) -> list[Request]:
    """Several statements about one dataset: what they would cost together."""
    body = read_object('Send {"dataset": "...", "statements": ["SELECT ...", ...]}.')
    check_fields(body, "", ("dataset", "statements", "options"))
    statements, options = body.get("statements"), body.get("options", {})
    if not isinstance(statements, list) or not 1 <= len(statements) <= MOST_PRICED:
        raise malformed(f"statements: must be a list of 1 to {MOST_PRICED} strings.")
    return [
        make_question(principal, {"dataset": body.get("dataset"), "sql": sql, "options": options}) for sql in statements
    ]


def _next_page(oldest_first: Sequence[QueryLine], limit: int) -> str | None:
    """Before which moment the next page is; None where there is none."""
    return oldest_first[0]["time"] if len(oldest_first) == limit else None


def read_moment(name: str) -> datetime | None:
    text = request.args.get(name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise malformed(f"{name}: must be a date or a time.", "Write it as 2026-03-01 or 2026-03-01T12:30Z.") from None


def _read_whole(name: str, otherwise: int, most: int, least: int = 1) -> int:
    text = request.args.get(name, str(otherwise))
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise malformed(f"{name}: must be a whole number from {least} to {most:,}.")
    return int(text)


def wanted_form() -> str:
    """The form of the answer that `Accept` wants most; JSON where it wants none of them, or does not mind."""
    wanted = request.accept_mimetypes
    return _FORMS[wanted.best_match(_FORMS, default=JSON) or JSON] if wanted else "json"


_FORMS = {media.partition(";")[0]: form for form, (media, _) in render.FORMATS.items()}


def give_form(body: AnswerBody, form: str, log: Log) -> Response:
    """An answer as a file; what is inside is what the log has."""
    media, write = render.FORMATS[form]
    response = Response(write(body), content_type=media)
    response.headers["Content-Disposition"] = f'attachment; filename="{body["query_id"]}.{form}"'
    return with_policy(response, body["query_id"], log)


def with_policy(response: Response, query_id: str, log: Log) -> Response:
    """The response with the hash of the policy that its question was asked under: beside the answer, not in it, for an
    answer leaves as it was put on record."""
    found = log.policy_hash(query_id)
    if found is not None:
        response.headers[POLICY_HEADER] = found
    return response


def give(body: Mapping[str, object]) -> Response:
    return Response(render.to_json(body), content_type="application/json")


def give_page(page: bytes, name: str) -> Response:
    """To be opened where it was saved: this site's rules for pages let in no styles or pictures of the page's own."""
    response = Response(page, content_type="text/html; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
