"""The ledger of privacy budgets: one suite for every place where it is kept."""

from __future__ import annotations

import random
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from querygate.control import Database, SqliteBudgets
from querygate.core.budget_ledger import Ledger, LedgerBroken
from querygate.core.budget_types import (
    EPSILON_PLACES,
    Cost,
    PaidInVain,
    PriorAnswer,
    Reservation,
    Scope,
    Sequential,
    SpentTotal,
)
from querygate.core.errors import BudgetExhausted, ConfigError
from querygate_adapters.store import postgres_budgets
from querygate_adapters.store.postgres_budgets import PostgresBudgets
from tests.postgres import Server
from tests.work import HANG_S

EVERYBODY = Scope("dataset", "p", "p", 2.0)
ANN = Scope("user", "ann", "p", 1.0)
BOB = Scope("user", "bob", "p", 1.0)
TENTH = Cost(0.1, 0.0, 0.005)


@dataclass(frozen=True)
class Kept:
    """A ledger that is kept somewhere. `open` gives one more door to it, `run` changes it behind its back."""

    open: Callable[..., Ledger]
    run: Callable[[str], Any]
    refusal: type[Exception]
    bare: tuple[str, ...]  # what takes the triggers and keys away that stand in the way


def kept_in_sqlite(path: Path) -> Iterator[Kept]:
    databases: list[Database] = []

    def opened(**options: Any) -> Ledger:
        databases.append(Database(path))
        return SqliteBudgets(databases[-1], lambda: datetime.now(UTC), **options)

    def run(text: str) -> Any:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    triggers = ["charge_adds_up"]
    tables = ("reservation", "charge", "noisy_answer")
    triggers += [f"{table}_no_{change}" for table in tables for change in ("update", "delete")]
    yield Kept(opened, run, sqlite3.IntegrityError, tuple(f"DROP TRIGGER {name}" for name in triggers))
    for database in databases:
        database.close()


def kept_in_postgres(server: Server) -> Iterator[Kept]:
    schema = f"budgets_{secrets.token_hex(4)}"

    def run(text: str) -> Any:
        with psycopg.connect(server.url(), autocommit=True, options=f"-c search_path={schema}") as connection:
            found = connection.execute(text.encode())
            return found.fetchall() if found.description else []

    bare = [f"DROP TRIGGER append_only ON {table}" for table in ("reservation", "charge", "noisy_answer")]
    bare += [
        "DROP TRIGGER adds_up ON charge",
        "ALTER TABLE noisy_answer DROP CONSTRAINT noisy_answer_query_id_key_fkey",
    ]
    bare += ["ALTER TABLE charge DROP CONSTRAINT charge_query_id_fkey"]
    url = f"{server.url()}#{schema}"
    yield Kept(lambda **options: PostgresBudgets(url, **options), run, psycopg.DatabaseError, tuple(bare))
    server.run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, path: Path) -> Iterator[Kept]:
    if request.param == "sqlite":
        yield from kept_in_sqlite(path)
    else:
        yield from kept_in_postgres(request.getfixturevalue("postgres"))


@pytest.fixture
def ledger(kept: Kept) -> Ledger:
    return kept.open(patience_s=0.0)


def spend(ledger: Ledger, name: str, *scopes: Scope, cost: Cost = TENTH) -> Reservation:
    reserved = ledger.reserve(f"q_{name}", f"key {name}", scopes, cost)
    assert isinstance(reserved, Reservation)
    return reserved


def releases(ledger: Ledger, dataset: str = "p") -> dict[str, int]:
    return {one.scope.name: one.releases for one in ledger.spent(dataset)}


# -- spending --------------------------------------------------------------------------------------------------------


def test_ten_tenths_are_one_and_the_eleventh_is_refused(ledger: Ledger) -> None:
    for number in range(10):
        reserved = spend(ledger, str(number), ANN, EVERYBODY)
        assert reserved.id == f"q_{number}"
        assert reserved.left == ((ANN, (9 - number) / 10), (EVERYBODY, (19 - number) / 10))
    with pytest.raises(BudgetExhausted) as refused:
        spend(ledger, "more", ANN, EVERYBODY)
    assert refused.value.code == "QG401"
    assert refused.value.detail == (
        "This answer costs epsilon 0.1, but the privacy budget of user ann for dataset p has only epsilon 0 left."
    )
    assert ledger.left([ANN, EVERYBODY, BOB]) == (0.0, 1.0, 1.0)
    assert ledger.verify() == (10, 0, 2)


