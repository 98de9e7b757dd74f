"""Categories that the policy has put in order: what the gate says of them is what DuckDB says of an ENUM."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from querygate.core.errors import Refusal
from querygate.core.types import Request
from querygate.gate.answer import answer
from tests.policies import make_policy, public, quasi, sensitive
from tests.property.random_cases import RESEARCHER, Case, publish_case
from tests.property.truth import differences

SCHOOL = ["none", "primary", "secondary", "a degree"]
STAGE = ["II", "I", "IV", "III"]

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (18, 90)),
        "school": quasi("category", values=SCHOOL, ordered=True),
        "stage": sensitive("category", values=STAGE, ordered=True),
        "ward": public("category", values=["b", "a"]),
    },
    k=3,
)
STATEMENTS = (
    "SELECT school, COUNT(*) FROM t GROUP BY school ORDER BY school",
    "SELECT school, COUNT(*) FROM t GROUP BY school ORDER BY school DESC NULLS LAST LIMIT 2",
    "SELECT MIN(school), MAX(school), MIN(ward), MAX(ward), MIN(stage), MAX(stage) FROM t WHERE age > 40",
    "SELECT ward, MIN(stage), MAX(school) FILTER (WHERE age < 60) FROM t GROUP BY ward",
    "SELECT COUNT(*) FROM t WHERE school >= 'primary'",
    "SELECT COUNT(*) FROM t WHERE 'primary' < school AND stage <> 'I'",
    "SELECT COUNT(*) FROM t WHERE school BETWEEN 'primary' AND 'secondary'",
    "SELECT COUNT(*), COUNT(*) FILTER (WHERE NOT stage > 'I') FROM t WHERE NOT (school < 'primary')",
    "SELECT COUNT(*) FROM t WHERE school < 'none' OR (school < 'none') IS NULL",
    "SELECT CASE WHEN stage >= 'IV' THEN 'late' ELSE 'early' END AS s, COUNT(*) FROM t GROUP BY s ORDER BY s",
    "SELECT AVG((school > 'primary')::int), SUM(CASE WHEN stage < 'IV' THEN 1 ELSE 0 END) FROM t",
    "SELECT school, RANK() OVER (ORDER BY school DESC), COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY school) FROM t "
    "WHERE school IS NOT NULL GROUP BY school",
    "SELECT school, n FROM (SELECT school, COUNT(*) AS n FROM t GROUP BY school) WHERE school > 'none' ORDER BY school",
    "SELECT COUNT(*), SUM(n) FROM (SELECT school, COUNT(*) AS n FROM t GROUP BY school) WHERE school > 'none'",
    "SELECT school, COUNT(*) FROM t GROUP BY school HAVING school <= 'primary' ORDER BY school",
    "SELECT COUNT(*) / NULLIF((SELECT COUNT(*) FROM t WHERE stage > 'I'), 0) FROM t WHERE stage > 'IV'",
)


def rows(rng: random.Random, size: int) -> dict[str, list[Any]]:
    def perhaps(values: list[str]) -> str | None:
        return None if rng.random() < 0.1 else rng.choice(values)

    return {
        "age": [rng.randint(18, 90) for _ in range(size)],
        "school": [perhaps(SCHOOL) for _ in range(size)],
        "stage": [perhaps(STAGE[: rng.choice([1, 4])]) for _ in range(size)],
        "ward": [rng.choice(["a", "b"]) for _ in range(size)],
    }


@pytest.fixture(scope="module", params=[5, 80])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("ordered")
    made = publish_case(POLICY.parsed(), rows(random.Random(request.param), request.param), folder)
    assert made is not None
    enums = (f"CREATE TYPE {name} AS ENUM ({', '.join(map(repr, of))})" for name, of in (("sc", SCHOOL), ("st", STAGE)))
    for sql in (*enums, "CREATE TABLE raw AS SELECT * REPLACE (school::sc AS school, stage::st AS stage) FROM t"):
        made.truth.execute(sql)
    return made


@pytest.mark.parametrize("sql", STATEMENTS)
def test_the_truth_of_an_enum_is_inside(case: Case, sql: str) -> None:
    typed = re.sub("'(none|primary|secondary|a degree)'", r"'\1'::sc", sql.replace("FROM t", "FROM raw"))
    true = case.truth.execute(re.sub("'(I{1,3}|IV)'", r"'\1'::st", typed)).fetchall()

    assert differences(answer(Request(RESEARCHER, "t", sql), case.opened.gate), true, sql) == []


def test_groups_come_in_the_order_of_the_policy(case: Case) -> None:
    given = answer(Request(RESEARCHER, "t", STATEMENTS[0]), case.opened.gate)
    shown = [group.keys[0] for group in given.groups]

    assert shown == [value for value in (*SCHOOL, None) if value in shown]


def test_a_value_outside_the_order_is_refused_with_the_order(case: Case) -> None:
    with pytest.raises(Refusal, match="not one of the values") as caught:
        answer(Request(RESEARCHER, "t", "SELECT COUNT(*) FROM t WHERE school > 'college'"), case.opened.gate)
    assert "none, primary, secondary, a degree" in caught.value.remedy


def test_the_order_is_kept_with_the_version_and_told(case: Case) -> None:
    catalog = case.opened.store.current("t").catalog
    asked = Request(RESEARCHER, "t", "SELECT COUNT(*) FROM t WHERE school > 'none'")

    assert [column.order for column in catalog.columns if column.order] == [tuple(SCHOOL), tuple(STAGE)]
    assert any(note.startswith("Values of school were compared") for note in answer(asked, case.opened.gate).notes)


@pytest.mark.parametrize(
    "column",
    [
        quasi("category", ordered=True),
        quasi("category", values=SCHOOL, ordered="yes"),
        quasi("category", values=SCHOOL, ordered=True, rare="other"),
        quasi("integer", (0, 9), ordered=True),
    ],
)
def test_mistakes_in_the_policy_are_told(column: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="ordered"):
        make_policy("t", {"school": column}, k=3).parsed()
