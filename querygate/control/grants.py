"""Who may ask which dataset, in which mode, until when. A grant is never changed, only revoked, and both are on record.

>>> from tempfile import TemporaryDirectory
>>> from datetime import UTC
>>> with TemporaryDirectory() as folder:
...     log = Log(Database(Path(folder) / "control.db"), lambda: datetime(2026, 3, 1, tzinfo=UTC))
...     grants = Grants(log, bytes)
...     given = grants.add(Grantee("project", "Salt"), "survey", ("interval",), by=Actor("local"))
...     grants.modes("ann", "survey"), [grant.dataset for grant in grants.list_grants()]
...     log.database.close()
(frozenset(), ['survey'])
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, TypeAlias, get_args

from querygate.control.account_terms import HAND, SIGN_ON, Source, no_user
from querygate.control.accounts import check_group
from querygate.control.ids import Entropy, new_query_id, stamp, stamp_now
from querygate.control.log.latest_time import LATEST_TIME, latest_time
from querygate.control.log.log import Log
from querygate.control.ports import Connection
from querygate.core.errors import ConfigError
from querygate.core.rights import MODES

GranteeKind: TypeAlias = Literal["user", "project", "organisation", "everyone"]
GRANTEES: tuple[GranteeKind, ...] = get_args(GranteeKind)

EVERY_DATASET = "*"
UPGRADE = "upgrade"
"""Who gave the grants with which accounts of an older site kept what they had."""

_DATASET = re.compile(r"[a-z][a-z0-9_]{0,62}")

_COLUMNS = "id, whose, name, dataset, modes, until, created, by, revoked, source"
_MODES = f"""SELECT modes FROM grants
  WHERE dataset IN (:dataset, '*') AND revoked IS NULL AND (until IS NULL OR until > max(:now, {LATEST_TIME}))
    AND (whose = 'user' AND name = :user
         OR whose = 'project' AND name = (SELECT project FROM users WHERE users.name = :user)
         OR whose = 'organisation' AND name = (SELECT organisation FROM users WHERE users.name = :user)
         OR whose = 'everyone' AND name = '')"""  # noqa: S608
_FROM_GROUPS = """SELECT id, dataset, modes FROM grants
  WHERE whose = 'user' AND name = ? AND source = 'oidc' AND revoked IS NULL ORDER BY created, id"""
_INSERT = f"INSERT INTO grants ({_COLUMNS}, noted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, 1)"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Grantee:
    """To whom something is granted. Everyone has no name."""

    kind: GranteeKind
    name: str = ""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something, and what else is on record of them: at a console, the account of the operating system."""

    name: str
    os_user: str | None = None

    def body(self) -> dict[str, str]:
        return {"os_user": self.os_user} if self.os_user else {}


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant as it is stored. `until` is the moment it ends, `revoked` since when it does not hold any more."""

    id: str
    whose: GranteeKind
    name: str
    dataset: str
    modes: tuple[str, ...]
    until: str | None
    created: str
    by: str
    revoked: str | None = None
    source: Source = HAND

    @property
    def is_for_everything(self) -> bool:
        return self.dataset == EVERY_DATASET


@dataclass(frozen=True, slots=True)
class GroupGrant:
    """What a group at the provider of single sign-on brings: a dataset, or every one, in these modes."""

    dataset: str
    modes: tuple[str, ...] = MODES


class Grants:
    """The grants of a site. Safe to share between threads; changes by other processes show at once."""

    def __init__(self, log: Log, entropy: Entropy) -> None:
        self._log, self._database, self._entropy = log, log.database, entropy

    def modes(self, user: str, dataset: str) -> frozenset[str]:
        """In which modes this user may ask this dataset now: one indexed read."""
        if not dataset.isascii():  # no dataset has such a name, and SQLite does not take every text
            dataset = ""
        asked = {"user": user, "dataset": dataset, "now": stamp_now(self._log.clock)}
        return frozenset(mode for row in self._database.rows(_MODES, asked) for mode in row["modes"].split(","))

    def add(
        self, to: Grantee, dataset: str, modes: Collection[str] = (), until: datetime | None = None, *, by: Actor
    ) -> Grant:
        """Let them ask, from now on. No modes are all of them; `dataset` may be "*", which is every one."""
        check_dataset(dataset)
        name = self._check_grantee(to)
        wanted = tuple(mode for mode in MODES if not modes or mode in modes)
        if not set(modes) <= set(MODES):
            raise ConfigError("QG806", "There is no such mode.", f"Choose one of: {', '.join(MODES)}.")
        self.note_upgrade()
        now = self._log.clock()
        if until is not None and stamp(until) <= latest_time(self._database, self._log.clock):
            raise ConfigError("QG806", "The grant would have ended already.", "Choose a later date.")
        ident = new_query_id(self._log.clock, self._entropy).replace("q_", "g_", 1)
        ends = None if until is None else stamp(until)
        grant = Grant(ident, to.kind, name, dataset, wanted, ends, stamp(now), by.name)
        body = {"id": ident, "to": to.kind, "name": name, "dataset": dataset, "modes": list(wanted), "until": ends}
        with self._database.writing() as connection:
            connection.execute(_INSERT, _row(grant))
            self._log.append(connection, "grant.add", None, by.name, _named(dataset), {**body, **by.body()})
        return grant

    def revoke(self, ident: str, *, by: Actor) -> Grant:
        """From now on it does not hold any more, in any process. A grant stays revoked since the first time."""
        found = next((grant for grant in self.list_grants(revoked=True) if grant.id == ident), None)
        if found is None:
            raise ConfigError(
                "QG808", "There is no grant with this id.", "List the grants with `querygate grant list`."
            )
        if found.revoked is None:
            self.note_upgrade()
            body = {"id": ident, "to": found.whose, "name": found.name, "dataset": found.dataset}
            with self._database.writing() as connection:
                connection.execute(
                    "UPDATE grants SET revoked = coalesce(revoked, ?) WHERE id = ?",
                    (stamp_now(self._log.clock), ident),
                )
                named = _named(found.dataset)
                self._log.append(connection, "grant.revoke", None, by.name, named, {**body, **by.body()})
        return next(grant for grant in self.list_grants(revoked=True) if grant.id == ident)

    def renew(self, connection: Connection, user: str, wanted: Collection[GroupGrant]) -> None:
        """Within the transaction of a sign-in: what this user has from groups is exactly this, from now on. Grants that
        people gave are not touched."""
        rows = connection.execute(_FROM_GROUPS, (user,)).fetchall()
        had = {GroupGrant(row["dataset"], tuple(row["modes"].split(","))): row["id"] for row in rows}
        now, by = stamp_now(self._log.clock), SIGN_ON
        for gone in [one for one in had if one not in wanted]:
            connection.execute("UPDATE grants SET revoked = ? WHERE id = ?", (now, had[gone]))
            body = {"id": had[gone], "to": "user", "name": user, "dataset": gone.dataset}
            self._log.append(connection, "grant.revoke", None, by, _named(gone.dataset), body)
        for new in dict.fromkeys(one for one in wanted if one not in had):
            ident = new_query_id(self._log.clock, self._entropy).replace("q_", "g_", 1)
            connection.execute(
                _INSERT, _row(Grant(ident, "user", user, new.dataset, new.modes, None, now, by, source=SIGN_ON))
            )
            body = {"id": ident, "to": "user", "name": user, "dataset": new.dataset, "modes": list(new.modes)}
            self._log.append(connection, "grant.add", None, by, _named(new.dataset), {**body, "until": None})

    def list_grants(self, *, revoked: bool = False) -> tuple[Grant, ...]:
        """Oldest first; those that were revoked only where they are asked for."""
        which = "" if revoked else " WHERE revoked IS NULL"
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM grants{which} ORDER BY created, id")  # noqa: S608
        return tuple(Grant(**{**dict(row), "modes": tuple(row["modes"].split(","))}) for row in rows)

    def note_upgrade(self) -> None:
        """Put on record what an upgrade has granted, once: migrations know no chain."""
        if not self._database.rows("SELECT 1 FROM grants WHERE noted = 0 LIMIT 1"):
            return
        with self._database.writing() as connection:
            rows = connection.execute("SELECT id, name FROM grants WHERE noted = 0 ORDER BY id").fetchall()
            if rows:
                body = {"dataset": EVERY_DATASET, "users": [row["name"] for row in rows]}
                self._log.append(connection, "grant.upgrade", None, UPGRADE, None, body)
                connection.execute("UPDATE grants SET noted = 1 WHERE noted = 0")

    def _check_grantee(self, to: Grantee) -> str:
        """The name as it is stored."""
        if to.kind == "everyone":
            return ""
        if to.kind != "user":
            return check_group(to.name)
        found = self._database.rows("SELECT name FROM users WHERE name = ? AND removed IS NULL", (to.name,))
        if not found:
            raise no_user()
        return str(found[0]["name"])


def read_until(text: str) -> datetime:
    """The moment a grant or a key ends: a day counts to its end, in UTC.

    >>> read_until("2026-12-31").isoformat(), read_until("2026-12-31T12:00").isoformat()
    ('2027-01-01T00:00:00+00:00', '2026-12-31T12:00:00+00:00')
    """
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= len("2026-12-31"):
            return datetime.combine(moment.date(), time(), UTC) + timedelta(days=1)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ConfigError("QG806", "This is not a date.", "Write it as 2026-12-31 or 2026-12-31T12:30Z.") from None


def shown_until(moment: str) -> str:
    """The end of a grant or a key as it was written: a whole day by its date.

    >>> shown_until("2027-01-01T00:00:00Z"), shown_until("2026-12-31T12:00:00Z")
    ('the end of 2026-12-31', '2026-12-31T12:00:00Z')
    """
    end = datetime.fromisoformat(moment)
    is_midnight = end.time() == time() and end.date() > date.min
    return f"the end of {end.date() - timedelta(days=1)}" if is_midnight else moment


def _row(grant: Grant) -> tuple[str | None, ...]:
    """What is stored of a new grant."""
    to_whom = grant.id, grant.whose, grant.name, grant.dataset, ",".join(grant.modes)
    return (*to_whom, grant.until, grant.created, grant.by, grant.source)


def check_dataset(dataset: str) -> None:
    if dataset != EVERY_DATASET and not _DATASET.fullmatch(dataset):
        raise ConfigError(
            "QG806",
            "Dataset names consist of lowercase letters, digits and '_'.",
            "Name a dataset, or * for all of them.",
        )


def _named(dataset: str) -> str | None:
    """The dataset that an entry of the log is about; None for every one."""
    return None if dataset == EVERY_DATASET else dataset
