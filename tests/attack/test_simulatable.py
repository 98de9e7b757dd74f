"""Simulatability: whoever knows the quasi-identifiers could predict every inline decision.

So all decisions over a long log of attacks and honest queries stay the same when every secret of the data is replaced
by random values. What proves the test: a decision that tells secret conditions apart by whom they hold for does change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.types import Catalog, Column
from querygate.custody.audit.answer_ledger import AnswerLedger
from querygate.custody.audit.query_structure import Structure
from querygate.sql.logged.logged_statement import UnauditableStatement, take_apart
from querygate_adapters.vault.raw_records import DuckDBRecords
from tests.attack.logged_attacks import LINEAR, People, make_people
from tests.engine import SharedParquet

KNOWN = ("age", "sex", "region")
SECRET = ("sbp", "dx")
EVERY = (*KNOWN, *SECRET)
USERS = ("eve", "mallory", "trent", "ann", "bob")
VIEWS = {**{user: (user,) for user in USERS}, "project x": ("eve", "mallory"), "organisation o": USERS[:4]}
CATALOG = Catalog(
    "patients",
    1,
    "",
    5,
    300,
    tuple(Column(name, i, "quasi-identifier", "category", True) for i, name in enumerate(KNOWN))
    + tuple(Column(name, 9 + i, "sensitive", "category", True) for i, name in enumerate(SECRET)),
)

Decision = tuple[str, ...]


def scrambled(people: People, seed: int) -> People:
    """The same people, with other secrets; some of them missing."""
    random = np.random.default_rng(seed)
    sbp = [None if random.random() < 0.1 else int(random.integers(40, 300)) for _ in range(people.number)]
    dx = [None if random.random() < 0.1 else str(random.choice(["x", "hiv", "y"])) for _ in range(people.number)]
    return People({**people.columns, "sbp": sbp, "dx": dx})


def make_log(people: People, length: int) -> list[tuple[str, str]]:
    """Attacks of every kind among honest ranges, tables and secret conditions, by several users."""
    random = np.random.default_rng(99)
    attacks = [make for name, make in LINEAR.items() if "modular" not in name]
    log: list[tuple[str, str]] = []
    while len(log) < length:
        if random.random() < 0.15:
            attack = attacks[random.integers(len(attacks))](people, random)
            log += list(attack.queries)
            continue
        low, high = np.sort(random.integers(20, 81, 2)).tolist()
        secret = str(random.choice(["", " AND dx = 'hiv'", " AND NOT dx <> 'hiv'", " AND sbp > 140", " OR dx = 'flu'"]))
        what = str(random.choice(["COUNT(*)", "AVG(sbp)", "MAX(sbp)", "SUM(sbp), VAR_SAMP(sbp)", "COUNT(dx)"]))
        keys = str(random.choice(["", "", " GROUP BY region", " GROUP BY sex, region", " GROUP BY dx"]))
        sql = f"SELECT {what} FROM patients WHERE (age BETWEEN {low} AND {high}){secret}{keys}"
        log.append((str(random.choice(USERS)), sql))
    return log


def records_of(people: People, folder: Path, columns: tuple[str, ...]) -> DuckDBRecords:
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table({name: people.columns[name] for name in columns}), path)
    return DuckDBRecords(SharedParquet(path))


def decide(
    records: DuckDBRecords, log: list[tuple[str, str]], measure: Callable[[str], bytes] = lambda sql: b""
) -> list[Decision]:
    """Every decision, in every view. `measure` may divide the statements into such as are not compared."""
    structure = Structure(records, CATALOG)
    ledgers: dict[bytes, AnswerLedger] = {}
    decisions: list[Decision] = []
    for i, (user, sql) in enumerate(log):
        try:
            sets = structure.sets(sql)
            ledger = ledgers.setdefault(measure(sql), AnswerLedger(structure, CATALOG.k, "everybody"))
        except UnauditableStatement as problem:
            decisions.append((user, str(problem)))
            continue
        found = ledger.judge(user, sets, VIEWS)
        decisions.append((user, *(f"{one.view}: {one.verdict}" for one in found)))
        if not any(one.view == user or one.view.startswith("project") for one in found):
            ledger.take(user, f"q{i}", sets)
    return decisions


def by_whom_it_holds(records: DuckDBRecords) -> Callable[[str], bytes]:
    """What a careless decision would do: secret conditions are the same where they hold for the same people."""

    def measure(sql: str) -> bytes:
        taken = take_apart(sql, (*KNOWN, *SECRET), SECRET)
        secrets = {part.secret for logged in taken for added in logged.added for part in added.parts}
        return b"".join(records.held(secret).tobytes() for secret in sorted(secrets) if secret)

    return measure


@pytest.fixture(scope="module")
def people() -> People:
    return make_people(4242)


@pytest.fixture(scope="module")
def log(people: People) -> list[tuple[str, str]]:
    return make_log(people, 160)


@pytest.fixture(scope="module")
def true_decisions(people: People, log: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> list:
    return decide(records_of(people, tmp_path_factory.mktemp("true"), EVERY), log)


def test_decisions_do_not_depend_on_secrets(
    people: People, log: list[tuple[str, str]], true_decisions: list, tmp_path: Path
) -> None:
    assert sum(len(one) > 1 for one in true_decisions) > 30  # there is something to decide
    assert sum(len(one) == 1 for one in true_decisions) > 30
    assert decide(records_of(scrambled(people, 1), tmp_path, EVERY), log) == true_decisions


def test_secrets_need_not_even_be_there(
    people: People, log: list[tuple[str, str]], true_decisions: list, tmp_path: Path
) -> None:
    assert decide(records_of(people, tmp_path, KNOWN), log) == true_decisions


def test_a_decision_that_peeks_is_found_out(people: People, tmp_path: Path) -> None:
    """Two conditions that hold for nobody are one to it, until they hold for somebody."""
    log = [
        ("eve", "SELECT COUNT(*) FROM patients WHERE age < 50 AND sbp > 190"),
        ("eve", "SELECT COUNT(*) FROM patients WHERE (age < 50 OR age = 51 AND sex = 'F') AND dx = 'x'"),
    ]
    decisions = []
    for i, given in enumerate((people, scrambled(people, 1))):
        (tmp_path / str(i)).mkdir()
        records = records_of(given, tmp_path / str(i), EVERY)
        decisions.append(decide(records, log, by_whom_it_holds(records)))
        assert decide(records, log)[1] == decisions[0][1]  # and one that does not decides alike each time
    assert decisions[0] != decisions[1]
