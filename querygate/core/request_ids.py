"""The id of the request that a thread is handling: the same in the response, the log and the server's own output."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar

HEADER = "X-Request-ID"

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def begin_request(asked: str | None) -> str:
    """The id that the client or a proxy sent, if it is a plain one; otherwise a new one.

    >>> begin_request("trace-7")
    'trace-7'
    >>> begin_request("two words").startswith("r_")
    True
    """
    named = asked if asked and _ACCEPTED.fullmatch(asked) else f"r_{secrets.token_hex(8)}"
    request_id.set(named)
    return named
