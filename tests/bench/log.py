"""The log at the size of years: a million entries verified, appended to, moved into archives; answers replayed.

Half of the entries are intents, half are outcomes with the answer of a grouped statement, as a gate writes them.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from querygate.control import Database, Log, make_key, rotate, stamp
from querygate.control.log.entry_chain import GENESIS, Entry, canonical, digest
from querygate.core.types import Principal, Request
from querygate.custody.use_cases.audits.evidence_reports import replay_site
from querygate.gate.answer import answer
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.report import row
from tests.small_release import publish_small

ENTRIES = 1_000_000
APPENDED = 500
REPLAYED = 500
STATEMENT = "SELECT sex, COUNT(*) AS n, AVG(sbp) AS mean FROM patients WHERE age BETWEEN {} AND {} GROUP BY sex"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
INSERT = "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
ASKED = {
    "version": 3,
    "sql": "SELECT sex, AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 50 GROUP BY sex",
    "mode": "interval",
    "canonical_hash": "c" * 64,
    "policy_hash": "d" * 64,
}
MEAN = {"low": 127.4, "high": 131.9, "attained_low": 127.4, "attained_high": 131.9, "sharp": True, "may_be_null": False}
ROW = {"sex": "F", "avg_sbp": MEAN, "_group": {"certain": True, "count": {"low": 412, "high": 431}}}
ANSWER = {"query_id": "q", "dataset": "patients", "version": 3, "mode": "interval", "rows": [ROW, ROW]}


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "control.db")
        with database.writing() as connection:
            connection.executemany(INSERT, make_rows(ENTRIES))
        database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        log = Log(database, lambda: BEGAN + timedelta(days=400))
        append_s = _timed(lambda: [log.note("bench", user="ann") for _ in range(APPENDED)])
        before = _processor_s()
        verify_s = _timed(log.verify)
        used_s = _processor_s() - before
        rotate_s = _timed(lambda: rotate(log, make_key(Path(folder)), timedelta(days=365), user="bench"))
        whole_s = _timed(log.verify)
        database.close()
    size = f"{ENTRIES:,} entries"
    told = f"{size}; {used_s:.1f} s of processors"
    return [
        row("log: verify, in the database", verify_s, "s", told, target=5.0, met=verify_s < 5.0),
        row("log: verify, in archives", whole_s, "s", size),
        row("log: append, one thread, on disk each", APPENDED / append_s, "per s"),
        row("log: move into archives", ENTRIES / rotate_s, "per s", size),
        _replayed(),
    ]


def _replayed() -> dict[str, Any]:
    """Distinct grouped statements, computed again from the store."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        publish_small(opened, Path(folder))
        for turn in range(REPLAYED):
            sql = STATEMENT.format(20 + turn % 50, 71 + turn // 50)
            answer(Request(Principal("bench", "researcher"), "patients", sql), opened.gate)
        replay_s = _timed(lambda: replay_site(opened, user="bench"))
    return row("log: replay, grouped counts and means", REPLAYED / replay_s, "per s", f"{REPLAYED} answers")


def make_rows(entries: int) -> Iterator[tuple[Any, ...]]:
    """Chained entries, one a second."""
    prev = GENESIS
    asked, answered = (canonical(body) for body in (ASKED, {**ASKED, "outcome": "answered", "answer": ANSWER}))
    for seq in itertools.islice(itertools.count(1), entries):
        kind, body = ("query.intent", asked) if seq % 2 else ("query.outcome", answered)
        query = f"q_{(seq + 1) // 2:026d}"
        entry = Entry(seq, stamp(BEGAN + timedelta(seconds=seq)), kind, query, "ann", "patients", body, prev)
        entry = replace(entry, hash=digest(entry.text()))
        prev = entry.hash
        yield tuple(getattr(entry, name) for name in Entry.__slots__)


def _processor_s() -> float:
    """What this process and those that it started have used: on a busy machine, the time on the clock says little."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _timed(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
