"""Every method, from source to answers: what was promised is kept, and what is true is inside every range."""

from __future__ import annotations

import statistics as exact
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.methods.anonymise import ANONYMISERS
from tests.policies import AGE, SBP, SEX, Column, PolicyText, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ends, new_site, put

pytestmark = pytest.mark.usefixtures("compared_methods")

COLUMNS = {"age": AGE, "sex": SEX, "bmi": quasi("number", (10, 60)), "sbp": SBP}
WITHOUT_BMI = {"age": AGE, "sex": SEX, "sbp": SBP}
ONE_NUMBER = {"age": AGE, "sbp": SBP}


def policy(method: str, columns: dict[str, Column] = COLUMNS, k: int = 5, **anonymise: Any) -> PolicyText:
    target = {"target": "sbp"} if method == "mondrian-target" else {}
    return make_policy("t", columns, k=k, anonymise={"method": method, **target, **anonymise})


@pytest.fixture(scope="module")
def people() -> dict[str, list]:
    rng = np.random.default_rng(4)
    age = np.clip(rng.normal(50, 18, 400), 0, 119).astype(int)
    bmi = np.clip(rng.normal(27, 6, 400) + 0.05 * age, 10, 60).round(1)
    sbp = np.clip(90 + 0.6 * age + rng.normal(0, 15, 400), 60, 250).astype(int)
    missing = rng.random(400) < 0.03
    return {
        "age": [None if gone else int(a) for a, gone in zip(age, missing, strict=True)],
        "sex": ["F" if s else "M" for s in rng.integers(0, 2, 400)],
        "bmi": bmi.tolist(),
        "sbp": sbp.tolist(),
    }


@pytest.mark.parametrize("method", [*ANONYMISERS.names(), "auto"])
def test_every_method_from_source_to_answers(tmp_path: Path, people, method: str) -> None:
    opened = new_site(tmp_path)
    columns = ONE_NUMBER if method == "univariate" else COLUMNS
    report = put(opened, policy(method, columns, statistics=["mean(age)", "corr(age,sbp)"]), people)

    assert report.measured.k >= 5
    assert report.classes > 10
    assert [tried.chosen for tried in report.comparison] == [True] + [False] * (len(report.comparison) - 1)
    ages = [age for age in people["age"] if age is not None]
    truths = {
        ("COUNT(*)", "age BETWEEN 40 AND 60"): sum(40 <= age <= 60 for age in ages),
        ("AVG(age)", ""): exact.fmean(ages),
        ("AVG(sbp)", "age > 50"): exact.fmean(
            s for s, a in zip(people["sbp"], people["age"], strict=True) if a is not None and a > 50
        ),
        ("VAR_SAMP(sbp)", ""): exact.variance(people["sbp"]),
    }
    for (statistic, where), truth in truths.items():
        low, high = ends(opened, statistic, where)
        assert low <= truth <= high, (statistic, where)


def test_classes_for_a_target_tell_more_of_it_and_keep_their_promises(tmp_path: Path) -> None:
    """One cut is possible. Plain classes are those of women and men, and age decides on the answer."""
    rng = np.random.default_rng(3)
    age = rng.integers(0, 110, 600)
    yes = rng.random(600) < np.where(age >= 55, 0.85, 0.15)
    data = {"age": age.tolist(), "sex": rng.choice(["F", "M"], 600).tolist()}
    data["answer"] = [None if rng.random() < 0.03 else "yes" if y else "no" for y in yes]
    answer = sensitive("category") | diverse("alpha", alpha=0.9)
    truth = sum(a == "yes" and old for a, old in zip(data["answer"], age >= 55, strict=True))
    told = {}
    for method in ("mondrian", "mondrian-target"):
        opened = new_site(tmp_path / method)
        target = {"target": "answer"} if method == "mondrian-target" else {}
        columns = {"age": AGE | {"weight": 1}, "sex": SEX, "answer": answer}
        report = put(opened, make_policy("t", columns, k=250, anonymise={"method": method, **target}), data)
        assert report.measured.k >= 250
        assert report.measured.kept["largest share of answer"] <= 0.9
        low, high = ends(opened, "COUNT(*)", "answer = 'yes' AND age >= 55")
        assert low <= truth <= high
        told[method] = high - low
    assert told["mondrian-target"] < 0.5 * told["mondrian"]


def test_the_widths_of_the_comparison_are_those_of_answers(tmp_path: Path, people) -> None:
    """What was measured before publication is what a researcher gets."""
    opened = new_site(tmp_path)
    wanted = {
        "mean(age)": "AVG(age)",
        "var(bmi)": "VAR_SAMP(bmi)",
        "sd(bmi)": "STDDEV_SAMP(bmi)",
        "median(sbp)": "MEDIAN(sbp)",
        "mean(sbp)": "AVG(sbp)",
        "cov(bmi,sbp)": "COVAR_SAMP(bmi, sbp)",
        "corr(age,bmi)": "CORR(age, bmi)",
    }
    hull = COLUMNS | {"sbp": SBP | {"carry": "hull"}}
    report = put(opened, policy("mondrian-relaxed", hull, statistics=list(wanted)), people)
    (tried,) = report.comparison
    for name, sql in wanted.items():
        low, high = ends(opened, sql)
        assert tried.widths[name] == pytest.approx(high - low, rel=1e-6), name


