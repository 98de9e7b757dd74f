"""A control database on PostgreSQL: what is promised of `control.db` holds there, and a site moves there whole.

The tests that are imported below are those of `control.db`, run again.
"""

# ruff: noqa: F811 - fixtures of this module stand in for those that the imported tests had

from __future__ import annotations

import secrets
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.control import Database, Jobs, Log, SqliteBudgets, SqliteRequests
from querygate.control.log.log_search import LogFilter, search_log
from querygate.core.budget_types import Cost, Scope
from querygate.core.errors import ConfigError
from querygate.site.budget_evidence import compare_ledger
from querygate.site.layout import Site, open_site
from querygate.site.open_gate import open_gate
from querygate_adapters.control import postgres_dialect as dialect
from querygate_adapters.control.postgres_control import PostgresControl
from tests.empty_site import empty_site
from tests.postgres import Server
from tests.unit.control.conftest import HandClock, accounts, clock, log, path  # noqa: F401
from tests.unit.control.log.test_log import (  # noqa: F401
    test_a_limit_keeps_the_latest_in_order,
    test_a_query_refused_after_admission_keeps_what_its_intent_said,
    test_an_exported_log_can_be_checked_with_nothing_but_sha256,
    test_any_text_survives,
    test_queries_are_selected_by_user_dataset_and_time,
    test_two_logs_over_one_database_make_one_chain,
    test_writing_goes_on_while_somebody_reads,
)
from tests.unit.control.test_accounts import (  # noqa: F401
    test_a_disabled_user_stays_out_until_enabled,
    test_a_name_is_taken_once_whatever_its_letters,
    test_what_a_key_was_replaced_by_is_revoked_with_it,
)
from tests.unit.control.test_jobs import (  # noqa: F401
    jobs,
    test_many_threads_never_get_the_same_job,
    test_what_belongs_to_the_end_is_done_with_it_or_neither_is,
    test_who_goes_silent_loses_the_job_and_cannot_end_it_any_more,
)
from tests.unit.control.test_sqlite_extract_requests import (  # noqa: F401
    bring,
    requests,
    test_of_two_reviewers_one_decides,
    test_what_is_raised_leaves_no_trace,
)
from tests.work import HANG_S

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from querygate.control import Log
from querygate_adapters.control.postgres_control import PostgresControl

log = Log(PostgresControl(sys.argv[1], Path(sys.argv[2])), lambda: datetime.now(UTC))
for number in range(10_000):
    log.note("site.note", user=sys.argv[3], body={"number": number})
    print(number, flush=True)
