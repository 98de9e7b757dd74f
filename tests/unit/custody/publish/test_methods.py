"""Every method, from source to answers: what was promised is kept, and what is true is inside every range."""

from __future__ import annotations

import statistics as exact
from pathlib import Path

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.methods.anonymise import ANONYMISERS
from tests.unit.custody.publish.publications import ends, new_site, put

AGE = '[columns.age]\nrole = "quasi-identifier"\ntype = "integer"\ndomain = [0, 120]\ngrid = 1\n'
SEX = '[columns.sex]\nrole = "quasi-identifier"\ntype = "category"\n'
BMI = '[columns.bmi]\nrole = "quasi-identifier"\ntype = "number"\ndomain = [10, 60]\n'
SBP = '[columns.sbp]\nrole = "sensitive"\ntype = "integer"\ndomain = [40, 300]\n'
HULL = SBP + 'carry = "hull"\n'


def policy(method: str, columns: str, more: str = "", k: int = 5) -> str:
    return f'dataset = "t"\nk = {k}\n{columns}[anonymise]\nmethod = "{method}"\n{more}\n'


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


def columns_for(method: str) -> str:
    return AGE + SBP if method == "univariate" else AGE + SEX + BMI + SBP


@pytest.mark.parametrize("method", [*ANONYMISERS.names(), "auto"])
def test_every_method_from_source_to_answers(tmp_path: Path, people, method: str) -> None:
    opened = new_site(tmp_path)
    more = 'statistics = ["mean(age)", "corr(age,sbp)"]'
    report = put(opened, policy(method, columns_for(method), more), people)

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
    names = ", ".join(f'"{name}"' for name in wanted)
    report = put(opened, policy("mondrian-relaxed", AGE + SEX + BMI + HULL, f"statistics = [{names}]"), people)
    (tried,) = report.comparison
    for name, sql in wanted.items():
        low, high = ends(opened, sql)
        assert tried.widths[name] == pytest.approx(high - low, rel=1e-6), name


def test_auto_takes_the_narrowest_and_shows_the_others(tmp_path: Path, people) -> None:
    report = put(new_site(tmp_path), policy("auto", columns_for("auto"), 'statistics = ["mean(age)"]'), people)
    widths = [tried.widths["mean(age)"] for tried in report.comparison]
    assert widths[0] == min(widths)
    assert {"mondrian", "mondrian-relaxed", "boxes", "mondrian, directed"} <= {t.method for t in report.comparison}
    assert report.classes == report.comparison[0].classes


def test_auto_without_any_wish_goes_by_counts_and_means(tmp_path: Path, people) -> None:
    report = put(new_site(tmp_path), policy("auto", columns_for("auto")), people)
    assert list(report.comparison[0].widths) == ["count", "mean(age)", "mean(bmi)", "mean(sbp)"]
    assert 0 < report.comparison[0].widths["count"] < 1


def test_auto_makes_the_same_choice_every_time(tmp_path: Path, people) -> None:
    made = []
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        opened = new_site(tmp_path / run)
        report = put(opened, policy("auto", columns_for("auto")), people)
        made.append((report.comparison[0].method, report.classes, report.cells, ends(opened, "AVG(age)")))
    assert made[0] == made[1]


def test_auto_does_not_compare_large_tables(tmp_path: Path, people, monkeypatch) -> None:
    monkeypatch.setattr("querygate.custody.publish.method_choice.COMPARED_ROWS", 100)
    report = put(new_site(tmp_path), policy("auto", columns_for("auto")), people)
    (tried,) = report.comparison
    assert (tried.method, tried.note) == ("mondrian", "not compared: more than 100 records")


def test_a_named_method_is_not_compared(tmp_path: Path, people) -> None:
    report = put(new_site(tmp_path), policy("mondrian", columns_for("mondrian")), people)
    (tried,) = report.comparison
    assert (tried.method, tried.k, tried.widths) == ("mondrian", 5, {})