def test_auto_takes_the_narrowest_and_shows_the_others(tmp_path: Path, people) -> None:
    report = put(new_site(tmp_path), policy("auto", statistics=["mean(age)"]), people)
    widths = [tried.widths["mean(age)"] for tried in report.comparison]
    assert widths[0] == min(widths)
    assert {"mondrian", "mondrian-relaxed", "boxes", "mondrian, directed"} <= {t.method for t in report.comparison}
    assert report.classes == report.comparison[0].classes


def test_auto_without_any_wish_goes_by_counts_and_means(tmp_path: Path, people) -> None:
    report = put(new_site(tmp_path), policy("auto"), people)
    assert list(report.comparison[0].widths) == ["count", "mean(age)", "mean(bmi)", "mean(sbp)"]
    assert 0 < report.comparison[0].widths["count"] < 1


def test_auto_makes_the_same_choice_every_time(tmp_path: Path, people) -> None:
    made = []
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        opened = new_site(tmp_path / run)
        report = put(opened, policy("auto"), people)
        made.append((report.comparison[0].method, report.classes, report.cells, ends(opened, "AVG(age)")))
    assert made[0] == made[1]


def test_auto_does_not_compare_large_tables(tmp_path: Path, people, monkeypatch) -> None:
    monkeypatch.setattr("querygate.custody.publish.method_choice.COMPARED_ROWS", 100)
    report = put(new_site(tmp_path), policy("auto"), people)
    (tried,) = report.comparison
    assert (tried.method, tried.note) == ("mondrian", "not compared: more than 100 records")


def test_a_named_method_is_not_compared(tmp_path: Path, people) -> None:
    report = put(new_site(tmp_path), policy("mondrian"), people)
    (tried,) = report.comparison
    assert (tried.method, tried.k, tried.widths) == ("mondrian", 5, {})


def test_directed_boxes_are_narrower_where_they_are_directed(tmp_path: Path, people) -> None:
    found = {}
    for wish in ("mean(age)", "mean(bmi)"):
        (tmp_path / wish).mkdir()
        opened = new_site(tmp_path / wish)
        put(opened, policy("boxes", statistics=[wish]), people)
        found[wish] = [high - low for low, high in (ends(opened, "AVG(age)"), ends(opened, "AVG(bmi)"))]
    assert found["mean(age)"][0] < found["mean(bmi)"][0] / 2
    assert found["mean(bmi)"][1] < found["mean(age)"][1] / 2


def test_joined_numbers_are_refused_by_the_univariate_method(tmp_path: Path, people) -> None:
    with pytest.raises(ConfigError, match="one quasi-identifier that is a number") as refused:
        put(new_site(tmp_path), policy("univariate", {"age": AGE, "sbp": SBP | {"carry": "joint"}}), people)
    assert refused.value.code == "QG803"


# -- limits ----------------------------------------------------------------------------------------------------------


def test_the_largest_k_that_keeps_the_limit(tmp_path: Path, people) -> None:
    opened = new_site(tmp_path)
    report = put(opened, policy("mondrian", WITHOUT_BMI, max_width={"mean(age)": 20}, largest_k=True), people)
    reached = report.comparison[0]
    low, high = ends(opened, "AVG(age)")
    assert high - low <= 20
    assert report.measured.k >= reached.k > 5
    (tmp_path / "next").mkdir()
    with pytest.raises(ConfigError, match="cannot be met"):
        put(
            new_site(tmp_path / "next"),
            policy("mondrian", WITHOUT_BMI, k=reached.k + 1, max_width={"mean(age)": 20}),
            people,
        )


def test_limits_that_cannot_be_kept_say_what_would_do(tmp_path: Path, people) -> None:
    opened = new_site(tmp_path)
    with pytest.raises(ConfigError, match="400 records, the limits of max_width cannot be met") as refused:
        put(opened, policy("mondrian", max_width={"mean(age)": 3}), people)
    assert refused.value.code == "QG803"
    assert "mean(age): " in refused.value.detail
    assert "limit 3" in refused.value.detail
    remedy = refused.value.remedy
    assert "Without the quasi-identifier sex: mean(age)" in remedy
    assert "Without the quasi-identifier bmi: mean(age)" in remedy
    assert "the quasi-identifier age" not in remedy
    assert opened.store.datasets() == ()

    wide_enough = remedy.splitlines()[-1].rstrip(".")
    report = put(opened, policy("mondrian") + wide_enough, people)
    assert report.version == 1


def test_the_k_that_is_proposed_does_it(tmp_path: Path, people) -> None:
    with pytest.raises(ConfigError) as refused:
        put(new_site(tmp_path), policy("mondrian", k=40, max_width={"mean(age)": 12}), people)
    line = next(line for line in refused.value.remedy.splitlines() if line.startswith("k = "))
    k = int(line.removeprefix("k = ").rstrip("."))
    assert 2 <= k < 40
    assert f"about {-(-400 * 40 // k):,} of the same spread" in refused.value.remedy
    (tmp_path / "again").mkdir()
    opened = new_site(tmp_path / "again")
    put(opened, policy("mondrian", k=k, max_width={"mean(age)": 12}), people)
    low, high = ends(opened, "AVG(age)")
    assert high - low <= 12


def test_auto_prefers_what_keeps_the_limits(tmp_path: Path, people) -> None:
    """Counts alone would not choose these classes, but the limit can be kept by none else."""
    opened = new_site(tmp_path)
    report = put(opened, policy("auto", statistics=["count"], max_width={"mean(age)": 6}), people)
    assert report.comparison[0].widths["mean(age)"] <= 6
    assert any(tried.widths["mean(age)"] > 6 for tried in report.comparison)
