"""A view within the limits of whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, g

from querygate.core.types import Principal
from querygate.site.user_limits import UserLimits


def serve(limits: UserLimits, principal: Principal, view: Callable[[], Response]) -> Response:
    """What a view gives them; what it took is put on their account."""
    with limits.counted(principal) as given:
        try:
            response = view()
            if response.status_code < 400:
                given.bytes = response.content_length or 0
        finally:
            given.rows = g.pop("answer_rows", 0)
    return response
