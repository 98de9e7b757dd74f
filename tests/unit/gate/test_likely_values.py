"""Estimates beside ranges: inside them, the same whatever else is asked, and null with a reason."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.bounds import StackedGroups
from querygate.core.block import MISSING, Block
from querygate.core.cell_stack import CellStack
from querygate.core.plan import Aggregate, FetchedGroup, MeasureCells
from querygate.core.ports import Limits
from querygate.core.types import Catalog, Cells, Estimate, Principal, Request
from querygate.custody.evidence.replay import _difference, replay
from querygate.estimates import points, weighted_statistics
from querygate.gate import likely_values
from querygate.gate.answer import answer, ask
from querygate.gate.answer_rows import compute_groups
from querygate.gate.likely_tables import LikelyTables
from querygate.gate.query_state import Gate, State
from querygate.gate.steps import understand as step_understand
from querygate.gate.steps.estimate import estimate
from querygate.gate.steps.fetch import fetch
from querygate.gate.steps.find import find
from querygate.gate.steps.protect import protect
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate.sql import understand
from tests import code_study
from tests.property.truth import estimates_outside
from tests.small_release import publish_small
from tests.sql.study import NATIVE
from tests.unit.gate.hurried_gate import in_ten_seconds

ANN = Principal("ann", "researcher")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    folder = tmp_path_factory.mktemp("estimates")
    opened = open_gate(init_site(folder / "site"))
    publish_small(opened, folder, 300)
    return opened.gate


@pytest.fixture(scope="module")
def gate_of_views(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    folder = tmp_path_factory.mktemp("views")
    opened = open_gate(init_site(folder / "site"))
    publish_small(opened, folder, 300, views={})
    return opened.gate


@pytest.fixture(params=["gate", "gate_of_views"])
def either(request: pytest.FixtureRequest) -> Gate:
    return request.getfixturevalue(request.param)


def told(gate: Gate, sql: str) -> list[Any]:
    """The estimates of the first row."""
    return [estimate.value for estimate in answer(Request(ANN, "patients", sql), gate).groups[0].estimates]


STATEMENTS = (
    "SELECT COUNT(*), AVG(sbp), MEDIAN(sbp), MIN(sbp), MAX(sbp), STDDEV(sbp) FROM patients WHERE age > 33",
    "SELECT sex, ward, COUNT(*), SUM(sbp) FROM patients WHERE age BETWEEN 21 AND 47 GROUP BY sex, ward",
    "SELECT ward, COUNT(*) FROM patients WHERE age < 44 GROUP BY ROLLUP (ward) HAVING COUNT(*) > 20",
    "SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM patients WHERE age < 44 GROUP BY ward)",
    "SELECT COUNT(DISTINCT ward), COUNT(DISTINCT age), 100.0 * COUNT(*) / 7 FROM patients WHERE age < 44",
    "SELECT sex, COUNT(*) FILTER (WHERE smoker) * 1.0 / COUNT(*) FROM patients WHERE age > 12 GROUP BY sex",
    "SELECT MEAN_DIFF(sbp, age > 50), WELCH_T(sbp, age > 50), RISK_RATIO(age > 50, sbp > 140) FROM patients",
    "SELECT ward, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), AVG(sbp) - LAG(AVG(sbp)) OVER (ORDER BY ward), "
    "SUM(COUNT(*)) OVER (ORDER BY ward) FROM patients WHERE age < 44 GROUP BY ward",
    "SELECT sex, ward, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY sex), 1.0 * COUNT(*) / (SELECT COUNT(*) FROM "
    "patients WHERE age < 71), RANK() OVER (ORDER BY AVG(sbp)) FROM patients WHERE age < 44 GROUP BY sex, ward "
    "HAVING COUNT(*) > 9",
    "SELECT ward, part FROM (SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS part, RANK() OVER (ORDER BY COUNT(*)) "
    "AS r FROM patients WHERE age < 44 GROUP BY ward) WHERE r < 3",
    "SELECT COUNT(*) FROM patients WHERE age < 44 UNION ALL SELECT COUNT(*) FROM patients WHERE age > 71",
)


@pytest.mark.parametrize("sql", STATEMENTS)
def test_an_estimate_is_inside_every_range(sql: str, either: Gate) -> None:
    found = answer(Request(ANN, "patients", sql), either)

    assert [text for group in found.groups for text in estimates_outside(group)] == []
    assert any(estimate.value is not None for group in found.groups for estimate in group.estimates)
    assert likely_values.NOTE in found.notes


def test_an_exact_answer_is_its_own_estimate(either: Gate) -> None:
    found = answer(Request(ANN, "patients", "SELECT COUNT(*) FROM patients"), either)

    assert found.groups[0].estimates[0].value == 300
    assert likely_values.NOTE not in found.notes


def test_an_estimate_is_the_same_whatever_else_is_asked(either: Gate) -> None:
    where = "FROM patients WHERE age BETWEEN 21 AND 47"
    alone = [told(either, f"SELECT {asked} {where}")[0] for asked in ("COUNT(*)", "AVG(sbp)")]

    assert told(either, f"SELECT COUNT(*), AVG(sbp), MAX(weight) {where}")[:2] == alone


def test_parts_add_up(either: Gate) -> None:
    where = "FROM patients WHERE age BETWEEN 21 AND 47"
    parts = answer(Request(ANN, "patients", f"SELECT ward, COUNT(*) {where} GROUP BY ward"), either).groups
    whole = told(either, f"SELECT COUNT(*) {where}")[0]

    assert sum(part.estimates[0].value or 0 for part in parts) == pytest.approx(whole, abs=4)


def test_shares_of_a_total_are_those_of_the_estimated_counts(either: Gate) -> None:
    sql = "SELECT ward, COUNT(*), 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () FROM patients WHERE age < 44 GROUP BY ward"
    found = [
        [estimate.value for estimate in group.estimates]
        for group in answer(Request(ANN, "patients", sql), either).groups
    ]
    total = sum(count or 0 for count, _ in found)

    assert all(count is not None and share is not None for count, share in found)
    assert [share for _, share in found] == pytest.approx([100 * (count or 0) / total for count, _ in found], abs=1.0)
    assert sum(share or 0 for _, share in found) == pytest.approx(100, abs=1.0)


def test_a_null_says_that_it_is_one(gate: Gate) -> None:
    body = ask(Request(ANN, "patients", "SELECT AVG(sbp) AS x FROM patients WHERE age > 1000"), gate)

    assert body["rows"][0]["x"]["estimate"] is None
    assert body["rows"][0]["x"]["estimate_note"] == likely_values.NULL


def test_nobody_expected_is_a_reason(gate: Gate) -> None:
    """One who is 21 may have each of some thousand values: such a group is possible, and nobody is likely in it."""
    sql = "SELECT AVG(weight) AS x FROM patients WHERE age = 21 AND weight BETWEEN 61.00001 AND 61.000011"
    found = ask(Request(ANN, "patients", sql), gate)["rows"][0]["x"]

    assert found["low"] is not None
    assert found["estimate"] is None
    assert found["estimate_note"] == likely_values.NOBODY


def test_a_table_that_is_too_large_is_a_reason_and_ranges_stay(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST_POINTS", 10)
    fresh = replace(gate, likely=type(gate.likely)())
    found = answer(Request(ANN, "patients", "SELECT COUNT(*) FROM patients WHERE age < 44"), fresh).groups[0]

    assert found.estimates[0] == Estimate(None, likely_values.TOO_LARGE)
    assert found.ranges[0].low is not None


def test_no_time_left_is_a_reason_and_ranges_stay(gate: Gate) -> None:
    """The clock stands still until ranges are there."""
    gate = in_ten_seconds(gate, gate.clock_s)
    hasty = replace(gate, clock_s=lambda: 0.0)
    state = State("", Request(ANN, "patients", "SELECT COUNT(*) FROM patients WHERE age < 44"), 0.0)
    for step in (find, step_understand.understand, fetch, protect):
        state = step(state, hasty)
    moments = iter([0.0])
    late = estimate(state, replace(gate, clock_s=lambda: next(moments, 9.9)))

    assert late.groups[0][0].estimates[0] == Estimate(None, likely_values.TOO_LONG)
    assert late.groups[0][0].ranges == state.groups[0][0].ranges


@pytest.mark.parametrize("size", [1e-170, 1e170])
@pytest.mark.parametrize("statistic", ["kurtosis_pop", "skewness", "var_pop", "cv", "geometric_mean", "harmonic_mean"])
def test_numbers_beyond_doubles_are_no_fault(statistic: str, size: float) -> None:
    ends, n = size * np.arange(5.0), np.full(5, points.UNIT)
    cells = MeasureCells(n, n, n, (Cells(ends, ends, n, n),))
    with np.errstate(all="ignore"):
        told = Aggregate("x", "column", statistic, 0, "number")
        found = likely_values._point(likely_values.figure, told, [cells], points.UNIT)

    assert found.low is None or math.isfinite(found.low)


@pytest.mark.parametrize("statistic", sorted(weighted_statistics.OF_COLUMN))
def test_groups_together_have_the_figures_of_each_by_itself(statistic: str) -> None:
    random = np.random.default_rng(8)
    parts = []
    for size in (7, 0, 1, 12):
        ends, n = np.round(random.normal(40, 9, size), 2), random.integers(0, 3, size) * points.UNIT
        parts.append(MeasureCells(n, n, n, (Cells(ends, ends, n, n),)))
    is_of_share = statistic.startswith(("quantile", "exceed", "mean_ci"))
    stack, parameters = CellStack.joined(parts), (0.3,) if is_of_share else ()
    told = Aggregate("x", "column", statistic, 0, "number", parameters)
    groups = tuple(FetchedGroup((i,), ()) for i in range(len(parts)))
    with np.errstate(all="ignore"):
        together = list(likely_values._points(told, StackedGroups(groups, (stack,)), points.UNIT))
        alone = [likely_values._point(likely_values.figure, told, [part], points.UNIT) for part in parts]

    assert together == alone
    assert together[1].is_null or statistic.startswith("count")


# -- replayed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("logged", "same"),
    [
        ({}, True),
        ({"estimate": 5.0}, True),
        ({"estimate": 5.0000001}, True),
        ({"estimate": None, "estimate_note": likely_values.TOO_LONG}, True),
        ({"estimate": 5.5}, False),
        ({"estimate": None, "estimate_note": likely_values.NOBODY}, False),
    ],
)
def test_a_logged_estimate_is_computed_again(logged: dict[str, Any], same: bool) -> None:
    def body(estimate: dict[str, Any]) -> Any:
        ends = {"low": 1.0, "high": 9.0, "sharp": False, "may_be_null": False}
        return {"rows": [{"x": ends | estimate}], "columns": [], "notes": []}

    assert (_difference(body(logged), body({"estimate": 5.0})) == "") is same


def test_answers_with_estimates_are_replayed_from_the_store(tmp_path: Path) -> None:
    opened = open_gate(init_site(tmp_path / "site"))
    publish_small(opened, tmp_path, 200)
    sql = "SELECT sex, AVG(sbp), COUNT(*) FROM patients WHERE age BETWEEN 21 AND 47 GROUP BY sex"
    body = ask(Request(ANN, "patients", sql), opened.gate)
    entry: Any = {"id": "q", "dataset": "patients", "version": 1, "mode": "interval", "outcome": "answered",
                  "sql": sql, "answer": body}  # fmt: skip

    found = replay([entry], opened.gate, lambda dataset, _: opened.store.current(dataset))
    assert (found.same, found.different) == (1, ())


# -- codes of which nothing is published -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CodesOnly:
    """A version of one class, in memory."""

    block: Block
    catalog: Catalog = code_study.CATALOG

    def project(self, names: Iterable[str], *_: object) -> Block:
        return Block(self.block.n, {name: self.block.columns[name] for name in names})


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("COUNT(*) FILTER (WHERE has_code(dx, '{0}'))", False),
        ("COUNT(*) FILTER (WHERE has_code(dx, '{1}'))", True),
        ("COUNT(*) FILTER (WHERE has_code(dx, '{0}') OR has_code(dx, '{1}'))", False),
        ("AVG(CASE WHEN has_code(dx, '{0}') THEN 1.0 ELSE 0.0 END)", False),
    ],
)
def test_nothing_is_estimated_of_codes_of_which_nothing_is_published(asked: str, known: bool) -> None:
    """Nobody in the store has a suppressed code, which says nothing of how many have it: 0 would be a bad guess."""
    rng = random.Random(5)
    items = [MISSING, 0, 0, *range(1, len(code_study.CODES) - 2)]  # the first is suppressed, two are one item
    release = CodesOnly(code_study.publish(code_study.random_rows(rng), items).block)
    sql = f"SELECT {asked.format(*code_study.CODES)} FROM {release.catalog.dataset}"
    plan = understand(sql, release.catalog, NATIVE, Limits())
    groups = compute_groups(plan, release.project(plan.columns), lambda: None)
    (group,) = likely_values.with_estimates(plan, groups, LikelyTables(), release, Limits(), lambda: None)

    assert (group.estimates[0].value is not None) == known
    assert known or group.estimates[0].note == likely_values.SUPPRESSED
