"""What the custodian is told of a version of views, and what says that it does not know views."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from querygate.cli.dataset import explain_report
from querygate.cli.report import explain_body, tell_of_report
from querygate.core.errors import ConfigError
from querygate.custody.publish_report.view_report import FORMAT
from querygate.custody.publish_report.widened_ranges import (
    FITTED,
    OTHER_POLICY,
    OTHER_RECORDS,
    MedianWidth,
    lost_sharpness,
    sharper,
)
from querygate.custody.use_cases.audits.evidence_reports import report_store, report_users
from querygate.custody.use_cases.publish_with_report import last_report, publish_with_report, read_report, report_again
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_dataset
from querygate.custody.workload.usable_share import Standing
from querygate.gate.description import explain_policy
from querygate.site.open_gate import OpenSite
from tests.policies import WITHHELD, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site, write_parquet

NUMBER = 120
CLASSES = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 99), grid=1, cuts=[50]),
        **{name: quasi("boolean") for name in ("sex", "job", "town")},
        "sbp": sensitive("integer", (40, 300), guard=20),
        "ill": sensitive("boolean"),
        "note": WITHHELD,
    },
    k=4,
)
VIEWS = CLASSES.but(views={"mode": "auto"})


def people() -> dict[str, list[Any]]:
    rng = random.Random(1)
    return {
        "age": [rng.randrange(100) for _ in range(NUMBER)],
        **{name: [rng.random() < 0.5 for _ in range(NUMBER)] for name in ("sex", "job", "town")},
        "sbp": [rng.randrange(90, 180) for _ in range(NUMBER)],
        "ill": [True] * NUMBER,
        "note": ["secret"] * NUMBER,
    }


@pytest.fixture(scope="module", autouse=True)
def few_questions() -> Iterator[None]:
    """Each takes as long as any other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("querygate.custody.publish_report.view_worth.QUESTIONS", {"one view": (8, 2), "others": (3, 1)})
        yield


@pytest.fixture(scope="module")
def place(few_questions: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenSite, Path]:
    folder = tmp_path_factory.mktemp("views")
    opened = new_site(folder)
    source = write_parquet(folder / "people.parquet", people())
    done = publish_with_report(opened, VIEWS.parsed(), str(source), user="tester")
    assert done.problem is None
    assert done.file is not None
    return opened, done.file.parent


def test_the_report_tells_of_every_margin_and_of_what_was_joined(place: tuple[OpenSite, Path]) -> None:
    opened, folder = place
    body: Any = json.loads((folder / "report.json").read_text())
    assert (body["format"], body["headline"]["rows"], body["headline"]["k"] >= 4) == (FORMAT, NUMBER, True)
    views = body["views"]
    assert len(views["margins"]) == len(opened.store.current("t").catalog.margins)
    assert views["least_cut"] >= 4
    silent = [margin for margin in views["margins"] if margin["sensitive"] == ["ill"]]
    assert [margin["withheld"] for margin in silent] == [1.0, 1.0, 1.0]
    assert any("views publish nothing about ill" in warning["text"] for warning in body["warnings"])
    assert all(one["nodes"] > 0 and one["reason"] for one in views["coarsened"])
    page = (folder / "report.html").read_text()
    assert "For the custodian only" in page
    assert "age, sex, job" in page
    for title in ("What the views bring", "Risk against utility", "How good a guess can be", "If people reveal"):
        assert title in page
    assert "data:image/png" in page


def test_what_views_bring_is_compared_with_classes_and_with_twice_the_k(place: tuple[OpenSite, Path]) -> None:
    report: Any = json.loads((place[1] / "report.json").read_text())
    worth = report["worth"]
    assert [(way["name"], way["k"]) for way in worth["ways"]] == [
        ("views", 4),
        ("classes", 4),
        ("views", 8),
    ]
    assert [part["name"] for part in worth["parts"]] == ["one view", "others"]
    assert all(0 < part["asked"] <= part["questions"] for part in worth["parts"])
    for way in worth["ways"]:
        assert all(0 <= part["shares"][0]["share"] <= 1 for part in way["parts"])
        assert way["printed"] is None or 0 <= way["printed"] <= 1
    views, classes = worth["ways"][:2]
    assert [one["unit"] for one in classes["belief"]] == [["sbp"], ["ill"]]
    own, twice = (way["parts"][0]["widths"] for way in (views, worth["ways"][2]))
    assert own.keys() == twice.keys()
    assert all(twice[kind] is None or own[kind] <= twice[kind] for kind in own)
    better = any("With classes instead of views" in one["text"] for one in report["warnings"])
    assert better == (classes["printed"] > views["printed"])
    assert [one["mean"] for one in worth["guess"] if one["unit"] == ["ill"]] == [1.0]  # everybody is


