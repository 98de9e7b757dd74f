"""Conditions on code lists: what is accepted, what they mean, and what is refused."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from querygate.core.errors import UnsupportedSQL
from querygate.core.plan import Plan
from querygate.core.ports import Limits
from querygate.core.predicate import FALSE, HasAny
from querygate.core.types import Catalog, Column, Group, Margin, Range
from querygate.gate.description import make_description
from querygate.gate.verdict import expected_width
from querygate.sql import ANOTHER, understand
from querygate.sql.code_tests import codes_under, with_flags
from tests.code_study import CATALOG, EXACT, PAGE, STATEMENTS, publish, random_items, random_rows, raw
from tests.each import each
from tests.seeds import seeds
from tests.sql.study import NATIVE
from tests.unit.sql.plan_reference import as_key, carry_out, disagreements

SEEDS = seeds(25)


@cache
def planned(sql: str) -> Plan:
    return understand(sql, CATALOG, NATIVE)


def shown_in_the_reference() -> list[str]:
    return re.findall(r"^SELECT .*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


@each("sql", [*STATEMENTS, *shown_in_the_reference()])
def test_exact_lists_give_the_answer_of_the_database(sql: str) -> None:
    """Every code an item of its own: then each range closes on what DuckDB says of the raw lists."""
    rows = random_rows(random.Random(7))
    block = publish(rows, EXACT).block
    wrong = disagreements(planned(sql), block, raw(rows).execute(sql).fetchall())
    assert not wrong, wrong


@pytest.mark.parametrize("seed", SEEDS)
def test_generalised_lists_hold_the_answer_of_the_database(seed: int) -> None:
    """Random items, random suppression: DuckDB's answer on the raw lists is inside every range."""
    rng = random.Random(seed)
    rows = random_rows(rng)
    block, database = publish(rows, random_items(rng)).block, raw(rows)
    for sql in STATEMENTS:
        plan = planned(sql)
        wrong = list(outside(plan, carry_out(plan, block), database.execute(sql).fetchall()))
        assert not wrong, (sql, wrong)


def outside(plan: Plan, groups: list[Group], given: list[tuple[Any, ...]]) -> Iterator[str]:
    """What of the truth no range holds: a group, a value, a NULL."""
    kinds = [output.kind for output in plan.outputs[: plan.shown]]
    told = {group.keys: group for group in groups}
    truths = {}
    for row in given:
        key = tuple(as_key(value) for value, kind in zip(row, kinds, strict=True) if kind == "key")
        truths[key] = [value for value, kind in zip(row, kinds, strict=True) if kind == "range"]
    for key, values in truths.items():
        if key not in told:
            yield f"group {key} is missing"
            continue
        for found, value in zip(told[key].ranges, values, strict=True):
            if not holds(found, value):
                yield f"{value} is not in {found}"
    for key, group in told.items():
        if group.certain and key not in truths:
            yield f"group {key} is certain and not there"


def holds(found: Range, value: Any) -> bool:
    if value is None:
        return found.may_be_null
    return found.low is not None and found.high is not None and found.low <= value <= found.high


def test_whole_items_are_exact() -> None:
    rng = random.Random(3)
    rows = random_rows(rng)
    items = [0, 0, 1, 1, 2, 2, 3, 3]
    block, database = publish(rows, items).block, raw(rows)
    sql = "SELECT COUNT(*) FROM t WHERE has_code_under(dx, '250') AND NOT has_any(dx, '401.1', '401.9')"
    [group] = carry_out(planned(sql), block)
    assert group.ranges[0].is_exact
    assert group.ranges[0].low == database.execute(sql).fetchall()[0][0]


def test_two_tests_of_one_list_are_not_told_to_be_independent() -> None:
    """Exposure and outcome on one list: the range is an outer bound, and says so."""
    rows = random_rows(random.Random(3))
    block = publish(rows, [0, 0, 0, 1, 1, 2, 2, 2]).block
    [group] = carry_out(planned("SELECT RISK(has_code(dx, '250.00'), has_code(dx, '401.1')) FROM t"), block)
    assert not group.ranges[0].sharp
    assert group.ranges[0].attained_low is None


