"""Errors at the HTTP door: one shape (RFC 9457), one table of codes, no engine's words."""

from __future__ import annotations

import json
import math

from flask import Flask, Response, g, has_request_context, request
from werkzeug.exceptions import HTTPException

from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.request_ids import HEADER, request_id
from querygate.gate.incidents import make_failure, make_fault
from querygate.web.help_page import help_page

MEDIA = "application/problem+json"

STATUSES = {"QG804": 503}
"""Codes for which HTTP has a better status than their own: a site that is not ready is unavailable."""

_TOO_LARGE = 413
_WRONG_METHOD = 405
_MISSING = 404


def status_of(error: QueryGateError | None) -> int:
    """The status of what could not be done; 200 where nothing is wrong."""
    return 200 if error is None else STATUSES.get(error.code, error.meaning.status)


def malformed(detail: str, remedy: str = "See /docs for what is accepted.") -> NotPermitted:
    return NotPermitted("QG306", detail, remedy)


def too_large() -> NotPermitted:
    return NotPermitted("QG308", "The request is larger than this site accepts.", "Send a shorter statement.")


def problem(error: QueryGateError, status: int | None = None, headers: dict[str, str] | None = None) -> Response:
    """The error as a response. `status` is for the few cases where HTTP has a finer word than the code's own."""
    status = error.meaning.status if status is None else status
    body = {**error.to_dict(), "status": status, "help": help_page(error.code).address}
    if has_request_context():
        g.code = error.code
        # Only one that was sent: otherwise two refusals that must not tell apart what is there would differ.
        if request.headers.get(HEADER) == request_id.get():
            body["request_id"] = request_id.get()
    response = Response(json.dumps(body, ensure_ascii=False), status, content_type=MEDIA)
    response.headers.update(headers or {})
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="querygate"'
    return response


def refused(error: QueryGateError) -> Response:
    return problem(error, STATUSES.get(error.code))


def refused_by_http(error: HTTPException) -> Response:
    """What the HTTP machinery itself refuses: no such page, wrong method, too large, unreadable."""
    status = error.code or 500
    if status == _MISSING:
        return problem(NotPermitted("QG307", "There is no page at this address.", "See /docs for all addresses."))
    if status == _TOO_LARGE:
        return problem(too_large())
    if status == _WRONG_METHOD:
        allowed = sorted(getattr(error, "valid_methods", None) or ())
        wrong = malformed("This address does not support this method.", f"Use {' or '.join(allowed)}.")
        return problem(wrong, status, {"Allow": ", ".join(allowed)})
    if 400 <= status < 500:
        return problem(malformed("The request is not valid."), status)
    return problem(make_fault(error))


def failed(error: Exception) -> Response:
    return refused(make_failure(error))


def install(app: Flask) -> None:
    app.register_error_handler(QueryGateError, refused)
    app.register_error_handler(HTTPException, refused_by_http)
    app.register_error_handler(Exception, failed)
