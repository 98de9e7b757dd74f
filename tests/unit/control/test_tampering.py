"""Somebody with the file in hand changes the past. Each attack first succeeds in the file, then is found out."""

import io
import json
import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

from querygate.control import GENESIS, ChainBroken, VerifiedChain, verify_lines

TRIGGERS = ("log_no_update", "log_no_delete", "log_at_the_end")


@pytest.fixture
def full(log):
    """A log of ten entries."""
    for number in range(5):
        query = f"q_{number}"
        request = {"user": "ann", "dataset": "p", "version": 1, "sql": f"SELECT {number}", "mode": "interval"}
        log.intend(query, **request, canonical_hash="", policy_hash="")
        log.conclude(query, "answered", answer={"value": number})
    return log


@pytest.fixture
def raw(full, path):
    """The file, opened by somebody who has removed the triggers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for trigger in TRIGGERS:
            connection.execute(f"DROP TRIGGER {trigger}")
        yield connection


def broken(log, known=None):
    with pytest.raises(ChainBroken) as found:
        log.verify(known)
    assert str(found.value.seq) in str(found.value)
    return found.value.seq


def exported(log):
    stream = io.StringIO()
    log.export(stream)
    return stream.getvalue().splitlines(keepends=True)


def sealed_anew(lines):
    """The lines numbered and hashed from the start, as a careful forger would."""
    forged, prev = [], GENESIS
    for seq, line in enumerate(lines, 1):
        fields = {**json.loads(line), "seq": seq, "prev": prev}
        del fields["hash"]
        text = json.dumps(fields, separators=(",", ":"))
        prev = sha256(text.encode()).hexdigest()
        forged.append(f'{text[:-1]},"hash":"{prev}"}}\n')
    return forged


# -- the triggers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log SET user = 'eve' WHERE seq = 4",
        "DELETE FROM log WHERE seq = 10",
        "DELETE FROM log",
        "INSERT OR REPLACE INTO log SELECT seq, time, kind, query_id, 'eve', dataset, body, prev, hash FROM log",
        "INSERT INTO log SELECT 10, time, 'x', NULL, user, dataset, body, prev, hash FROM log WHERE seq = 1"
        " ON CONFLICT (seq) DO UPDATE SET user = 'eve'",
        "INSERT INTO log SELECT 0, time, 'x', NULL, user, dataset, body, prev, hash FROM log WHERE seq = 1",
        "INSERT INTO log SELECT 12, time, 'x', NULL, user, dataset, body, prev, hash FROM log WHERE seq = 1",
    ],
)
def test_the_database_itself_refuses_to_change_the_past(full, path, statement):
    before = exported(full)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
        assert exported(full) == before
        for trigger in TRIGGERS:
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(statement)
    assert exported(full) != before


# -- the chain in the database ---------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["time", "kind", "query_id", "user", "dataset", "body", "prev", "hash"])
def test_an_altered_entry_is_found(full, raw, column):
    changed = '{"outcome":"refused"}' if column == "body" else "f" * 64
    raw.execute(f"UPDATE log SET {column} = ? WHERE seq = 4", (changed,))
    assert broken(full) == 4


def test_an_altered_space_is_found(full, raw):
    raw.execute("UPDATE log SET body = replace(body, ':', ': ') WHERE seq = 4")
    assert broken(full) == 4


def test_an_entry_that_is_no_entry_is_found(full, raw):
    raw.execute("UPDATE log SET body = '{' WHERE seq = 4")
    assert broken(full) == 4


@pytest.mark.parametrize("seq", [1, 5])
def test_a_missing_entry_is_found(full, raw, seq):
    raw.execute("DELETE FROM log WHERE seq = ?", (seq,))
    assert broken(full) == seq


def test_a_missing_entry_is_found_when_the_rest_closes_up(full, raw):
    raw.execute("DELETE FROM log WHERE seq = 5")
    raw.execute("UPDATE log SET seq = seq - 1 WHERE seq > 5")
    assert broken(full) == 5


def test_swapped_entries_are_found(full, raw):
    for old, new in ((4, 99), (6, 4), (99, 6)):
        raw.execute("UPDATE log SET seq = ? WHERE seq = ?", (new, old))
    assert broken(full) == 4


@pytest.mark.parametrize(("seq", "place"), [(-5, 1), (0, 1), (11, 11)])
def test_an_inserted_entry_is_found(full, raw, seq, place):
    raw.execute(
        "INSERT INTO log SELECT ?, time, 'x', NULL, user, dataset, body, prev, hash FROM log WHERE seq = 4", (seq,)
    )
    assert broken(full) == place


def test_a_lost_end_is_found_by_whoever_knows_the_head(full, raw):
    known = full.verify()
    raw.execute("DELETE FROM log WHERE seq > 8")
    assert full.verify().entries == 8
    assert broken(full, known) == 9


def test_a_forged_tail_is_found_by_whoever_knows_the_head(full, raw):
    known = full.verify()
    lines = exported(full)
    lines[5] = lines[5].replace('"value":2', '"value":7')
    forged = [json.loads(line) for line in sealed_anew(lines)]
    raw.execute("DELETE FROM log WHERE seq > 5")
    for entry in forged[5:]:
        entry["body"] = json.dumps(entry["body"], separators=(",", ":"))
        raw.execute(
            "INSERT INTO log VALUES (:seq, :time, :kind, :query_id, :user, :dataset, :body, :prev, :hash)", entry
        )
    assert full.answer("q_2") == ("ann", {"value": 7})
    assert full.verify().entries == 10
    assert broken(full, known) == 10


def test_a_head_from_before_the_forgery_is_enough(full, raw):
    early = VerifiedChain(6, json.loads(exported(full)[5])["hash"])
    assert full.verify(early).entries == 10
    assert broken(full, VerifiedChain(6, "e" * 64)) == 6


# -- the chain in an exported file -----------------------------------------------------------------------


def test_an_exported_log_verifies_with_any_line_end(full):
    lines = exported(full)
    assert verify_lines(lines) == full.verify()
    assert verify_lines(line.rstrip("\n") + "\r\n" for line in lines) == full.verify()


FORGERIES = {
    "altered": (lambda lines: [*lines[:3], lines[3].replace("ann", "eve"), *lines[4:]], 4),
    "missing first": (lambda lines: lines[1:], 1),
    "missing": (lambda lines: [*lines[:3], *lines[4:]], 4),
    "repeated": (lambda lines: [*lines[:4], *lines[3:]], 5),
    "swapped": (lambda lines: [*lines[:3], lines[5], lines[4], lines[3], *lines[6:]], 4),
    "cut within a line": (lambda lines: [*lines[:-1], lines[-1][:50]], 10),
    "empty line": (lambda lines: [*lines[:3], "\n", *lines[3:]], 4),
    "another hash": (lambda lines: [*lines[:3], lines[3][:-10] + "0000000" + lines[3][-3:], *lines[4:]], 4),
    "one entry sealed anew": (lambda lines: [*lines[:3], *resealed(lines[3]), *lines[4:]], 5),
    "sealed but no entry": (lambda lines: [*lines[:3], sealed('{"a":'), *lines[4:]], 4),
}


def sealed(text):
    return f'{text},"hash":"{sha256((text + "}").encode()).hexdigest()}"}}\n'


def resealed(line):
    yield sealed(line.rsplit(',"hash"', 1)[0].replace("ann", "eve"))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_export_is_found(full, name):
    forge, place = FORGERIES[name]
    with pytest.raises(ChainBroken) as found:
        verify_lines(forge(exported(full)))
    assert found.value.seq == place


def test_an_export_forged_from_the_start_needs_a_known_head(full):
    forged = sealed_anew(line.replace("ann", "eve") for line in exported(full))
    assert verify_lines(forged).entries == 10
    with pytest.raises(ChainBroken) as found:
        verify_lines(forged, full.verify())
    assert found.value.seq == 10


# -- everything, in a small log --------------------------------------------------------------------------------

SMALL = 4
COLUMNS = ("time", "kind", "query_id", "user", "dataset", "body", "prev", "hash")


@pytest.fixture
def small(log):
    """Four entries, one of them with characters that have to be escaped."""
    request = {"user": 'zo"ë', "dataset": "p", "version": 1, "sql": "SELECT 'ä'", "mode": "interval"}
    log.intend("q_1", **request, canonical_hash="c", policy_hash="d")
    log.conclude("q_1", "answered", answer={"low": 1, "high": 2.5})
    log.note("user.add", user=None)
    log.note("log.export", user="carl", body={"entries": 3})
    return log


def opened(path):
    """The file, without its triggers, as somebody who has it in hand opens it; text as bytes."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = bytes
    connection.execute("PRAGMA synchronous = OFF")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name.decode()}")
    return closing(connection)