# -- what the functions mean -------------------------------------------------------------------------------------------


def where(sql: str, catalog: Catalog = CATALOG) -> object:
    return understand(f"SELECT COUNT(*) FROM t WHERE {sql}", catalog, NATIVE).measures[0].where


def test_one_set_for_all_that_is_asked_with_or() -> None:
    expected = HasAny("dx", frozenset({"401.1", "401.9", "402"}))
    assert where("has_any(dx, '401.1', '402', '401.9')") == expected
    assert where("has_code(dx, '402') OR has_code_under(dx, '401')") == expected
    assert where("has_code(dx, '402') AND NOT has_code_under(dx, '402')") == FALSE


def test_groups_by_spelling() -> None:
    dx = CATALOG.columns[2]
    assert codes_under(dx, "402") == {"402", "4021"}
    assert codes_under(dx, "402.1") == {"4021"}
    assert codes_under(dx, "25") == {"250.00", "250.01"}
    assert codes_under(dx, "") == codes_under(dx, "v10") == frozenset()


def test_groups_of_the_column() -> None:
    """Levels that the spelling does not show; a code may have two parents, and belongs to itself."""
    parents = (
        ("401.1", "hypertension"), ("402", "hypertension"), ("4021", "402"), ("hypertension", "circulatory"),
        ("402", "heart"), ("heart", "circulatory"), ("circulatory", "heart"), ("unlisted", "heart"),
    )  # fmt: skip
    dx = replace(CATALOG.columns[2], parents=parents)
    assert codes_under(dx, "circulatory") == {"401.1", "402", "4021"}
    assert codes_under(dx, "402") == {"402", "4021"}
    assert codes_under(dx, "401.9") == {"401.9"}
    assert codes_under(dx, "401") == frozenset()
    catalog = replace(CATALOG, columns=(dx,))
    assert where("has_code_under(dx, 'hypertension')", catalog) == HasAny("dx", frozenset({"401.1", "402", "4021"}))
    refusal = refused("SELECT COUNT(*) FROM t WHERE has_code_under(dx, 'hypertention')", catalog)
    assert (refusal.code, refusal.remedy) == ("QG207", f"Did you mean 'hypertension'? {ANOTHER}")
    dx = replace(dx, values=(*dx.values, "401"))  # a header of one system, whose codes are in groups of another
    refusal = refused("SELECT COUNT(*) FROM t WHERE has_code_under(dx, '401')", replace(CATALOG, columns=(dx,)))
    assert refusal.code == "QG207"
    assert "in several groups" in refusal.detail


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("has_any(dx, '401.1', '402')", "has_code(dx, '402') OR has_code(dx, '401.1')"),
        ("has_all(dx, '401.1', '402')", "NOT (NOT has_code(dx, '402') OR NOT has_code(dx, '401.1'))"),
        ("has_code_under(dx, '401')", "has_any(dx, '401.9', '401.1', '401.9')"),
        (
            "has_code(dx, '402') AND (age < 5 OR has_code(dx, 'V10'))",
            "(has_code(dx, 'V10') AND has_code(dx, '402')) OR (age < 5 AND has_code(dx, '402'))",
        ),
    ],
)
def test_rewordings_are_one_question(one: str, other: str) -> None:
    hashes = {planned(f"SELECT COUNT(*) FROM t WHERE {condition}").hash for condition in (one, other)}
    assert len(hashes) == 1


def test_different_questions_are_told_apart() -> None:
    conditions = [
        "has_code(dx, '402')", "NOT has_code(dx, '402')", "has_code(dx, '401.1')", "has_any(dx, '402', '401.1')",
        "has_all(dx, '402', '401.1')", "has_code(dx, '402') AND NOT has_code(dx, '401.1')",
    ]  # fmt: skip
    assert len({planned(f"SELECT COUNT(*) FROM t WHERE {condition}").hash for condition in conditions}) == 6


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(sql: str, catalog: Catalog = CATALOG) -> UnsupportedSQL:
    with pytest.raises(UnsupportedSQL) as refusal:
        understand(sql, catalog, NATIVE)
    assert refusal.value.remedy
    assert refusal.value.suggestion is not None
    assert understand(refusal.value.suggestion, catalog, NATIVE)
    return refusal.value


