"""Programs that wait until somebody lets them in at a browser, as RFC 8628 describes it.

The program holds a random secret, of which the hash is stored, and shows a short code. The person types that code where
they are signed in, and lets the program in or not. It then gets one key, once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from querygate.control.ids import Clock, Entropy, stamp
from querygate.control.keys.key_proofs import read_scopes
from querygate.control.ports import NO_LIMIT, ControlDatabase

LASTS = timedelta(minutes=10)
INTERVAL_S = 5
"""How long a program waits before it asks again (RFC 8628, 3.2)."""

MOST = 1_000
"""Of more that wait, the oldest are forgotten."""

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that codes are no words; nothing that looks like a digit (RFC 8628, 6.1)."""

_HALF = 4
_WAITS = "SELECT state, user, scopes, polled FROM device_code WHERE device = ? AND began > ?"

Waiting: TypeAlias = Literal["authorization_pending", "slow_down"]


@dataclass(frozen=True, slots=True)
class NewDevice:
    """A program that begins to wait. `secret` is its own; the person types `code`."""

    code: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WaitingDevice:
    """A program that waits, for whoever decides: where it asked from, since when, and what the key is for."""

    code: str
    address: str
    began: str
    scopes: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class LetIn:
    """Somebody let the program in."""

    user: str
    scopes: frozenset[str] | None


class DeviceCodes:
    """Safe to share between threads and processes."""

    def __init__(self, database: ControlDatabase, clock: Clock, entropy: Entropy) -> None:
        self._database, self._clock, self._entropy = database, clock, entropy

    def begin(self, scopes: frozenset[str], address: str) -> NewDevice:
        """A program at this address waits, for a key of these scopes (none: all of the role)."""
        now = self._clock()
        made = NewDevice(_make_code(self._entropy), self._entropy(32).hex())
        with self._database.writing() as connection:
            connection.execute("DELETE FROM device_code WHERE began <= ?", (stamp(now - LASTS),))
            connection.execute(
                "DELETE FROM device_code WHERE device IN "
                "(SELECT device FROM device_code ORDER BY began DESC LIMIT ? OFFSET ?)",
                (NO_LIMIT, MOST - 1),
            )
            connection.execute(
                "INSERT INTO device_code (device, code, scopes, address, began) VALUES (?, ?, ?, ?, ?)",
                (_hash(made.secret), made.code, ",".join(sorted(scopes)) or None, address, stamp(now)),
            )
        return made

    def find(self, typed: str) -> WaitingDevice | None:
        """Which program shows this code, if nobody has decided yet."""
        rows = self._database.rows(
            "SELECT code, address, began, scopes FROM device_code WHERE code = ? AND began > ? AND state = 'waiting'",
            (read_code(typed), self._since()),
        )
        return None if not rows else WaitingDevice(**{**dict(rows[0]), "scopes": read_scopes(rows[0]["scopes"])})

    def decide(self, typed: str, user: str, *, is_let_in: bool) -> bool:
        """Let it in, or not, in the name of this user; False if it does not wait any more."""
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE device_code SET state = ?, user = ? WHERE code = ? AND began > ? AND state = 'waiting'",
                ("approved" if is_let_in else "refused", user, read_code(typed), self._since()),
            )
        return changed.rowcount == 1

    def redeem(self, secret: str) -> LetIn | Waiting | None:
        """What the program with this secret gets: once that it is let in; that it must wait; None if it never will."""
        device, now = _hash(secret), self._clock()
        if not self._database.rows(_WAITS, (device, self._since())):
            return None  # nobody writes to the disk who brings nothing
        with self._database.writing() as connection:
            row = connection.execute(_WAITS, (device, self._since())).fetchone()
            if row is None:
                return None
            if row["state"] != "waiting":
                connection.execute("DELETE FROM device_code WHERE device = ?", (device,))
                return LetIn(row["user"], read_scopes(row["scopes"])) if row["state"] == "approved" else None
            connection.execute("UPDATE device_code SET polled = ? WHERE device = ?", (stamp(now), device))
            is_early = row["polled"] is not None and row["polled"] > stamp(now - timedelta(seconds=INTERVAL_S - 1))
            return "slow_down" if is_early else "authorization_pending"

    def _since(self) -> str:
        return stamp(self._clock() - LASTS)


def read_code(typed: str) -> str:
    """A code as it is stored, however somebody types it.

    >>> read_code(" bcdf ghjk"), read_code("bcdf-ghjk"), read_code("x" * 99)
    ('BCDF-GHJK', 'BCDF-GHJK', '')
    """
    letters = "".join(letter for letter in typed[:64].upper() if letter in LETTERS)
    return f"{letters[:_HALF]}-{letters[_HALF:]}" if len(letters) == 2 * _HALF else ""


def _make_code(entropy: Entropy) -> str:
    """Eight letters, each as likely as the others: bytes that would favour some are left out."""
    letters = ""
    while len(letters) < 2 * _HALF:
        byte = entropy(1)[0]
        if byte < 256 - 256 % len(LETTERS):
            letters += LETTERS[byte % len(LETTERS)]
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
