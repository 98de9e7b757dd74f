"""Whoever can write control.db, and no file beside it, cannot make a budget forget what was spent."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from querygate.control import ChainBroken, Database, Log, SqliteBudgets, discard, load_key, rotate
from querygate.control.budgets.ledger_evidence import OPENING, REBUILD, compare
from querygate.control.budgets.ledger_rebuild import rebuild
from querygate.control.log.archive_rotation import seal
from querygate.control.log.archives import COLUMNS, Segment
from querygate.control.log.entry_chain import Entry, canonical, digest
from querygate.control.log.head_mark import MARK, check_marked, mark_problem, set_mark
from querygate.control.log.log_reader import DISCARDED, ROTATED
from querygate.core.budget_types import Cost, Reservation, Scope
from querygate.core.errors import BudgetExhausted, ConfigError
from tests.unit.control.conftest import HandClock

ALL = Scope("dataset", "p", "p", 1.0)
TENTH = Cost(0.1, 0.0, 0.005)
DAY = 24 * 60


@pytest.fixture
def mark(path: Path) -> Path:
    return path.parent / MARK


@pytest.fixture
def spend(log: Log, clock: HandClock, mark: Path) -> Callable[[str], None]:
    """By a process of its own each time, which has read nothing yet."""

    def spent(name: str) -> None:
        ledger = SqliteBudgets(log.database, clock, log=log, mark=mark, patience_s=0.0)
        assert isinstance(ledger.reserve(f"q_{name}", f"key {name}", (ALL,), TENTH), Reservation)

    return spent


class Forger:
    """Somebody with the file in hand, who knows how entries are chained."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def run(self, *statements: str) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)

    def empty_ledger(self) -> None:
        self.run(*(f"DELETE FROM {table}" for table in ("noisy_answer", "charge", "reservation")))

    def append(self, kind: str, body: dict[str, object]) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            seq, time, prev = connection.execute(
                """SELECT seq, time, hash FROM (SELECT seq, time, hash FROM log UNION ALL
                   SELECT last, until, head FROM segment) ORDER BY seq DESC LIMIT 1"""
            ).fetchone()
            entry = Entry(seq + 1, time, kind, None, None, None, canonical(body), prev)
            row = (entry.seq, time, kind, None, None, None, entry.body, prev, digest(entry.text()))
            connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def pretend_archived(self, upto: int, number: int = 1, first: int = 1, prev: str = "0" * 64) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            head, time = connection.execute("SELECT hash, time FROM log WHERE seq = ?", (upto,)).fetchone()
            segment = Segment(number, first, upto, prev, head, time, "0" * 64, time, time)
            row = tuple(getattr(segment, name) for name in COLUMNS)
            connection.execute(f"INSERT INTO segment VALUES ({', '.join('?' * len(row))})", row)
            connection.execute("DELETE FROM log WHERE seq <= ?", (upto,))
        self.append(ROTATED, dict(segment.told()))
        self.append(DISCARDED, {"archives": [segment.told()]})


@pytest.fixture
def forger(path: Path, database: Database) -> Forger:
    return Forger(path)


@pytest.mark.parametrize("kept", [0, 1], ids=["all of it", "all but the marked entry"])
@pytest.mark.parametrize("has_key", [True, False])
def test_archives_that_never_were_hide_no_spends(
    log: Log, mark: Path, spend: Callable[[str], None], forger: Forger, kept: int, has_key: bool
) -> None:
    for name in ("one", "two", "three"):
        spend(name)
    if has_key:
        load_key(mark.parent)
    forger.pretend_archived(log.head().entries - kept)
    forger.empty_ledger()
    forger.append(OPENING, {"charges": []})
    with pytest.raises(BudgetExhausted) as refusal:
        spend("four")
    assert refusal.value.code == "QG402"
    with pytest.raises(ChainBroken, match=r"segment-000001\.jsonl\.gz"):
        log.verify()
    with pytest.raises(ConfigError, match="signature") as broken:
        check_marked(log, mark)
    assert broken.value.code == "QG807"