def test_every_limit_must_have_room_or_none_is_touched(ledger: Ledger) -> None:
    small = Scope("group", "Heart & Co", "p", 0.15)
    spend(ledger, "a", ANN, small, EVERYBODY)
    before = ledger.spent("p")
    with pytest.raises(BudgetExhausted, match=r"group Heart & Co for dataset p has only epsilon 0.05 left"):
        ledger.reserve("q_b", "key b", [BOB, EVERYBODY, small], TENTH)
    assert ledger.spent("p") == before
    assert "bob" not in releases(ledger)
    with pytest.raises(ValueError, match="no reservation"):
        ledger.record("q_b", "{}")


def test_datasets_and_kinds_of_limits_do_not_mix(ledger: Ledger) -> None:
    same_name = Scope("group", "ann", "p", 0.1)
    elsewhere = Scope("user", "ann", "other", 0.1)
    spend(ledger, "a", ANN, same_name)
    spend(ledger, "b", elsewhere)
    assert ledger.left([ANN, same_name, elsewhere]) == (0.9, 0.0, 0.0)
    assert [(one.scope, one.epsilon, one.rho) for one in ledger.spent("other")] == [(elsewhere, 0.1, 0.005)]


def test_a_limit_is_the_policys_of_today(ledger: Ledger) -> None:
    spend(ledger, "a", Scope("user", "ann", "p", 0.1))
    with pytest.raises(BudgetExhausted):
        spend(ledger, "b", Scope("user", "ann", "p", 0.19))
    raised, lowered = Scope("user", "ann", "p", 0.2), Scope("user", "ann", "p", 0.05)
    spend(ledger, "c", raised)
    assert ledger.left([raised, lowered]) == (0.0, 0.0)
    assert [(one.scope.epsilon, one.epsilon) for one in ledger.spent("p")] == [(0.2, 0.2)]
    assert ledger.verify().reservations == 2


def test_delta_counts_as_well(ledger: Ledger) -> None:
    scope = Scope("dataset", "p", "p", 10.0, 2e-6)
    spend(ledger, "a", scope, cost=Cost(0.1, 1e-6, 0.001))
    spend(ledger, "b", scope, cost=Cost(0.1, 1e-6, 0.001))
    with pytest.raises(BudgetExhausted, match=r"epsilon 0\.1 and delta 1e-06"):
        spend(ledger, "c", scope, cost=Cost(0.1, 1e-6, 0.001))
    [one] = ledger.spent("p")
    assert (one.epsilon, one.delta, one.rho, one.releases) == (0.2, 2e-6, 0.002, 2)


@pytest.mark.parametrize("scopes", [(), (ANN, ANN), (ANN, Scope("dataset", "o", "o", 1.0))])
def test_what_counts_against_no_limit_or_against_one_twice_is_a_mistake(
    ledger: Ledger, scopes: tuple[Scope, ...]
) -> None:
    with pytest.raises(ValueError, match="a reservation needs one or more limits"):
        ledger.reserve("q_1", "key", scopes, TENTH)


def test_a_query_pays_once(kept: Kept, ledger: Ledger) -> None:
    spend(ledger, "a", ANN)
    with pytest.raises(kept.refusal):
        ledger.reserve("q_a", "another key", [ANN], TENTH)
    assert releases(ledger) == {"ann": 1}


def test_a_query_that_is_tried_again_pays_nothing_and_gets_what_it_paid_for(kept: Kept, ledger: Ledger) -> None:
    spend(ledger, "a", ANN)
    with pytest.raises(PaidInVain):
        kept.open().reserve("q_a", "key a", [ANN], TENTH)
    ledger.record("q_a", '{"n": 417}')
    assert kept.open().reserve("q_a", "key a", [ANN], TENTH) == PriorAnswer('{"n": 417}', paid=True)
    assert releases(ledger) == {"ann": 1}


# -- answers ---------------------------------------------------------------------------------------------------------


def test_an_answer_is_given_again_to_anyone_for_nothing(kept: Kept, ledger: Ledger) -> None:
    spend(ledger, "a", ANN, EVERYBODY)
    assert ledger.record("q_a", '{"n": 417}') == '{"n": 417}'
    assert ledger.reserve("q_b", "key a", [Scope("user", "poor", "p", 0.0)], TENTH) == PriorAnswer('{"n": 417}')
    assert kept.open().reserve("q_c", "key a", [BOB], TENTH) == PriorAnswer('{"n": 417}')
    assert releases(ledger) == {"ann": 1, "p": 1}
    assert ledger.verify() == (1, 1, 2)


def test_a_reservation_without_an_answer_stays_spent_and_asking_again_costs_again(ledger: Ledger) -> None:
    spend(ledger, "a", ANN)
    assert isinstance(ledger.reserve("q_again", "key a", [ANN], TENTH), Reservation)
    assert releases(ledger) == {"ann": 2}


