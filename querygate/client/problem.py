"""What a gate refuses, as the exception that it is: with its code, what to do instead, and where in the statement."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from querygate.core.errors import (
    CODES,
    BudgetExhausted,
    Code,
    ConfigError,
    DisclosureRefused,
    ExtractRefused,
    Fault,
    NotPermitted,
    QueryGateError,
    Refusal,
    Span,
    SyntaxRefused,
    UnsupportedSQL,
)

_FAMILIES: tuple[type[QueryGateError], ...] = (
    *(SyntaxRefused, UnsupportedSQL, NotPermitted, BudgetExhausted, DisclosureRefused, ExtractRefused),
    ConfigError,
)


class NewerRefusal(Refusal):
    """A refusal of a gate that knows more codes than this client."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        Exception.__init__(self, str(body.get("detail", "")))
        self.code, self.detail = str(body["code"]), str(body.get("detail", ""))
        self.remedy, self.suggestion, self.span = str(body.get("remedy", "")), None, None
        self.query_id, self.retry_after_s = None, None
        self._meaning = Code(str(body.get("title", self.code)), int(body.get("status", 422)), "F0000", 1)

    @property
    def meaning(self) -> Code:
        return self._meaning


class FailedGate(Fault):
    """The gate failed, and says under which number its custodian finds out why."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        QueryGateError.__init__(self, "QG900", str(body.get("detail", "")), str(body.get("remedy", "")))
        self.incident = ""


def read_problem(content: bytes) -> QueryGateError:
    """The problem that a response tells, or that whatever answers there is no gate."""
    try:
        body = json.loads(content)
        return make_problem(body) if isinstance(body, dict) else no_gate()
    except (ValueError, KeyError, TypeError):
        return no_gate()


def make_problem(body: Mapping[str, Any]) -> QueryGateError:
    """The exception of a problem. A traceback shows what to do beside what went wrong."""
    if not re.fullmatch(r"QG\d{3}", body["code"]):
        raise ValueError("no code")
    error = _known(body) if body["code"] in CODES else NewerRefusal(body)
    if body.get("suggestion"):
        error.suggestion = str(body["suggestion"])
    if body.get("span"):
        error.span = Span(**body["span"])
    error.query_id = body.get("query_id")
    error.add_note(f"{error.code} {error.meaning.title}. {error.remedy}".rstrip())
    if error.suggestion:
        error.add_note(f"Try: {error.suggestion}")
    return error


def _known(body: Mapping[str, Any]) -> QueryGateError:
    family = next((one for one in _FAMILIES if body["code"].startswith(one.family)), None)
    if family is None:
        return FailedGate(body)
    return family(body["code"], str(body["detail"]), str(body.get("remedy", "")))


def no_gate() -> ConfigError:
    return ConfigError("QG804", "The server at this address is not a gate.", "Check the address.")


def unreachable() -> ConfigError:
    return ConfigError(
        "QG804", "Nothing answers at this address.", "Check the address, and whether the gate is running there."
    )


def too_large() -> ConfigError:
    return ConfigError("QG804", "The reply is larger than any answer.", "Check the address, or ask a smaller question.")