def test_an_archive_that_never_was_hides_nothing_behind_real_ones(
    log: Log, clock: HandClock, mark: Path, spend: Callable[[str], None], forger: Forger
) -> None:
    spend("one")
    clock.pass_minutes(3 * DAY)
    [made] = rotate(log, load_key(mark.parent), timedelta(days=1), user="carl")
    spend("two")
    forger.pretend_archived(log.head().entries, 2, made.last + 1, made.head)
    forger.empty_ledger()
    forger.append(OPENING, {"charges": []})
    with pytest.raises(BudgetExhausted):
        spend("three")


@pytest.mark.parametrize("kind", [OPENING, REBUILD])
@pytest.mark.parametrize("days", [0, 3])
def test_an_opening_takes_nothing_back(
    log: Log, clock: HandClock, mark: Path, spend: Callable[[str], None], forger: Forger, kind: str, days: int
) -> None:
    """Not when everything before it is in an archive, and that is gone, either."""
    spend("one")
    forger.empty_ledger()
    forger.append(kind, {"charges": []})
    if days:
        clock.pass_minutes(days * DAY)
        log.note("publish", user="a")
        rotate(log, load_key(mark.parent), timedelta(days=1), user="carl", most=1)
        discard(log, timedelta(days=1), user="carl")
    with pytest.raises(BudgetExhausted):
        spend("two")
    ledger = SqliteBudgets(log.database, clock, log=log)
    rebuild(log, compare(log, ledger, shared=False), user="carl")
    assert ledger.left([ALL]) == pytest.approx([0.9])
    set_mark(log, mark)
    spend("two")


def test_archives_made_here_count_when_they_are_discarded(
    log: Log, clock: HandClock, mark: Path, spend: Callable[[str], None]
) -> None:
    spend("one")
    clock.pass_minutes(3 * DAY)
    [made] = rotate(log, load_key(mark.parent), timedelta(days=1), user="carl")
    assert discard(log, timedelta(days=1), user="carl") == [made]
    check_marked(log, mark)  # in the archive that is gone
    log.verify()
    spend("two")


@pytest.mark.parametrize("lost", ["signature", "key"])
def test_archives_without_a_signature_are_signed_anew_by_who_holds_the_key(
    log: Log, clock: HandClock, mark: Path, spend: Callable[[str], None], lost: str
) -> None:
    spend("one")
    clock.pass_minutes(3 * DAY)
    [made] = rotate(log, load_key(mark.parent), timedelta(days=1), user="carl")
    discard(log, timedelta(days=1), user="carl")
    (log.archives.signature(made) if lost == "signature" else mark.parent / "log.key").unlink()
    key = load_key(mark.parent)
    with pytest.raises(BudgetExhausted):
        spend("two")
    with pytest.raises(ConfigError, match="signature") as refusal:
        check_marked(log, mark)
    assert "querygate log seal" in refusal.value.remedy
    assert [one.number for one in seal(log, key, user="carl")] == [1]
    assert seal(log, key, user="carl") == []
    assert list(log.events())[-1]["kind"] == "log.seal"
    spend("two")


@pytest.mark.parametrize("old", [True, False])
def test_a_mark_that_was_there_is_missed_by_the_next_spend(
    log: Log, mark: Path, spend: Callable[[str], None], forger: Forger, old: bool
) -> None:
    log.note("publish", user="a")
    set_mark(log, mark)
    first = mark.read_bytes()
    spend("one")
    mark.unlink()
    set_mark(log, mark, back=True)  # and noted
    forger.run("DELETE FROM log WHERE seq > 1")
    forger.empty_ledger()
    mark.unlink()
    if old:
        mark.write_bytes(first)
    with pytest.raises(BudgetExhausted) as refusal:
        spend("two")
    assert refusal.value.code == "QG402"
    set_mark(log, mark, back=True)  # as `querygate restore` does
    assert mark_problem(log, mark) is None
    spend("two")
