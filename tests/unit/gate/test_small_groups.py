"""The least group of a policy: what it hides, and what it must not hide."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.types import Group, Principal, Request
from querygate.gate.answer import answer
from querygate.gate.query_state import Gate
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.small_release import publish_small


@pytest.fixture(scope="module", params=[None, {}], ids=["classes", "views"])
def gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gate:
    folder: Path = tmp_path_factory.mktemp("small")
    opened = open_gate(init_site(folder / "site"))
    publish_small(opened, folder, 300, answers={"min_group": 20}, views=request.param)
    return opened.gate


def rows(gate: Gate, sql: str) -> tuple[Group, ...]:
    return answer(Request(Principal("ann", "researcher"), "patients", sql), gate).groups


def test_few_groups_of_many_people_are_shown(gate: Gate) -> None:
    inner = "SELECT sex, COUNT(*) AS n, AVG(sbp) AS m FROM patients GROUP BY sex"
    (total,) = rows(gate, f"SELECT SUM(n), MAX(m) - MIN(m) FROM ({inner})")
    assert (total.ranges[0].low or 0) <= 300 <= (total.ranges[0].high or 0)
    assert len(rows(gate, f"SELECT sex, MAX(n) FROM ({inner}) GROUP BY sex")) == 3


def test_few_groups_of_few_people_are_not(gate: Gate) -> None:
    inner = "SELECT ward, COUNT(*) AS n FROM patients WHERE age BETWEEN 40 AND 41 AND sex = 'X' GROUP BY ward"
    held = sum(int(group.count.high or 0) for group in rows(gate, inner))
    shown = rows(gate, f"SELECT ward, MAX(n) FROM ({inner}) GROUP BY ward")
    assert held == 0
    assert all((group.ranges[0].high or 0) >= 20 for group in shown)


def test_an_answer_without_a_row_says_why(gate: Gate) -> None:
    sql = "SELECT ward, COUNT(*) FROM patients WHERE age BETWEEN 40 AND 41 AND sex = 'X' GROUP BY ward"
    found = answer(Request(Principal("ann", "researcher"), "patients", sql), gate)
    told = "No row can contain 20 records, so none is shown: ask about more people."
    assert (told in found.notes) == (not found.groups)
    assert not found.groups


def test_a_row_about_nobody_is_shown(gate: Gate) -> None:
    (nobody,) = rows(gate, "SELECT COUNT(*), AVG(sbp) FROM patients WHERE age > 1000")
    assert nobody.ranges[0].is_exact
    assert nobody.ranges[1].is_null


def test_counts_and_windows_beside_them_have_estimates(gate: Gate) -> None:
    sql = "SELECT sex, COUNT(*), 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () FROM patients WHERE age < 44 GROUP BY sex"
    found = rows(gate, sql)
    assert all(estimate.value is not None for group in found for estimate in group.estimates)
    assert rows(gate, "SELECT ROUND(AVG(sbp) * 0, 1) FROM patients")[0].ranges[0].low == 0