"""


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def location(postgres: Server) -> Iterator[str]:
    schema = f"control_{secrets.token_hex(4)}"
    yield f"{postgres.url()}#{schema}"
    postgres.run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@pytest.fixture
def database(location: str, path: Path) -> Iterator[PostgresControl]:
    Database(path).close()
    made = PostgresControl(location, path)
    with closing(sqlite3.connect(path)) as source:
        made.fill(source)
    yield made
    made.close()


def test_it_has_every_table_and_column_of_the_file(database: PostgresControl, path: Path) -> None:
    with closing(sqlite3.connect(path)) as source:
        named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        tables = [name for (name,) in source.execute(named)]
        assert len(tables) > 20
        for table in tables:
            columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
            own = ("rowid",) if table in dialect.TIMELESS else ()
            with database.writing() as connection:
                found = connection.execute(f"SELECT * FROM {table} LIMIT 0")
                assert [column.name for column in found.description or ()] == [*columns, *own]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log SET user = 'eve'",
        "DELETE FROM log",
        "TRUNCATE log",
        "INSERT INTO log SELECT seq + 2, time, kind, 'q', user, dataset, body, prev, hash FROM log",
        "UPDATE reservation SET epsilon = 0",
        "DELETE FROM charge",
        "TRUNCATE charge",
        "UPDATE charge SET epsilon = epsilon - 1",
        "INSERT INTO charge SELECT dataset, kind, name, number + 1, query_id, 0, 0, 0, 1, 0 FROM charge",
        "DELETE FROM job",
        "UPDATE export_request SET state = 'released', expires = '2030', manifest = 'x'",
        "DELETE FROM export_event",
    ],
)
def test_the_tables_hold_against_a_mistaken_process(
    database: PostgresControl, log: Log, clock: HandClock, statement: str
) -> None:
    ledger = SqliteBudgets(database, now, log=log)
    ledger.reserve("q_1", "key", [Scope("dataset", "p", "p", 2.0)], Cost(0.1, 0.0, 0.005))
    Jobs(database, now, secrets.token_bytes).put("noise.answer", dataset="p", user="ann", body={})
    bring(SqliteRequests(database, log, secrets.token_bytes), "submitted", clock)
    tables = ("log", "charge", "reservation", "job", "export_request", "export_event")
    before = [database.rows(f"SELECT * FROM {table}") for table in tables]
    with pytest.raises(psycopg.errors.IntegrityError), database.writing() as connection:
        connection.execute(statement)
    assert [database.rows(f"SELECT * FROM {table}") for table in tables] == before
    assert log.verify().entries == len(before[0])


def test_writers_that_are_killed_leave_one_unbroken_chain_with_all_they_were_told_of(
    database: PostgresControl, location: str, path: Path
) -> None:
    command = [sys.executable, "-c", WRITER, location, str(path)]
    writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in ("ann", "bob")]
    said: dict[str, list[int]] = {}
    for name, writer in zip(("ann", "bob"), writers, strict=True):
        assert writer.stdout is not None
        said[name] = [int(next(writer.stdout)) for _ in range(20)]
    for name, writer in zip(("ann", "bob"), writers, strict=True):
        writer.kill()
        assert writer.stdout is not None
        said[name] += [int(line) for line in writer.stdout if line.endswith("\n")]
        writer.wait(HANG_S)
        writer.stdout.close()
    log = Log(database, now)
    log.note("site.note", user="carl")
    log.verify()
    for name in said:
        kept = [event["body"]["number"] for event in log.events() if event["user"] == name]
        assert kept[: len(said[name])] == said[name], "in their order, and none is lost"


def test_a_server_that_restarts_is_told_and_nothing_is_lost(
    database: PostgresControl, log: Log, postgres: Server
) -> None:
    log.note("site.note", user="ann")
    postgres.halt()
    try:
        with pytest.raises(ConfigError) as caught:
            log.note("site.note", user="ann")
        assert (caught.value.code, caught.value.retry_after_s) == ("QG804", 5.0)
        assert "127.0.0.1" not in str(caught.value) + caught.value.remedy
    finally:
        postgres.resume()
    log.note("site.note", user="bob")
    assert log.verify().entries == 2


def test_the_log_is_searched_whatever_is_in_it(database: PostgresControl, log: Log) -> None:
    for sql in ("SELECT '\0'", "\ud800", "x" * 1000, "%s %(a)s ? :b"):
        log.conclude("q_" + str(len(sql)), "refused", code="QG303", user="an?n%s", dataset=":d", sql=sql)
    found = search_log(database, LogFilter(code="QG303", user="an?n%s", dataset=":d")).entries
    assert [entry.code for entry in found] == ["QG303"] * 4
    assert found[0].text == "%s %(a)s ? :b"
    assert log.verify().entries == 4


def test_spends_by_many_threads_are_never_too_many(database: PostgresControl, log: Log) -> None:
    scope, spent = Scope("dataset", "p", "p", 1.0), []

    def spend(number: int) -> None:
        ledger = SqliteBudgets(database, now, log=log)
        for turn in range(4):
            try:
                ledger.reserve(f"q_{number}_{turn}", f"{number} {turn}", [scope], Cost(0.1, 0.0, 0.005))
                spent.append(turn)
            except Exception:
                continue

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    assert len(spent) == 10


# -- a site ------------------------------------------------------------------------------------------------------------


def with_setting(site: Site, location: str) -> Site:
    with (site.folder / "querygate.toml").open("a") as stream:
        stream.write(f'\ncontrol = "{location}"\n')
    return open_site(site.folder)


def run(*words: str) -> Any:
    return CliRunner().invoke(main, list(words))


def test_a_site_moves_with_everything_and_does_not_move_by_itself(tmp_path: Path, location: str) -> None:
    site = empty_site(tmp_path / "site")
    opened = open_gate(site)
    opened.accounts.add_user("ann", "custodian")
    key = opened.accounts.keys.new("ann").secret
    opened.log.note("site.note", user="ann", body={"text": "naïve 漢字"})
    ledger = SqliteBudgets(opened.log.database, now, log=opened.log)
    ledger.reserve("q_1", "key", [Scope("dataset", "p", "p", 1.0)], Cost(0.1, 0.0, 0.005))
    head = opened.log.head()
    opened.log.database.close()

    site = with_setting(site, location)
    with pytest.raises(ConfigError, match="accounts and a log"):
        open_gate(site)
    moved = run("migrate", "--site", str(site.folder))
    assert moved.exit_code == 0, moved.output
    assert "Moved control.db to the server" in moved.output
    assert not site.control.exists()
    opened = open_gate(site)
    assert opened.log.hash_at(head.entries) == head.head
    opened.log.verify()
    assert opened.accounts.keys.authenticate(key).name == "ann"
    assert not compare_ledger(opened).wrong
    again = run("migrate", "--site", str(site.folder))
    assert "Already on the server" in again.output
    doctor = run("doctor", "--site", str(site.folder))
    assert "control" in doctor.output
    backup = run("backup", str(tmp_path / "backup"), "--site", str(site.folder))
    assert backup.exit_code == 0, backup.output
    restored = run("restore", str(tmp_path / "backup"), "--site", str(tmp_path / "other"))
    assert restored.exit_code != 0
    assert "PostgreSQL server" in restored.output
    assert not (tmp_path / "other").exists()
    opened.log.database.close()


def test_two_gates_of_a_new_site_share_accounts_and_one_log(tmp_path: Path, location: str) -> None:
    first = with_setting(empty_site(tmp_path / "one"), location)
    second = open_site(Path(shutil.copytree(first.folder, tmp_path / "two")))
    here, there = open_gate(first), open_gate(second)
    here.accounts.add_user("ann", "researcher")
    key = here.accounts.keys.new("ann")
    assert there.accounts.keys.authenticate(key.secret).name == "ann"
    here.log.note("site.note", user="ann")
    there.log.note("site.note", user="ann")
    assert here.log.verify() == there.log.verify()
    there.accounts.keys.revoke(key.id)
    with pytest.raises(Exception, match="not valid"):
        here.accounts.keys.authenticate(key.secret)
    here.log.database.close()
    there.log.database.close()


@pytest.mark.parametrize("location", ["mysql://a@b/c", "postgresql://gate:secret@127.0.0.1:1/none"])
def test_a_server_that_cannot_be_reached_is_told_without_the_password(tmp_path: Path, location: str) -> None:
    site = with_setting(empty_site(tmp_path / "site"), location)
    with pytest.raises(ConfigError) as caught:
        open_gate(site)
    assert "secret" not in str(caught.value) + caught.value.remedy
    assert run("user", "list", "--site", str(site.folder)).exit_code != 0
