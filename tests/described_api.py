"""The API held to its own description: calls drawn from the OpenAPI document, sent as every role and as nobody.

Each call must give a documented status, a body of the documented shape and no server error, and whoever lacks the right
must be refused, whatever they send.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from querygate.core.rights import ROLES, TABLE
from querygate.web.route import Route
from querygate.web.routes import ROUTES
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.route_paths import WORDS
from tests.rights_site import RightsSite, make_rights_site

NOBODY = "nobody"
CHECKS = (status_code_conformance, content_type_conformance, response_schema_conformance)
_NOT_READY = 503  # with a code that says what is missing; documented where it may come
REAL = ("dataset", "form")
logging.getLogger("werkzeug").setLevel(logging.ERROR)


@dataclass
class Tried:
    """How many calls were sent, what each gave, and what was wrong."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    wrong: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(self.statuses.values())


def described_site(folder: Path) -> RightsSite:
    """Somebody of each role; the researcher may ask, and nobody is stopped for asking much."""
    site = make_rights_site(folder, "requests_per_minute = 0\nlogin_failures_per_minute = 100000\n")
    site.grant("researcher")
    return site


def _example(schema: str) -> Any:
    """What the description gives as an example, of the dataset that there is."""
    return json.loads(re.sub(r"\b(patients|survey|trial)\b", "clinic", json.dumps(SCHEMAS[schema]["example"])))


class DescribedApi:
    """A site, its application and the calls that its description allows."""

    def __init__(self, site: RightsSite, app: Flask, *, calls: int, start: int) -> None:
        self._site, self._calls, self._start = site, calls, start
        self._schema: Any = schemathesis.openapi.from_wsgi("/openapi.json", app)
        self.tried = Tried()

    def run(self) -> Tried:
        routes = {route.name: route for route in ROUTES}
        for result in self._schema.get_all_operations():
            operation = result.ok()
            route = routes[operation.definition.raw["operationId"]]
            for number, case in enumerate(self._draw(operation)):
                self._send(route, case, number)
        return self.tried

    def _draw(self, operation: Any) -> Iterator[Any]:
        """Calls that fit the description, and such that do not."""
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                yield from self._collect(operation.as_strategy(generation_mode=mode))
            except Unsatisfiable:  # a call without parameters and body can only be right
                continue

    def _collect(self, strategy: Any) -> list[Any]:
        cases: list[Any] = []

        @seed(self._start)
        @settings(
            max_examples=self._calls,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def collect(case: Any) -> None:
            cases.append(case)

        collect()
        return cases[: self._calls]

    def _send(self, route: Route, case: Any, number: int) -> None:
        for name in case.path_parameters or {}:
            if number % 2 == 0 or name in REAL:  # deeper than names that nothing has
                case.path_parameters[name] = WORDS.get(name, case.path_parameters[name])
        if number == 0 and route.body:
            case.body = _example(route.body)
        for who in (*ROLES, NOBODY):
            case.headers = self._headers(route, who)  # in place of a key that was drawn
            response = case.call()
            self.tried.statuses[who, response.status_code] += 1
            found = self._look(route, who, case, response)
            if found:
                sent = f"{case.method} {case.formatted_path} {str(case.body)[:300]} {case.query}"
                self.tried.wrong.setdefault((route.name, who), f"{found}\n{sent}")

    def _headers(self, route: Route, who: str) -> dict[str, str]:
        if who == NOBODY:
            return {}
        if route.name in ("revoke_own_key", "rotate_own_key"):  # needs a key for this alone
            return {"Authorization": f"Bearer {self._site.opened.accounts.keys.new(who).secret}"}
        return self._site.headers(who)

    @staticmethod
    def _look(route: Route, who: str, case: Any, response: Any) -> str:
        locked_out = route.who and (who == NOBODY or not TABLE[who] & set(route.who))
        is_nowhere = response.status_code == 404 and response.json()["code"] == "QG307"
        if response.status_code >= 500 and response.status_code != _NOT_READY:
            return f"server error: {response.status_code}"
        if locked_out and not is_nowhere and response.status_code != (401 if who == NOBODY else 403):
            return f"access beyond role: {response.status_code}"
        try:
            case.validate_response(response, checks=CHECKS, headers={})
        except BaseExceptionGroup as failed:
            return "; ".join(f"{type(one).__name__}: {one}" for one in failed.exceptions)[:600]
        except AssertionError as failed:
            return f"{type(failed).__name__}: {failed}"[:600]
        return ""