def test_what_could_be_printed_is_told_and_edits_only_where_the_file_is_at_hand(place: tuple[OpenSite, Path]) -> None:
    usable = json.loads((place[1] / "report.json").read_text())["usable"]
    assert usable["standing"]["figures"] > 0
    assert 0 <= usable["standing"]["share"] <= 1
    assert (usable["edits"], "not available" in usable["why_none"]) == ([], True)
    assert "querygate policy preview" in (place[1] / "report.html").read_text()


def test_belief_and_colluders_are_measured_of_what_is_told(place: tuple[OpenSite, Path]) -> None:
    views: Any = json.loads((place[1] / "report.json").read_text())["views"]
    assert views["measured_records"] == NUMBER
    pressure, ill = views["risk"]
    assert 0 < pressure["mean"] < pressure["highest"] < 1
    assert [one["share"] for one in pressure["colluders"]] == [0.01, 0.05]
    few, some = pressure["colluders"]
    assert few["telling"] <= some["telling"] < NUMBER / 5
    assert 0 <= few["exposed"] <= some["exposed"] <= some["most"] < NUMBER
    assert (ill["unit"], ill["records"], ill["mean"]) == (["ill"], 0, None)  # withheld everywhere


def test_joined_classes_are_those_of_the_store(place: tuple[OpenSite, Path], tmp_path: Path) -> None:
    views: Any = json.loads((place[1] / "report.json").read_text())["views"]
    assert views["joined"]
    rows = [dict(zip(people(), row, strict=True)) for row in zip(*people().values(), strict=True)]
    for one in views["joined"]:
        tests = [text.split(" ", 1) for text in one["condition"].split(", ")]
        held = [row for row in rows if all(_meets(row[name], wanted) for name, wanted in tests)]
        assert len(held) == one["people"] >= 4
        assert one["classes"] > 1
        assert (one["rule"] == "R3") == (one["reason"] == "somebody's value would have been certain")


