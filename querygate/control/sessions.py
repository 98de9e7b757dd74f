"""Who is signed in at a browser. A session stands for the key that began it, and ends with it; or for somebody whom the
provider of single sign-on vouched for, and ends with their account.

The browser holds a random token; the table holds its hash, so a stolen `control.db` opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta

from querygate.control.ids import Clock, Entropy, stamp
from querygate.control.keys.key_proofs import read_scopes
from querygate.control.log.latest_time import LATEST_TIME
from querygate.control.ports import ControlDatabase
from querygate.core.types import Principal

LASTS = timedelta(hours=12)
"""How long a session lasts at most; whoever works longer signs in again."""

IDLE = timedelta(hours=1)
"""How long a session lasts while nothing is asked."""

_SEEN_AGAIN = timedelta(minutes=1)
"""How exactly it is known when something was last asked: writing it down at every request would cost an fsync."""

_FIND = f"""SELECT session.token, session.seen, session.key, users.name, users.role, keys.scopes
  FROM session JOIN users ON users.name = session.user LEFT JOIN keys ON keys.id = session.key
  WHERE session.token = ? AND session.began > ? AND session.seen > ?
    AND (session.key IS NULL OR keys.revoked IS NULL AND (keys.expires IS NULL OR keys.expires > max(?, {LATEST_TIME})))
    AND users.disabled IS NULL AND users.removed IS NULL"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody signed in. `proof` is what a form of theirs must carry, so that no other site can send one for them.
    `by_sign_on` is whether they came through the provider of single sign-on, and not with a key."""

    principal: Principal
    proof: str
    by_sign_on: bool = False


class Sessions:
    """The sessions of a site. Safe to share between threads and processes."""

    def __init__(self, database: ControlDatabase, clock: Clock, entropy: Entropy) -> None:
        self._database, self._clock, self._entropy = database, clock, entropy

    def begin(self, key_id: str) -> str:
        """The token of a new session of whoever holds this key. Sessions that have ended are swept."""
        return self._begin("SELECT ?, user, id, ?, ?, ? FROM keys WHERE id = ?", key_id)

    def begin_by_sign_on(self, user: str, provider_session: str | None = None) -> str:
        """The token of a new session of somebody whom the provider of single sign-on vouches for, and what the provider
        calls theirs."""
        return self._begin("SELECT ?, name, NULL, ?, ?, ? FROM users WHERE name = ?", user, provider_session)

    def _begin(self, whose: str, named: str, provider_session: str | None = None) -> str:
        token, now = self._entropy(32).hex(), self._clock()
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM session WHERE began <= ? OR seen <= ?", (stamp(now - LASTS), stamp(now - IDLE))
            )
            connection.execute(
                f"INSERT INTO session (token, user, key, began, seen, provider_session) {whose}",
                (_hash(token), stamp(now), stamp(now), provider_session, named),
            )
        return token

    def find(self, token: str) -> Session | None:
        """Whose session this is; None where there is none any more."""
        now = self._clock()
        rows = self._database.rows(_FIND, (_hash(token), stamp(now - LASTS), stamp(now - IDLE), stamp(now)))
        if not rows:
            return None
        self._note_seen(rows[0]["token"], rows[0]["seen"], now)
        principal = Principal(rows[0]["name"], rows[0]["role"], read_scopes(rows[0]["scopes"]))
        return Session(principal, proof_of(token), by_sign_on=rows[0]["key"] is None)

    def end(self, token: str) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM session WHERE token = ?", (_hash(token),))

    def _note_seen(self, hashed: str, seen: str, now: datetime) -> None:
        if seen <= stamp(now - _SEEN_AGAIN):
            with self._database.writing() as connection:
                connection.execute("UPDATE session SET seen = ? WHERE token = ?", (stamp(now), hashed))


def proof_of(token: str) -> str:
    """What forms carry beside the cookie. It follows from the token, which no other site can read.

    >>> proof_of("a") == proof_of("a"), proof_of("a") == proof_of("b")
    (True, False)
    """
    return hmac.digest(token.encode(), b"form", "sha256").hex()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
