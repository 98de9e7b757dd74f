"""Entries move into archives, archives go, and the chain holds."""

import io
import json
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from querygate.control import (
    ChainBroken,
    Log,
    VerifiedChain,
    discard,
    export_signed,
    load_public_key,
    make_key,
    rotate,
    verify_lines,
)

DAY = 24 * 60
WEEK = timedelta(days=7)


@pytest.fixture
def key(path, database):
    return make_key(path.parent)


def ask(log, number):
    request = {"user": f"u{number % 2}", "dataset": "p", "version": 1, "sql": f"SELECT {number}", "mode": "interval"}
    log.intend(f"q_{number}", **request, canonical_hash="", policy_hash="")
    log.conclude(f"q_{number}", "answered", answer={"value": number})


@pytest.fixture
def full(log, clock):
    """Twenty entries, two a day."""
    for number in range(10):
        ask(log, number)
        clock.pass_minutes(DAY)
    return log


def exported(log):
    stream = io.StringIO()
    log.export(stream)
    return stream.getvalue()


def tampering(path, *statements):
    """Somebody with the file in hand, who has removed the triggers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)


# -- moving ----------------------------------------------------------------------------------------------


def test_old_entries_leave_the_database_and_not_the_log(full, database, key):
    before, asked, seen = full.verify(), list(full.queries()), exported(full)
    [made] = rotate(full, key, WEEK, user="carl")
    assert (made.first, made.last, made.prev) == (1, 6, "0" * 64)
    assert [row["seq"] for row in database.rows("SELECT seq FROM log ORDER BY seq")] == [*range(7, 22)]
    assert full.verify(before).entries == 21
    assert list(full.queries()) == asked
    assert exported(full).startswith(seen)
    last = list(full.events())[-1]
    assert (last["kind"], last["user"], last["body"]) == ("log.rotate", "carl", made.told())


def test_archives_are_of_limited_size_and_the_rest_of_a_run_finds_nothing(full, key):
    made = rotate(full, key, WEEK, user="carl", most=4)
    assert [(segment.number, segment.first, segment.last) for segment in made] == [(1, 1, 4), (2, 5, 6)]
    assert rotate(full, key, WEEK, user="carl") == []
    assert full.verify().entries == 22


def test_a_query_is_not_torn_apart(full, key):
    made = rotate(full, key, WEEK, user="carl", most=3)
    assert [(segment.first, segment.last) for segment in made] == [(1, 2), (3, 4), (5, 6)]
    assert {query["outcome"] for query in full.queries()} == {"answered"}


def test_an_intent_that_never_had_an_outcome_is_archived_as_failed(log, clock, key):
    log.intend("q_1", user="a", dataset="p", version=1, sql="x", mode="m", canonical_hash="", policy_hash="")
    clock.pass_minutes(9 * DAY)
    assert len(rotate(log, key, WEEK, user="carl")) == 1
    assert [query["outcome"] for query in log.queries()] == ["failed"]


def test_queries_are_chosen_in_archives_as_in_the_database(full, clock, key):
    wanted = [
        {"user": "u1"},
        {"dataset": "other"},
        {"limit": 3},
        {"limit": 9},
        {"since": clock() - timedelta(days=9)},
        {"since": clock() - timedelta(days=3), "user": "u0"},
    ]
    before = [list(full.queries(**chosen)) for chosen in wanted]
    rotate(full, key, WEEK, user="carl", most=4)
    assert [list(full.queries(**chosen)) for chosen in wanted] == before


def test_the_chain_goes_on_where_everything_was_archived(full, clock, database, key):
    clock.pass_minutes(30 * DAY)
    rotate(full, key, WEEK, user="carl")
    assert [row["kind"] for row in database.rows("SELECT kind FROM log")] == ["log.rotate"]
    ask(full, 99)
    assert full.verify().entries == 23
    assert full.answer("q_99") == ("u1", {"value": 99})
    assert full.answer("q_1") is None  # what was archived is not looked up one by one


def test_nothing_is_archived_that_is_not_as_it_was_written(full, path, key):
    tampering(path, "UPDATE log SET user = 'eve' WHERE seq = 3")
    with pytest.raises(ChainBroken):
        rotate(full, key, WEEK, user="carl")
    assert len(exported(full).splitlines()) == 20


def test_the_database_lets_nothing_go_that_no_archive_has(full, path, key):
    rotate(full, key, WEEK, user="carl")
    statements = (
        "DELETE FROM log WHERE seq = 7",
        "DELETE FROM segment",
        "UPDATE segment SET head = 'f'",
        "UPDATE segment SET last = 9, discarded = 'now'",
        "INSERT INTO segment VALUES (3, 7, 8, '', '', '', '', '', NULL)",
        "INSERT INTO segment VALUES (2, 8, 9, '', '', '', '', '', NULL)",
        "INSERT INTO log SELECT 1, time, 'x', NULL, user, dataset, body, prev, hash FROM log WHERE seq = 7",
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)


def test_what_was_deleted_is_not_in_the_file(full, clock, database, path, key):
    clock.pass_minutes(30 * DAY)
    rotate(full, key, WEEK, user="carl")
    database.close()
    kept = b"".join(file.read_bytes() for file in path.parent.glob("control.db*"))
    assert b"SELECT 3" not in kept


# -- letting go ------------------------------------------------------------------------------------------


def test_discarded_archives_leave_their_heads(full, path, key):
    first, second = rotate(full, key, WEEK, user="carl", most=4)
    known = VerifiedChain(4, first.head)
    assert discard(full, timedelta(days=8), user="carl") == [first]
    assert sorted(file.name for file in (path.parent / "logs").glob("segment-*")) == [
        f"{first.name}.sig",
        second.name,
        f"{second.name}.sig",
    ]
    verified = full.verify(known)
    assert (verified.entries, verified.since) == (23, 5)
    with pytest.raises(ChainBroken, match="cannot be compared"):
        full.verify(VerifiedChain(3, "a" * 64))
    with pytest.raises(ChainBroken):
        full.verify(VerifiedChain(4, "a" * 64))
    assert [query["id"] for query in full.queries()] == [f"q_{number}" for number in range(2, 10)]
    assert list(full.events())[-1]["body"] == {"archives": [first.told()]}
    assert discard(full, timedelta(days=8), user="carl") == []


def test_discarding_is_completed_by_the_next_run(full, path, key):
    [made] = rotate(full, key, WEEK, user="carl")
    kept = (path.parent / "logs" / made.name).read_bytes()
    discard(full, timedelta(days=1), user="carl")
    (path.parent / "logs" / made.name).write_bytes(kept)  # as if the process had died before the file went
    assert discard(full, timedelta(days=1), user="carl") == []
    assert not (path.parent / "logs" / made.name).exists()


def test_the_log_can_be_archived_and_discarded_again_and_again(full, clock, key):
    for number in range(20, 30):
        ask(full, number)
        clock.pass_minutes(3 * DAY)
        rotate(full, key, WEEK, user="carl")
        discard(full, timedelta(days=14), user="carl")
        assert full.verify().head == json.loads(exported(full).splitlines()[-1])["hash"]
    assert full.verify().since > 10


# -- what is signed --------------------------------------------------------------------------------------


def test_an_archive_is_signed_and_stands_alone(full, path, key):
    import gzip

    for segment in rotate(full, key, WEEK, user="carl", most=4):
        file = path.parent / "logs" / segment.name
        said = load_public_key(path.parent / "log.pub").read(file.with_name(f"{segment.name}.sig").read_bytes())
        with gzip.open(file, "rb") as lines:
            end = verify_lines(lines, start=said.start)
        assert (end.entries, end.head) == (said.last, said.head) == (segment.last, segment.head)
        assert file.stat().st_mode & 0o077 == 0


def test_an_export_is_signed_from_the_first_entry_that_there_is(full, key):
    rotate(full, key, WEEK, user="carl", most=4)
    discard(full, timedelta(days=8), user="carl")
    stream = io.BytesIO()
    said = key.public.read(export_signed(full, key, stream))
    assert said.first == 5
    end = verify_lines(stream.getvalue().splitlines(keepends=True), start=said.start)
    assert (end.entries, end.head) == (said.last, said.head)


def test_a_broken_log_is_not_signed(full, path, key):
    tampering(path, "UPDATE log SET user = 'eve' WHERE seq = 3")
    with pytest.raises(ChainBroken):
        export_signed(full, key, io.BytesIO())


# -- forgeries -------------------------------------------------------------------------------------------


def test_a_missing_or_altered_archive_is_found(full, path, key):
    [made] = rotate(full, key, WEEK, user="carl")
    file = path.parent / "logs" / made.name
    whole = file.read_bytes()
    file.write_bytes(whole + b"\0")
    with pytest.raises(ChainBroken, match="was altered"):
        full.verify()
    file.unlink()
    with pytest.raises(ChainBroken, match="is missing"):
        full.verify()
    file.write_bytes(whole)
    assert full.verify().entries == 21


def test_removed_entries_cannot_be_passed_off_as_discarded(full, path):
    head = json.loads(exported(full).splitlines()[5])["hash"]
    values = f"1, 1, 6, '{'0' * 64}', '{head}', '2026', '', '2026', '2026'"
    tampering(path, "DELETE FROM log WHERE seq <= 6", f"INSERT INTO segment VALUES ({values})")
    with pytest.raises(ChainBroken, match="has no record that it was archived"):
        full.verify()


def test_an_archive_cannot_be_passed_off_as_discarded(full, path, key):
    [made] = rotate(full, key, WEEK, user="carl")
    (path.parent / "logs" / made.name).unlink()
    tampering(path, "UPDATE segment SET discarded = '2026'")
    with pytest.raises(ChainBroken, match="has no record that its archive was discarded"):
        full.verify()


@pytest.mark.parametrize("column", ["first", "last", "prev", "head", "until", "sha256"])
def test_what_is_noted_of_an_archive_cannot_be_changed(full, path, key, column):
    rotate(full, key, WEEK, user="carl")
    changed = f"{column} + 1" if column in ("first", "last") else "'f' || substr(" + column + ", 2) || 'x'"
    tampering(path, f"UPDATE segment SET {column} = {changed}")
    with pytest.raises(ChainBroken):
        full.verify()


def test_entries_cannot_be_both_archived_and_here(full, path, key):
    seen = exported(full).splitlines()
    rotate(full, key, WEEK, user="carl")
    entry = json.loads(seen[5])
    values = tuple(json.dumps(v, separators=(",", ":")) if isinstance(v, dict) else v for v in entry.values())
    tampering(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    with pytest.raises(ChainBroken):
        full.verify()


# -- in parts --------------------------------------------------------------------------------------------


def test_processes_agree_with_one_pass(full, path, key, monkeypatch):
    rotate(full, key, WEEK, user="carl", most=4)
    alone = full.verify()
    monkeypatch.setattr("querygate.control.log.parallel_verify.ENOUGH", 5)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert full.verify() == alone
    assert full.verify(VerifiedChain(5, json.loads(exported(full).splitlines()[4])["hash"])) == alone
    with pytest.raises(ChainBroken) as found:
        full.verify(VerifiedChain(9, "e" * 64))
    assert found.value.seq == 9
    tampering(path, "UPDATE log SET user = 'eve' WHERE seq = 15")
    with pytest.raises(ChainBroken) as found:
        full.verify()
    assert found.value.seq == 15


def test_names_of_any_letters_are_verified(log, database):
    every = "".join(map(chr, range(1, 256))) + '\0\ud7ff😀"\\'
    log.note("publish", user=every, dataset=every)
    log.conclude(every, "refused", code="QG101", user="ann", sql=every)
    assert log.verify().entries == 2
    assert json.loads(exported(log).splitlines()[0])["user"] == every.replace("\0", "\ufffd")
    assert isinstance(log, Log)
