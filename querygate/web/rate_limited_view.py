"""A view within the limits of whoever asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Response, g

from querygate.core.types import Principal
from querygate.site.user_limits import Given, UserLimits


@contextmanager
def within_limits(limits: UserLimits, principal: Principal) -> Iterator[Given]:
    """While a view answers them; what it took is put on their account."""
    with limits.counted(principal) as given:
        try:
            yield given
        finally:
            given.rows = g.pop("answer_rows", 0)


def weighed(response: Response, given: Given) -> Response:
    """The response, whose size is what they are given unless it refuses."""
    if response.status_code < 400:
        given.bytes = response.content_length or 0
    return response
