"""Notebooks: texts and queries of one dataset in an order. Of answers they hold the id alone; answers lie in the log.

What others can read is on record, as with saved queries: texts and statements, from when to when. Who may read which is
decided by whoever asks this.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

from querygate.control.ids import Entropy, new_query_id, stamp_now
from querygate.control.log.log import Log
from querygate.control.ports import Connection, Row
from querygate.core.errors import ConfigError

MOST_OF_ONE = 100
"""How many notebooks one user may keep."""

CellKind: TypeAlias = Literal["text", "query"]
Event: TypeAlias = Literal["share", "unshare", "change", "delete"]

_COLUMNS = "id, owner, name, dataset, cells, shared, created, changed"
_OWN = f"SELECT {_COLUMNS} FROM notebook WHERE owner = ? ORDER BY changed DESC, id DESC"  # noqa: S608
_SHARED = f"""SELECT {_COLUMNS} FROM notebook WHERE shared IS NOT NULL AND owner <> ?
  ORDER BY changed DESC, id DESC"""  # noqa: S608
_ONE = f"SELECT {_COLUMNS} FROM notebook WHERE id = ?"  # noqa: S608
_INSERT = f"INSERT INTO notebook ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_UPDATE = "UPDATE notebook SET name = ?, cells = ?, shared = ?, changed = ? WHERE id = ?"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, or a query with what came of it: the id of its answer, or why there is none. `policy` is the hash of the
    policy that the answer was given under."""

    id: str
    kind: CellKind
    text: str
    answer: str | None = None
    policy: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as it is stored. `shared` is since when others may read it, None while nobody else does."""

    id: str
    owner: str
    name: str
    dataset: str
    cells: tuple[Cell, ...]
    shared: str | None
    created: str
    changed: str

    @property
    def written(self) -> list[dict[str, str]]:
        """What others see of it while it is shared."""
        return [{"kind": cell.kind, "text": cell.text} for cell in self.cells]


class Notebooks:
    """The notebooks that are kept at a site."""

    def __init__(self, log: Log, entropy: Entropy) -> None:
        self._log, self._database, self._entropy = log, log.database, entropy

    def own(self, user: str) -> tuple[Notebook, ...]:
        return tuple(map(_read, self._database.rows(_OWN, (user,))))

    def shared_by_others(self, user: str) -> tuple[Notebook, ...]:
        return tuple(map(_read, self._database.rows(_SHARED, (user,))))

    def find(self, ident: str) -> Notebook | None:
        rows = self._database.rows(_ONE, (ident.encode(errors="replace").decode(),))
        return _read(rows[0]) if rows else None

    def new_cell(self, kind: CellKind, text: str) -> Cell:
        return Cell(f"c_{self._entropy(8).hex()}", kind, text)

    def add(self, owner: str, name: str, dataset: str, cells: tuple[Cell, ...]) -> Notebook:
        now = stamp_now(self._log.clock)
        ident = new_query_id(self._log.clock, self._entropy).replace("q_", "n_", 1)
        with self._database.writing() as connection:
            kept = connection.execute("SELECT count(*) FROM notebook WHERE owner = ?", (owner,)).fetchone()[0]
            if kept >= MOST_OF_ONE:
                raise ConfigError("QG806", f"You have {MOST_OF_ONE} notebooks, the most allowed.", "Delete one first.")
            connection.execute(_INSERT, (ident, owner, name, dataset, _write(cells), None, now, now))
        return Notebook(ident, owner, name, dataset, cells, None, now, now)

    def change(self, ident: str, change: Callable[[Notebook], Notebook]) -> Notebook | None:
        """What `change` makes of it as it stands now, so that nothing is lost that was written in another window. None
        if there is no such notebook any more."""
        with self._database.writing() as connection:
            row = connection.execute(_ONE, (ident,)).fetchone()
            if row is None:
                return None
            before = _read(row)
            now = stamp_now(self._log.clock)
            after = replace(change(before), changed=now)
            if after.shared is not None and before.shared is None:
                after = replace(after, shared=now)
            connection.execute(_UPDATE, (after.name, _write(after.cells), after.shared, now, ident))
            event = _event(before, after)
            if event:
                self._note(connection, event, after)
        return after

    def delete(self, found: Notebook) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM notebook WHERE id = ?", (found.id,))
            if found.shared:
                self._note(connection, "delete", found)

    def _note(self, connection: Connection, event: Event, about: Notebook) -> None:
        body: dict[str, object] = {"id": about.id, "name": about.name}
        if event in ("share", "change"):  # what others can read from now on
            body["cells"] = about.written
        self._log.append(connection, f"saved.{event}", None, about.owner, about.dataset, body)


def _event(before: Notebook, after: Notebook) -> Event | None:
    """What others notice of a change."""
    if after.shared and not before.shared:
        return "share"
    if before.shared and not after.shared:
        return "unshare"
    is_noticed = (before.name, before.written) != (after.name, after.written)
    return "change" if after.shared and is_noticed else None


def _read(row: Row) -> Notebook:
    fields = dict(row)
    return Notebook(**(fields | {"cells": tuple(Cell(**cell) for cell in json.loads(fields["cells"]))}))


def _write(cells: tuple[Cell, ...]) -> str:
    return json.dumps([asdict(cell) for cell in cells], ensure_ascii=False)
