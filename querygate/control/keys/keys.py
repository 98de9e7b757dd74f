"""The keys of a site's users, and whose a key is that somebody presents.

Only what proves a secret is stored, so a stolen `control.db` opens nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from querygate.control.account_terms import HAND, Note, Source, no_user, unnoted
from querygate.control.ids import Clock, Entropy, stamp, stamp_now
from querygate.control.keys.key_proofs import OPEN_KEYS, KeyProofs, read_scopes
from querygate.control.keys.key_text import KEY, base32, key_text
from querygate.control.keys.scram import Verifier
from querygate.control.keys.verified_keys import VerifiedKeys
from querygate.control.log.latest_time import LATEST_TIME, latest_time
from querygate.control.ports import Connection, ControlDatabase, Row
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.rights import SCOPES
from querygate.core.types import Principal

# The second choice of the OWASP Password Storage Cheat Sheet. The secrets are 256 random bits that nobody can guess,
# so more would only let a flood of false keys cost the gate more.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)


_KEYS = "SELECT id, user, created, revoked, expires, used, scopes, source FROM keys"
_OPENING = f"SELECT keys.hash, keys.used, keys.scopes, keys.scram, users.name, users.role {OPEN_KEYS} AND keys.id = ?"
_UNPROVED = f"SELECT keys.hash {OPEN_KEYS} AND keys.scram IS NULL LIMIT 1"

_END = f"""UPDATE keys SET expires = min(coalesce(expires, ?), ?)
  WHERE id = ? AND revoked IS NULL AND (expires IS NULL OR expires > max(?, {LATEST_TIME}))"""  # noqa: S608

_REPLACED_BY = """WITH RECURSIVE later (id) AS (
    SELECT id FROM keys WHERE id = ? UNION SELECT keys.id FROM keys JOIN later ON keys.replaces = later.id)
  SELECT id FROM later"""

OVERLAP_HOURS = 24.0
MOST_OVERLAP_HOURS = 24 * 90
"""How long a key that was replaced still opens, if nobody says, and at most."""

USED_EVERY = timedelta(minutes=1)
"""How often the use of a key is written down."""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key as it is stored. `revoked` is since when, None while it opens; `used` is about when it last did, to the
    minute; `scopes` are what it is good for, None: for all of its owner's role."""

    id: str
    user: str
    created: str
    revoked: str | None
    expires: str | None = None
    used: str | None = None
    scopes: tuple[str, ...] | None = None
    source: Source = HAND


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key. `secret` is the whole text to present; it is not stored and cannot be shown again."""

    id: str
    user: str
    secret: str = field(repr=False)


class Keys:
    """The keys of all users. Safe to share between threads; changes by other processes show at once."""

    def __init__(self, database: ControlDatabase, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._clock = clock
        self._entropy = entropy
        self._nobody = str(Verifier(entropy(32), entropy(32)))  # what no key leaves behind
        self._verified = VerifiedKeys(entropy(32))
        self.proofs = KeyProofs(database, clock)

    def new(
        self,
        user: str,
        *,
        expires: datetime | None = None,
        scopes: Collection[str] = (),
        source: Source = HAND,
        note: Note[NewKey] = unnoted,
    ) -> NewKey:
        """A key of this user, until it expires; for some things only, where scopes are named."""
        owner = self._owner(user)
        if expires is not None and stamp(expires) <= latest_time(self._database, self._clock):
            raise ConfigError("QG806", "The key would have expired already.", "Choose a later date.")
        if not set(scopes) <= set(SCOPES):
            raise ConfigError("QG806", "There is no such scope.", f"Choose among: {', '.join(SCOPES)}.")
        key_id, secret = base32(self._entropy(5)), base32(self._entropy(32))
        hashed, made = _HASHER.hash(secret, salt=self._entropy(16)), NewKey(key_id, owner, key_text(key_id, secret))
        proof = self.proofs.make(owner, made.secret)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO keys (id, user, hash, created, expires, scopes, source, scram) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key_id,
                    owner,
                    hashed,
                    self._now(),
                    None if expires is None else stamp(expires),
                    ",".join(sorted(scopes)) or None,
                    source,
                    proof,
                ),
            )
            note(connection, made)
        return made

    def rotate(
        self,
        key_id: str,
        overlap: timedelta,
        *,
        expires: datetime | None = None,
        keeps_end: bool = False,
        note: Note[NewKey] = unnoted,
    ) -> NewKey:
        """A new key of the same owner and scopes; the old one opens for as long as the overlap lasts. It ends when the
        old one would have, where it `keeps_end`."""
        old = self.find(key_id)
        ends = stamp(self._clock() + overlap)

        def end_old(connection: Connection, made: NewKey) -> None:
            """Within the transaction: the key may have been revoked just now, or been given an earlier end."""
            if keeps_end:
                connection.execute(
                    "UPDATE keys SET expires = (SELECT expires FROM keys WHERE id = ?) WHERE id = ?", (key_id, made.id)
                )
            connection.execute("UPDATE keys SET replaces = ? WHERE id = ?", (key_id, made.id))
            if not connection.execute(_END, (ends, ends, key_id, self._now())).rowcount:
                raise ConfigError("QG806", "This key no longer works.", f"Use `querygate key new {old.user}`.")
            note(connection, made)

        return self.new(old.user, expires=expires, scopes=old.scopes or (), source=old.source, note=end_old)

    def revoke(self, key_id: str, *, note: Note[StoredKey] = unnoted) -> StoredKey:
        """From now on the key opens nothing, in any process, and neither does what it was replaced by. A key stays
        revoked since the first time; `note` is told of the key, and of each other that is revoked with it."""
        with self._database.writing() as connection:
            for (one,) in connection.execute(_REPLACED_BY, (key_id,)).fetchall():
                if one == key_id or self.find(one).revoked is None:
                    connection.execute(
                        "UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (self._now(), one)
                    )
                    note(connection, self.find(one))
            return self.find(key_id)

    def all(self) -> tuple[StoredKey, ...]:
        return tuple(map(_stored, self._database.rows(_KEYS + " ORDER BY created, id")))

    def find(self, key_id: str) -> StoredKey:
        rows = self._database.rows(_KEYS + " WHERE id = ?", (key_id,))
        if not rows:
            # The text is not repeated: it may be a whole key, pasted by mistake.
            raise ConfigError("QG808", "There is no key with this id.", "Use the 8 characters after 'qg_'.")
        return _stored(rows[0])

    def authenticate(
        self, presented: str, careful: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> Principal:
        """Whose key this is. One wording for every way of being wrong, and one cost wherever the form is right.

        `careful` is entered around the slow comparison, of a key that was not seen before; it may refuse.
        """
        parts = KEY.fullmatch(presented)
        if parts is None:
            raise _not_signed_in()
        now = self._clock()
        rows = self._database.rows(_OPENING, (stamp(now), parts[1]))
        hashed = (rows[0]["scram"] or rows[0]["hash"]) if rows else ""
        if not self._verified.has(presented, hashed):
            with careful():
                is_right = self._opens(presented, parts[2], rows[0] if rows else None)
            if not is_right:
                raise _not_signed_in()
            self._verified.add(presented, hashed)
            if rows[0]["scram"] is None:
                self.proofs.complete(rows[0]["name"], parts[1], presented)
        found = rows[0]
        if found["used"] is None or found["used"] < stamp(now - USED_EVERY):
            self._note_use(parts[1], now)
        return Principal(found["name"], found["role"], read_scopes(found["scopes"]))

    def _opens(self, presented: str, secret: str, row: Row | None) -> bool:
        """The slow comparison. With what a key leaves behind it takes 1 ms of a processor; of a key from before, Argon2
        takes 23 ms and 19 MB. An unknown, revoked or disabled key takes as long to refuse as a wrong secret: as long
        as any key from before opens, all of them take both comparisons."""
        if row is not None and row["scram"] is None:
            self.proofs.opens("", presented, self._nobody)
            return _matches(row["hash"], secret)
        name, stored = (row["name"], row["scram"]) if row else ("", self._nobody)
        if self.proofs.opens(name, presented, stored):
            return True
        for other in self._database.rows(_UNPROVED, (self._now(),)):
            _matches(other["hash"], secret)
        return False

    def has_slow_keys(self) -> bool:
        """Whether any key from before there were verifiers opens, so that to refuse a key takes Argon2."""
        return bool(self._database.rows(_UNPROVED, (self._now(),)))

    def _note_use(self, key_id: str, now: datetime) -> None:
        """At most once a minute a key: to know when it was last used is not worth a write for every request."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE keys SET used = ? WHERE id = ?", (stamp(now.replace(second=0, microsecond=0)), key_id)
            )

    def _owner(self, name: str) -> str:
        """The name of a user as it is written in their account."""
        rows = self._database.rows("SELECT name FROM users WHERE name = ? AND removed IS NULL", (name,))
        if not rows:
            raise no_user()
        return str(rows[0]["name"])

    def _now(self) -> str:
        return stamp_now(self._clock)


def _stored(row: Row) -> StoredKey:
    scopes = read_scopes(row["scopes"])
    return StoredKey(**{**dict(row), "scopes": None if scopes is None else tuple(sorted(scopes))})


def _not_signed_in() -> NotPermitted:
    return NotPermitted("QG301", "The key is missing or not valid.", "Ask the custodian for a key.")


def _matches(hashed: str, secret: str) -> bool:
    try:
        return _HASHER.verify(hashed, secret)
    except VerifyMismatchError:
        return False
