"""What goes wrong, as a page for people: no such page, no right to it, a failure. Programs get JSON as ever."""

from __future__ import annotations

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from querygate.control.sessions import Sessions
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.gate.incidents import make_failure
from querygate.web import problems
from querygate.web.console.page_session import find_session, show_problem
from querygate.web.routes import API

_MISSING = 404


def install_problem_pages(app: Flask, sessions: Sessions) -> None:
    """Put before the handlers of the API: what a browser asks for is answered with a page."""

    def refused(error: QueryGateError) -> Response:
        return show_problem(error, find_session(sessions)) if is_browser() else problems.refused(error)

    def refused_by_http(error: HTTPException) -> Response:
        if error.code != _MISSING or not is_browser():
            return problems.refused_by_http(error)
        missing = NotPermitted("QG307", "There is no page at this address.", "Go on from the menu.")
        return show_problem(missing, find_session(sessions))

    def failed(error: Exception) -> Response:
        return refused(make_failure(error))

    app.register_error_handler(QueryGateError, refused)
    app.register_error_handler(HTTPException, refused_by_http)
    app.register_error_handler(Exception, failed)


def is_browser() -> bool:
    """Whether a person looks at it: browsers say that they want pages, and the API has none."""
    return "text/html" in request.headers.get("Accept", "") and not request.path.startswith(API)
