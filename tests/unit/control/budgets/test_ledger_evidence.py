"""What was spent is in the chain of the log, and a ledger that says otherwise is found out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from querygate.control import Database, Log, SqliteBudgets, discard, load_key, rotate
from querygate.control.budgets.ledger_evidence import (
    CHARGE,
    OPENING,
    REBUILD,
    compare,
    note_opening,
    note_spend,
    spend_of,
)
from querygate.control.budgets.ledger_rebuild import rebuild, replay_missing
from querygate.control.budgets.logged_spending import NotedTotals
from querygate.control.log.head_mark import MARK, set_mark
from querygate.core.budget_ledger import Spend
from querygate.core.budget_types import Cost, PriorAnswer, Reservation, Scope
from querygate.core.errors import BudgetExhausted
from querygate_adapters.store.postgres_budgets import PostgresBudgets
from tests.postgres import Server
from tests.unit.control.conftest import HandClock

EVERYBODY = Scope("dataset", "p", "p", 2.0)
ANN = Scope("user", "ann", "p", 1.0)
ZOË = Scope("user", "Zoë O'Hara 内", "p", 1.0, 1e-6)
TENTH = Cost(0.1, 0.0, 0.005)


@pytest.fixture
def ledger(database: Database, log: Log, clock: HandClock) -> SqliteBudgets:
    return SqliteBudgets(database, clock, log=log, patience_s=0.0)


@pytest.fixture
def change(path: Path) -> Callable[[str], None]:
    """Change the ledger by hand, as somebody who can write the file."""

    def changed(sql: str) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(sql)
        connection.close()

    return changed


def spend(ledger: SqliteBudgets, name: str, *scopes: Scope) -> None:
    assert isinstance(ledger.reserve(f"q_{name}", f"key {name}", scopes or (EVERYBODY, ANN), TENTH), Reservation)


def test_a_spend_is_in_the_log_as_it_is_in_the_ledger(ledger: SqliteBudgets, log: Log) -> None:
    spend(ledger, "one")
    spend(ledger, "two", EVERYBODY, ZOË)
    noted = [event for event in log.events() if event["kind"] == CHARGE]
    assert [(event["query_id"], event["user"]) for event in noted] == [("q_one", "ann"), ("q_two", ZOË.name)]
    assert [spend_of(event)._replace(time="") for event in noted] == [
        one._replace(time="") for one in sorted(ledger.spends(), key=lambda one: one.query_id)
    ]
    assert compare(log, ledger, shared=False) == (2, 0, ()) or compare(log, ledger, shared=False).wrong == ()


def test_a_spend_that_cannot_be_logged_is_no_spend(
    ledger: SqliteBudgets, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "append", full)
    with pytest.raises(OSError, match="No space"):
        spend(ledger, "one")
    assert ledger.spends() == []


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM reservation WHERE query_id = 'q_two'", "the reservation of q_two for dataset p is in the log"),
        ("DELETE FROM charge WHERE query_id = 'q_two' AND kind = 'user'", "charge 2 of user ann for p for q_two is"),
        ("UPDATE charge SET epsilon = epsilon / 2 WHERE query_id = 'q_one'", "charge 1 of dataset p for q_one was"),
        ("UPDATE reservation SET epsilon = 1 WHERE query_id = 'q_one'", "q_one for dataset p was changed"),
        ("UPDATE reservation SET key = 'other' WHERE query_id = 'q_one'", "q_one for dataset p was changed"),
        ("UPDATE charge SET limit_epsilon = 99 WHERE query_id = 'q_two'", "charge 2 of dataset p for q_two was"),
        ("UPDATE reservation SET query_id = 'q_six' WHERE query_id = 'q_two'", "q_six for dataset p is in the ledger"),
        (
            "INSERT INTO reservation SELECT 'q_new', key, dataset, time, epsilon, delta, rho FROM reservation LIMIT 1",
            "q_new for dataset p is in the ledger, but not in the log",
        ),
    ],
)
def test_what_was_changed_by_hand_is_named(
    ledger: SqliteBudgets, log: Log, change: Callable[[str], None], sql: str, said: str
) -> None:
    for name in ("one", "two", "three"):
        spend(ledger, name)
    change(sql)
    assert any(said in text for text in compare(log, ledger, shared=False).wrong)
    log.verify()  # the log itself is sound


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM reservation WHERE query_id = 'q_two'",
        "DELETE FROM charge WHERE query_id = 'q_two' AND kind = 'user'",
        "DELETE FROM charge WHERE number = 3",
        "DELETE FROM charge",
        "UPDATE charge SET epsilon = epsilon / 2 WHERE number = 3",
        "UPDATE charge SET epsilon = epsilon - 1, rho = 0 WHERE kind = 'dataset' AND number = 3",
        "UPDATE charge SET name = 'bob' WHERE name = 'ann' AND number = 3",
        "UPDATE reservation SET epsilon = 1 WHERE query_id = 'q_one'",
        "INSERT INTO charge SELECT dataset, kind, name, 4, query_id || '4', 0, 0, 0, 9, 0 FROM charge WHERE number = 3",
    ],
)
def test_nothing_is_spent_from_a_changed_ledger_until_it_is_rebuilt(
    ledger: SqliteBudgets, log: Log, change: Callable[[str], None], path: Path, clock: HandClock, sql: str
) -> None:
    for name in ("one", "two", "three"):
        spend(ledger, name)
    ledger.record("q_one", "seven")
    before = sorted(one._replace(time="") for one in ledger.spends())
    change(sql)
    fresh = SqliteBudgets(log.database, clock, log=log, patience_s=0.0)  # as after a restart
    for one in (ledger, fresh):
        with pytest.raises(BudgetExhausted, match="match what the log says") as refusal:
            spend(one, "four")
        assert refusal.value.code == "QG402"
    with pytest.raises(BudgetExhausted):
        ledger.write_off("w_1", ANN if "user" in sql or "ann" in sql else EVERYBODY, None)
    assert ledger.reserve("q_again", "key one", (EVERYBODY,), TENTH) == PriorAnswer("seven")  # it was paid for

    rebuild(log, compare(log, ledger, shared=False), user="carl")
    assert compare(log, ledger, shared=False).wrong == ()
    assert sorted(one._replace(time="") for one in ledger.spends()) == before
    spend(ledger, "four")
    spend(fresh, "five")
    assert ledger.verify().reservations == 5
    noted = next(event for event in log.events() if event["kind"] == REBUILD)
    assert (noted["user"], noted["body"]["spends"]) == ("carl", 3)
    assert noted["body"]["wrong"]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), log.database.writing() as connection:
        connection.execute("DELETE FROM charge")
    log.verify()


def test_what_was_not_paid_for_goes_with_the_rebuild(
    ledger: SqliteBudgets, log: Log, change: Callable[[str], None]
) -> None:
    spend(ledger, "one")
    change("INSERT INTO reservation VALUES ('q_new', 'k', 'p', '9999', 0, 0, 0)")
    change("INSERT INTO noisy_answer VALUES ('k', 'q_new', '', 'invented')")
    done = rebuild(log, compare(log, ledger, shared=False), user="carl")
    assert (done.spends, done.answers_removed) == (1, 1)
    assert compare(log, ledger, shared=False).wrong == ()


def test_a_changed_entry_of_the_log_is_not_believed(
    ledger: SqliteBudgets, log: Log, change: Callable[[str], None], clock: HandClock
) -> None:
    spend(ledger, "one")
    change("UPDATE log SET body = replace(body, '100000', '000000')")
    with pytest.raises(BudgetExhausted, match="match what the log says"):
        spend(SqliteBudgets(log.database, clock, log=log, patience_s=0.0), "two")


FORGED = "kind = 'site.start', query_id = NULL, body = '{}'"


@pytest.mark.parametrize(
    "how",
    [
        f"UPDATE log SET {FORGED} WHERE kind = 'budget.charge'",
        f"UPDATE log SET {FORGED} WHERE query_id = 'q_two'",
        f"UPDATE log SET {FORGED} WHERE query_id = 'q_three'",
        "UPDATE log SET kind = 'query.intent' WHERE kind = 'budget.charge'",
        "DELETE FROM log WHERE seq > 4",
        "DELETE FROM log",
    ],
)
def test_the_mark_and_each_spend_miss_entries_that_became_something_else(
    log: Log, change: Callable[[str], None], clock: HandClock, tmp_path: Path, how: str
) -> None:
    """No number is missing then, and ledger and log agree. Seen by who starts anew, and the anchor changes nothing."""
    mark = tmp_path / MARK
    for name in ("one", "two", "three"):
        spend(SqliteBudgets(log.database, clock, log=log, mark=mark, patience_s=0.0), name)
        log.note("site.start", user=None, body={})
    set_mark(log, mark)
    change(how)
    for table in ("noisy_answer", "charge", "reservation"):
        change(f"DELETE FROM {table} WHERE query_id NOT IN (SELECT query_id FROM log WHERE kind = 'budget.charge')")
    log.note("site.start", user=None, body={})
    set_mark(log, mark)
    with pytest.raises(BudgetExhausted) as refusal:
        spend(SqliteBudgets(log.database, clock, log=log, mark=mark, patience_s=0.0), "four")
    assert refusal.value.code == "QG402"


@pytest.mark.parametrize("gone", ["kind = 'budget.charge'", "query_id = 'q_three'", "seq <= 2", "seq > 1"])
def test_nothing_is_spent_once_spends_were_taken_out_of_ledger_and_log(
    ledger: SqliteBudgets, log: Log, change: Callable[[str], None], clock: HandClock, gone: str
) -> None:
    """Both agree then, but entries are numbered without gaps. Whoever removed the end, too, is found by the mark."""
    for name in ("one", "two", "three"):
        spend(ledger, name)
        log.note("site.start", user=None, body={})
    for table in ("noisy_answer", "charge", "reservation"):
        change(f"DELETE FROM {table} WHERE query_id IN (SELECT query_id FROM log WHERE {gone})")
    change(f"DELETE FROM log WHERE {gone}")
    fresh = SqliteBudgets(log.database, clock, log=log, patience_s=0.0)  # as after a restart
    for one in (ledger, fresh) if gone != "seq > 1" else (ledger,):
        with pytest.raises(BudgetExhausted) as refusal:
            spend(one, "four")
        assert refusal.value.code == "QG402"


def test_spends_that_an_opening_tells_of_are_filled_in(
    database: Database, log: Log, clock: HandClock, ledger: SqliteBudgets, change: Callable[[str], None]
) -> None:
    for name in ("old", "older"):
        spend(SqliteBudgets(database, clock, patience_s=0.0), name, EVERYBODY, ZOË)
    spend(ledger, "new")  # which opens with what was there
    assert [event["kind"] for event in log.events()] == [OPENING, CHARGE]
    left = ledger.left([EVERYBODY, ANN, ZOË])
    change("DELETE FROM charge WHERE query_id = 'q_old'")
    with pytest.raises(BudgetExhausted):
        spend(ledger, "newer", EVERYBODY, ZOË)
    done = rebuild(log, compare(log, ledger, shared=False), user="carl")
    assert done.spends == 5  # two of each limit of then, and one
    assert ledger.left([EVERYBODY, ANN, ZOË]) == left
    assert compare(log, ledger, shared=False).wrong == ()
    ledger.verify()
    spend(ledger, "newer", EVERYBODY, ZOË)


def test_totals_outlive_the_entries_that_told_of_them(
    log: Log, clock: HandClock, ledger: SqliteBudgets, path: Path, change: Callable[[str], None]
) -> None:
    spend(ledger, "one", EVERYBODY, ZOË)
    key = load_key(path.parent)
    for name in ("two", "three"):
        clock.pass_minutes(3 * 24 * 60)
        rotate(log, key, timedelta(days=1), user="local")
        fresh = SqliteBudgets(log.database, clock, log=log, patience_s=0.0)
        spend(fresh, name)
        spend(ledger, f"{name} again")
    clock.pass_minutes(9 * 24 * 60)
    rotate(log, key, timedelta(days=1), user="local")
    discard(log, timedelta(days=1), user="local")
    assert compare(log, ledger, shared=False).wrong == ()
    change("DELETE FROM charge WHERE query_id = 'q_one' AND kind = 'user'")
    fresh = SqliteBudgets(log.database, clock, log=log, patience_s=0.0)
    spend(fresh, "four")
    with pytest.raises(BudgetExhausted):
        spend(fresh, "five", EVERYBODY, ZOË)
    log.verify()


def test_a_server_that_was_set_back_is_found_out_and_what_it_lost_is_written_off(
    database: Database, log: Log, postgres: Server
) -> None:
    def note(one: Spend) -> None:
        with log.database.writing() as connection:
            note_spend(log, connection, one)

    name = postgres.new_database()
    url = postgres.url(database=name)
    ledger = PostgresBudgets(url, note=note, check=NotedTotals(log, shared=True).check_lookup, patience_s=0.0)
    other = PostgresBudgets(url, patience_s=0.0)
    ledger.reserve("q_one", "key one", [EVERYBODY, ANN], TENTH)
    other.reserve("q_other", "key two", [EVERYBODY], TENTH)
    ledger.reserve("q_two", "key three", [EVERYBODY, ANN], TENTH)
    postgres.run(
        *(f"ALTER TABLE querygate.{table} DISABLE TRIGGER ALL" for table in ("charge", "reservation")),
        "DELETE FROM querygate.charge WHERE query_id = 'q_two'",
        "DELETE FROM querygate.reservation WHERE query_id = 'q_two'",
        *(f"ALTER TABLE querygate.{table} ENABLE TRIGGER ALL" for table in ("charge", "reservation")),
        database=name,
    )
    with pytest.raises(BudgetExhausted, match="match what the log says"):
        ledger.reserve("q_three", "key four", [EVERYBODY, ANN], TENTH)
    replay_missing(log, ledger, compare(log, ledger, shared=True), lambda: "new", user="carl")
    assert ledger.left([EVERYBODY, ANN]) == pytest.approx([1.7, 0.8])
    assert compare(log, ledger, shared=True).wrong == ()
    ledger.reserve("q_three", "key four", [EVERYBODY, ANN], TENTH)


def test_a_ledger_emptied_by_hand_lacks_everything(
    ledger: SqliteBudgets, log: Log, change: Callable[[str], None]
) -> None:
    for name in ("one", "two"):
        spend(ledger, name)
    change("DELETE FROM charge")
    change("DELETE FROM reservation")
    assert len(compare(log, ledger, shared=False).wrong) == 2


def test_spends_from_before_there_were_entries_are_no_fault(
    database: Database, log: Log, clock: HandClock, ledger: SqliteBudgets, change: Callable[[str], None]
) -> None:
    spend(SqliteBudgets(database, clock, patience_s=0.0), "old")
    assert compare(log, ledger, shared=False).wrong == ()
    clock.pass_minutes(1)
    spend(ledger, "new")
    found = compare(log, ledger, shared=False)
    assert (found.agreed, found.without_entry, found.wrong) == (1, 1, ())


def test_an_opening_holds_what_was_spent_before(
    database: Database, log: Log, clock: HandClock, ledger: SqliteBudgets, change: Callable[[str], None]
) -> None:
    for name in ("old", "older"):
        spend(SqliteBudgets(database, clock, patience_s=0.0), name)
    assert note_opening(log, ledger)
    assert not note_opening(log, ledger)
    assert [event["kind"] for event in log.events()] == [OPENING]
    assert compare(log, ledger, shared=False).wrong == ()
    change("DELETE FROM charge WHERE number = 2 AND kind = 'dataset'")
    assert "charge 2 of dataset p, which the log opens with" in compare(log, ledger, shared=False).wrong[0]


def test_an_empty_ledger_has_no_opening(log: Log, ledger: SqliteBudgets) -> None:
    assert not note_opening(log, ledger)
    assert compare(log, ledger, shared=False).agreed == 0


def test_archived_spends_count_and_discarded_ones_are_no_fault(
    log: Log, clock: HandClock, ledger: SqliteBudgets, path: Path
) -> None:
    spend(ledger, "one")
    clock.pass_minutes(3 * 24 * 60)
    assert rotate(log, load_key(path.parent), timedelta(days=1), user="local")
    spend(ledger, "two")
    assert compare(log, ledger, shared=False).agreed == 2
    assert discard(log, timedelta(days=1), user="local")
    found = compare(log, ledger, shared=False)
    assert (found.agreed, found.without_entry, found.wrong) == (1, 1, ())


def test_on_a_server_the_ledger_comes_first_and_the_log_second(log: Log, postgres: Server) -> None:
    def note(one: Spend) -> None:
        with log.database.writing() as connection:
            note_spend(log, connection, one)

    url = postgres.url(database=postgres.new_database())
    ledger = PostgresBudgets(url, note=note, patience_s=0.0)
    ledger.reserve("q_one", "key one", [EVERYBODY, ANN], TENTH)
    PostgresBudgets(url, patience_s=0.0).reserve("q_other", "key two", [EVERYBODY], TENTH)  # of another gate
    found = compare(log, ledger, shared=True)
    assert (found.agreed, found.without_entry, found.wrong) == (1, 1, ())

    def dies(one: Spend) -> None:
        raise OSError

    with pytest.raises(OSError):
        PostgresBudgets(url, note=dies, patience_s=0.0).reserve("q_dead", "key three", [EVERYBODY], TENTH)
    assert [one.releases for one in ledger.spent("p") if one.scope.kind == "dataset"] == [3]  # too much, not too little
    assert compare(log, ledger, shared=True).wrong == ()


def test_a_write_off_counts_as_spent_and_the_ledger_still_adds_up(ledger: SqliteBudgets, log: Log) -> None:
    spend(ledger, "one")
    assert ledger.write_off("w_1", ANN, 0.25) == 0.25
    assert ledger.left([ANN]) == pytest.approx([0.65])
    assert ledger.write_off("w_2", EVERYBODY, None) == pytest.approx(1.9)
    assert ledger.left([EVERYBODY]) == (0.0,)
    assert ledger.write_off("w_3", EVERYBODY, None) == 0.0
    assert ledger.write_off("w_4", ZOË, 5.0) == 1.0
    ledger.verify()
    assert compare(log, ledger, shared=False).agreed == 5
