"""The path of a noisy answer: what it counts, what it costs, what it refuses, and that it says one thing once."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import BudgetExhausted, NotPermitted, UnsupportedSQL
from querygate.core.types import Principal, QueryOptions
from querygate.gate import render
from querygate.gate.answer import read_budget
from tests.policies import IDENTIFIER, ROUGH_AGE, make_policy
from tests.unit.custody.noise.site_with_noise import NoisySite, noisy_site


@pytest.fixture(scope="module")
def precise(tmp_path_factory: pytest.TempPathFactory) -> NoisySite:
    """Noise that is 0 in 9,993 of 10,000 counts, and hardly ever more than 1, so that what was counted shows."""
    return noisy_site(tmp_path_factory.mktemp("noisy"), each=8.0, total=100.0, user=100.0)


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> NoisySite:
    """Much for all, little for each: every test is another user."""
    return noisy_site(tmp_path_factory.mktemp("noisy"), each=0.5, total=50.0, user=1.0)


@pytest.mark.parametrize(
    ("sql", "off"),
    [
        ("SELECT COUNT(*) FROM patients", 1),
        ("SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 50 AND sex = 'F'", 1),
        ("SELECT COUNT(*) FILTER (WHERE smoker) FROM patients", 1),
        ("SELECT COUNT(DISTINCT age) FROM patients WHERE ward LIKE 'C%'", 1),
        ("SELECT COUNT(weight) FROM patients WHERE NOT smoker", 1),
        ("SELECT SUM(sbp) FROM patients", 500),
        ("SELECT AVG(weight) FROM patients WHERE age > 20", 0.5),
        ("SELECT MEDIAN(sbp) FROM patients", 1),
        ("SELECT QUANTILE_CONT(weight, 0.9) FROM patients", 1),
        ("SELECT SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients", 1),
    ],
)
def test_what_is_counted_is_the_truth(precise: NoisySite, sql: str, off: float) -> None:
    (cell,) = precise.ask(sql)["rows"][0].values()
    (truth,) = precise.truth.execute(sql).fetchone() or (None,)
    assert abs(cell["value"] - float(truth)) <= off


def test_groups_come_from_public_domains_and_empty_ones_are_told(precise: NoisySite) -> None:
    sql = "SELECT sex, ward, COUNT(*) AS n FROM patients WHERE age > 99 GROUP BY sex, ward ORDER BY sex, ward"
    rows = precise.ask(sql)["rows"]
    truth = {(sex, ward): n for sex, ward, n in precise.truth.execute(sql).fetchall()}
    assert [(row["sex"], row["ward"]) for row in rows] == [(s, w) for s in "FMX" for w in ("A", "B", "C1", "C2")]
    assert all(abs(row["n"]["value"] - truth.get((row["sex"], row["ward"]), 0)) <= 3 for row in rows)
    assert len(truth) < len(rows)


def test_a_statement_costs_its_epsilon_whatever_it_asks(noisy: NoisySite) -> None:
    answer = noisy.ask("SELECT sex, COUNT(*), AVG(sbp) FROM patients GROUP BY sex", user="eva")
    assert answer["budget"] == {"spent": 0.5, "left": 0.5}
    assert {cell["epsilon"] for row in answer["rows"] for cell in row.values() if isinstance(cell, dict)} == {0.25}
    again = noisy.ask("SELECT COUNT(*) FROM patients", user="eva", epsilon=0.1)
    assert again["budget"] == {"spent": 0.1, "left": 0.4}


def test_a_spent_budget_is_a_refusal_that_costs_nothing(tmp_path: Path) -> None:
    site = noisy_site(tmp_path, each=0.5, total=1.2, user=1.0)
    for age in (30, 40):
        site.ask(f"SELECT COUNT(*) FROM patients WHERE age > {age}")
    with pytest.raises(BudgetExhausted) as spent:
        site.ask("SELECT COUNT(*) FROM patients WHERE age > 50")
    assert spent.value.code == "QG401"
    with pytest.raises(BudgetExhausted):  # there is 0.2 left for everybody
        site.ask("SELECT COUNT(*) FROM patients WHERE age > 50", user="bob")
    assert site.ask("SELECT COUNT(*) FROM patients WHERE age > 50", user="bob", epsilon=0.2)["budget"]["left"] == 0.0


def test_rewordings_are_one_question(noisy: NoisySite) -> None:
    first = noisy.ask("SELECT COUNT(*) AS n, sex FROM patients WHERE age BETWEEN 40 AND 50 GROUP BY sex")
    again = noisy.ask(
        "SELECT sex AS who, COUNT(*) FROM patients WHERE NOT (age < 40 OR age > 50) GROUP BY 1 ORDER BY 1", user="bob"
    )
    assert {row["sex"]: row["n"] for row in first["rows"]} == {row["who"]: row["count"] for row in again["rows"]}
    assert (first["budget"]["spent"], again["budget"]["spent"]) == (0.5, 0.0)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MAX(sbp) FROM patients",
        "SELECT VAR_SAMP(sbp) FROM patients",
        "SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 10",
        "SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)",
        "SELECT COUNT(*) FROM patients WHERE age < 9 UNION ALL SELECT COUNT(*) FROM patients WHERE age > 20",
        "SELECT sex FROM patients GROUP BY sex",
        "SELECT SUM(sbp) / COUNT(*) FROM patients",
    ],
)
def test_what_has_no_known_sensitivity_is_refused_and_costs_nothing(noisy: NoisySite, sql: str) -> None:
    with pytest.raises(UnsupportedSQL) as refused:
        noisy.ask(sql, user="max")
    assert refused.value.code == "QG216"
    assert read_budget(Principal("max", "researcher"), "patients", noisy.opened.gate)["left"]["user"] == 1.0


def test_what_asks_too_much_of_each_row_is_refused_and_costs_nothing(noisy: NoisySite) -> None:
    """Before anything is read: what a statement costs is known from the statement."""
    wide = " + ".join(f"(weight * {i} - sbp)" for i in range(1, 60))
    sql = ", ".join(f"AVG(({wide}) / {i}) AS a{i}" for i in range(1, 11))
    with pytest.raises(UnsupportedSQL) as refused:
        noisy.ask(f"SELECT {sql} FROM patients", user="tim")
    assert (refused.value.code, refused.value.detail) == ("QG216", "The statement computes too much for each record.")
    assert read_budget(Principal("tim", "researcher"), "patients", noisy.opened.gate)["left"]["user"] == 1.0


def test_arithmetic_between_columns_is_that_of_the_database(precise: NoisySite) -> None:
    sql = "SELECT AVG(weight / POWER(sbp / 100.0, 2)) FROM patients WHERE weight * 2 > sbp - 20 AND age + 1 < pulse"
    (cell,) = precise.ask(sql)["rows"][0].values()
    (truth,) = precise.truth.execute(sql).fetchone() or (None,)
    low, high = cell["interval95"]
    assert low <= float(truth) <= high


def test_a_row_that_fails_is_no_error(precise: NoisySite) -> None:
    """An error would tell, without noise and for nothing, that there is a row of that kind."""
    sql = "SELECT COUNT(*) FROM patients WHERE 1 / (weight - 60) > 0"
    assert precise.ask(sql, epsilon=1.0)["rows"][0]["count"]["value"] >= 0


def test_nobody_has_more_rows_than_the_policy_says(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    from querygate.custody.use_cases.open_custody import with_vault
    from querygate.custody.use_cases.publish_version import publish_to
    from querygate.site.layout import init_site
    from querygate.site.open_gate import open_gate

    people = [i // 5 for i in range(1000)]  # five rows of each
    ages = [20 + i % 50 for i in people]
    pyarrow.parquet.write_table(pa.table({"id": people, "age": ages}), tmp_path / "visits.parquet")
    laplace = {"epsilon_per_query": 90, "epsilon_total": 100, "epsilon_per_user": 100, "rows_per_person": 2}
    policy = make_policy(
        "visits",
        {"id": IDENTIFIER, "age": ROUGH_AGE},
        answers={"modes": ["laplace"]},
        laplace=laplace,
        person="id",
    )
    opened = with_vault(open_gate(init_site(tmp_path / "site")))
    publish_to(opened, policy.parsed(), str(tmp_path / "visits.parquet"), user="custodian")
    site = NoisySite(opened, None)  # type: ignore[arg-type]
    request = site.request("SELECT COUNT(*) AS n FROM visits")
    from dataclasses import replace

    answer = site.answer(replace(request, dataset="visits", options=QueryOptions()))  # noise is all the policy allows
    assert abs(answer["rows"][0]["n"]["value"] - 400) <= 2
    assert answer["notes"] == [
        "With noise at most 2 rows of each person count, so figures can be below those of all rows."
    ]
    persons = replace(
        request, dataset="visits", sql="SELECT COUNT(DISTINCT id) AS n FROM visits", options=QueryOptions(epsilon=8)
    )
    assert abs(site.answer(persons)["rows"][0]["n"]["value"] - 200) <= 5
    with pytest.raises(UnsupportedSQL):
        site.answer(replace(persons, sql="SELECT COUNT(*) FROM visits WHERE id = '7'"))
    with pytest.raises(NotPermitted) as refused:
        site.answer(replace(request, dataset="visits", options=QueryOptions("interval")))
    assert refused.value.code == "QG311"


def test_a_failed_read_stays_spent_and_is_on_record(tmp_path: Path) -> None:
    site = noisy_site(tmp_path, each=0.5, total=0.5, user=0.5)
    for file in (site.opened.site.vault / "patients").glob("*.duckdb"):
        file.rename(file.with_suffix(".gone"))
    with pytest.raises(NotPermitted) as gone:
        site.ask("SELECT COUNT(*) FROM patients")
    assert gone.value.code == "QG310"
    last = next(iter(site.opened.log.queries(dataset="patients", limit=1)))
    assert (last["mode"], last["outcome"], last["code"]) == ("laplace", "refused", "QG310")
    with pytest.raises(BudgetExhausted):
        site.ask("SELECT COUNT(*) FROM patients WHERE age > 3")


def test_the_price_is_told_before(noisy: NoisySite) -> None:
    verdict = noisy.check(noisy.request("SELECT COUNT(*) FROM patients", "kim", epsilon=0.1))
    assert verdict["cost"]["epsilon"] == 0.1
    assert verdict["budget"]["user"] == 1.0
    assert verdict["accuracy"] == {"count": 30.0}


def test_a_constant_that_nobody_can_have_is_told_before(noisy: NoisySite) -> None:
    verdict = noisy.check(noisy.request("SELECT COUNT(*) FROM patients WHERE sex = 'Male'"))
    assert verdict["notes"] == ["'Male' is not a value of sex; values: F, M, X."]
    assert "notes" not in noisy.check(noisy.request("SELECT COUNT(*) FROM patients"))


def test_a_median_has_no_interval_and_says_so(noisy: NoisySite) -> None:
    verdict = noisy.check(noisy.request("SELECT MEDIAN(sbp) FROM patients"))
    assert verdict["notes"] == [
        "A noisy median or quantile has no interval; in a small group it can be far from the truth."
    ]


def test_every_form_of_a_noisy_answer(precise: NoisySite) -> None:
    body = precise.ask("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY sex", epsilon=2.0)
    assert render.to_csv(body).decode().splitlines()[0] == "sex,n,n_low95,n_high95"
    assert render.readable(body)[0] == ["sex", "n"]
    for form in ("arrow", "parquet", "json"):
        assert len(render.FORMATS[form][1](body)) > 100


def test_totals_are_told_from_missing_values(precise: NoisySite) -> None:
    body = precise.ask("SELECT sex, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex) ORDER BY n", epsilon=1.0)
    assert sorted((row["sex"] or "", *row["_group"]["rolled_up"]) for row in body["rows"]) == [
        ("", "sex"), ("F",), ("M",), ("X",),
    ]  # fmt: skip
    assert render.to_csv(body).decode().splitlines()[0] == "sex,n,n_low95,n_high95,sex_rolled_up"
    assert render.readable(body)[1][-1][0] == "(all)"
    for form in ("arrow", "parquet", "json"):
        assert len(render.FORMATS[form][1](body)) > 100
    with pytest.raises(UnsupportedSQL, match="GROUPING"):
        precise.ask("SELECT GROUPING(sex), COUNT(*) FROM patients GROUP BY ROLLUP (sex)")


@pytest.mark.parametrize("value", ["age + 1e31", "age * 0 - 7e200", "age * 1e-320", "ROUND(sbp + 1e31)"])
def test_numbers_of_any_size_have_steps(noisy: NoisySite, value: str) -> None:
    """Even where a domain has no two doubles."""
    for statistic in ("SUM", "AVG", "MEDIAN"):
        cell = next(iter(noisy.ask(f"SELECT {statistic}({value}) FROM patients", epsilon=0.01)["rows"][0].values()))
        assert abs(cell["value"]) < float("inf")


def test_interval_datasets_give_no_noise(tmp_path: Path) -> None:
    from querygate.custody.use_cases.open_custody import with_vault
    from querygate.site.layout import init_site
    from querygate.site.open_gate import open_gate
    from tests.small_release import publish_small

    opened = with_vault(open_gate(init_site(tmp_path / "site")))
    publish_small(opened, tmp_path)
    site = NoisySite(opened, None)  # type: ignore[arg-type]
    with pytest.raises(NotPermitted) as refused:
        site.ask("SELECT COUNT(*) FROM patients")
    assert refused.value.code == "QG311"


def test_counts_can_be_made_consistent_for_nothing(noisy: NoisySite) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM patients WHERE age > 95 GROUP BY ROLLUP (ward)"
    first = noisy.ask(sql, user="lee", epsilon=0.1)
    again = noisy.ask(sql, user="lee", epsilon=0.1, consistent=True)
    counts = {row["ward"]: row["n"]["value"] for row in again["rows"]}
    assert min(counts.values()) >= 0
    assert counts.pop(None) == sum(counts.values())
    assert again["budget"]["spent"] == 0
    assert {row["n"]["epsilon"] for row in first["rows"]} == {0.05}  # the total and its parts share it