@each(
    "code, condition",
    [
        ("QG209", "has_code(sex, 'F')"),
        ("QG209", "has_code(age, '401.1')"),
        ("QG209", "CASE WHEN has_code(sex, 'F') THEN TRUE END"),
        ("QG209", "has_any('401.1', '401.1')"),
        ("QG209", "has_any()"),
        ("QG209", "has_code(upper(dx), '401.1')"),
        ("QG209", "has_code(dx, '401.1') AND dx = '401.1'"),
        ("QG209", "dx IS NULL"),
        ("QG209", "dx IN ('401.1')"),
        ("QG209", "dx LIKE '401%'"),
        ("QG209", "'401.1' < dx"),
        ("QG209", "dx"),
        ("QG209", "coalesce(dx, 'x') = 'x'"),
        ("QG207", "has_code(dx)"),
        ("QG207", "has_code(dx, '401.1', '402')"),
        ("QG207", "has_code_under(dx, '401', '402')"),
        ("QG207", "has_any(dx)"),
        ("QG207", "has_all(dx)"),
        ("QG207", "has_code(dx, 401)"),
        ("QG207", "has_code(dx, NULL)"),
        ("QG207", "has_code(dx, sex)"),
        ("QG207", "has_code(dx, '40' || '2')"),
        ("QG204", "has_any(dx, ['401.1', '402'])"),
        ("QG207", "has_code(dx, '401.2')"),
        ("QG207", "has_any(dx, '401.1', 'v10')"),
        ("QG207", "has_all(dx, '401.1', '')"),
        ("QG207", "has_code_under(dx, '403')"),
        ("QG207", "has_code_under(dx, '.')"),
        ("QG207", "has_code_under(dx, '')"),
        ("QG204", "has_codes(dx, '401.1')"),
        ("QG208", "list_contains(dx, '401.1')"),
    ],
)
def test_refused_conditions(code: str, condition: str) -> None:
    assert refused(f"SELECT COUNT(*) FROM t WHERE {condition}").code == code


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        ("QG209", "SELECT AVG(dx) FROM t"),
        ("QG209", "SELECT COUNT(dx) FROM t"),
        ("QG209", "SELECT COUNT(DISTINCT dx) FROM t"),
        ("QG209", "SELECT MIN(dx) FROM t"),
        ("QG209", "SELECT dx FROM t"),
        ("QG209", "SELECT dx, COUNT(*) FROM t GROUP BY 1"),
        ("QG210", "SELECT COUNT(*) FROM t GROUP BY dx"),
        ("QG209", "SELECT COUNT(*) FROM t ORDER BY dx"),
        ("QG209", "SELECT SUM(CASE WHEN dx = '401.1' THEN 1 END) FROM t"),
        ("QG209", "SELECT COUNT(*) FROM (SELECT dx AS d FROM t) WHERE d = '402'"),
        ("QG211", "SELECT sex, COUNT(*) FROM t GROUP BY sex HAVING has_code(dx, '402')"),
        ("QG207", "SELECT COUNT(*) FILTER (WHERE has_code(dx, '999')) FROM t"),
        ("QG207", "SELECT has_code(dx, '40') AS g, COUNT(*) FROM t GROUP BY g"),
    ],
)
def test_refused_uses(code: str, sql: str) -> None:
    assert refused(sql).code == code


@pytest.mark.parametrize(
    ("condition", "remedy"),
    [
        ("has_code(dx, '4011')", "Did you mean '401.1'?"),
        ("has_code(dx, '493.0')", "It may be a group of codes: use has_code_under(dx, '...')."),
        ("has_code(dx, '250.02')", "Did you mean '250.01'?"),
        ("has_code(dx, 'xyz')", "The dataset description lists the codes."),
        ("has_code_under(dx, '2501')", "Did you mean '250.01'?"),
        ("has_any(dx)", "Write, for example, has_any(dx, '250.00', '250.01')."),
    ],
)
def test_a_refusal_says_what_may_be_meant(condition: str, remedy: str) -> None:
    assert refused(f"SELECT COUNT(*) FROM t WHERE {condition}").remedy == f"{remedy} {ANOTHER}"