def every_flip(text):
    """The text with one byte changed, at every place: one letter for another, and small for capital."""
    for place, byte in enumerate(text):
        for other in (byte ^ 1, byte ^ 0x20):
            yield text[:place] + bytes([other]) + text[place + 1 :]


def test_every_flipped_byte_of_an_export_is_found(small):
    lines = [line.encode() for line in exported(small)]
    for place, line in enumerate(lines):
        for forged in every_flip(line):
            with pytest.raises(ChainBroken) as found:
                verify_lines(io.BytesIO(b"".join([*lines[:place], forged, *lines[place + 1 :]])))
            assert found.value.seq == place + 1


@pytest.mark.parametrize("seq", range(1, SMALL + 1))
@pytest.mark.parametrize("column", COLUMNS)
def test_every_flipped_byte_of_every_column_is_found(small, path, column, seq):
    with opened(path) as connection:
        ((before,),) = connection.execute(f"SELECT {column} FROM log WHERE seq = ?", (seq,)).fetchall()
        put = f"UPDATE log SET {column} = CAST(? AS TEXT) WHERE seq = ?"
        for forged in every_flip(before) if before is not None else (b"", b"x"):
            connection.execute(put, (forged, seq))
            assert broken(small) == seq
        for shorter in () if before is None else (before[:-1], before + b"\0", before + b" ", b""):
            connection.execute(put, (shorter, seq))
            assert broken(small) == seq
        connection.execute(f"UPDATE log SET {column} = ? WHERE seq = ?", (before and before.decode(), seq))
        assert small.verify().entries == SMALL


