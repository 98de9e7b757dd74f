"""Who may come in: users, and the keys that prove who they are.

A key reads `qg_<id>_<secret>`. The id finds the row; only an Argon2id hash of the secret is stored, so a stolen
`control.db` opens nothing.
"""

from __future__ import annotations

import hmac
import re
import sqlite3
import threading
from base64 import b32encode, b64encode
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from querygate.control.database import Database
from querygate.control.ids import Clock, Entropy, stamp_now
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.types import Principal

UserRole: TypeAlias = Literal["researcher", "custodian", "admin"]
ROLES: tuple[str, ...] = get_args(UserRole)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_GROUP = re.compile(r"[^\W_](?:[\w .@&/+-]{0,62}[\w.])?")
_USERS = "SELECT name, role, created, disabled, project, organisation, removed FROM users"
_KEY = re.compile(r"qg_([a-z2-7]{8})_([a-z2-7]{52})")

# The second choice of the OWASP Password Storage Cheat Sheet. The secrets are 256 random bits that nobody can guess,
# so more would only let a flood of false keys cost the gate more.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)

_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with an account. `disabled` and `removed` are since when, None while the account is open or there."""

    name: str
    role: UserRole
    created: str
    disabled: str | None
    project: str | None = None
    organisation: str | None = None
    removed: str | None = None


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key as it is stored. `revoked` is since when, None while it opens."""

    id: str
    user: str
    created: str
    revoked: str | None


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
        self._nobody = _hash_of_nothing(entropy)
        self._verified = _Verified(entropy(32))

    # -- users -------------------------------------------------------------------------------------------

    def add_user(self, name: str, role: str, project: str = "", organisation: str = "") -> User:
        """Open an account. Answers to people of one project, and of one organisation, are audited together."""
        if not _NAME.fullmatch(name):
            raise ConfigError(
                "QG806",
                "A user name has 1 to 64 letters, digits, '.', '_', '@' or '-', and starts with a letter or digit.",
                "Choose another name, for example 'ann' or 'ann@example.org'.",
            )
        _check_role(role)
        groups = _group(project), _group(organisation)
        try:
            with self._database.writing() as connection:
                connection.execute(
                    "INSERT INTO users (name, role, created, project, organisation) VALUES (?, ?, ?, ?, ?)",
                    (name, role, self._now(), *groups),
                )
        except sqlite3.IntegrityError:
            raise ConfigError(
                "QG806",
                f"The user '{name}' exists already, or did before they were removed: the log knows people by their "
                "names, and upper and lower case count as the same.",
                "Choose another name.",
            ) from None
        return self._user(name)

    def list_users(self) -> tuple[User, ...]:
        """All, and those who were removed: what they asked is still on record under their names."""
        rows = self._database.rows(_USERS + " ORDER BY name")
        return tuple(User(**dict(row)) for row in rows)

    def change_user(
        self, name: str, *, role: str | None = None, project: str | None = None, organisation: str | None = None
    ) -> User:
        """Give a user another role, project or organisation, from now on; "" is none, None leaves it as it is."""
        user = self._user(name)
        role = user.role if role is None else _check_role(role)
        groups = (
            user.project if project is None else _group(project),
            user.organisation if organisation is None else _group(organisation),
        )
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE users SET role = ?, project = ?, organisation = ? WHERE name = ?", (role, *groups, user.name)
            )
            if role != user.role:
                _check_custodian(connection, user)
        return self._user(name)

    def remove_user(self, name: str) -> User:
        """Nobody has this account any more, from now on. What they did stays on record under their name, which nobody
        else is given."""
        user = self._user(name)
        with self._database.writing() as connection:
            connection.execute("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE user = ?", (self._now(), name))
            connection.execute("UPDATE users SET removed = coalesce(removed, ?) WHERE name = ?", (self._now(), name))
            _check_custodian(connection, user)
        return user

    def disable_user(self, name: str) -> None:
        """Shut the account: none of its keys opens any more, from now on."""
        user = self._user(name)
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE users SET disabled = coalesce(disabled, ?) WHERE name = ?", (self._now(), user.name)
            )
            _check_custodian(connection, user)

    def enable_user(self, name: str) -> None:
        """Open the account again, with the keys that were not revoked."""
        user = self._user(name)
        with self._database.writing() as connection:
            connection.execute("UPDATE users SET disabled = NULL WHERE name = ?", (user.name,))

    # -- keys --------------------------------------------------------------------------------------------

    def new_key(self, user: str) -> NewKey:
        owner = self._user(user).name
        key_id, secret = _base32(self._entropy(5)), _base32(self._entropy(32))
        hashed = _HASHER.hash(secret, salt=self._entropy(16))
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO keys (id, user, hash, created) VALUES (?, ?, ?, ?)",
                (key_id, owner, hashed, self._now()),
            )
        return NewKey(key_id, owner, f"qg_{key_id}_{secret}")

    def revoke_key(self, key_id: str) -> StoredKey:
        """From now on the key opens nothing, in any process. A key stays revoked since the first time."""
        with self._database.writing() as connection:
            connection.execute("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (self._now(), key_id))
        rows = self._database.rows("SELECT id, user, created, revoked FROM keys WHERE id = ?", (key_id,))
        if not rows:
            # The text is not repeated: it may be a whole key, pasted by mistake.
            raise ConfigError("QG806", "There is no key with this id.", "Use the 8 characters after 'qg_'.")
        return StoredKey(**dict(rows[0]))

    def list_keys(self) -> tuple[StoredKey, ...]:
        rows = self._database.rows("SELECT id, user, created, revoked FROM keys ORDER BY created, id")
        return tuple(StoredKey(**dict(row)) for row in rows)

    # -- the door ----------------------------------------------------------------------------------------

    def authenticate(self, presented: str) -> Principal:
        """Whose key this is. One wording for every way of being wrong, and one cost wherever the form is right."""
        parts = _KEY.fullmatch(presented)
        if parts is None:
            raise _not_signed_in()
        rows = self._database.rows(
            """SELECT keys.hash, users.name, users.role FROM keys JOIN users ON users.name = keys.user
               WHERE keys.id = ? AND keys.revoked IS NULL AND users.disabled IS NULL AND users.removed IS NULL""",
            (parts[1],),
        )
        hashed = rows[0]["hash"] if rows else self._nobody
        if not self._verified.has(presented, hashed):
            try:
                _HASHER.verify(hashed, parts[2])
            except VerifyMismatchError:
                raise _not_signed_in() from None
            self._verified.add(presented, hashed)
        return Principal(rows[0]["name"], rows[0]["role"])

    def _user(self, name: str) -> User:
        rows = self._database.rows(_USERS + " WHERE name = ? AND removed IS NULL", (name,))
        if not rows:
            raise ConfigError("QG806", "There is no user with this name.", "List the users with `querygate user list`.")
        return User(**dict(rows[0]))

    def _now(self) -> str:
        return stamp_now(self._clock)


class _Verified:
    """Keys that Argon2 has accepted, so that only the first request with a key waits for it.

    Kept as HMAC-SHA-256 under a pepper that lives and dies with the process; the least recently used goes first.
    The stored hash belongs to the entry, so a key whose row has changed is verified anew.
    """

    def __init__(self, pepper: bytes) -> None:
        self._pepper = pepper
        self._hashes: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, presented: str, hashed: str) -> bool:
        mark = self._mark(presented)
        with self._lock:
            if self._hashes.get(mark) != hashed:
                return False
            self._hashes.move_to_end(mark)
            return True

    def add(self, presented: str, hashed: str) -> None:
        with self._lock:
            self._hashes[self._mark(presented)] = hashed
            if len(self._hashes) > _REMEMBERED:
                self._hashes.popitem(last=False)

    def _mark(self, presented: str) -> bytes:
        return hmac.digest(self._pepper, presented.encode(), "sha256")


