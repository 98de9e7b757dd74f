"""A control database that is older than its mark is found out; one that is not goes on unseen."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from querygate.control import Database, Log, load_key, rotate
from querygate.control.log.head_mark import MARK, check_marked, read_mark, set_mark
from querygate.core.errors import ConfigError
from tests.unit.control.conftest import HandClock


@pytest.fixture
def mark(path: Path) -> Path:
    return path.parent / MARK


def copied(log: Log, clock: HandClock, to: Path) -> Log:
    log.database.close()
    return Log(Database(Path(shutil.copy(log.database.path, to))), clock)


def test_an_old_copy_is_behind_the_mark(log: Log, clock: HandClock, mark: Path, tmp_path: Path) -> None:
    log.note("publish", user="a")
    old = copied(log, clock, tmp_path / "old.db")
    log.note("publish", user="b")
    assert set_mark(log, mark)
    assert set_mark(log, mark) is None  # nothing is new
    check_marked(log, mark, tmp_path / "none")
    log.note("publish", user="c")
    check_marked(log, mark)
    with pytest.raises(ConfigError, match="ends at entry 1, but had 2 entries") as refusal:
        check_marked(old, mark)
    assert refusal.value.code == "QG807"
    assert set_mark(old, mark) is None  # it is never set back unasked
    assert set_mark(old, mark, back=True)
    check_marked(old, mark)


def test_another_log_of_the_same_length_is_not_the_one(log: Log, clock: HandClock, mark: Path, tmp_path: Path) -> None:
    other = Log(Database(tmp_path / "other.db"), clock)
    for one, user in ((log, "a"), (other, "b"), (other, "c")):
        one.note("publish", user=user)
    set_mark(log, mark)
    with pytest.raises(ConfigError, match="entry 1 of its log differs"):
        check_marked(other, mark)


def test_entries_in_archives_are_compared_too(log: Log, clock: HandClock, mark: Path) -> None:
    for user in ("a", "b", "c"):
        log.note("publish", user=user)
        if user == "b":
            set_mark(log, mark)
    clock.pass_minutes(3 * 24 * 60)
    rotate(log, load_key(mark.parent), timedelta(days=1), user="local")
    check_marked(log, mark)
    said = read_mark(mark)
    assert said is not None
    assert log.hash_at(2) == said.head
    assert log.hash_at(99) is None


@pytest.mark.parametrize("content", ["nonsense", "{}", '{"entries": "x", "head": "", "time": ""}', "[1]"])
def test_a_mark_that_cannot_be_read_is_no_mark_that_holds(log: Log, mark: Path, content: str) -> None:
    mark.write_text(content)
    with pytest.raises(ConfigError, match="cannot be read"):
        check_marked(log, mark)


def test_an_empty_file_has_no_mark(log: Log, mark: Path) -> None:
    mark.write_text("\n")
    assert read_mark(mark) is None
