"""Times and ids: what an entry receives from outside, so that tests can choose both.

A `Clock` returns an aware moment, an `Entropy` returns that many unpredictable bytes; in production they are
`lambda: datetime.now(UTC)` and `secrets.token_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
Entropy: TypeAlias = Callable[[int], bytes]

NO_TIME = timedelta()

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Base 32 without I, L, O and U, which people misread."""


def stamp(moment: datetime) -> str:
    """The moment in UTC as text of fixed width, so that texts sort as times do.

    >>> stamp(datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
    '2026-03-01T12:30:00.000000Z'
    """
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def stamp_now(clock: Clock, later: timedelta = NO_TIME) -> str:
    """The time it is now, or will be so much later."""
    return stamp(clock() + later)


def new_query_id(clock: Clock, entropy: Entropy) -> str:
    """A ULID after `q_`: 48 bits of time in milliseconds, then 80 random bits. Later ids sort after earlier ones.

    >>> new_query_id(lambda: datetime(2026, 3, 1, tzinfo=UTC), bytes)
    'q_01KJKB3Q000000000000000000'
    """
    number = int(clock().timestamp() * 1000) << 80 | int.from_bytes(entropy(10), "big")
    return "q_" + "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))
