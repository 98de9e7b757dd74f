"""Refusals, faults and notes as PostgreSQL's clients show them: SQLSTATE, a hint that works, a place to look at."""

from __future__ import annotations

from collections.abc import Callable

from querygate.core.errors import QueryGateError, Span
from querygate.wire.messages import report


def error_message(error: QueryGateError, place: Callable[[Span], int] | None = None, *, fatal: bool = False) -> bytes:
    """An error as the table of codes has it. `place` finds the character of a statement, counted from 1."""
    severity = "FATAL" if fatal else "ERROR"
    fields = {
        "S": severity,
        "V": severity,
        "C": error.meaning.sqlstate,
        "M": f"{error.code}: {error.detail}",
    }
    details = []
    if error.query_id:
        details.append(f"Query {error.query_id}.")
    if error.retry_after_s:
        details.append(f"Try again in {max(1, round(error.retry_after_s))} s.")
    if details:
        fields["D"] = " ".join(details)
    hint = "\n".join(filter(None, (error.remedy, error.suggestion)))
    if hint:
        fields["H"] = hint
    if error.span is not None and place is not None:
        fields["P"] = str(place(error.span))
    return report(b"E", fields)


def plain_error(sqlstate: str, text: str, hint: str = "") -> bytes:
    """What PostgreSQL itself would say of a session, and QueryGate has no code for."""
    fields = {"S": "ERROR", "V": "ERROR", "C": sqlstate, "M": text}
    return report(b"E", fields | ({"H": hint} if hint else {}))


def notice(text: str) -> bytes:
    """A note on an answer."""
    return report(b"N", {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": text})


def warning(text: str) -> bytes:
    return report(b"N", {"S": "WARNING", "V": "WARNING", "C": "01000", "M": text})
