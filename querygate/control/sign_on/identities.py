"""Who a person is at the provider of single sign-on, and what their groups there bring them here.

An account is bound by issuer and subject, and never by a name: names are given again, and a provider lets people choose
them. What comes from groups is renewed at each sign-in, in one transaction with its entries in the log.
"""

from __future__ import annotations

from dataclasses import dataclass

from querygate.control.account_terms import HAND, SIGN_ON, no_user
from querygate.control.accounts import USER_NAME
from querygate.control.grants import Actor, Grants, GroupGrant
from querygate.control.ids import stamp_now
from querygate.control.keys.account_access import end_ways_in
from querygate.control.log.log import Log
from querygate.control.ports import Connection, Row
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.rights import UserRole, is_trusted
from querygate.core.types import Principal

_BOUND = """SELECT users.name, users.role, users.source, users.disabled, users.removed
  FROM identity JOIN users ON users.name = identity.user WHERE identity.issuer = ? AND identity.subject = ?"""

_LOGOUT = """DELETE FROM session WHERE key IS NULL AND began <= :until
    AND (:subject IS NULL OR user = (SELECT user FROM identity WHERE issuer = :issuer AND subject = :subject))
    AND (:session IS NULL OR provider_session = :session OR provider_session IS NULL AND :subject IS NOT NULL)
  RETURNING user"""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as the provider knows them. `name` is what they would be called here."""

    issuer: str
    subject: str
    name: str


@dataclass(frozen=True, slots=True)
class Allowance:
    """What somebody's groups bring: a role, or None; and grants."""

    role: UserRole | None = None
    grants: tuple[GroupGrant, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """An account and who it is at the provider. `seen` is the last sign-in."""

    user: str
    issuer: str
    subject: str
    created: str
    seen: str | None


class Identities:
    """The accounts of a site that people reach through the provider. Safe to share between threads and processes."""

    def __init__(self, log: Log, grants: Grants, reserved: frozenset[str]) -> None:
        self._log, self._database, self._grants, self._reserved = log, log.database, grants, reserved

    # -- coming in ---------------------------------------------------------------------------------------

    def admit(self, person: Person, allowed: Allowance) -> Principal:
        """Let somebody in whom the provider vouches for, with what their groups bring them now; QG321 for whoever has
        no account and gets none."""
        with self._database.writing() as connection:
            found = connection.execute(_BOUND, (person.issuer, person.subject)).fetchone()
            role: UserRole | None
            if found is None:
                name, role = self._open_account(connection, person, allowed)
            elif found["disabled"] or found["removed"]:
                raise refused("Your account at this gate is closed.")
            else:
                name, role = found["name"], self._renew_role(connection, found, allowed)
            self._grants.renew(connection, name, allowed.grants if role else ())
            connection.execute("UPDATE identity SET seen = ? WHERE user = ?", (self._now(), name))
        if role is None:  # what they had is gone, and that is on disk
            raise refused("None of your groups at the provider may use this gate any longer.")
        return Principal(name, role)

    def _open_account(self, connection: Connection, person: Person, allowed: Allowance) -> tuple[str, UserRole]:
        if allowed.role is None:
            raise refused("None of your groups at the provider may use this gate.")
        if not USER_NAME.fullmatch(person.name) or person.name.lower() in self._reserved:
            raise refused("The name that the provider has for you cannot be used here.")
        if connection.execute("SELECT 1 FROM users WHERE name = ?", (person.name,)).fetchone():
            raise refused(
                "There is, or was, another account with your name.",
                "If it is yours, ask an admin to link it to your sign-in (`querygate user link`).",
            )
        now = self._now()
        connection.execute(
            "INSERT INTO users (name, role, created, source) VALUES (?, ?, ?, ?)",
            (person.name, allowed.role, now, SIGN_ON),
        )
        _bind(connection, person.name, person.issuer, person.subject, now)
        body = {"name": person.name, "role": allowed.role, "issuer": person.issuer, "subject": person.subject}
        self._log.append(connection, "user.add", None, SIGN_ON, None, body)
        return person.name, allowed.role

    def _renew_role(self, connection: Connection, found: Row, allowed: Allowance) -> UserRole | None:
        """The role from now on: that of an account that people made stays as they made it."""
        name, role = str(found["name"]), allowed.role
        if found["source"] == HAND:
            kept: UserRole = found["role"]
            return kept
        if role is None:
            self._withdraw(connection, name)
        elif role != found["role"]:
            connection.execute("UPDATE users SET role = ? WHERE name = ?", (role, name))
            self._log.append(connection, "user.change", None, SIGN_ON, None, {"name": name, "role": role})
            if is_trusted(role):
                end_ways_in(connection, self._log, name, by=Actor(SIGN_ON))
        return role

    def _withdraw(self, connection: Connection, name: str) -> None:
        """End what somebody has through the provider: sessions, and keys of programs."""
        connection.execute("DELETE FROM session WHERE user = ? AND key IS NULL", (name,))
        connection.execute("DELETE FROM device_code WHERE user = ?", (name,))
        keys = connection.execute(
            "SELECT id FROM keys WHERE user = ? AND source = ? AND revoked IS NULL", (name, SIGN_ON)
        ).fetchall()
        for key in keys:
            connection.execute("UPDATE keys SET revoked = ? WHERE id = ?", (self._now(), key["id"]))
            self._log.append(connection, "key.revoke", None, SIGN_ON, None, {"id": key["id"], "name": name})

    def end_sessions(self, issuer: str, subject: str | None, session: str | None, until: str) -> None:
        """End what began by then of a person's sessions: all, or the one that the provider names. One of theirs that
        it never named may be that one, and ends too. Keys of programs have an end of their own."""
        named = {"issuer": issuer, "subject": subject, "session": session, "until": until}
        with self._database.writing() as connection:
            for (name,) in connection.execute(_LOGOUT, named).fetchall():
                self._log.append(connection, "session.end", None, name, None, {"by": SIGN_ON})

    # -- by hand -----------------------------------------------------------------------------------------

    def link(self, user: str, issuer: str, subject: str, *, by: Actor) -> Identity:
        """Bind an account that people made to somebody at the provider. Its role stays what people say."""
        if not (issuer.strip() and subject.strip() and f"{issuer}{subject}".isprintable()):
            raise ConfigError("QG806", "An issuer and a subject are texts.", "Take both from the log: login.refused.")
        with self._database.writing() as connection:
            name = _find_user(connection, user)
            try:
                _bind(connection, name, issuer, subject, self._now())
            except self._database.conflict:
                raise ConfigError(
                    "QG806",
                    "This account, or this person at the provider, is linked already.",
                    "List the links with `querygate user links`, and end one with `querygate user unlink`.",
                ) from None
            body = {"name": name, "issuer": issuer, "subject": subject, **by.body()}
            self._log.append(connection, "user.link", None, by.name, None, body)
        return next(one for one in self.list_identities() if one.user == name)

    def unlink(self, user: str, *, by: Actor) -> str:
        """Nobody reaches this account through the provider any more; what came from groups is taken back, and the role
        it has stays until people say otherwise."""
        with self._database.writing() as connection:
            name = _find_user(connection, user)
            if not connection.execute("DELETE FROM identity WHERE user = ?", (name,)).rowcount:
                raise ConfigError(
                    "QG808", "This user is not linked to a provider.", "List the links with `querygate user links`."
                )
            self._withdraw(connection, name)
            self._grants.renew(connection, name, ())
            connection.execute("UPDATE users SET source = ? WHERE name = ?", (HAND, name))
            self._log.append(connection, "user.unlink", None, by.name, None, {"name": name, **by.body()})
        return name

    def list_identities(self) -> tuple[Identity, ...]:
        """All links, by user."""
        rows = self._database.rows("SELECT user, issuer, subject, created, seen FROM identity ORDER BY user")
        return tuple(Identity(**dict(row)) for row in rows)

    def _now(self) -> str:
        return stamp_now(self._log.clock)


def refused(detail: str, remedy: str = "Ask an admin of this gate, or use a key.") -> NotPermitted:
    """The provider vouches for them, and yet they have no account here."""
    return NotPermitted("QG321", detail, remedy)


def _find_user(connection: Connection, user: str) -> str:
    """The name as it is stored."""
    found = connection.execute("SELECT name FROM users WHERE name = ? AND removed IS NULL", (user,)).fetchone()
    if found is None:
        raise no_user()
    return str(found["name"])


def _bind(connection: Connection, user: str, issuer: str, subject: str, now: str) -> None:
    connection.execute(
        "INSERT INTO identity (issuer, subject, user, created) VALUES (?, ?, ?, ?)", (issuer, subject, user, now)
    )
