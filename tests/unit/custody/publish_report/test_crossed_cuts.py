"""Public cuts that classes reach across: the rule that keeps them together is named, and what relaxing it does is what
comes of relaxing it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.cli.report import explain_body
from querygate.custody.policy import parse_policy
from querygate.custody.publish_report import crossed_cuts, k_sweep
from querygate.custody.publish_report.advice import _about_cuts
from querygate.custody.publish_report.crossed_cuts import CrossedCut, CrossedCuts
from querygate.custody.use_cases.publish_with_report import Kind, find_report, publish_with_report, read_report
from querygate.site.open_gate import OpenSite
from tests.engine import reading
from tests.policies import AGE, IDENTIFIER, ILLNESS, PolicyText, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, write_parquet

ADULT = 16
JOBS = ["cook", "judge", "nurse"]
POLICY = make_policy(
    "t",
    {
        "age": AGE | {"cuts": [ADULT, 60]},
        "sex": quasi("category", values=["F", "M"]),
        "job": ILLNESS | {"values": JOBS} | diverse("distinct", l=2),
        "pay": sensitive("integer", (0, 100), bins=10, guard=0),
    },
    k=4,
    anonymise={"method": "mondrian"},
)


def survey(rows: int = 240, seed: int = 11) -> dict[str, list[Any]]:
    """Children have no job, and everybody of 60 and more has nearly the same pay."""
    rng = np.random.default_rng(seed)
    age = [int(a) for a in rng.integers(0, 90, rows)]
    return {
        "age": age,
        "sex": rng.choice(["F", "M"], rows).tolist(),
        "job": [str(rng.choice(JOBS)) if a >= ADULT else None for a in age],
        "pay": [int(rng.integers(38, 42)) if a >= 60 else int(rng.integers(0, 100)) for a in age],
    }


SURVEY = survey()


@pytest.fixture(autouse=True)
def without_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other k are tried elsewhere, and take their time."""
    monkeypatch.setattr(k_sweep, "FACTORS", ())


def told(opened: OpenSite, policy: PolicyText, columns: dict[str, Any], kind: Kind = "json") -> dict[str, Any]:
    source = write_parquet(opened.site.folder.parent / "source.parquet", columns)
    done = publish_with_report(opened, parse_policy(policy), str(source), user="tester", kind=kind)
    assert done.problem is None, done.problem
    return dict(read_report(find_report(opened, "t", 1)))


def across(opened: OpenSite, cut: int) -> tuple[int, int]:
    """Classes and records across a cut of age, by the file that is served."""
    boxes = f"SELECT SUM(n) AS size FROM cells WHERE c0_lo < {cut} AND c0_hi >= {cut} GROUP BY c0_lo, c0_hi, c1_set"
    sql = f"SELECT COUNT(*), COALESCE(SUM(size), 0) FROM ({boxes})"
    with reading(opened.site.store / "t" / "v00001.duckdb") as store:
        [(classes, records)] = store.execute(sql).fetchall()
    return int(classes), int(records)


def of_cut(body: dict[str, Any], cut: int) -> dict[str, Any]:
    (found,) = (one for one in body["crossed_cuts"]["cuts"] if one["cut"] == str(cut))
    return dict(found)


@pytest.mark.parametrize(
    ("changes", "cut", "rule"),
    [
        ({}, ADULT, "distinct diversity of job"),
        ({"job": {"diversity": {"kind": "t-closeness", "t": 0.5}}}, ADULT, "t-closeness diversity of job"),
        ({"pay": {"guard": 10}}, 60, "the guard of pay"),
        ({"pay": {"diversity": {"kind": "em", "epsilon": 6, "m": 1.6}}}, 60, "em diversity of pay"),
    ],
    ids=["distinct", "t-closeness", "guard", "em"],
)
def test_the_rule_is_named_and_dropping_it_does_what_was_told(
    changes: dict[str, Any], cut: int, rule: str, tmp_path: Path
) -> None:
    opened, policy = new_site(tmp_path), POLICY.but(columns=changes)
    body = told(opened, policy, SURVEY)
    found = of_cut(body, cut)
    place = body["crossed_cuts"]["cuts"].index(found)

    assert (found["classes"], found["records"]) == across(opened, cut)
    assert body["crossed_cuts"]["across"][place] == found["records"]
    assert found["rules"][0]["rule"] == rule
    assert found["rules"][0]["classes"] == found["classes"]
    assert [one["rule"] for one in found["rules"] if one["always"]] == [rule]
    dropped = [one for one in body["crossed_cuts"]["relaxed"] if one["rule"] == rule and "missing" not in one["change"]]
    assert len(dropped) == 1
    column = rule.rsplit(" ", 1)[-1]
    gone = {"guard": 0} if "guard" in dropped[0]["change"] else {"diversity": None}
    assert f"[columns.{column}]" in dropped[0]["change"]
    (tmp_path / "after").mkdir()
    after = new_site(tmp_path / "after")
    told(after, policy.but(columns={column: gone}), SURVEY)
    assert across(after, cut)[1] == dropped[0]["across"][place] < found["records"]
    assert dropped[0]["broken_records"] > 0


