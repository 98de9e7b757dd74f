"""A copy of a gate's log beside the vault, for audits if the gate is on another machine.

It keeps the chain and only ever grows, so it is evidence as well: a gate that changes an entry it has shown before, or
leaves one out, is found out at the next entry.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from querygate.control import GENESIS, ChainBroken, Database
from querygate.control.ids import stamp
from querygate.control.log.entry_chain import Entry, canonical, digest
from querygate.site.open_gate import now

FOLDER = "gate"
"""In the site's folder: a control database with the gate's log, but without keys."""

_LAST = "SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1"
_INSERT = """INSERT INTO log (seq, time, kind, query_id, user, dataset, body, prev, hash)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_PERSON = """INSERT INTO users (name, role, created, project, organisation) VALUES (?, 'researcher', ?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET project = excluded.project, organisation = excluded.organisation"""


class LogCopy:
    """The copy in a site's folder; `read` gives the entries after a number. Safe to share between threads."""

    def __init__(self, site: Path, read: Callable[[int], Mapping[str, Any]]) -> None:
        folder = site / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        self.path = folder / "control.db"
        self._database, self._read = Database(self.path), read
        self._lock = threading.Lock()

    def catch_up(self) -> None:
        """Copy new entries. ChainBroken if they do not continue the copy."""
        with self._lock:
            while self._take_page():
                pass

    def _take_page(self) -> bool:
        rows = self._database.rows(_LAST)
        seq, head = (int(rows[0][0]), str(rows[0][1])) if rows else (0, GENESIS)
        page = self._read(seq)
        entries = page["entries"]
        with self._database.writing() as connection:
            for event in entries:
                entry = Entry(**{**event, "body": canonical(event["body"])})
                if entry.seq != seq + 1 or entry.prev != head or digest(entry.text()) != entry.hash:
                    raise ChainBroken(entry.seq, "it does not follow from what the gate has shown before")
                connection.execute(_INSERT, tuple(getattr(entry, name) for name in Entry.__slots__))
                seq, head = entry.seq, entry.hash
            if not entries:
                for person in page["people"]:
                    values = (person["name"], stamp(now()), person["project"], person["organisation"])
                    connection.execute(_PERSON, values)
        return bool(entries)