def test_every_removed_swapped_and_cut_off_entry_is_found(small, path):
    known = small.verify()
    with opened(path) as connection:
        rows = connection.execute("SELECT * FROM log ORDER BY seq").fetchall()

        def stands(changed):
            connection.execute("DELETE FROM log")
            texts = [tuple(v.decode() if isinstance(v, bytes) else v for v in row) for row in changed]
            connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", texts)

        for first in range(SMALL):
            stands(rows[:first] + rows[first + 1 :])
            assert broken(small, known) == first + 1
            stands(rows[:first] + [(seq, *row[1:]) for seq, row in enumerate(rows[first + 1 :], first + 1)])
            assert broken(small, known) == first + 1
            stands(rows[:first])
            assert broken(small, known) == first + 1
            for second in range(first + 1, SMALL):
                swapped = list(rows)
                swapped[first], swapped[second] = (
                    (first + 1, *rows[second][1:]),
                    (second + 1, *rows[first][1:]),
                )
                stands(swapped)
                assert broken(small, known) == first + 1
        stands(rows)
    assert small.verify(known) == known


@pytest.mark.parametrize("column", COLUMNS)
def test_a_value_that_is_no_text_is_found(small, path, column):
    """A file can be edited so that the table is strict no more."""
    with opened(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'STRICT', '') WHERE name = 'log'")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' TEXT', '') WHERE name = 'log'")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'log'")
    with opened(path) as connection:
        for value in (7, 1.5, None):
            ((before,),) = connection.execute(f"SELECT {column} FROM log WHERE seq = 2").fetchall()
            connection.execute(f"UPDATE log SET {column} = ? WHERE seq = 2", (value,))
            assert broken(small) == 2
            connection.execute(f"UPDATE log SET {column} = ? WHERE seq = 2", (before.decode(),))
            assert small.verify().entries == SMALL


def test_every_flipped_byte_of_the_table_in_the_file_is_found_or_changes_no_entry(small, path):
    """Also where it is no byte of a text: lengths, kinds of values, the places of rows in their page."""
    before = exported(small)
    small.database.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'log'").fetchall()
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    whole = path.read_bytes()
    start, end = (page - 1) * size, page * size
    used = [place for place in range(start, end) if whole[place]]
    unseen = 0
    for place in used[::3]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            small.verify()
        except ChainBroken:
            continue
        assert exported(small) == before
        unseen += 1
    path.write_bytes(whole)
    assert unseen < len(used) / 30
    assert small.verify().entries == SMALL
