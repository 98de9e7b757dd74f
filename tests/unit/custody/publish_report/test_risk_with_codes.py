"""Whoever knows the codes of a person as well as the class: in the headline, in warnings, and what the advice does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.cli.report import explain_body
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.publish_with_report import Kind, find_report, publish_with_report, read_report
from tests.policies import AGE, make_policy, quasi
from tests.unit.custody.publish.publications import new_site, write_parquet

CODES = ["250.00", "250.01", "401.9", "401.1", "414.01", "428.0", "486", "585.9", "272.4", "496", "311", "530.81"]
ROWS = 300


def study(lists: int) -> dict[str, Any]:
    chance = np.random.default_rng(11)
    columns: dict[str, Any] = {"age": chance.integers(20, 90, ROWS), "sex": chance.choice(["F", "M"], ROWS)}
    for name in ("dx", "px")[:lists]:
        held = [chance.choice(CODES, chance.integers(0, 5), replace=False).tolist() for _ in range(ROWS)]
        columns[name] = [one or None for one in held]
    return columns


def policy(lists: int = 1, k: int = 5, **protect: Any) -> str:
    codes = {"role": "codes", "system": "icd9cm", "protect": protect or {"kind": "k^m", "m": 2}}
    columns = {"age": AGE, "sex": quasi("category", values=["F", "M"])}
    return make_policy("t", columns | dict.fromkeys(("dx", "px")[:lists], codes), k=k, anonymise={"method": "mondrian"})


def published(folder: Path, text: str, lists: int = 1, kind: Kind = "json") -> tuple[dict[str, Any], Path]:
    opened = new_site(folder)
    source = write_parquet(folder / "source.parquet", study(lists))
    done = publish_with_report(opened, parse_policy(text), str(source), user="tester", kind=kind)
    assert done.problem is None, done.problem
    where = find_report(opened, "t", 1)
    return read_report(where), where


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    return published(tmp_path_factory.mktemp("one"), policy(), kind="full")


def of_codes(body: dict[str, Any]) -> list[dict[str, str]]:
    return [warning for warning in body["warnings"] if "codes" in warning["text"]]


def test_records_alone_with_their_codes_are_in_the_headline(told: tuple[dict[str, Any], Path]) -> None:
    body, where = told
    risk = body["risk"]["codes"]
    assert risk["columns"] == ["dx"]
    assert risk["alone"] == pytest.approx(body["codes"][0]["alone"])
    assert risk["alone"] > 0.5
    assert risk["greatest"] == 1
    assert risk["average"] > 5 * body["risk"]["prosecutor"]["average"]
    page = (where / "report.html").read_text(encoding="utf-8")
    assert "records alone in their class with their codes" in page
    assert "prosecutor who also knows all codes of the person (dx)" in page


def test_they_are_the_first_thing_to_look_at(told: tuple[dict[str, Any], Path]) -> None:
    body, where = told
    [warning] = of_codes(body)
    assert f"{body['risk']['codes']['alone']:.1%} of the records" in warning["text"]
    shown = explain_body(body, where)
    assert "No warnings." not in shown
    assert "if all codes of a person are known too" in shown


def test_the_advice_leaves_fewer_alone(told: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    before, _ = told
    assert 'protect = { kind = "classes", m = 2 } in [columns.dx]' in of_codes(before)[0]["advice"]
    after, _ = published(tmp_path, policy(kind="classes", m=2))
    assert after["risk"]["codes"]["alone"] < before["risk"]["codes"]["alone"] / 4
    for warning in of_codes(after):
        assert "larger k" in warning["advice"]
        assert "Protect codes within classes" not in warning["advice"]


def test_a_larger_k_leaves_nobody_alone_and_no_warning(tmp_path: Path) -> None:
    body, _ = published(tmp_path, policy(kind="classes", m=2, k=100))
    assert body["risk"]["codes"]["alone"] == 0
    assert not of_codes(body)


def test_two_lists_are_known_together(tmp_path: Path) -> None:
    body, _ = published(tmp_path, policy(lists=2), lists=2)
    alone = body["risk"]["codes"]["alone"]
    assert body["risk"]["codes"]["columns"] == ["dx", "px"]
    assert alone >= max(one["alone"] for one in body["codes"])
    assert "(dx, px)" in of_codes(body)[0]["text"]


def test_without_codes_there_is_no_such_figure(tmp_path: Path) -> None:
    body, where = published(tmp_path, policy(lists=0), lists=0)
    assert body["risk"]["codes"] is None
    assert not of_codes(body)
    assert "all codes" not in explain_body(body, where)
    body["risk"].pop("codes")  # a report that was kept before
    assert "on average" in explain_body(body, where)