def _meets(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return str(value).lower() in wanted.split(" or ")
    low, _, high = wanted.partition(" to ")
    return int(low) <= value <= int(high or low)


def test_the_report_is_told_in_words(place: tuple[OpenSite, Path]) -> None:
    text = explain_body(read_report(place[1]), place[1])
    assert "Counts, prevalences and means that could be printed" in text
    assert "views, k = 4" in text
    assert "ill: nothing is told" in text
    assert "if 5% tell their values" in text


def test_the_page_speaks_of_records_where_the_policy_names_no_person(place: tuple[OpenSite, Path]) -> None:
    text = place[1].joinpath("report.html").read_text(encoding="utf-8")
    assert "so k counts records" in text
    assert "records that any combination of classes is about" in text
    assert "<dt>people</dt>" not in text


def test_the_report_can_be_made_again_and_printed(place: tuple[OpenSite, Path]) -> None:
    opened, folder = place
    before = (folder / "report.json").read_text()
    assert (report_again(opened, "t", 1) / "report.json").read_text() == before
    assert "views" in read_report(folder)


def test_no_figure_of_classes_is_compared_with_those_of_views(
    place: tuple[OpenSite, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("querygate.custody.publish_report.view_worth.MOST_RECORDS", 0)
    opened = new_site(tmp_path)
    source = str(write_parquet(tmp_path / "people.parquet", people()))
    made = publish_with_report(opened, VIEWS.parsed(), source, user="tester")
    assert made.file is not None
    worth = json.loads((made.file.parent / "report.json").read_text())["worth"]
    assert [way["name"] for way in worth["ways"]] == ["views"]  # the table is too large for a trial
    assert "trial version" in worth["why_alone"]
    assert worth["why_alone"] in made.file.read_text()
    done = publish_with_report(opened, CLASSES.parsed(), source, user="tester", kind="json", on_overlap="retire")
    assert done.problem is None
    assert done.published.views is None
    assert done.file is not None
    assert json.loads(done.file.read_text())["changes"] is None
    assert "views" not in (last_report(opened, "t") or {})


def test_the_publication_is_told_in_words(place: tuple[OpenSite, Path], tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    source = str(write_parquet(tmp_path / "people.parquet", people()))
    done = publish_with_report(opened, VIEWS.parsed(), source, user="tester", kind="none")
    text = explain_report(done.published)
    assert "age, sex, job: sbp" in text
    assert "withheld for 100.0% of records" in text


def test_the_promise_of_views_is_described_as_it_is(place: tuple[OpenSite, Path]) -> None:
    said = " ".join(explain_policy(place[0].store.current("t").catalog))
    assert "Published as 3 views (age, sex, job; age, sex, town; job, town, age)" in said
    assert "shares its published" not in said  # not over all columns at once


def test_reports_know_views_or_say_that_they_do_not(place: tuple[OpenSite, Path]) -> None:
    opened, _ = place
    assert report_store(opened, "t", None, user="tester").version == 1
    with pytest.raises(ConfigError, match="risk report cannot be made"):
        assess_dataset(opened, "t", RiskOptions(), user="tester")
    asked = {"user": "anna", "dataset": "t", "version": 1, "sql": "SELECT COUNT(*) FROM t", "mode": "interval"}
    opened.log.intend("q1", **asked, canonical_hash="x", policy_hash="y")
    opened.log.conclude("q1", "refused", code="QG305")
    assert [one.user for one in report_users(opened, user="tester", dataset=None, since=None)] == ["anna"]


def test_a_version_that_is_clearly_wider_says_so_with_figures(tmp_path: Path, capsys: Any) -> None:
    opened, source = new_site(tmp_path), write_parquet(tmp_path / "people.parquet", people())
    wide = VIEWS.but(k=40, views={"mode": "auto", "frame": ["sex"]})
    bodies = []
    for policy in (VIEWS, VIEWS, wide):
        done = publish_with_report(
            opened, policy.parsed(), str(source), user="tester", kind="json", on_overlap="retire"
        )
        assert done.file is not None
        tell_of_report(done)
        bodies.append((read_report(done.file.parent), capsys.readouterr().err))
    (first, _), (same, quiet), (wider, told) = bodies
    assert first["usable"]["widths"]
    assert (first["usable"]["lost"], same["usable"]["lost"], "Warning" in quiet) == ([], [], False)
    lost = wider["usable"]["lost"]
    assert lost
    assert "version 2" in lost[0]
    assert "age" in " ".join(lost)
    assert {(text, OTHER_POLICY) for text in lost} <= {(one["text"], one["advice"]) for one in wider["warnings"]}
    assert all(text in told for text in lost)


def test_two_policies_are_compared_only_where_there_are_two() -> None:
    before: Any = {"version": 7, "policy": {"k": 5}}
    assert sharper(before, {"k": 6}, fitted=True) == OTHER_POLICY
    assert sharper(before, {"k": 5}, fitted=True) == FITTED
    assert sharper(before, {"k": 5}, fitted=False) == OTHER_RECORDS


def test_no_report_before_and_no_figures_before_say_nothing() -> None:
    now = [MedianWidth("mean", "", 9, 5.0), MedianWidth("", "age", 9, None), MedianWidth("", "sbp", 9, 0.3)]
    before: Any = {"version": 7, "usable": {"standing": None}}
    assert list(lost_sharpness({"version": 7}, Standing(9, 0.1), now)) == []  # type: ignore[typeddict-item]
    assert list(lost_sharpness(before, Standing(9, 0.1), now)) == []
    for then, lines in ((0.1, 1), (4.0, 0), (None, 0)):
        before["usable"] = {
            "standing": {"share": 0.15},
            "widths": [{"kind": "mean", "column": "", "width": then}, {"kind": "", "column": "sbp", "width": 0.2}],
        }
        assert len(list(lost_sharpness(before, Standing(9, 0.1), now))) == lines
    before["usable"]["standing"] = {"share": 0.9}
    (line,) = lost_sharpness(before, Standing(9, 0.1), now)
    assert "10%" in line
    assert "90%" in line
