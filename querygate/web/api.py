"""The views of the API: decode, call the gate, render. What is decided is decided elsewhere."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from flask import Response, request

from querygate.control import stamp
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.types import Principal, Request
from querygate.gateway import answer as gateway
from querygate.gateway import describe, render
from querygate.site.gate import OpenSite
from querygate.site.health import control_health, store_health
from querygate.web.openapi import make_openapi
from querygate.web.problems import malformed

LONGEST_NAME = 63
DEFAULT_ENTRIES, MOST_ENTRIES = 100, 1000


class Api:
    """One method per route of the API, called as the route's name. Those that need a key get its principal."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened = opened
        self._gate = opened.gate

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self, principal: Principal) -> Response:
        question = read_question(principal)
        body = render.to_dict(gateway.answer(question, self._gate))
        if question.options.get("readable"):
            headings, rows = render.readable(body)
            body["readable"] = {"headings": headings, "rows": rows}
        return give(body)

    def check(self, principal: Principal) -> Response:
        question = read_question(principal)
        plan = gateway.check(question, self._gate)
        return give(describe.make_verdict(plan, self._gate.store.current(question.dataset).catalog))

    def fetch_answer(self, principal: Principal, query_id: str, form: str) -> Response:
        found = self._opened.log.answer(query_id)
        if found is None or not (principal.is_custodian or principal.name == found[0]):
            # One wording, so that nobody learns which queries others have asked.
            raise NotPermitted("QG304", "There is no answer with this id for you.", "Ask the query again.")
        if principal.name != found[0]:
            self._opened.log.note("answer.read", user=principal.name, body={"query_id": query_id})
        media, write = render.FORMATS[form]
        response = Response(write(found[1]), content_type=media)
        response.headers["Content-Disposition"] = f'attachment; filename="{found[1]["query_id"]}.{form}"'
        return response

    # -- looking around ----------------------------------------------------------------------------------

    def list_datasets(self, principal: Principal) -> Response:
        store = self._gate.store
        return give({"datasets": [describe.make_summary(store.current(name).catalog) for name in store.datasets()]})

    def describe_dataset(self, principal: Principal, dataset: str) -> Response:
        return give(
            describe.make_description(self._gate.store.current(dataset).catalog, self._gate.native, self._gate.limits)
        )

    def read_log(self, principal: Principal) -> Response:
        since, limit = _read_moment("since"), _read_limit("limit")
        user, dataset = request.args.get("user"), request.args.get("dataset")
        asked = {"since": None if since is None else stamp(since), "user": user, "limit": limit}
        body = {name: value for name, value in asked.items() if value is not None}
        self._opened.log.note("log.read", user=principal.name, dataset=dataset, body=body)
        entries = self._opened.log.queries(since=since, user=user, dataset=dataset, limit=limit)
        return give({"entries": list(entries)})

    # -- for whoever runs the site -----------------------------------------------------------------------

    def healthz(self) -> Response:
        return give({"status": "ok"})

    def readyz(self) -> Response:
        control = control_health(self._opened.site)
        store = all(health.ok for health in store_health(self._opened))
        if not (store and control.ok):
            what = "The control database cannot be written." if store else "The store cannot be read."
            raise ConfigError("QG804", what, "Run `querygate doctor` on the server.")
        return give({"status": "ready", "checks": {"store": "ok", "control": "ok"}})

    def openapi(self) -> Response:
        return give(make_openapi())


# -- reading what was sent -----------------------------------------------------------------------------------


def read_question(principal: Principal) -> Request:
    """The body of a question: exactly these fields, of these types. Anything else is refused by name."""
    body = _read_object()
    _check_fields(body, "", ("dataset", "sql", "options"))
    options = body.get("options", {})
    if not isinstance(options, dict):
        raise malformed("options: must be an object.")
    _check_fields(options, "options.", ("mode", "readable"))
    if options.get("mode", "interval") != "interval":
        raise malformed("options.mode: must be interval.")
    if not isinstance(options.get("readable", False), bool):
        raise malformed("options.readable: must be true or false.")
    dataset, sql = _read_text(body, "dataset"), _read_text(body, "sql")
    if len(dataset) > LONGEST_NAME:
        raise malformed(f"dataset: must have at most {LONGEST_NAME} characters.")
    return Request(principal, dataset, sql, options)


def _read_object() -> dict[str, Any]:
    try:
        body = json.loads(request.get_data())
    except (ValueError, RecursionError):  # not UTF-8, not JSON, or brackets without end
        raise malformed("The body is not JSON.", 'Send {"dataset": "...", "sql": "SELECT ..."}.') from None
    if not isinstance(body, dict):
        raise malformed("The body must be a JSON object.", 'Send {"dataset": "...", "sql": "SELECT ..."}.')
    return body


def _check_fields(body: dict[str, Any], prefix: str, accepted: tuple[str, ...]) -> None:
    unknown = sorted(set(body) - set(accepted))
    if unknown:
        listed = ", ".join(prefix + accepted_name for accepted_name in accepted)
        raise malformed(f"{prefix}{unknown[0][:LONGEST_NAME]}: there is no such field.", f"Accepted: {listed}.")


def _read_text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise malformed(f"{name}: must be text.", f'Send "{name}" as a string.')
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can bring in and nothing else can keep
        raise malformed(f"{name}: is not valid Unicode.", "Correct the escapes.") from None
    return value


def _read_moment(name: str) -> datetime | None:
    text = request.args.get(name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise malformed(f"{name}: must be a date or a time.", "Write it as 2026-03-01 or 2026-03-01T12:30Z.") from None


def _read_limit(name: str) -> int:
    text = request.args.get(name, str(DEFAULT_ENTRIES))
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= MOST_ENTRIES):
        raise malformed(f"{name}: must be a whole number from 1 to {MOST_ENTRIES:,}.")
    return int(text)


def give(body: dict[str, Any]) -> Response:
    return Response(render.to_json(body), content_type="application/json")
