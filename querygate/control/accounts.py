"""Who may come in: the users of a site. The keys that prove who they are: `control/keys`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from querygate.control.account_terms import HAND, SIGN_ON, Note, Source, no_user, unnoted
from querygate.control.ids import Clock, Entropy, stamp_now
from querygate.control.keys.keys import Keys
from querygate.control.ports import Connection, ControlDatabase
from querygate.core.errors import ConfigError
from querygate.core.rights import ROLES, UserRole

USER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_GROUP = re.compile(r"[^\W_](?:[\w .@&/+-]{0,62}[\w.])?")
_USERS = "SELECT name, role, created, disabled, project, organisation, removed, source FROM users"

_ADD_USER = "INSERT INTO users (name, role, project, organisation, created, disabled) VALUES (?, ?, ?, ?, ?, ?)"
_END_SESSIONS = "DELETE FROM session WHERE user = ?"
CUSTODIAN: UserRole = "custodian"


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


class Accounts:
    """The users of a site. Safe to share between threads; changes by other processes show at once."""

    def __init__(self, database: ControlDatabase, clock: Clock, entropy: Entropy) -> None:
        self._database = database
        self._clock = clock
        self.keys = Keys(database, clock, entropy)

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
        except self._database.conflict:
            raise ConfigError(
                "QG806",
                f"The user '{name}' already exists, or existed before and was removed. The log identifies people by "
                "name, ignoring case, so names cannot be used again.",
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
                "This user's role comes from their groups at the single sign-on provider.",
                "Change their groups there, or unlink the account first with `querygate user unlink`.",
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

    def _close(self, connection: Connection, user: User) -> None:
        connection.execute("UPDATE users SET disabled = coalesce(disabled, ?) WHERE name = ?", (self._now(), user.name))
        connection.execute(_END_SESSIONS, (user.name,))

    def enable_user(self, name: str, *, note: Note[User] = unnoted) -> User:
        """Open the account again, with the keys that were not revoked."""
        user = self._user(name)
        with self._database.writing() as connection:
            connection.execute("UPDATE users SET disabled = NULL WHERE name = ?", (user.name,))
            note(connection, user)
        return self._user(name)

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


def _check_custodian(connection: Connection, before: User) -> None:
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