def test_directed_boxes_are_narrower_where_they_are_directed(tmp_path: Path, people) -> None:
    found = {}
    for wish in ("mean(age)", "mean(bmi)"):
        (tmp_path / wish).mkdir()
        opened = new_site(tmp_path / wish)
        put(opened, policy("boxes", columns_for("boxes"), f'statistics = ["{wish}"]'), people)
        found[wish] = [high - low for low, high in (ends(opened, "AVG(age)"), ends(opened, "AVG(bmi)"))]
    assert found["mean(age)"][0] < found["mean(bmi)"][0] / 2
    assert found["mean(bmi)"][1] < found["mean(age)"][1] / 2


def test_joined_numbers_are_refused_by_the_univariate_method(tmp_path: Path, people) -> None:
    with pytest.raises(ConfigError, match="one quasi-identifier that is a number") as refused:
        put(new_site(tmp_path), policy("univariate", AGE + SBP + 'carry = "joint"\n'), people)
    assert refused.value.code == "QG803"


# -- limits ----------------------------------------------------------------------------------------------------------


def test_the_largest_k_that_keeps_the_limit(tmp_path: Path, people) -> None:
    more = 'max_width = { "mean(age)" = 20 }\nlargest_k = true'
    opened = new_site(tmp_path)
    report = put(opened, policy("mondrian", AGE + SEX + SBP, more), people)
    reached = report.comparison[0]
    low, high = ends(opened, "AVG(age)")
    assert high - low <= 20
    assert report.measured.k >= reached.k > 5
    (tmp_path / "next").mkdir()
    with pytest.raises(ConfigError, match="cannot be kept"):
        put(
            new_site(tmp_path / "next"),
            policy("mondrian", AGE + SEX + SBP, 'max_width = { "mean(age)" = 20 }', k=reached.k + 1),
            people,
        )


def test_limits_that_cannot_be_kept_say_what_would_do(tmp_path: Path, people) -> None:
    opened = new_site(tmp_path)
    more = 'max_width = { "mean(age)" = 3 }'
    with pytest.raises(ConfigError, match="400 records, the limits of max_width cannot be met") as refused:
        put(opened, policy("mondrian", AGE + SEX + BMI + SBP, more), people)
    assert refused.value.code == "QG803"
    assert "mean(age): " in refused.value.detail
    assert "at most 3 wanted" in refused.value.detail
    remedy = refused.value.remedy
    assert "Without the quasi-identifier sex: mean(age)" in remedy
    assert "Without the quasi-identifier bmi: mean(age)" in remedy
    assert "the quasi-identifier age" not in remedy
    assert opened.store.datasets() == ()

    wide_enough = remedy.splitlines()[-1].rstrip(".")
    report = put(opened, policy("mondrian", AGE + SEX + BMI + SBP, wide_enough), people)
    assert report.version == 1


def test_the_k_that_is_proposed_does_it(tmp_path: Path, people) -> None:
    more = 'max_width = { "mean(age)" = 12 }'
    with pytest.raises(ConfigError) as refused:
        put(new_site(tmp_path), policy("mondrian", AGE + SEX + BMI + SBP, more, k=40), people)
    line = next(line for line in refused.value.remedy.splitlines() if line.startswith("k = "))
    k = int(line.removeprefix("k = ").rstrip("."))
    assert 2 <= k < 40
    assert f"About {-(-400 * 40 // k):,} records" in refused.value.remedy
    (tmp_path / "again").mkdir()
    opened = new_site(tmp_path / "again")
    put(opened, policy("mondrian", AGE + SEX + BMI + SBP, more, k=k), people)
    low, high = ends(opened, "AVG(age)")
    assert high - low <= 12


def test_auto_prefers_what_keeps_the_limits(tmp_path: Path, people) -> None:
    """Counts alone would not choose these classes, but the limit can be kept by none else."""
    opened = new_site(tmp_path)
    more = 'statistics = ["count"]\nmax_width = { "mean(age)" = 6 }'
    report = put(opened, policy("auto", AGE + SEX + BMI + SBP, more), people)
    assert report.comparison[0].widths["mean(age)"] <= 6
    assert any(tried.widths["mean(age)"] > 6 for tried in report.comparison)
