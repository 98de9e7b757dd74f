"""The ledger of privacy budgets on a PostgreSQL server, for several gates that share a budget.

    postgresql://gate@host:5432/database#schema        (without a fragment: the schema querygate)

    reservation     what was paid for, and when
    charge          against which limits, with the total after it
    noisy_answer    the answer for a key

`core/budget_ledger.py` says what is decided, and why. Here a transaction begins with an advisory lock for its dataset,
which ends with its holder, and everything it reads afterwards was committed before (READ COMMITTED takes a new snapshot
for each statement). If somebody writes without the lock, the primary key and the trigger of `charge` let only one of
the two in. A commit is on the server's disk when it returns, whatever the server's own default.

The log entry that is evidence of a spend follows the commit, before anything is drawn. A crash between them leaves a
spend without a log entry: too much is counted, never too little. A gate spends only if the server still has what the
log last noted for each limit: a server that was restored from a backup has forgotten.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from psycopg import sql

from querygate.core.budget_ledger import Charge, Ledger, Spend
from querygate.core.budget_types import BudgetAccounting, Scope, Sequential, SpentTotal
from querygate.core.types import Scalar
from querygate_adapters.store.catalog_json import Row
from querygate_adapters.store.postgres_connection import Connection, Location, told
from querygate_adapters.store.postgres_store import SCHEMA, ConnectionPool

CODE = "QG804"

_NAMES = ("reservation", "charge", "noisy_answer", "append_only", "adds_up")
_TABLES = """
CREATE TABLE {reservation} (
    query_id text PRIMARY KEY, key text NOT NULL, dataset text NOT NULL,
    time timestamptz NOT NULL DEFAULT clock_timestamp(),
    epsilon bigint NOT NULL CHECK (epsilon >= 0), delta bigint NOT NULL CHECK (delta >= 0),
    rho bigint NOT NULL CHECK (rho >= 0), UNIQUE (query_id, key));
CREATE INDEX ON {reservation} (key, time);
CREATE TABLE {charge} (
    dataset text, kind text CHECK (kind IN ('user', 'group', 'dataset')), name text, number bigint,
    query_id text NOT NULL REFERENCES {reservation}, epsilon bigint NOT NULL, delta bigint NOT NULL,
    rho bigint NOT NULL, limit_epsilon double precision NOT NULL, limit_delta double precision NOT NULL,
    PRIMARY KEY (dataset, kind, name, number), UNIQUE (query_id, kind, name));
CREATE TABLE {noisy_answer} (
    key text PRIMARY KEY, query_id text NOT NULL UNIQUE, time timestamptz NOT NULL DEFAULT clock_timestamp(),
    answer text NOT NULL, FOREIGN KEY (query_id, key) REFERENCES {reservation} (query_id, key));
CREATE FUNCTION {append_only}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
CREATE FUNCTION {adds_up}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (NEW.number, NEW.epsilon, NEW.delta, NEW.rho) IS DISTINCT FROM (
        SELECT (coalesce(last.number, 0) + 1, coalesce(last.epsilon, 0) + paid.epsilon,
                coalesce(last.delta, 0) + paid.delta, coalesce(last.rho, 0) + paid.rho)
        FROM {reservation} AS paid LEFT JOIN {charge} AS last
          ON last.dataset = NEW.dataset AND last.kind = NEW.kind AND last.name = NEW.name
        WHERE paid.query_id = NEW.query_id AND paid.dataset = NEW.dataset
        ORDER BY last.number DESC NULLS LAST LIMIT 1)
    THEN RAISE EXCEPTION 'the ledger does not add up'; END IF;
    RETURN NEW; END $$;
