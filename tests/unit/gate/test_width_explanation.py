"""Why ranges are wide: causes that add up, records that straddle, and suggestions that are as sharp as they say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.answer_bodies import ExplanationBody
from querygate.core.ports import Limits
from querygate.core.types import Answer, Principal, QueryOptions, Request
from querygate.custody.evidence.replay import replay
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer, ask
from querygate.gate.dry_run import check
from querygate.gate.query_state import Gate
from querygate.gate.width_explanation_text import CUT_SHORT, explanation_lines
from querygate.gate.widths import mean_widths
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.wide_study import BY_CLASSES, BY_VIEWS, POLICY, make_rows, publish_study

ANN = Principal("ann", "researcher")


def explained(opened: OpenSite, sql: str, gate: Gate | None = None) -> Any:
    body = ask(Request(ANN, "study", sql, QueryOptions(explain=True)), gate or opened.gate)
    return body["explanation"]


def asked(opened: OpenSite, sql: str) -> Answer:
    return answer(Request(ANN, "study", sql), opened.gate)


def is_five_times_narrower(opened: OpenSite, sql: str) -> bool:
    """The first suggestion is asked as any statement is, and its width is what was told."""
    first = explained(opened, sql)["suggestions"][0]
    before, after = (mean_widths(asked(opened, text)) for text in (sql, first["sql"]))
    assert list(first["widths"].values()) == pytest.approx(after, rel=1e-5)
    assert any(before)
    return all(now * 5 <= then for now, then in zip(after, before, strict=True))


@pytest.mark.parametrize("sql", BY_CLASSES)
def test_a_wide_answer_from_classes_leads_to_one_five_times_as_narrow(classes: OpenSite, sql: str) -> None:
    assert is_five_times_narrower(classes, sql)


@pytest.mark.parametrize("sql", BY_VIEWS)
def test_a_wide_answer_from_views_leads_to_one_five_times_as_narrow(views: OpenSite, sql: str) -> None:
    assert is_five_times_narrower(views, sql)


@pytest.mark.parametrize("sql", BY_CLASSES)
def test_causes_add_up_to_the_width(classes: OpenSite, sql: str) -> None:
    for column, width in zip(explained(classes, sql)["columns"], mean_widths(asked(classes, sql)), strict=True):
        if width < float("inf"):
            assert sum(cause["width"] for cause in column["causes"]) == pytest.approx(width, rel=1e-4)
            assert sum(cause["share"] for cause in column["causes"]) == pytest.approx(1, abs=0.01)


def test_of_a_count_each_end_costs_the_records_that_straddle_it(classes: OpenSite) -> None:
    told = explained(classes, "SELECT COUNT(*) FROM study WHERE age BETWEEN 35 AND 54")
    costs = {cause["part"]: cause["width"] for cause in told["columns"][0]["causes"]}
    records = {found["part"]: found["records"] for found in told["straddling"]}
    assert costs == records
    assert set(costs) == {"low", "high"}
    for found in told["straddling"]:
        assert sum(one["records"] for one in found["largest"]) <= found["records"]
        low, high = map(int, found["largest"][0]["range"].split(" .. "))
        assert low < (35 if found["part"] == "low" else 55) <= high


def test_an_exact_answer_has_nothing_to_explain(classes: OpenSite) -> None:
    told = explained(classes, "SELECT sex, COUNT(*) FROM study WHERE age >= 40 GROUP BY sex")
    assert [column["causes"] for column in told["columns"]] == [[]]
    assert (told["straddling"], told["suggestions"], told["complete"]) == ([], [], True)
    assert list(explanation_lines(told)) == ["count is exact."]


def test_bins_are_named_where_they_are_the_reason(tmp_path: Path) -> None:
    """Without class sums a mean is as wide as its bins, however sharp its conditions; a share above an edge is not."""
    opened = publish_study(tmp_path, sums="none")
    told = explained(opened, "SELECT AVG(sbp) FROM study WHERE age >= 40")
    assert [(cause["column"], cause["part"]) for cause in told["columns"][0]["causes"]] == [("sbp", "ranges")]
    first = told["suggestions"][0]
    assert "FILTER(WHERE sbp >= " in first["sql"]
    assert first["exact"]
    assert asked(opened, first["sql"]).groups[0].ranges[0].low is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT STDDEV_SAMP(sbp) AS x FROM study WHERE age >= 33",
        "SELECT VAR_POP(sbp) AS x FROM study WHERE age >= 33 AND sex = 'F'",
        "SELECT MEDIAN(sbp) AS x FROM study WHERE age >= 33",
        "SELECT CORR(sbp, weight) AS x FROM study WHERE age >= 33",
    ],
)
def test_in_place_of_a_spread_or_a_relation_a_share_is_told_that_is_sharp(classes: OpenSite, sql: str) -> None:
    """Bins leave statistics of values open, wherever conditions end; how many lie beyond an edge they tell."""
    told = explained(classes, sql)["suggestions"]
    assert any((one["narrower"] is None or one["narrower"] >= 5) and "100.0 * COUNT" in one["sql"] for one in told)


@pytest.fixture(scope="module")
def rare_sex(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """Nine people have a third sex. In the frame of sex they are a cell, and blur nobody else."""
    rows = make_rows()
    sex = ["X" if i < 9 else text for i, text in enumerate(rows["sex"].to_pylist())]
    table = rows.set_column(rows.column_names.index("sex"), "sex", pa.array(sex))
    columns = {"sex": {"values": ["F", "M", "X"]}, "age": {"cuts": [40, 60]}}
    views = {"mode": "spanning", "frame": ["sex"], "spanning": [["age", "sex"], ["sex", "region"]]}
    opened = open_gate(init_site(tmp_path_factory.mktemp("rare") / "site"))
    source = tmp_path_factory.mktemp("source") / "study.parquet"
    pa.parquet.write_table(table, source)
    publish_to(opened, POLICY.but(k=5, views=views, columns=columns).parsed(), str(source), user="local")
    return opened


def test_a_group_of_few_people_is_left_out_before_anybody_else_is_asked_about(rare_sex: OpenSite) -> None:
    sql = "SELECT sex, COUNT(*) FROM study WHERE age >= 40 GROUP BY sex"
    first = explained(rare_sex, sql)["suggestions"][0]

    assert first["sql"] == "SELECT sex, COUNT(*) FROM study WHERE age >= 40 AND sex IN ('F', 'M') GROUP BY sex"
    assert first["changes"] == ["without the group X of sex"]
    assert is_five_times_narrower(rare_sex, sql)
    rollup = explained(rare_sex, "SELECT sex, COUNT(*) FROM study WHERE age >= 40 GROUP BY ROLLUP (sex)")
    assert not any("IN ('F'" in one["sql"] for one in rollup["suggestions"])


def test_cuts_that_only_others_straddle_are_offered(rare_sex: OpenSite) -> None:
    """Where men are cut does not matter to a question about women."""
    told = explained(rare_sex, "SELECT COUNT(*) FROM study WHERE sex = 'F' AND age BETWEEN 35 AND 54")["suggestions"]
    both = explained(rare_sex, "SELECT COUNT(*) FROM study WHERE age BETWEEN 35 AND 54")["suggestions"]

    def moved(found: list[Any]) -> int:
        first, last = re.findall(r"BETWEEN (\d+) AND (\d+)", found[0]["sql"])[0]
        return abs(int(first) - 35) + abs(int(last) - 54)

    assert is_five_times_narrower(rare_sex, "SELECT COUNT(*) FROM study WHERE sex = 'F' AND age BETWEEN 35 AND 54")
    assert moved(told) < moved(both)


def test_columns_that_no_view_has_together_are_named(views: OpenSite) -> None:
    sql = "SELECT sex, region, COUNT(*) FROM study WHERE age >= 40 GROUP BY sex, region"
    told = explained(views, sql)
    assert told["apart"] == [["age", "region", "sex"]]
    assert "No view has age, region, sex together." in explanation_lines(told)
    alone: ExplanationBody = {**told, "suggestions": [], "complete": True}
    assert any(
        line.startswith("No similar query has a narrower range, because no view has")
        for line in explanation_lines(alone)
    )
    assert "apart" not in explained(views, "SELECT sex, COUNT(*) FROM study WHERE age >= 45 GROUP BY sex")


def test_a_key_with_mixed_sets_is_a_cause(classes: OpenSite) -> None:
    told = explained(classes, "SELECT region, COUNT(*) FROM study GROUP BY region")
    assert {cause["part"] for cause in told["columns"][0]["causes"]} == {"key"}
    assert "{" in told["straddling"][0]["largest"][0]["range"]
    assert told["suggestions"][0]["sql"] == "SELECT COUNT(*) FROM study"


def test_without_the_option_nothing_is_tried_and_nothing_is_added(classes: OpenSite) -> None:
    sql = BY_CLASSES[0]
    plain = ask(Request(ANN, "study", sql), classes.gate)
    told = ask(Request(ANN, "study", sql, QueryOptions(explain=True)), classes.gate)
    volatile = ("query_id", "elapsed_ms")
    assert "explanation" not in plain
    assert {k: v for k, v in plain.items() if k not in volatile} == {
        k: v for k, v in told.items() if k not in (*volatile, "explanation")
    }


def test_an_explanation_is_logged_with_its_answer_and_the_answer_is_replayed(classes: OpenSite) -> None:
    body = ask(Request(ANN, "study", BY_CLASSES[1], QueryOptions(explain=True)), classes.gate)
    found = classes.log.answer(body["query_id"])
    assert found is not None
    assert found[1] == body
    entries = classes.log.queries(since=None, user=None, dataset=None, limit=1000)
    again = replay(entries, classes.gate, lambda dataset, version: classes.store.current(dataset))  # type: ignore[arg-type]
    assert again.different == ()
    assert again.same > 0


class FastClock:
    """A clock on which time passes at each look."""

    def __init__(self, step_s: float) -> None:
        self.now_s, self.step_s = 0.0, step_s

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def test_an_explanation_that_takes_too_long_is_cut_and_the_answer_is_given(classes: OpenSite) -> None:
    clock = FastClock(0.05)
    gate = replace(classes.gate, clock_s=clock, limits=Limits(timeout_s=10.0))
    body = ask(Request(ANN, "study", BY_CLASSES[11], QueryOptions(explain=True)), gate)
    assert body["rows"][0]["avg_sbp"]["low"] is not None
    assert not body["explanation"]["complete"]
    assert list(explanation_lines(body["explanation"]))[-1] == CUT_SHORT
    assert clock.now_s < 10.0


def test_a_dry_run_tells_the_width_that_the_answer_has(classes: OpenSite) -> None:
    sql = "SELECT sex, COUNT(*), AVG(sbp) AS mean FROM study WHERE age > 44 GROUP BY sex"
    request = Request(ANN, "study", sql, QueryOptions(explain=True))
    assert list(check(request, classes.gate)["widths"].values()) == pytest.approx(
        mean_widths(asked(classes, sql)), rel=1e-5
    )
    assert "widths" not in check(Request(ANN, "study", sql), classes.gate)


@pytest.mark.parametrize("by_views", [False, True], ids=["classes", "views"])
def test_the_same_store_gives_the_same_explanation(tmp_path: Path, by_views: bool) -> None:
    """Twin tables: other people within the same published ranges. Nothing that is told tells them apart."""
    table = make_rows(300)
    ages = [age - age % 10 + (age % 10 + 5) % 10 for age in table["age"].to_pylist()]
    twin = table.set_column(0, "age", pa.array(ages))
    assert twin["age"] != table["age"]
    found = []
    for name, rows in (("one", table), ("two", twin)):
        (tmp_path / name).mkdir()
        decades = {"age": {"grid": 10, "cuts": None}}
        opened = publish_study(tmp_path / name, rows, views=by_views, columns=decades)
        found.append([explained(opened, sql) for sql in BY_VIEWS[::4]])
    assert any(told["straddling"] for told in found[0])
    assert json.dumps(found[0]) == json.dumps(found[1])


def test_ranges_of_few_records_are_not_listed(classes: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    release = classes.store.current("study")
    before = explained(classes, BY_CLASSES[0])["straddling"]
    least = 1 + min(one["records"] for found in before for one in found["largest"])
    monkeypatch.setattr(release, "catalog", replace(release.catalog, min_group=least))
    told = explained(classes, BY_CLASSES[0])
    listed = [one["records"] for found in told["straddling"] for one in found["largest"]]
    assert all(records >= least for records in listed)
    assert [found["records"] for found in told["straddling"]] == [found["records"] for found in before]
    assert list(explanation_lines(told))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM study WHERE age BETWEEN 30 AND 39 UNION ALL SELECT COUNT(*) FROM study WHERE age > 44",
        "SELECT MAX(n) FROM (SELECT sex, COUNT(*) AS n FROM study WHERE age > 44 GROUP BY sex)",
        "SELECT COUNT(*) FROM study WHERE age > 44.5 OR weight IS NULL",
        "SELECT sex, region, COUNT(*) FROM study WHERE age > 44 GROUP BY ROLLUP (sex, region)",
        "SELECT COUNT(*) FROM study WHERE region IN ('Nord', 'Ost''s') AND sex <> 'F'",
        "SELECT CORR(sbp, weight), STDDEV(sbp), MEDIAN(weight) FROM study WHERE age < 33",
        "SELECT COUNT(*) FROM study WHERE age + 1 > sbp / 2",
        "SELECT COUNT(*) FROM study WHERE age BETWEEN 90 AND 95",
        "SELECT region, COUNT(*) AS n FROM study WHERE age > 44 GROUP BY 1 HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 2",
        "SELECT MIN(age), MAX(sbp) FROM study WHERE weight >= 81.3",
    ],
)
def test_statements_of_every_form_are_explained(classes: OpenSite, sql: str) -> None:
    told = explained(classes, sql)
    assert all(suggestion["widths"] for suggestion in told["suggestions"])
    for suggestion in told["suggestions"]:
        asked(classes, suggestion["sql"])
        assert suggestion["changes"]
    assert list(explanation_lines(told))
