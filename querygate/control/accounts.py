"""Who may come in: users, and the keys that prove who they are.

A key reads `qg_<id>_<secret>`. The id finds the row; only an Argon2id hash of the secret is stored, so a stolen
`control.db` opens nothing.
"""

from __future__ import annotations

import re
import sqlite3
from base64 import b32encode
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from querygate.control.database import Database
from querygate.control.ids import Clock, Entropy, stamp, stamp_now
from querygate.control.keys.key_proofs import OPEN_KEYS, KeyProofs, read_scopes
from querygate.control.keys.scram import Verifier
from querygate.control.keys.verified_keys import VerifiedKeys
from querygate.control.log.latest_time import LATEST_TIME, latest_time
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.rights import ROLES, SCOPES, UserRole
from querygate.core.types import Principal

USER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_GROUP = re.compile(r"[^\W_](?:[\w .@&/+-]{0,62}[\w.])?")
_USERS = "SELECT name, role, created, disabled, project, organisation, removed, source FROM users"
_KEY = re.compile(r"qg_([a-z2-7]{8})_([a-z2-7]{52})")

# The second choice of the OWASP Password Storage Cheat Sheet. The secrets are 256 random bits that nobody can guess,
# so more would only let a flood of false keys cost the gate more.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)

_ADD_USER = "INSERT INTO users (name, role, project, organisation, created, disabled) VALUES (?, ?, ?, ?, ?, ?)"
_KEYS = "SELECT id, user, created, revoked, expires, used, scopes, source FROM keys"
_OPENING = f"SELECT keys.hash, keys.used, keys.scopes, keys.scram, users.name, users.role {OPEN_KEYS} AND keys.id = ?"
_UNPROVED = f"SELECT keys.hash {OPEN_KEYS} AND keys.scram IS NULL LIMIT 1"

_END = f"""UPDATE keys SET expires = min(coalesce(expires, ?), ?)
  WHERE id = ? AND revoked IS NULL AND (expires IS NULL OR expires > max(?, {LATEST_TIME}))"""  # noqa: S608
_END_SESSIONS = "DELETE FROM session WHERE user = ?"
_REPLACED_BY = """WITH RECURSIVE later (id) AS (
    SELECT ? UNION SELECT keys.id FROM keys JOIN later ON keys.replaces = later.id)
  SELECT id FROM later"""

USED_EVERY = timedelta(minutes=1)
"""How often the use of a key is written down."""

CUSTODIAN: UserRole = "custodian"

_T = TypeVar("_T")
Note: TypeAlias = Callable[[sqlite3.Connection, _T], None]
"""Puts a change on record within its own transaction: both are on disk, or neither is."""


def unnoted(connection: sqlite3.Connection, changed: object) -> None:
    """For changes that nobody has to know of, such as those of the demo."""


Source: TypeAlias = Literal["hand", "oidc"]
HAND: Source = "hand"
SIGN_ON: Source = "oidc"
"""Where a role, a key or a grant comes from: from people, or from single sign-on."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with an account. `disabled` and `removed` are since when, None while the account is open or there.
    `source` is where the role comes from: from people, or from groups at the provider of single sign-on."""

    name: str
    role: UserRole
    created: str
    disabled: str | None
    project: str | None = None
    organisation: str | None = None
    removed: str | None = None
    source: Source = HAND


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


