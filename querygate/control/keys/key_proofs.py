"""Keys that are proved and not shown, as a PostgreSQL client does: whose they are, and whether they still open.

A key leaves its verifier when it is made. One from before there were verifiers leaves it when it is first shown over
HTTP, which is the only moment at which anybody but its owner has it.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from querygate.control.ids import Clock, stamp_now
from querygate.control.keys.scram import Verifier, make_verifier, salt_of
from querygate.control.log.latest_time import LATEST_TIME
from querygate.control.ports import ControlDatabase
from querygate.core.rights import UserRole
from querygate.core.types import Principal

OPEN_KEYS = f"""FROM keys JOIN users ON users.name = keys.user
  WHERE keys.revoked IS NULL AND (keys.expires IS NULL OR keys.expires > max(?, {LATEST_TIME}))
    AND users.disabled IS NULL AND users.removed IS NULL"""
"""The keys that open now, with their owners."""

_OF_USER = f"SELECT keys.id, keys.scram {OPEN_KEYS} AND users.name = ? AND keys.scram IS NOT NULL"
_OF_KEY = f"SELECT users.name, users.role, keys.scopes {OPEN_KEYS} AND keys.id = ?"


@dataclass(frozen=True, slots=True)
class ProvableKey:
    """A key that opens, and what a proof of it is compared with."""

    id: str
    verifier: Verifier


class KeyProofs:
    """The verifiers of a site's keys. Safe to share between threads."""

    def __init__(self, database: ControlDatabase, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def salt(self, user: str) -> bytes:
        """Of the keys of this name, whether anybody has it or not."""
        return salt_of(self._database.rows("SELECT value FROM site_secret WHERE name = 'scram'")[0]["value"], user)

    def make(self, user: str, key: str) -> str:
        """What a key leaves behind, as it is stored."""
        return str(make_verifier(key, self.salt(user)))

    def of_user(self, user: str) -> tuple[ProvableKey, ...]:
        """The keys with which this person may come in now; none of a name that nobody has."""
        rows = self._database.rows(_OF_USER, (stamp_now(self._clock), user))
        return tuple(ProvableKey(row["id"], Verifier.read(row["scram"])) for row in rows)

    def principal(self, key_id: str) -> Principal | None:
        """Whose key this is; None from the moment on at which it does not open any more."""
        rows = self._database.rows(_OF_KEY, (stamp_now(self._clock), key_id))
        if not rows:
            return None
        role: UserRole = rows[0]["role"]
        return Principal(rows[0]["name"], role, read_scopes(rows[0]["scopes"]))

    def opens(self, user: str, key: str, stored: str) -> bool:
        """Whether a key that was shown is the one that left this."""
        return hmac.compare_digest(self.make(user, key), stored)

    def complete(self, user: str, key_id: str, key: str) -> None:
        """Let a key that was made before there were verifiers leave one."""
        made = self.make(user, key)
        with self._database.writing() as connection:
            connection.execute("UPDATE keys SET scram = ? WHERE id = ? AND scram IS NULL", (made, key_id))


def read_scopes(text: str | None) -> frozenset[str] | None:
    return None if text is None else frozenset(text.split(","))
