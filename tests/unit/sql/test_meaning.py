"""What the gate understands is what DuckDB understands, shown by carrying both out on the rows of a small table.

Nothing here says which texts are accepted: a text may be refused, but never read in another way, and nothing is
accepted that DuckDB would not run.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import duckdb
import pytest

from querygate.bounds import count_bounds
from querygate.core.errors import Refusal
from querygate.core.plan import Plan
from querygate.sql import understand
from tests.each import each
from tests.sql.study import AXIS_ROWS, CATALOG, NATIVE, raw, samples
from tests.unit.sql import random_sql
from tests.unit.sql.plan_reference import agrees, exact_block

BLOCK = exact_block(AXIS_ROWS, CATALOG)
ACCEPTED = [sample.sql for sample in samples("accepted")]


def plan_of(sql: str) -> Plan | None:
    try:
        return understand(sql, CATALOG, NATIVE)
    except Refusal:
        return None


def selected_by_duckdb(condition: str) -> set[int]:
    return {row[0] for row in raw().execute(f"SELECT rowid FROM patients WHERE {condition}").fetchall()}


def check_conditions(conditions: Iterable[str]) -> float:
    """Every accepted condition selects the same rows here and there; the share that was accepted."""
    tried = accepted = 0
    for condition in conditions:
        plan = plan_of(f"SELECT COUNT(*) FROM patients WHERE {condition}")
        tried += 1
        if plan is not None:
            accepted += 1
            least, most = count_bounds(plan.measures[0].where, BLOCK)
            there = selected_by_duckdb(condition)
            assert set(least.nonzero()[0].tolist()) == there == set(most.nonzero()[0].tolist()), condition
    return accepted / tried


@pytest.mark.parametrize("seed", range(2))
def test_conditions_bind_and_compare_as_in_duckdb(seed: int) -> None:
    rng = random.Random(seed)

    assert check_conditions(random_sql.condition(rng) for _ in range(100)) > 0.3


@pytest.mark.parametrize("seed", range(2))
def test_conditions_with_a_word_amiss(seed: int) -> None:
    rng = random.Random(100 + seed)
    texts = [random_sql.amiss(rng, random_sql.condition(rng), random_sql.WORDS) for _ in range(100)]

    assert check_conditions(texts) > 0


@pytest.mark.parametrize("seed", range(2))
def test_numbers_are_compared_as_in_duckdb(seed: int) -> None:
    rng = random.Random(200 + seed)

    def one() -> str:
        name = rng.choice(["age", "sbp", "weight", "pulse", "pulse"])
        operator = rng.choice([*random_sql.COMPARISONS, "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
        a, b = random_sql.number(rng), random_sql.number(rng)
        compared = [f"{name} {operator} {a}", f"{a} {operator} {name}"]
        listed = [f"{name} IN ({a}, {b})", f"{name} NOT IN ({b}, {a})", f"{name} BETWEEN {a} AND {b}"]
        return rng.choice(compared + listed)

    assert check_conditions(one() for _ in range(130)) > 0.3


def check_statements(statements: Iterable[str]) -> int:
    """Every accepted statement gives the rows of its plan, in the order of its plan; how many were accepted."""
    accepted = 0
    for sql in statements:
        plan = plan_of(sql)
        if plan is not None:
            accepted += 1
            assert agrees(plan, BLOCK, raw().execute(sql).fetchall()), sql
    return accepted


@pytest.mark.parametrize("seed", range(2))
def test_names_positions_and_order_mean_what_they_mean_in_duckdb(seed: int) -> None:
    rng = random.Random(300 + seed)

    assert check_statements(random_sql.statement(rng) for _ in range(130)) > 15


@pytest.mark.parametrize("seed", range(2))
def test_statements_with_a_word_amiss(seed: int) -> None:
    rng = random.Random(400 + seed)
    texts = [random_sql.amiss(rng, rng.choice(ACCEPTED), random_sql.STRAY) for _ in range(130)]

    assert check_statements(texts) > 0


@pytest.mark.parametrize(
    "condition",
    [
        "sbp IN (120, NULL) IS NOT TRUE",
        "sbp NOT IN () IS NOT FALSE",
        "NOT sbp = 120 IS TRUE",
        "NOT smoker IS NOT NULL IS TRUE",
        "smoker IS DISTINCT FROM TRUE IS NOT FALSE",
        "weight > 0.1 AND weight < 0.5",
        "weight = 0.10000000000000002e0",
        "pulse > 9007199254740992.5",
        "city > 'Linz' OR city < ''",
        "age=40AND sbp=120OR smoker",
        "age/**/>/* */39--\n",
        "age>.5AND age<5.",
        "born BETWEEN '1900-01-01' AND '1970-01-01' IS NOT TRUE",
        'patients."Age" = 40 AND "SEX" = \'F\'',
        "city = 'graz' OR city = 'Ähren'",
        "smoker > FALSE OR smoker <= FALSE",
    ],
)
def test_examples_that_are_easily_got_wrong(condition: str) -> None:
    assert check_conditions([condition]) == 1.0


@pytest.mark.parametrize(
    ("accepted", "refused"),
    [
        ("age IN (40, NULL)", "age IN [40, NULL]"),  # a list is searched, and NULL in it is not unknown
        ("age = 40 AND sbp = 120", "age = 40 && sbp = 120"),
        ("weight < 1.5", "weight < 1.500000000000000000000001"),
        ("city = 'Graz'", "city = $$Graz$$"),
    ],
)
def test_near_misses(accepted: str, refused: str) -> None:
    assert check_conditions([accepted]) == 1.0
    assert check_conditions([refused]) == 0.0


SPACES = [chr(code) for code in [*range(1, 33), 0x7F, 0x85, 0xA0, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F]]


@each("space", [*SPACES, "\u1680", "\u205f", "\u2060", "\u3000", "\ufeff"])
def test_what_is_a_space_here_is_a_space_there(space: str) -> None:
    sql = f"SELECT{space}COUNT(*){space}FROM patients{space}WHERE age = 40"
    plan = plan_of(sql)
    try:
        found = raw().execute(sql).fetchall()
    except duckdb.Error:
        found = None

    if plan is not None:
        assert found is not None
        assert agrees(plan, BLOCK, found)


@pytest.mark.parametrize("end", ["\n", "\r", "\v", "\f", "\x85", "\u2028"], ids=ascii)
def test_a_comment_ends_here_where_it_ends_there(end: str) -> None:
    sql = f"SELECT COUNT(*) FROM patients -- so far{end}WHERE age = 40"
    plan = plan_of(sql)

    if plan is not None:
        assert agrees(plan, BLOCK, raw().execute(sql).fetchall())