class Accounts:
    """The users and keys of a site. Safe to share between threads; changes by other processes show at once."""

    def __init__(self, database: Database, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._clock = clock
        self._entropy = entropy
        self._nobody = str(Verifier(entropy(32), entropy(32)))  # what no key leaves behind
        self._verified = VerifiedKeys(entropy(32))
        self.proofs = KeyProofs(database, clock)

    # -- users -------------------------------------------------------------------------------------------

    def add_user(
        self,
        name: str,
        role: str,
        project: str = "",
        organisation: str = "",
        *,
        closed: bool = False,
        note: Note[User] = unnoted,
    ) -> User:
        """An account, closed at first if it is to be. Answers to people of one project, and of one organisation, are
        audited together."""
        if not USER_NAME.fullmatch(name):
            raise ConfigError(
                "QG806",
                "A user name has 1 to 64 letters, digits, '.', '_', '@' or '-', and starts with a letter or digit.",
                "Choose another name, for example 'ann' or 'ann@example.org'.",
            )
        _check_role(role)
        groups = _group(project), _group(organisation)
        try:
            with self._database.writing() as connection:
                whose = (name, role, *groups, self._now(), self._now() if closed else None)
                connection.execute(_ADD_USER, whose)
                added = self._user(name)
                note(connection, added)
        except sqlite3.IntegrityError:
            raise ConfigError(
                "QG806",
                f"The user '{name}' exists already, or did before they were removed: the log knows people by their "
                "names, and upper and lower case count as the same.",
                "Choose another name.",
            ) from None
        return added

    def find_user(self, name: str) -> User:
        """One user; QG808 where there is none, or they were removed."""
        return self._user(name)

    def list_users(self) -> tuple[User, ...]:
        """All, and those who were removed: what they asked is still on record under their names."""
        rows = self._database.rows(_USERS + " ORDER BY name")
        return tuple(User(**dict(row)) for row in rows)

    def change_user(
        self,
        name: str,
        *,
        role: str | None = None,
        project: str | None = None,
        organisation: str | None = None,
        closed: bool = False,
        note: Note[User] = unnoted,
    ) -> User:
        """Give a user another role, project or organisation, from now on; "" is none, None leaves it as it is.
        `closed` closes the account with it."""
        user = self._user(name)
        if role not in (None, user.role) and user.source == SIGN_ON:
            raise ConfigError(
                "QG806",
                "The role of this user comes from their groups at the provider of single sign-on.",
                "Change their groups there, or first end it with `querygate user unlink`.",
            )
        role = user.role if role is None else _check_role(role)
        groups = (
            user.project if project is None else _group(project),
            user.organisation if organisation is None else _group(organisation),
        )
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE users SET role = ?, project = ?, organisation = ? WHERE name = ?", (role, *groups, user.name)
            )
            if closed:
                self._close(connection, user)
            if role != user.role:
                _check_custodian(connection, user)
            changed = self._user(name)
            note(connection, changed)
        return changed

    def remove_user(self, name: str, *, note: Note[User] = unnoted) -> User:
        """Nobody has this account any more, from now on. What they did stays on record under their name, which nobody
        else is given."""
        user = self._user(name)
        with self._database.writing() as connection:
            connection.execute("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE user = ?", (self._now(), name))
            connection.execute("UPDATE users SET removed = coalesce(removed, ?) WHERE name = ?", (self._now(), name))
            connection.execute(_END_SESSIONS, (user.name,))
            _check_custodian(connection, user)
            note(connection, user)
        return user

    def disable_user(self, name: str, *, note: Note[User] = unnoted) -> User:
        """Shut the account: none of its keys opens any more, from now on, and its sessions have ended for good."""
        user = self._user(name)
        with self._database.writing() as connection:
            self._close(connection, user)
            _check_custodian(connection, user)
            note(connection, user)
        return self._user(name)

    def _close(self, connection: sqlite3.Connection, user: User) -> None:
        connection.execute("UPDATE users SET disabled = coalesce(disabled, ?) WHERE name = ?", (self._now(), user.name))
        connection.execute(_END_SESSIONS, (user.name,))

    def enable_user(self, name: str, *, note: Note[User] = unnoted) -> User:
        """Open the account again, with the keys that were not revoked."""
        user = self._user(name)
        with self._database.writing() as connection:
            connection.execute("UPDATE users SET disabled = NULL WHERE name = ?", (user.name,))
            note(connection, user)
        return self._user(name)

    # -- keys --------------------------------------------------------------------------------------------

    def new_key(
        self,
        user: str,
        *,
        expires: datetime | None = None,
        scopes: Collection[str] = (),
        source: Source = HAND,
        note: Note[NewKey] = unnoted,
    ) -> NewKey:
        """A key of this user, until it expires; for some things only, where scopes are named."""
        owner = self._user(user).name
        if expires is not None and stamp(expires) <= latest_time(self._database, self._clock):
            raise ConfigError("QG806", "The key would have expired already.", "Choose a later date.")
        if not set(scopes) <= set(SCOPES):
            raise ConfigError("QG806", "There is no such scope.", f"Choose among: {', '.join(SCOPES)}.")
        key_id, secret = _base32(self._entropy(5)), _base32(self._entropy(32))
        hashed, made = _HASHER.hash(secret, salt=self._entropy(16)), NewKey(key_id, owner, f"qg_{key_id}_{secret}")
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
                    expires and stamp(expires),
                    ",".join(sorted(scopes)) or None,
                    source,
                    proof,
                ),
            )
            note(connection, made)
        return made

    def rotate_key(
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
        old = self.find_key(key_id)
        ends = stamp(self._clock() + overlap)

        def end_old(connection: sqlite3.Connection, made: NewKey) -> None:
            """Within the transaction: the key may have been revoked just now, or been given an earlier end."""
            if keeps_end:
                connection.execute(
                    "UPDATE keys SET expires = (SELECT expires FROM keys WHERE id = ?) WHERE id = ?", (key_id, made.id)
                )
            connection.execute("UPDATE keys SET replaces = ? WHERE id = ?", (key_id, made.id))
            if not connection.execute(_END, (ends, ends, key_id, self._now())).rowcount:
                raise ConfigError("QG806", "This key does not open any more.", f"Use `querygate key new {old.user}`.")
            note(connection, made)

        return self.new_key(old.user, expires=expires, scopes=old.scopes or (), source=old.source, note=end_old)

    def revoke_key(self, key_id: str, *, note: Note[StoredKey] = unnoted) -> StoredKey:
        """From now on the key opens nothing, in any process, and neither does what it was replaced by. A key stays
        revoked since the first time; `note` is told of the key, and of each other that is revoked with it."""
        with self._database.writing() as connection:
            for (one,) in connection.execute(_REPLACED_BY, (key_id,)).fetchall():
                if one == key_id or self.find_key(one).revoked is None:
                    connection.execute(
                        "UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (self._now(), one)
                    )
                    note(connection, self.find_key(one))
            return self.find_key(key_id)

    def list_keys(self) -> tuple[StoredKey, ...]:
        return tuple(map(_stored, self._database.rows(_KEYS + " ORDER BY created, id")))

    def find_key(self, key_id: str) -> StoredKey:
        rows = self._database.rows(_KEYS + " WHERE id = ?", (key_id,))
        if not rows:
            # The text is not repeated: it may be a whole key, pasted by mistake.
            raise ConfigError("QG808", "There is no key with this id.", "Use the 8 characters after 'qg_'.")
        return _stored(rows[0])

    # -- the door ----------------------------------------------------------------------------------------

    def authenticate(
        self, presented: str, careful: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> Principal:
        """Whose key this is. One wording for every way of being wrong, and one cost wherever the form is right.

        `careful` is entered around the slow comparison, of a key that was not seen before; it may refuse.
        """
        parts = _KEY.fullmatch(presented)
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

    def _opens(self, presented: str, secret: str, row: sqlite3.Row | None) -> bool:
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

    def _note_use(self, key_id: str, now: datetime) -> None:
        """At most once a minute a key: to know when it was last used is not worth a write for every request."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE keys SET used = ? WHERE id = ?", (stamp(now.replace(second=0, microsecond=0)), key_id)
            )

    def _user(self, name: str) -> User:
        rows = self._database.rows(_USERS + " WHERE name = ? AND removed IS NULL", (name,))
        if not rows:
            raise no_user()
        return User(**dict(rows[0]))

    def _now(self) -> str:
        return stamp_now(self._clock)


def _group(name: str) -> str | None:
    """The name of a project or an organisation; None for nothing."""
    return check_group(name) if name else None


def check_group(name: str) -> str:
    """The name of a project or an organisation."""
    if not _GROUP.fullmatch(name):
        raise ConfigError(
            "QG806",
            "A project or an organisation has 1 to 64 letters, digits, spaces and . _ @ & / + -, and starts with a "
            "letter or digit.",
            "Choose another name, for example 'Hypertension 2026'.",
        )
    return name


def _check_role(role: str) -> str:
    if role not in ROLES:
        raise ConfigError("QG806", "There is no such role.", f"Choose one of: {', '.join(ROLES)}.")
    return role


def _check_custodian(connection: sqlite3.Connection, before: User) -> None:
    """Within the transaction of a change: the site does not lose its last custodian by it."""
    if before.role != CUSTODIAN:
        return
    open_ones = "SELECT 1 FROM users WHERE role = ? AND disabled IS NULL AND removed IS NULL"
    if connection.execute(open_ones, (CUSTODIAN,)).fetchone() is None:
        raise ConfigError(
            "QG809",
            f"'{before.name}' is the last custodian of this site.",
            "Add another custodian first: `querygate user add NAME --role custodian`.",
        )


def _stored(row: sqlite3.Row) -> StoredKey:
    scopes = read_scopes(row["scopes"])
    return StoredKey(**{**dict(row), "scopes": None if scopes is None else tuple(sorted(scopes))})


def no_user() -> ConfigError:
    """The same words wherever a user is looked for."""
    return ConfigError("QG808", "There is no user with this name.", "List the users with `querygate user list`.")


def has_form_of_key(presented: str) -> bool:
    """Whether it could be a key. What has another form opens nothing, whatever is stored: it is a slip, not a guess.

    >>> has_form_of_key("qg_aaaaaaaa_" + "a" * 52), has_form_of_key("qg_aaaaaaaa_" + "a" * 51)
    (True, False)
    """
    return _KEY.fullmatch(presented) is not None


def id_of_key(presented: str) -> str:
    """The part of a key that may be told; empty where it has not the form of one."""
    parts = _KEY.fullmatch(presented)
    return parts[1] if parts else ""


def _not_signed_in() -> NotPermitted:
    return NotPermitted("QG301", "The key is missing or not valid.", "Ask the custodian for a key.")


def _matches(hashed: str, secret: str) -> bool:
    try:
        return _HASHER.verify(hashed, secret)
    except VerifyMismatchError:
        return False


def _base32(data: bytes) -> str:
    """Small letters and digits only: safe in a URL and a shell, and free of the '_' that parts a key."""
    return b32encode(data).decode().rstrip("=").lower()