def _group(name: str) -> str | None:
    """The name of a project or an organisation; None for nothing."""
    if name and not _GROUP.fullmatch(name):
        raise ConfigError(
            "QG806",
            "A project or an organisation has 1 to 64 letters, digits, spaces and . _ @ & / + -, and starts with a "
            "letter or digit.",
            "Choose another name, for example 'Hypertension 2026'.",
        )
    return name or None


def _check_role(role: str) -> str:
    if role not in ROLES:
        raise ConfigError("QG806", "There is no such role.", f"Choose one of: {', '.join(ROLES)}.")
    return role


def _check_custodian(connection: sqlite3.Connection, before: User) -> None:
    """Within the transaction of a change: the site does not lose its last custodian by it."""
    if not Principal(before.name, before.role).is_custodian:
        return
    left = connection.execute("SELECT role FROM users WHERE disabled IS NULL AND removed IS NULL").fetchall()
    if not any(Principal("", row["role"]).is_custodian for row in left):
        raise ConfigError(
            "QG806",
            f"'{before.name}' is the last custodian of this site.",
            "Add another custodian first: `querygate user add NAME --role custodian`.",
        )


def _not_signed_in() -> NotPermitted:
    return NotPermitted("QG301", "The key is missing or not valid.", "Ask the custodian for a key.")


def _hash_of_nothing(entropy: Entropy) -> str:
    """A hash that no secret has (nobody knows one), as costly to compare with as a true one: an unknown, revoked or
    disabled key takes as long to refuse as a wrong secret."""
    salt, tag = (b64encode(entropy(size)).decode().rstrip("=") for size in (16, 32))
    cost = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${tag}"


def _base32(data: bytes) -> str:
    """Small letters and digits only: safe in a URL and a shell, and free of the '_' that parts a key."""
    return b32encode(data).decode().rstrip("=").lower()