def test_the_first_recorded_answer_stands(ledger: Ledger) -> None:
    for name in ("a", "b"):
        assert isinstance(ledger.reserve(f"q_{name}", "key", [ANN], TENTH), Reservation)
    assert ledger.record("q_b", "second asked") == "second asked"
    assert ledger.record("q_a", "first asked") == "second asked"
    assert ledger.record("q_b", "another draw") == "second asked"
    assert ledger.reserve("q_c", "key", [ANN], TENTH) == PriorAnswer("second asked")
    assert ledger.verify() == (2, 1, 1)


def test_whoever_asks_what_is_being_answered_waits_for_it(kept: Kept) -> None:
    ledger, waited, found = kept.open(patience_s=HANG_S), threading.Event(), []
    other = kept.open(patience_s=HANG_S, pause=lambda _: waited.set())
    spend(ledger, "a", ANN)
    asking = threading.Thread(target=lambda: found.append(other.reserve("q_b", "key a", [BOB], TENTH)))
    asking.start()
    assert waited.wait(HANG_S)
    assert found == []
    ledger.record("q_a", "once")
    asking.join(HANG_S)
    assert found == [PriorAnswer("once")]
    assert releases(ledger) == {"ann": 1}


def test_patience_ends_when_nobody_answers(kept: Kept) -> None:
    pauses: list[float] = []
    ledger = kept.open(patience_s=6.0, pause=pauses.append)
    spend(ledger, "a", ANN)
    assert isinstance(ledger.reserve("q_b", "key a", [ANN], TENTH), Reservation)
    assert 0 < len(pauses) <= 600
    assert releases(ledger) == {"ann": 2}


# -- whatever the accounting -----------------------------------------------------------------------------------------


class OfRho:
    """A limit of epsilon as a limit of rho."""

    def fits(self, total: SpentTotal, scope: Scope) -> bool:
        return self.left(total, scope) >= 0

    def left(self, total: SpentTotal, scope: Scope) -> float:
        return scope.epsilon - total.rho / 10**EPSILON_PLACES


def test_the_accounting_decides(kept: Kept) -> None:
    ledger = kept.open(accounting=OfRho())
    half = Cost(1.0, 0.0, 0.5)
    assert [spend(ledger, name, EVERYBODY, cost=half).left[0][1] for name in "abcd"] == [1.5, 1.0, 0.5, 0.0]
    with pytest.raises(BudgetExhausted):
        spend(ledger, "e", EVERYBODY, cost=half)
    assert ledger.verify().reservations == 4
    with pytest.raises(LedgerBroken, match="charge 3 of dataset p is over the limit"):
        kept.open().verify()  # epsilons would have added up


# -- the store itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["reservation", "charge", "noisy_answer"])
def test_nothing_is_changed_or_taken_away(kept: Kept, ledger: Ledger, table: str) -> None:
    spend(ledger, "a", ANN)
    ledger.record("q_a", "{}")
    before = kept.run(f"SELECT * FROM {table}")
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET query_id = 'x'"):
        with pytest.raises(kept.refusal, match="append-only"):
            kept.run(statement)
    assert kept.run(f"SELECT * FROM {table}") == before


@pytest.mark.parametrize(
    ("number", "epsilon"),
    [(2, 10**11), (2, 0), (1, 10**11), (3, 3 * 10**11), (0, 0)],
    ids=["total that was read before", "less", "number that was read before", "gap", "before the first"],
)
def test_a_charge_that_does_not_add_up_is_not_taken(kept: Kept, ledger: Ledger, number: int, epsilon: int) -> None:
    spend(ledger, "a", ANN)
    kept.run(
        "INSERT INTO reservation (query_id, key, dataset, time, epsilon, delta, rho) "
        "VALUES ('q_b', 'k', 'p', '2026-03-01', 100000000000, 0, 0)"
    )
    with pytest.raises(kept.refusal, match="does not add up"):
        kept.run(f"INSERT INTO charge VALUES ('p', 'user', 'ann', {number}, 'q_b', {epsilon}, 0, 5000000000, 1.0, 0.0)")
    kept.run("INSERT INTO charge VALUES ('p', 'user', 'ann', 2, 'q_b', 200000000000, 0, 5000000000, 1.0, 0.0)")
    assert releases(ledger) == {"ann": 2}