def test_k_is_named_where_few_are_on_one_side(tmp_path: Path) -> None:
    few = {
        "age": [5, 6, *range(20, 60)],
        "sex": ["F"] * 42,
        "job": [JOBS[i % 3] for i in range(42)],
        "pay": [*range(42)],
    }
    found = of_cut(told(new_site(tmp_path), POLICY, few), ADULT)

    assert [rule["rule"] for rule in found["rules"]] == ["k = 4"]
    assert found["rules"][0]["always"]


def test_people_with_several_rows_are_counted_as_people(tmp_path: Path) -> None:
    twice = {name: [*values, *values] for name, values in SURVEY.items()}
    twice["age"] = [a if a >= ADULT else 40 for a in twice["age"][:-8]] + [3] * 8
    twice["job"] = [JOBS[i % 3] for i in range(len(twice["age"]))]
    twice["mrn"] = [f"p{i}" for i in range(len(twice["age"]) - 8)] + ["a", "b"] * 4  # eight rows of two children
    policy = POLICY.but(person="mrn", columns={"mrn": IDENTIFIER})
    found = of_cut(told(new_site(tmp_path), policy, twice), ADULT)

    assert "k = 4" in [rule["rule"] for rule in found["rules"]]


def test_nothing_is_told_where_all_cuts_are_kept(tmp_path: Path) -> None:
    grown = SURVEY | {"job": [JOBS[i % 3] for i in range(240)]}
    body = told(new_site(tmp_path), POLICY.but(columns={"age": {"cuts": [40]}}), grown)

    assert body["crossed_cuts"]["cuts"] == []
    assert not any("across" in warning["text"] for warning in body["warnings"])


def test_the_page_and_the_command_line_name_it_without_a_raw_value(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    body = told(opened, POLICY, SURVEY, kind="full")
    folder = find_report(opened, "t", 1)
    text = explain_body(read_report(folder), folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    section = page.partition("<h2>Public cuts that classes reach across</h2>")[2].partition("</section>")[0]

    assert "Classes reach across public cuts of age (16). What keeps them together: distinct diversity of job." in text
    assert 'Set missing = "not applicable" in [columns.job]: 0 records would be across' in text
    assert "distinct diversity of job (always; " in section
    assert "Set missing = &#34;not applicable&#34; in [columns.job]" in section
    assert not any(job in section + json.dumps(body["crossed_cuts"]) for job in JOBS)


def test_there_is_a_limit_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossed_cuts, "MOST_SECONDS", -1.0)
    found = told(new_site(tmp_path), POLICY, SURVEY)["crossed_cuts"]

    assert found["relaxed"] == []
    assert any("[columns.job]" in change for change in found["untried"])
    assert found["cuts"][0]["rules"]


def test_what_comes_from_kept_classes_is_not_blamed_on_cuts_or_k() -> None:
    cut = CrossedCut("age", "40", 1, 30, ())
    for across, kept, told in (
        ((0,), True, "0 records would be across, instead of 30, if everybody were divided again."),
        ((0,), False, "Leave out these cuts, or lower k."),
        ((30,), True, "Leave out these cuts, or lower k."),
        ((), True, "Leave out these cuts, or lower k."),
    ):
        found = CrossedCuts("mondrian", 300, False, (cut,), across=across)
        assert told in _about_cuts(found, [0], kept=kept)
