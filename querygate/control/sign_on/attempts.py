"""Browsers that were sent to the provider and are not back yet.

The browser holds a random secret in a cookie; the table holds its hash. What the provider is told (state, nonce and the
PKCE challenge) follows from the secret, so that only this browser can come back, once, and nothing that is stored helps
anybody else.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from datetime import timedelta

from querygate.control.ids import Clock, Entropy, stamp
from querygate.control.ports import NO_LIMIT, ControlDatabase

LASTS = timedelta(minutes=10)
"""How long somebody may take at the provider."""

MOST = 10_000
"""Of more that are on the way, the oldest are forgotten."""


class Attempts:
    """Safe to share between threads and processes."""

    def __init__(self, database: ControlDatabase, clock: Clock, entropy: Entropy) -> None:
        self._database, self._clock, self._entropy = database, clock, entropy

    def begin(self, then: str) -> str:
        """The secret of a browser that sets out now, and goes to this address of ours when it is back."""
        secret, now = self._entropy(32).hex(), self._clock()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sign_in_attempt WHERE began <= ?", (stamp(now - LASTS),))
            connection.execute(
                "DELETE FROM sign_in_attempt WHERE browser IN "
                "(SELECT browser FROM sign_in_attempt ORDER BY began DESC LIMIT ? OFFSET ?)",
                (NO_LIMIT, MOST - 1),
            )
            connection.execute(
                "INSERT INTO sign_in_attempt (browser, next, began) VALUES (?, ?, ?)", (_hash(secret), then, stamp(now))
            )
        return secret

    def take(self, secret: str) -> str | None:
        """Where a browser goes that is back; None if it never set out, took too long or was here before."""
        whose = _hash(secret), stamp(self._clock() - LASTS)
        if not self._database.rows("SELECT 1 FROM sign_in_attempt WHERE browser = ? AND began > ?", whose):
            return None  # nobody writes to the disk who brings nothing
        with self._database.writing() as connection:
            found = connection.execute(
                "DELETE FROM sign_in_attempt WHERE browser = ? AND began > ? RETURNING next", whose
            ).fetchone()
        return None if found is None else str(found["next"])


def derive(secret: str, purpose: str) -> str:
    """43 letters, digits, - and _ that follow from the secret and do not give it away.

    >>> derive("a", "state") == derive("a", "state"), derive("a", "state") == derive("a", "nonce")
    (True, False)
    """
    digest = hmac.digest(secret.encode(errors="replace"), purpose.encode(), "sha256")
    return urlsafe_b64encode(digest).decode().rstrip("=")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