def test_an_answer_that_was_not_paid_for_is_not_taken(kept: Kept, ledger: Ledger) -> None:
    spend(ledger, "a", ANN)
    for query_id, key in (("q_x", "key a"), ("q_a", "another")):
        values = f"('{key}', '{query_id}', '2026-03-01', '')"
        with pytest.raises(kept.refusal):
            kept.run(f"INSERT INTO noisy_answer (key, query_id, time, answer) VALUES {values}")
    assert ledger.verify() == (1, 0, 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE charge SET epsilon = epsilon - 1 WHERE number = 2", "charge 2 of user ann for dataset p does not add"),
        ("UPDATE reservation SET epsilon = 2 * epsilon WHERE query_id = 'q_c'", "charge 3 of .* does not add up"),
        ("DELETE FROM charge WHERE number = 2", "1 reservation was not charged"),
        ("DELETE FROM charge", "3 reservations were not charged"),
        ("UPDATE charge SET limit_epsilon = 0.2", "charge 3 of user ann for dataset p is over the limit"),
        ("UPDATE noisy_answer SET key = 'another'", "1 answer was not paid for"),
        ("UPDATE noisy_answer SET query_id = 'q_b'", "1 answer was not paid for"),
    ],
)
def test_verify_adds_up_again(kept: Kept, ledger: Ledger, change: str, told: str) -> None:
    for name in "abc":
        spend(ledger, name, ANN)
    ledger.record("q_a", "{}")
    assert ledger.verify() == (3, 1, 1)
    for statement in (*kept.bare, change):
        kept.run(statement)
    with pytest.raises(LedgerBroken, match=told):
        ledger.verify()


# -- many at once ----------------------------------------------------------------------------------------------------


def test_threads_do_not_overspend(kept: Kept) -> None:
    doors = [kept.open(patience_s=0.0) for _ in range(2)]
    ends: list[str] = []

    def ask(number: int) -> None:
        for turn in range(5):
            try:
                spend(doors[number % 2], f"{number}.{turn}", ANN, EVERYBODY)
                ends.append("reserved")
            except BudgetExhausted as refused:
                ends.append(refused.code)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["QG401"] * 20 + ["reserved"] * 10
    assert doors[0].left([ANN]) == (0.0,)
    assert doors[0].verify().reservations == 10