def test_the_place_is_told() -> None:
    span = refused("SELECT COUNT(*) FROM t WHERE has_code(sex, 'F')").span
    assert span is not None
    assert span.column == 30


def test_a_long_list_costs_no_more_than_it_must() -> None:
    values = tuple(f"{i:05d}" for i in range(12_000))
    catalog = Catalog("t", 1, "", 2, 9, (Column("dx", 0, "codes", "codes", False, values=values),))
    listed = ", ".join(f"'{value}'" for value in values[:1_500])
    assert where(f"has_any(dx, {listed})", catalog) == HasAny("dx", frozenset(values[:1_500]))
    assert where("has_code_under(dx, '0')", catalog) == HasAny("dx", frozenset(values[:10_000]))


def test_the_expected_width_is_told() -> None:
    all_of = planned("SELECT COUNT(*) FROM t WHERE has_all(dx, '401.1', '402') AND age < 40")
    mixed = planned("SELECT COUNT(*) FROM t WHERE has_code(dx, '402') AND (age < 5 OR has_code(dx, 'V10'))")
    assert [expected_width(plan, CATALOG) for plan in (all_of, mixed)] == ["sharp", "outer"]


def test_the_description_shows_how() -> None:
    told = make_description(CATALOG, NATIVE, Limits())
    assert any("has_code(dx, '250.00')" in example for example in told["examples"])
    assert any(sentence.startswith("Sets of codes") and "dx" in sentence for sentence in told["policy"])
    [dx] = [column for column in told["columns"] if column["name"] == "dx"]
    assert (dx["type"], dx["values"][:2]) == ("codes", ["250.00", "250.01"])


# -- groups of codes, in views -----------------------------------------------------------------------------------------

FLAGS = tuple(
    Column(name, i, "sensitive", "boolean", False, values=("false", "true")) for i, name in enumerate(("a", "b b"), 1)
)
GROUPED = Catalog(
    "t",
    1,
    "",
    5,
    100,
    (
        Column("age", 0, "quasi-identifier", "integer", False, 0, 100),
        *FLAGS,
        Column(
            "dx", 3, "codes", "codes", False, values=("1", "2", "3", "4"), groups=(("a", ("1", "2")), ("b b", ("3",)))
        ),
    ),
    margins=(Margin(0, ("age",)), Margin(0, ("age",), ("a", "b b"))),
)


@pytest.mark.parametrize(
    ("test", "flags"),
    [
        ("has_any(dx, '2', '1')", "a"),
        ("has_code((DX), '3')", '"b b"'),
        ("NOT has_code_under(dx, '3')", 'NOT "b b"'),
        ("has_any(dx, '1', '3', '2') AND age < 40", '(a OR "b b") AND age < 40'),
        ("has_all(dx, '3', '3') OR age < 40", '"b b" OR age < 40'),
    ],
)
def test_a_test_for_whole_groups_is_the_condition_on_their_flags(test: str, flags: str) -> None:
    asked, meant = (f"SELECT COUNT(*) FROM t WHERE {where}" for where in (test, flags))
    plans = [understand(sql, GROUPED, NATIVE) for sql in (asked, meant, with_flags(asked, GROUPED))]
    assert len({plan.hash for plan in plans}) == 1
    assert "dx" not in with_flags(asked, GROUPED).lower()
    assert with_flags(asked, CATALOG) == asked


@pytest.mark.parametrize("test", ["has_code(dx, '1')", "has_any(dx, '1', '2', '4')", "has_all(dx, '3', '4')"])
def test_a_test_for_anything_else_is_refused_with_the_groups(test: str) -> None:
    with pytest.raises(UnsupportedSQL) as caught:
        understand(f"SELECT COUNT(*) FROM t WHERE {test}", GROUPED, NATIVE)
    assert caught.value.code == "QG217"
    assert caught.value.remedy.startswith("Ask for a whole group: ")