CREATE TRIGGER adds_up BEFORE INSERT ON {charge} FOR EACH ROW EXECUTE FUNCTION {adds_up}();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {reservation} EXECUTE FUNCTION {append_only}();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {charge} EXECUTE FUNCTION {append_only}();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {noisy_answer} EXECUTE FUNCTION {append_only}();
"""

# A gate that hangs in a transaction is disconnected, and one that waits for it gives up; nothing is spent then.
_BEGIN = """SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
            SET LOCAL synchronous_commit = on;
            SET LOCAL idle_in_transaction_session_timeout = '10s';
            SET LOCAL lock_timeout = '20s'"""
_ANSWER = "SELECT answer FROM {noisy_answer} WHERE key = %s"
_UNDERWAY = """SELECT 1 FROM {reservation} AS paid
               WHERE key = %s AND time > clock_timestamp() - make_interval(secs => %s)
               AND NOT EXISTS (SELECT 1 FROM {noisy_answer} AS given WHERE given.key = paid.key) LIMIT 1"""
_TOTAL = """SELECT epsilon, delta, rho, number FROM {charge}
            WHERE dataset = %s AND kind = %s AND name = %s ORDER BY number DESC LIMIT 1"""
_CHARGED = """SELECT epsilon, delta, rho, number FROM {charge}
              WHERE dataset = %s AND kind = %s AND name = %s AND number = %s"""
_RESERVE = "INSERT INTO {reservation} (query_id, key, dataset, epsilon, delta, rho) VALUES (%s, %s, %s, %s, %s, %s)"
_CHARGE = """INSERT INTO {charge}
             (dataset, kind, name, number, query_id, epsilon, delta, rho, limit_epsilon, limit_delta)
             VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
_RESERVED = "SELECT key, dataset FROM {reservation} WHERE query_id = %s"
_RECORD = "INSERT INTO {noisy_answer} (key, query_id, answer) VALUES (%s, %s, %s)"
_LAST = """SELECT DISTINCT ON (kind, name) kind, name, dataset, limit_epsilon, limit_delta, epsilon, delta, rho, number
           FROM {charge} WHERE dataset = %s ORDER BY kind, name, number DESC"""
_CHARGES = """SELECT kind, name, one.dataset, limit_epsilon, limit_delta, one.epsilon, one.delta, one.rho, number,
                coalesce(paid.epsilon, 0), coalesce(paid.delta, 0), coalesce(paid.rho, 0), 1, one.query_id
              FROM {charge} AS one LEFT JOIN {reservation} AS paid USING (query_id)
              ORDER BY one.dataset, kind, name, number"""
_RESERVATIONS = "SELECT query_id, key, dataset, epsilon, delta, rho FROM {reservation}"
_CHARGES_OF = """SELECT query_id, kind, name, dataset, limit_epsilon, limit_delta, epsilon, delta, rho, number
                 FROM {charge} ORDER BY query_id, kind, name"""
_COUNTS = """SELECT
    (SELECT count(*) FROM {reservation}),
    (SELECT count(*) FROM {reservation} AS paid
     WHERE NOT EXISTS (SELECT 1 FROM {charge} AS one WHERE one.query_id = paid.query_id)),
    (SELECT count(*) FROM {noisy_answer}),
    (SELECT count(*) FROM {noisy_answer} AS given WHERE NOT EXISTS (
       SELECT 1 FROM {reservation} AS paid WHERE paid.query_id = given.query_id AND paid.key = given.key))"""


LedgerTest: TypeAlias = Callable[[Sequence[Scope], Callable[[Scope, int], SpentTotal | None]], None]
"""Raises if limits are not what the log says. It gets them, and a function that looks up the total after a charge."""


class PostgresBudgets(Ledger):
    """The budgets in one schema of a database. A question that is already being answered waits up to `patience_s`."""

    def __init__(
        self,
        location: str,
        accounting: BudgetAccounting | None = None,
        *,
        note: Callable[[Spend], None] | None = None,
        check: LedgerTest | None = None,
        patience_s: float = 10.0,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(accounting or Sequential(), patience_s, pause)
        self._note = note
        self._check = check
        self._location = Location.read(location, "QG805")
        self._schema = self._location.fragment or SCHEMA
        self._links = ConnectionPool(self._location)
        self._preparing = threading.Lock()
        self._is_prepared = False

    def prepare(self) -> None:
        """Create the tables if they do not exist. Somebody with the right to create tables does it once; afterwards a
        gate needs only SELECT and INSERT."""
        with told(CODE), self._location.connect(read_only=False) as connection:
            _lock(connection, "")
            [(there,)] = connection.execute("SELECT to_regclass(%s)", [self._name("charge").as_string()]).fetchall()
            if there is not None:
                return
            # The schema may exist already and belong to somebody who may not create one.
            known = connection.execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", [self._schema])
            if known.fetchone() is None:
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self._schema)))
            connection.execute(self._sql(_TABLES))

    @contextmanager
    def _reading(self) -> Iterator[_Page]:
        self._prepare_once()
        with self._links.reading() as connection:
            yield _Page(connection, self._sql)

    @contextmanager
    def _writing(self, dataset: str) -> Iterator[_Page]:
        self._prepare_once()
        with self._links.reading() as connection:
            connection.execute(_BEGIN)
            _lock(connection, f"{self._schema}\0{dataset}")
            page = _Page(connection, self._sql, self._check)
            yield page
        if page.sealed is not None and self._note is not None:
            self._note(page.sealed)

    def _prepare_once(self) -> None:
        with self._preparing:
            if not self._is_prepared:
                self.prepare()
                self._is_prepared = True

    def _name(self, name: str) -> sql.Identifier:
        return sql.Identifier(self._schema, name)

    def _sql(self, text: str) -> sql.Composed:
        return sql.SQL(text).format(**{name: self._name(name) for name in _NAMES})