def test_threads_that_ask_the_same_get_one_answer_for_one_spend(kept: Kept) -> None:
    ledger = kept.open(patience_s=HANG_S)
    given: list[str] = []

    def ask(number: int) -> None:
        found = ledger.reserve(f"q_{number}", "key", [ANN, EVERYBODY], TENTH)
        given.append(found.answer if isinstance(found, PriorAnswer) else ledger.record(f"q_{number}", f"draw {number}"))

    threads = [threading.Thread(target=ask, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 6
    assert len(set(given)) == 1
    assert ledger.verify() == (1, 1, 2)


# -- against a simple model ------------------------------------------------------------------------------------------


class Model:
    """What a ledger means, with fractions, one step after the other."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str, str], Fraction] = {}
        self.keys: dict[str, str] = {}
        self.answers: dict[str, str] = {}

    def reserve(self, query_id: str, key: str, scopes: list[Scope], cost: Cost) -> str:
        if key in self.answers:
            return f"held {self.answers[key]}"
        epsilon = Fraction(repr(cost.epsilon))
        after = {(s.dataset, s.kind, s.name): self._of(s) + epsilon for s in scopes}
        if any(total > Fraction(repr(s.epsilon)) for s, total in zip(scopes, after.values(), strict=True)):
            return "QG401"
        self.spent.update(after)
        self.keys[query_id] = key
        return "reserved"

    def record(self, query_id: str, answer: str) -> str:
        return self.answers.setdefault(self.keys[query_id], answer)

    def left(self, scope: Scope) -> float:
        return float(max(0, Fraction(repr(scope.epsilon)) - self._of(scope)))

    def _of(self, scope: Scope) -> Fraction:
        return self.spent.get((scope.dataset, scope.kind, scope.name), Fraction(0))


@pytest.mark.parametrize("seed", range(3))
def test_random_requests_go_as_in_a_model(kept: Kept, seed: int) -> None:
    rng, model, ledger = random.Random(seed), Model(), kept.open(patience_s=0.0)
    limits = [Scope("user", f"u{n}", "p", rng.choice([0.3, 0.7])) for n in range(3)] + [
        Scope("group", "g", "p", 1.1),
        Scope("dataset", "p", "p", 1.7),
    ]
    seen = set()
    for step in range(60):
        if model.keys and rng.random() < 0.4:
            query_id = rng.choice(list(model.keys))
            assert ledger.record(query_id, f"a{step}") == model.record(query_id, f"a{step}")
        else:
            scopes = rng.sample(limits, rng.randint(1, len(limits)))
            request = (f"q{step}", f"k{rng.randrange(20)}", scopes, Cost(rng.choice([0.01, 0.1, 0.07, 1 / 3])))
            try:
                found = ledger.reserve(*request)
                went = f"held {found.answer}" if isinstance(found, PriorAnswer) else "reserved"
            except BudgetExhausted as refused:
                went = refused.code
            assert went == model.reserve(*request)
            seen.add(went.split()[0])
    assert seen == {"held", "reserved", "QG401"}
    assert ledger.left(limits) == pytest.approx([model.left(scope) for scope in limits], abs=1e-10)
    assert ledger.verify() == (len(model.keys), len(model.answers), len(model.spent))


# -- sums and limits -------------------------------------------------------------------------------------------------


def test_sums_are_rounded_up_and_never_drift() -> None:
    total = SpentTotal()
    for _ in range(1000):
        total = total.plus(Cost(1e-13))
    assert total == SpentTotal(1000, 0, 1000, 1000)  # more than was spent, never less
    assert SpentTotal().plus(Cost(0.1, 1e-7, 0.3)) == SpentTotal(10**11, 10**11, 3 * 10**11, 1)
    assert not Sequential().fits(SpentTotal(epsilon=1), Scope("user", "ann", "p", 9e-13))


def test_a_rho_that_was_not_told_is_never_nothing() -> None:
    assert SpentTotal().plus(Cost(0.2)).rho >= 2 * 10**10
    assert SpentTotal().plus(Cost(0.2, 1e-9)).rho == 1000 * 10**12  # there need not be any


@pytest.mark.parametrize("parts", [(-0.1,), (float("nan"),), (float("inf"),), (0.1, 1.0), (0.1, -1e-9), (0.1, 0, -1)])
def test_a_cost_is_a_number(parts: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="a cost"):
        Cost(*parts)


@pytest.mark.parametrize("limit", [(-0.1,), (float("nan"),), (float("inf"),), (1.0, 1.0), (1e5, 1e-6)])
def test_a_limit_is_a_number(limit: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="a limit"):
        Scope("user", "ann", "p", *limit)


# -- SQLite alone ----------------------------------------------------------------------------------------------------


def test_nothing_is_replaced(path: Path) -> None:
    """INSERT OR REPLACE takes a row away without asking the triggers on DELETE."""
    [kept] = kept_in_sqlite(path)
    ledger = kept.open()
    spend(ledger, "a", ANN)
    ledger.record("q_a", "{}")
    for table in ("reservation", "charge", "noisy_answer"):
        with pytest.raises(sqlite3.IntegrityError, match="the ledger"):
            kept.run(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")
    assert ledger.verify() == (1, 1, 1)


# -- PostgreSQL alone ------------------------------------------------------------------------------------------------


def test_a_gate_needs_no_more_than_to_read_and_to_add(postgres: Server) -> None:
    database, gate = postgres.new_database(), postgres.new_role()
    PostgresBudgets(postgres.url(database=database)).prepare()
    postgres.run(
        f"GRANT USAGE ON SCHEMA querygate TO {gate}",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA querygate TO {gate}",
        database=database,
    )
    ledger = PostgresBudgets(postgres.url(gate, database=database))
    spend(ledger, "a", ANN)
    assert ledger.record("q_a", "{}") == "{}"
    assert ledger.verify() == (1, 1, 1)


def test_who_may_not_make_tables_is_told(postgres: Server) -> None:
    database, role = postgres.new_database(), postgres.new_role()
    with pytest.raises(ConfigError, match="may not do that") as told:
        PostgresBudgets(postgres.url(role, database=database)).left([ANN])
    assert told.value.code == "QG804"


def test_a_lost_connection_is_replaced_and_nothing_is_lost(postgres: Server) -> None:
    database = postgres.new_database()
    ledger = PostgresBudgets(postgres.url(database=database))
    spend(ledger, "a", ANN)
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
    assert ledger.record("q_a", "{}") == "{}"
    assert ledger.verify() == (1, 1, 1)


def test_whoever_waits_too_long_for_another_gate_spends_nothing(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = PostgresBudgets(postgres.url(database=postgres.new_database()))
    spend(ledger, "a", ANN)
    monkeypatch.setattr(postgres_budgets, "_BEGIN", postgres_budgets._BEGIN.replace("20s", "50ms"))
    with ledger._writing("p"), pytest.raises(psycopg.errors.LockNotAvailable):
        spend(ledger, "b", ANN)
    spend(ledger, "c", ANN)
    assert ledger.verify() == (2, 0, 1)
