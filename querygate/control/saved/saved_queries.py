"""Queries that people keep under a name, and share if they like: the text of the question, never an answer.

Sharing lets others read what somebody wrote, so it is on record, and so is whatever happens to a query while it is
shared. What somebody keeps to themselves is nobody's business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from querygate.control.ids import Entropy, new_query_id, stamp_now
from querygate.control.log.log import Log
from querygate.control.ports import Connection
from querygate.core.errors import ConfigError

MOST_OF_ONE = 500
"""How many queries one user may keep."""

Event: TypeAlias = Literal["share", "unshare", "change", "delete"]

_COLUMNS = "id, owner, name, description, dataset, sql, shared, created, changed"
_OWN = f"SELECT {_COLUMNS} FROM saved_query WHERE owner = ? ORDER BY changed DESC, id DESC"  # noqa: S608
_SHARED = f"""SELECT {_COLUMNS} FROM saved_query WHERE shared IS NOT NULL AND owner <> ?
  ORDER BY changed DESC, id DESC"""  # noqa: S608
_ONE = f"SELECT {_COLUMNS} FROM saved_query WHERE id = ?"  # noqa: S608
_INSERT = f"INSERT INTO saved_query ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_UPDATE = """UPDATE saved_query SET name = ?, description = ?, sql = ?, shared = ?, changed = ?
  WHERE id = ? AND owner = ?"""


@dataclass(frozen=True, slots=True)
class QueryText:
    """What is saved, as it was checked."""

    name: str
    description: str
    dataset: str
    sql: str


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query as it is stored. `shared` is since when others may read it, None while nobody else does."""

    id: str
    owner: str
    name: str
    description: str
    dataset: str
    sql: str
    shared: str | None
    created: str
    changed: str


class SavedQueries:
    """The queries that are kept at a site. Who may read which is decided by whoever asks this."""

    def __init__(self, log: Log, entropy: Entropy) -> None:
        self._log, self._database, self._entropy = log, log.database, entropy

    def own(self, user: str) -> tuple[SavedQuery, ...]:
        """Those of one user, the latest first."""
        return tuple(SavedQuery(**dict(row)) for row in self._database.rows(_OWN, (user,)))

    def shared_by_others(self, user: str) -> tuple[SavedQuery, ...]:
        """Those that anybody else shares, about whichever dataset, the latest first."""
        return tuple(SavedQuery(**dict(row)) for row in self._database.rows(_SHARED, (user,)))

    def find(self, ident: str) -> SavedQuery | None:
        rows = self._database.rows(_ONE, (ident.encode(errors="replace").decode(),))
        return SavedQuery(**dict(rows[0])) if rows else None

    def add(self, owner: str, text: QueryText, *, is_shared: bool) -> SavedQuery:
        now = stamp_now(self._log.clock)
        ident = new_query_id(self._log.clock, self._entropy).replace("q_", "s_", 1)
        shared = now if is_shared else None
        made = SavedQuery(ident, owner, text.name, text.description, text.dataset, text.sql, shared, now, now)
        with self._database.writing() as connection:
            kept = connection.execute("SELECT count(*) FROM saved_query WHERE owner = ?", (owner,)).fetchone()[0]
            if kept >= MOST_OF_ONE:
                raise ConfigError(
                    "QG806", f"You have saved {MOST_OF_ONE} queries, the most allowed.", "Delete one first."
                )
            told = (text.name, text.description, text.dataset, text.sql)
            connection.execute(_INSERT, (ident, owner, *told, shared, now, now))
            if is_shared:
                self._note(connection, "share", made)
        return made

    def change(self, before: SavedQuery, text: QueryText, *, is_shared: bool) -> SavedQuery:
        """Another name, description or statement, or other readers. The dataset stays: a grant for one is none for
        another."""
        now = stamp_now(self._log.clock)
        shared = (before.shared or now) if is_shared else None
        after = replace(before, name=text.name, description=text.description, sql=text.sql, shared=shared, changed=now)
        with self._database.writing() as connection:
            told = (after.name, after.description, after.sql, after.shared, after.changed)
            connection.execute(_UPDATE, (*told, before.id, before.owner))
            event = _event(before, after)
            if event:
                self._note(connection, event, after)
        return after

    def delete(self, found: SavedQuery) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM saved_query WHERE id = ? AND owner = ?", (found.id, found.owner))
            if found.shared:
                self._note(connection, "delete", found)

    def _note(self, connection: Connection, event: Event, about: SavedQuery) -> None:
        body = {"id": about.id, "name": about.name}
        if event in ("share", "change"):  # what others can read from now on
            body |= {"description": about.description, "sql": about.sql}
        self._log.append(connection, f"saved.{event}", None, about.owner, about.dataset, body)


def _event(before: SavedQuery, after: SavedQuery) -> Event | None:
    """What others notice of a change."""
    if before.shared is None and after.shared is None:
        return None
    if before.shared is None:
        return "share"
    return "change" if after.shared else "unshare"
