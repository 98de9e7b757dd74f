"""What descriptions tell of sharp conditions: conditions there are exact, and others are not called so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querygate.cli.describe import plain_lines
from querygate.core.errors import NotPermitted
from querygate.core.limits.deadline import over_the_limit
from querygate.core.types import Principal, Request
from querygate.gate import description
from querygate.gate.answer import answer
from querygate.gate.description import describe_version
from querygate.gate.widths import mean_widths
from querygate.site.open_gate import OpenSite
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.shapes import misfits
from tests.wide_study import publish_study

ANN = Principal("ann", "researcher")


@pytest.fixture(params=["classes", "views"])
def opened(request: pytest.FixtureRequest) -> OpenSite:
    found: OpenSite = request.getfixturevalue(request.param)
    return found


def described(opened: OpenSite) -> Any:
    return describe_version(opened.store.current("study"), opened.gate.native, opened.gate.limits, opened.gate.clock_s)


def width(opened: OpenSite, sql: str) -> float:
    return sum(mean_widths(answer(Request(ANN, "study", sql), opened.gate)))


def test_conditions_at_cuts_are_exact_and_the_cuts_of_the_policy_are_among_them(opened: OpenSite) -> None:
    body = described(opened)
    assert misfits(body, SCHEMAS["Dataset"]) == []
    cuts = {column["name"]: column["cuts"] for column in body["columns"] if "cuts" in column}
    [policy_cuts] = [column["policy_cuts"] for column in body["columns"] if "policy_cuts" in column]
    assert policy_cuts == [30, 40, 50, 60, 70]
    assert set(policy_cuts) < set(cuts["age"])
    for name, listed in cuts.items():
        assert width(opened, f"SELECT COUNT(*) FROM study WHERE {name} >= {listed[len(listed) // 2]}") == 0
    assert any(
        width(opened, f"SELECT COUNT(*) FROM study WHERE age >= {a}") for a in range(21, 79) if a not in cuts["age"]
    )


def test_exact_values_are_exact_and_decided_says_how_many_are(opened: OpenSite) -> None:
    columns = {column["name"]: column for column in described(opened)["columns"]}
    assert (columns["sex"]["exact_values"], columns["sex"]["decided"]) == (["F", "M"], 1.0)
    for name in ("sex", "region", "smoker"):
        for value in columns[name]["exact_values"]:
            text = value.replace("'", "''")
            assert width(opened, f"SELECT COUNT(*) FROM study WHERE {name} = '{text}'") == 0
    assert 0 < columns["region"]["decided"] < 1
    assert "Ost's" not in columns["region"]["exact_values"]


def test_columns_are_told_together_and_examples_are_narrow(opened: OpenSite) -> None:
    body = described(opened)
    together = {tuple(one["columns"]): one["decided"] for one in body["together"]}
    assert together["age", "sex"] == 1.0
    assert together["age", "region"] < 1
    for sql in body["examples"]:
        if "AVG" not in sql:
            assert width(opened, sql) == 0
    assert "SELECT COUNT(*), AVG(sbp) FROM study WHERE age BETWEEN " in " ".join(body["examples"])
    said = plain_lines(body)
    assert "begin or end at 30, 40, 50, 60, 70; also at 20, " in said
    assert "age, sex" in said
    assert "known exactly for 100.0% of the records" in said


def test_without_time_the_description_is_given_without_it(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise over_the_limit()

    monkeypatch.setattr(description, "find_sharpness", late)
    assert "together" not in described(opened)


def test_nothing_is_told_of_the_cells_where_every_answer_is_noisy(tmp_path: Path) -> None:
    noise = {"epsilon_per_query": 1.0, "epsilon_total": 10.0, "epsilon_per_user": 10.0}
    opened = publish_study(tmp_path, answers={"modes": ["laplace"]}, laplace=noise)
    body = described(opened)
    assert "together" not in body
    assert not any({"cuts", "decided", "exact_values"} & set(column) for column in body["columns"])
    with pytest.raises(NotPermitted):
        answer(Request(ANN, "study", "SELECT COUNT(*) FROM study"), opened.gate)
