"""Sensitive numbers through the real path: every way of carrying them, with and without moments, and the verifier."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.core.ports import Limits
from querygate.custody.publish import sensitive_numbers as publishing
from querygate.gate.description import explain_policy
from querygate.gate.verdict import make_verdict
from querygate.methods.anonymise.class_moments import Members, MomentRelease
from querygate.sql import understand
from tests.policies import AGE, PolicyText, make_policy, sensitive
from tests.unit.custody.publish.publications import ask, ends, new_site, put, raw_rows

ROWS = 400


def columns(seed: int = 1, missing: float = 0.0, decimals: int = 0) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    values: list[Any] = [min(219, max(41, rng.gauss(120, 20))) for _ in range(ROWS)]
    values = [round(v, decimals) if decimals else round(v) for v in values]
    kept = [None if rng.random() < missing else v for v in values]
    return {"age": [rng.randint(0, 90) for _ in range(ROWS)], "x": kept}


def policy(
    carry: str = "bins", moments: str = "rounded", k: int = 5, guard: float = 5, kind: str = "integer"
) -> PolicyText:
    x = sensitive(kind, (40, 220), grid=5, guard=guard, carry=carry)
    anonymise = {"method": "mondrian", "class_moments": moments}
    return make_policy("t", {"age": AGE | {"cuts": [30, 60]}, "x": x}, k=k, anonymise=anonymise)


@pytest.mark.parametrize(
    ("carry", "missing", "kind"),
    [
        *(("bins", 0.0, "integer"), ("bins", 0.15, "number"), ("hull", 0.0, "number"), ("hull", 0.15, "integer")),
        *(("univariate", 0.0, "integer"), ("univariate", 0.15, "number")),
        *(("joint", 0.0, "number"), ("joint", 0.15, "integer")),
    ],
)
def test_moments_sharpen_and_hold(carry: str, missing: float, kind: str, tmp_path: Path) -> None:
    data = columns(missing=missing, decimals=0 if kind == "integer" else 1)
    found = {}
    for moments in ("none", "rounded"):
        opened = new_site(tmp_path / moments)
        (tmp_path / moments).mkdir(exist_ok=True)
        put(opened, policy(carry, moments, kind=kind), data)
        for where in ("", "age < 30", "age BETWEEN 30 AND 59"):
            known = [
                x for a, x in raw_rows(opened, ["age", "x"])
                if x is not None and (not where or (a < 30 if "<" in where else 30 <= a <= 59))
            ]  # fmt: skip
            truth = {"AVG(x)": np.mean(known), "VAR_POP(x)": np.var(known), "SUM(x)": sum(known)}
            for statistic, value in truth.items():
                low, high = ends(opened, statistic, where)
                assert low - 1e-9 * abs(low) <= value <= high + 1e-9 * abs(high), (moments, statistic, where)
                found[moments, statistic, where] = high - low
    if not missing:
        for where in ("", "age < 30", "age BETWEEN 30 AND 59"):
            assert found["rounded", "AVG(x)", where] < 0.6 * found["none", "AVG(x)", where]
        assert found["rounded", "VAR_POP(x)", ""] < 0.9 * found["none", "VAR_POP(x)", ""]


def test_exact_sums_give_exact_means(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    report = put(opened, policy("hull", "exact", k=10), columns())
    known = [x for (x,) in raw_rows(opened, ["x"])]
    [row] = ask(opened, "SELECT SUM(x) AS s, AVG(x) AS a, COUNT(*) AS n FROM t")
    assert row["s"]["low"] == row["s"]["high"] == sum(known)
    assert row["a"]["low"] <= sum(known) / len(known) <= row["a"]["high"]
    assert row["a"]["high"] - row["a"]["low"] < 1e-12
    assert any("last value exactly" in warning for warning in report.warnings)
    assert report.numbers[0].residual == 0.0


def test_a_threshold_is_counted_with_the_sum_of_a_hull(tmp_path: Path) -> None:
    """Markov: few members of a class can be far above its mean."""
    widths = {}
    for moments in ("none", "rounded"):
        opened = new_site(tmp_path / moments)
        (tmp_path / moments).mkdir(exist_ok=True)
        put(opened, policy("hull", moments), columns())
        known = [x for (x,) in raw_rows(opened, ["x"])]
        for condition, count in (("x > 140", sum(x > 140 for x in known)), ("x <= 99", sum(x <= 99 for x in known))):
            low, high = ends(opened, "COUNT(*)", condition)
            assert low <= count <= high
            widths[moments, condition] = high - low
    assert widths["rounded", "x > 140"] < 0.95 * widths["none", "x > 140"]
    assert widths["rounded", "x <= 99"] < 0.95 * widths["none", "x <= 99"]


def test_own_intervals_hold_k_records_and_are_as_wide_as_the_guard(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, policy("univariate", "none", k=10, guard=10), columns())
    block = opened.store.current("t").project(["x"], Limits())
    column = block.number("x")
    assert block.n.min() >= 10
    assert (column.high - column.low + 1).min() >= 10
    assert {int(end) % 5 for end in column.low} <= {0}
    assert len(block.n) > 3


def test_missing_values_of_a_hull_are_told_apart_with_moments(tmp_path: Path) -> None:
    data = columns(missing=0.2)
    for moments, states in (("none", {1}), ("rounded", {0, 2})):
        opened = new_site(tmp_path / moments)
        (tmp_path / moments).mkdir(exist_ok=True)
        put(opened, policy("hull", moments), data)
        null = opened.store.current("t").project(["x"], Limits()).number("x").null
        assert set(null.tolist()) & {1, 2} == states & {1, 2}
    assert ends(opened, "COUNT(x)") == (ROWS - data["x"].count(None),) * 2


def test_classes_with_few_known_values_tell_nothing(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, policy("bins", "rounded", k=5, guard=1), columns(missing=0.6))
    release = opened.store.current("t")
    block = release.project(["x"], Limits(), ["x"])
    assert block.classified is not None
    told = block.classified.moments["x"]
    assert told.n.min() >= 5
    assert np.isnan(told.var_low[told.n < 6]).all()
    assert told.label.size < np.unique(block.classified.label).size


def test_joint_boxes_are_narrower_and_still_as_wide_as_the_guard(tmp_path: Path) -> None:
    widths = {}
    for carry in ("hull", "joint"):
        opened = new_site(tmp_path / carry)
        (tmp_path / carry).mkdir(exist_ok=True)
        report = put(opened, policy(carry, "none", guard=10), columns())
        assert report.measured.hull["x"] >= 10
        widths[carry] = report.measured.width["x"]
    assert widths["joint"] < widths["hull"]


# -- what is said ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("alternatives")
def test_the_report_has_the_choice_and_its_alternatives(tmp_path: Path) -> None:
    report = put(new_site(tmp_path), policy("bins", "rounded", k=10), columns())
    [number] = report.numbers
    assert (number.column, number.chosen, number.guard, number.narrow) == ("x", "bins, rounded", 5.0, 0.0)
    names = Counter(name.split(", ")[0] for name in number.widths)
    assert names == {"bins": 3, "hull": 3, "univariate": 3}
    widths = number.widths
    assert widths["hull"].mean > widths["bins"].mean > widths["bins, rounded"].mean > widths["bins, exact"].mean
    assert number.told > 0.9
    assert number.residual is not None
    assert number.residual >= 5 * (1 - 1e-9)


@pytest.mark.usefixtures("alternatives")
def test_an_alternative_that_is_impossible_is_left_out(tmp_path: Path) -> None:
    few = {"age": [n % 90 for n in range(40)], "x": [50, 200, 60, 210, *[None] * 36]}  # fewer than k have a value
    [number] = put(new_site(tmp_path), policy("hull", "none"), few).numbers
    assert {name.split(", ")[0] for name in number.widths} == {"bins", "hull"}


def test_researchers_are_told(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, policy("hull", "rounded"), columns())
    catalog = opened.store.current("t").catalog
    assert any("rounded to public cells" in sentence and "x." in sentence for sentence in explain_policy(catalog))
    asked = ("AVG(x) FROM t", "COUNT(*) FROM t WHERE x > 140", "COUNT(*) FROM t", "MEDIAN(x) FROM t")
    plans = [understand(f"SELECT {rest}", catalog, opened.gate.native) for rest in asked]
    told = [make_verdict(plan, catalog).get("sharpened_by") for plan in plans]
    assert told == [["x"], ["x"], None, None]


# -- the verifier ----------------------------------------------------------------------------------------------------


def spoiled(how: str, told: MomentRelease) -> MomentRelease:
    """What a faulty publisher might write."""
    at = int(np.flatnonzero(told.kept)[0])
    sums = told.sum_low.copy(), told.sum_high.copy()
    variances = told.var_low.copy(), told.var_high.copy()
    size = told.size.copy()
    if how == "true":
        sums[0][at], sums[1][at] = told.sum_low[at] + 1000, told.sum_high[at] + 1000
    elif how == "true variance":
        at = int(np.flatnonzero(~np.isnan(told.var_low))[0])
        variances[0][at], variances[1][at] = told.var_high[at], told.var_high[at] * 2
    elif how == "public":
        sums[0][at], sums[1][at] = told.sum_low[at] - 1, told.sum_high[at] + 1
    elif how == "counted":
        size[at] += 1
    return replace(told, size=size, sum_low=sums[0], sum_high=sums[1], var_low=variances[0], var_high=variances[1])


@pytest.mark.parametrize("how", ["true", "true variance", "public", "counted"])
def test_wrong_moments_are_not_served(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = publishing.rounded_moments
    monkeypatch.setattr(publishing, "rounded_moments", lambda *given: spoiled(how, honest(*given)))
    with pytest.raises(ConfigError, match=f"moments of x are {how.split()[0]}"):
        put(new_site(tmp_path), policy(), columns())


def test_unguarded_moments_are_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = publishing.rounded_moments

    def careless(members: Members, e: float, k: int) -> MomentRelease:
        return honest(members, e, k, guarded=False)

    monkeypatch.setattr(publishing, "rounded_moments", careless)
    with pytest.raises(ConfigError, match="not too close to the values"):
        put(new_site(tmp_path), policy(), columns())


def test_intervals_narrower_than_the_guard_are_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = publishing.optimal_runs
    monkeypatch.setattr(publishing, "optimal_runs", lambda v, c, k, e, u: honest(v, c, k, 0.0, u))
    with pytest.raises(ConfigError, match="as wide as its guard"):
        put(new_site(tmp_path), policy("univariate", "none", k=2, guard=15), columns())