class _Page:
    """The tables of the ledger, through one connection."""

    def __init__(
        self, connection: Connection, composed: Callable[[str], sql.Composed], check: LedgerTest | None = None
    ) -> None:
        self._connection = connection
        self._composed = composed
        self._check = check
        self.sealed: Spend | None = None

    def answer(self, key: str) -> str | None:
        rows = self._rows(_ANSWER, key)
        return str(rows[0][0]) if rows else None

    def is_underway(self, key: str, since_s: float) -> bool:
        return bool(self._rows(_UNDERWAY, key, since_s))

    def total(self, scope: Scope) -> SpentTotal:
        rows = self._rows(_TOTAL, scope.dataset, scope.kind, scope.name)
        return SpentTotal(*rows[0]) if rows else SpentTotal()

    def check(self, scopes: Sequence[Scope]) -> None:
        if self._check is not None:
            self._check(scopes, self._charged)

    def _charged(self, scope: Scope, number: int) -> SpentTotal | None:
        rows = self._rows(_CHARGED, scope.dataset, scope.kind, scope.name, number)
        return SpentTotal(*rows[0]) if rows else None

    def reserve(self, query_id: str, key: str, dataset: str, cost: SpentTotal) -> None:
        self._run(_RESERVE, query_id, key, dataset, cost.epsilon, cost.delta, cost.rho)

    def charge(self, query_id: str, scope: Scope, total: SpentTotal) -> None:
        whose = (scope.dataset, scope.kind, scope.name, total.releases, query_id)
        self._run(_CHARGE, *whose, total.epsilon, total.delta, total.rho, float(scope.epsilon), float(scope.delta))

    def seal(self, spend: Spend) -> None:
        self.sealed = spend

    def spends(self) -> Iterator[Spend]:
        charges: dict[str, list[tuple[Scope, SpentTotal]]] = defaultdict(list)
        for query_id, *row in self._rows(_CHARGES_OF):
            charges[query_id].append((Scope(*row[:5]), SpentTotal(*row[5:])))
        for query_id, key, dataset, epsilon, delta, rho in self._rows(_RESERVATIONS):
            cost = SpentTotal(epsilon, delta, rho, 1)
            yield Spend(query_id, key, dataset, cost, tuple(charges.pop(query_id, ())))

    def reserved(self, query_id: str) -> tuple[str, str] | None:
        rows = self._rows(_RESERVED, query_id)
        return (rows[0][0], rows[0][1]) if rows else None

    def record(self, query_id: str, key: str, answer: str) -> None:
        self._run(_RECORD, key, query_id, answer)

    def last(self, dataset: str) -> Iterator[tuple[Scope, SpentTotal]]:
        for row in self._rows(_LAST, dataset):
            yield Scope(*row[:5]), SpentTotal(*row[5:])

    def charges(self) -> Iterator[Charge]:
        for row in self._rows(_CHARGES):
            yield Charge(Scope(*row[:5]), SpentTotal(*row[5:9]), SpentTotal(*row[9:13]), row[13])

    def counts(self) -> tuple[int, int, int, int]:
        [(reservations, uncharged, answers, unpaid)] = self._rows(_COUNTS)
        return reservations, uncharged, answers, unpaid

    def _rows(self, text: str, *values: Scalar) -> list[Row]:
        return self._connection.execute(self._composed(text), values).fetchall()

    def _run(self, text: str, *values: Scalar) -> None:
        self._connection.execute(self._composed(text), values)


def _lock(connection: Connection, name: str) -> None:
    """Held until the transaction ends. If the hashes of two names collide they merely wait for each other."""
    number = int.from_bytes(hashlib.sha256(f"querygate budgets {name}".encode()).digest()[:8], signed=True)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [number])
