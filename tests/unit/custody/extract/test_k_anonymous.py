"""k-anonymous extracts: what is in the files, counted anew from the files alone."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from querygate.core.errors import ExtractRefused, Refusal
from querygate.methods.anonymise import ANONYMISERS, RECODERS
from tests.unit.custody.extract.study import POLICY, extract, records

QUASI = "age_low, age_high, age_may_be_missing, sex, sex_may_be_missing, born_low, born_high, zip"
METHODS = [name for name in (*ANONYMISERS.names(), *RECODERS.names()) if name not in ("univariate", "mondrian-target")]


def read(folder: Path, name: str = "extract.parquet") -> pa.Table:
    return duckdb.sql(f"SELECT * FROM '{folder / 'out' / name}'").to_arrow_table()


def quasi_of(table: pa.Table) -> str:
    return ", ".join(name for name in QUASI.split(", ") if name in table.column_names)


def smallest(found: pa.Table) -> int:
    return int(
        duckdb.sql(f"SELECT min(n) FROM (SELECT count(*) AS n FROM found GROUP BY {quasi_of(found)})").fetchall()[0][0]
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_k_and_misstates_nothing(method: str, tmp_path: Path) -> None:
    raw = records(200)
    body = extract(tmp_path, table=raw, method=method, k=7)
    found = read(tmp_path)
    assert body["k"] == smallest(found) >= 7
    assert found.num_rows == raw.num_rows
    assert not {"name", "note", "age", "class"} & set(found.column_names)
    # Sensitive values are as they are, so each record is found again by them: what is said of it must be true.
    both = duckdb.sql(
        "SELECT count(*) FILTER (r.age < e.age_low OR r.age > e.age_high), "
        "count(*) FILTER (r.born < e.born_low OR r.born > e.born_high), "
        "count(*) FILTER (e.sex <> '*' AND NOT contains(e.sex, r.sex)), count(*) "
        "FROM found e JOIN (SELECT * FROM raw QUALIFY count(*) OVER (PARTITION BY sbp, time, status, smoker) = 1) r "
        "USING (sbp, time, status, smoker)"
    ).fetchall()[0]
    assert both[:3] == (0, 0, 0)
    assert both[3] > 150


def test_classes_for_a_target_need_one(tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path, method="mondrian-target")
    assert refused.value.code == "QG605"
    assert list((tmp_path / "out").iterdir()) == []
    named = POLICY + '\n[anonymise]\nmethod = "mondrian-target"\ntarget = "status"\n'
    body = extract(tmp_path / "named", policy=named, method="mondrian-target", k=9)
    assert (body["method"], body["k"] >= 9) == ("mondrian-target", True)
    with pytest.raises(ExtractRefused):
        extract(tmp_path / "without", policy=named, method="mondrian-target", columns=["age", "sex"])


def test_the_order_of_records_does_not_follow_their_raw_values(tmp_path: Path) -> None:
    """Two records of a class stand in either order, whichever of them is older."""
    raw = records(400)
    extract(tmp_path, table=raw, method="mondrian", columns=["age", "sbp", "time"], k=40)
    age = {(line["sbp"], line["time"]): line["age"] for line in raw.to_pylist() if line["age"] and line["sbp"]}
    known = [line for line in read(tmp_path).to_pylist() if (line["sbp"], line["time"]) in age]
    pairs = [
        (age[one["sbp"], one["time"]], age[other["sbp"], other["time"]])
        for one, other in itertools.combinations(known, 2)
        if one["age_low"] == other["age_low"]
    ]
    rising = sum(one < other for one, other in pairs) / sum(one != other for one, other in pairs)
    assert 0.4 < rising < 0.6


def test_a_hierarchy_is_published_by_its_nodes(tmp_path: Path) -> None:
    extract(tmp_path, columns=["zip", "sbp"], k=30, method="mondrian")
    texts = set(read(tmp_path)["zip"].to_pylist())
    assert all(text.isdigit() or text == "*" for text in texts), texts
    assert any(len(text) < 4 for text in texts)


def test_records_are_left_out_up_to_the_share_that_was_allowed(tmp_path: Path) -> None:
    wish: dict[str, Any] = {"method": "full-domain", "k": 10, "columns": ["age", "sex", "zip", "sbp"]}
    none = extract(tmp_path / "none", **wish)
    some = extract(tmp_path / "some", suppress=0.1, **wish)
    assert none["left_out"] == 0
    assert 0 < some["left_out"] <= 30
    assert some["records"] + some["left_out"] == 300
    assert some["tried"][0]["ncp"] < none["tried"][0]["ncp"]
    assert smallest(read(tmp_path / "some")) >= 10


def test_a_smaller_k_than_the_policys_is_not_given(tmp_path: Path) -> None:
    assert extract(tmp_path, k=2, method="mondrian")["k"] >= 5


def test_only_the_selected_records_and_columns_leave(tmp_path: Path) -> None:
    raw = records()
    body = extract(tmp_path, table=raw, where="age >= 60 AND sex = 'F'", columns=["age", "sbp"])
    found = read(tmp_path)
    wanted = duckdb.sql("SELECT count(*) FROM raw WHERE age >= 60 AND sex = 'F'").fetchall()[0][0]
    assert body["records"] == wanted == found.num_rows
    assert found.column_names == ["age_low", "age_high", "sbp"]


@pytest.mark.parametrize(
    "where",
    [
        "name = 'Patient 1'",  # an identifier
        "note = 'private'",  # a withheld column
        "age > 30 ORDER BY age",
        "age > 30 LIMIT 3",
        "age > 30 GROUP BY sex",
        "age > 30; DROP TABLE rows",
        "age > 30) OR (TRUE",
        "age IN (SELECT MAX(age) FROM trial)",
        "age > (SELECT max(age) FROM rows)",
        "read_csv('/etc/passwd') IS NULL",
        "age > 30 UNION ALL SELECT COUNT(*) FROM trial",
        "",
    ],
)
def test_a_condition_is_a_condition_on_what_may_leave(where: str, tmp_path: Path) -> None:
    if not where:
        assert extract(tmp_path, where=where, method="mondrian")["records"] == 300
        return
    with pytest.raises(Refusal):
        extract(tmp_path, where=where)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("wish", "code", "words"),
    [
        ({"columns": ["name"]}, "QG604", "name"),
        ({"columns": ["sbp"]}, "QG604", "quasi-identifier"),
        ({"method": "magic"}, "QG604", "mondrian"),
        ({"k": 301}, "QG605", "selects fewer than"),
        ({"where": "age > 200"}, "QG605", "selects fewer than"),
        ({"tolerances": {"mean(sex)": 3}}, "QG604", "sex"),
        ({"tolerances": {"beauty": 3}}, "QG604", "mean(column)"),
        ({"tolerances": {"sign": 0.1}}, "QG604", "models"),
        ({"tolerances": {"mean(age)": 0.001}, "k": 50}, "QG605", "mean(age)"),
        ({"models": ["linear: sbp ~ name"]}, "QG604", "name"),
        ({"models": ["linear: sbp ~ __import__('os')"]}, "QG604", ""),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    wish: dict[str, Any], code: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path, **wish)
    assert refused.value.code == code
    assert words in f"{refused.value.detail} {refused.value.remedy}"
    assert not list((tmp_path / "out").iterdir())


def test_a_width_that_is_asked_for_is_kept(tmp_path: Path) -> None:
    body = extract(tmp_path, columns=["age", "sex", "sbp"], tolerances={"mean(age)": 12})
    assert body["tried"][0]["widths"]["mean(age)"] <= 12


def test_guarantees_beyond_k_are_measured_on_what_leaves(tmp_path: Path) -> None:
    kept = extract(tmp_path, method="mondrian")["guarantees"]
    assert [(line["promise"], line["holds"]) for line in kept] == [("distinct diversity of status", True)]
    assert kept[0]["figure"] >= 2


def test_the_report_says_what_a_reviewer_asks_with_pictures(tmp_path: Path) -> None:
    body = extract(tmp_path, models=["linear: sbp ~ age + sex"], method="mondrian")
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {key for key in body if key not in told} == {"before", "beside_views", "tried"}
    assert {"tried", "privacy", "information"} == set(body["utility"]) - set(told["utility"])
    assert told["risk"]["attackers"] == json.loads(json.dumps(body["risk"]["attackers"]))
    assert body["risk"]["attackers"]["prosecutor"]["greatest"] <= 0.2
    assert {line["column"] for line in body["risk"]["told"]} == {"sbp", "smoker", "time", "status"}
    assert {line["column"] for line in body["before"]["drivers"]} == {"age", "sex", "born", "zip"}
    assert [term["term"] for term in body["utility"]["models"][0]["terms"]] == ["age", "sex[M]"]
    for name in ("columns", "correlations", "model_1"):
        assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "linear: sbp ~ age + sex" in page
    assert "Patient" not in page


def test_a_population_tells_of_journalists(tmp_path: Path) -> None:
    population = tmp_path / "people.csv"
    population.write_text("age,sex,people\n" + "".join(f"{a},{s},50\n" for a in range(121) for s in "FM"))
    k_map = {"population": str(population), "k": 20, "columns": ["age", "sex"], "count": "people"}
    risk = extract(tmp_path / "x", policy=POLICY.but(k_map=k_map), columns=["age", "sex", "sbp"])["risk"]["attackers"]
    assert risk["k_map"] >= 20
    assert risk["journalist"]["greatest"] <= 1 / 20


def test_a_column_of_nothing_and_a_column_of_one_value(tmp_path: Path) -> None:
    table = records(60)
    table = table.set_column(1, "age", pa.nulls(60, pa.int64())).set_column(2, "sex", pa.array(["F"] * 60))
    body = extract(tmp_path, table=table, method="mondrian")
    found = read(tmp_path)
    assert body["k"] >= 5
    assert found["age_low"].null_count == 60
    assert set(found["sex"].to_pylist()) == {"F"}


def test_cells_are_replaced_where_that_is_allowed(tmp_path: Path) -> None:
    without = extract(tmp_path / "a", method="full-domain", k=10, columns=["age", "sex", "zip", "sbp"])
    starred = extract(
        tmp_path / "b", method="full-domain", k=10, columns=["age", "sex", "zip", "sbp"], suppress_cells=0.1
    )
    assert "cells replaced" in starred["tried"][0]["note"]
    assert starred["tried"][0]["ncp"] < without["tried"][0]["ncp"]
    assert starred["left_out"] == 0
    assert smallest(read(tmp_path / "b")) >= 10


def test_the_largest_k_that_keeps_a_width_is_found(tmp_path: Path) -> None:
    columns = ["age", "sex", "sbp"]
    body = extract(tmp_path / "open", columns=columns, tolerances={"mean(age)": 15})
    assert body["k"] > extract(tmp_path / "fixed", columns=columns, tolerances={"mean(age)": 15}, k=5)["k"]
    assert body["tried"][0]["widths"]["mean(age)"] <= 15


def test_models_that_must_be_kept_are_kept_or_refused(tmp_path: Path) -> None:
    wish: dict[str, Any] = {"columns": ["age", "sex", "sbp"], "models": ["linear: sbp ~ age + sex"]}
    body = extract(tmp_path / "a", tolerances={"sign": 0, "significance": 0.5}, **wish)
    assert body["utility"]["models"][0]["sign"] == 0
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path / "b", tolerances={"outside": 0}, k=140, **wish)
    assert "requested: at most" in refused.value.detail


def test_a_policy_with_views_makes_the_same_extract_as_without(tmp_path: Path) -> None:
    plain = POLICY.but(columns={"zip": None})  # no view has a hierarchy
    bodies = [
        extract(tmp_path / name, table=records(80), policy=policy)
        for name, policy in (("plain", plain), ("views", plain.but(views={})))
    ]
    assert bodies[0]["columns"] == bodies[1]["columns"]
    assert read(tmp_path / "plain").equals(read(tmp_path / "views"))
