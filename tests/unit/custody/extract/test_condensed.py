"""Condensed extracts: synthetic records that keep models, drawn by a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ExtractRefused
from tests.unit.custody.extract.study import COX, extract, records

COLUMNS = ["age", "sex", "sbp", "time", "status"]


def read(folder: Path) -> pa.Table:
    return duckdb.sql(f"SELECT * FROM '{folder / 'out' / 'extract.parquet'}'").to_arrow_table()


def test_records_are_synthetic_and_permissible(tmp_path: Path) -> None:
    table = records()
    body = extract(tmp_path, table=table, kind="condensed", k=20, models=[COX], columns=COLUMNS)
    found = read(tmp_path)
    assert body["method"] in ("improved", "condensation")
    assert body["k"] >= 20
    assert found.column_names == COLUMNS
    assert found.num_rows == 300
    assert found["age"].type == pa.int64()
    assert set(found["sex"].to_pylist()) <= {"F", "M", None}
    sbp = np.array([x for x in found["sbp"].to_pylist() if x is not None])
    assert sbp.min() >= 40
    assert sbp.max() <= 300
    assert sorted(found["status"].to_pylist()) == sorted(table["status"].to_pylist())


def test_a_model_of_a_time_that_is_cut(tmp_path: Path) -> None:
    """Gal et al. 2014: whether somebody lives longer than 1,000 days, without a column of its own."""
    asked = "logistic: time > 1000 ~ age + sex"
    body = extract(tmp_path, kind="condensed", k=20, models=[asked], columns=COLUMNS)
    [line] = body["utility"]["models"]
    assert (line["model"], [term["term"] for term in line["terms"]]) == (asked, ["age", "sex[M]"])
    assert body["parameters"]["response"] == "time"
    told = extract(tmp_path / "one", method="mondrian", models=["logistic: time < 30 ~ age"], columns=COLUMNS, k=20)
    shares = json.loads((tmp_path / "one" / "out" / "report.json").read_text())["utility"]["models"][0]
    assert shares["outside"] is None  # so few die so soon that a share would tell of them
    assert told["utility"]["models"][0]["outside"] is not None  # reviewers see it


def test_survival_times_are_nobodys_unless_they_are_kept(tmp_path: Path) -> None:
    """Who died when is a patient's own pair; by default few pairs are, and a time leads to nobody."""
    table = records()
    table = table.set_column(2, "sex", pa.compute.fill_null(table["sex"], "F"))
    truth = list(zip(table["time"].to_pylist(), table["status"].to_pylist(), strict=True))
    wish: dict[str, Any] = {"table": table, "kind": "condensed", "k": 20, "models": [COX], "columns": COLUMNS}
    bodies = {times: extract(tmp_path / times, times=times, **wish) for times in ("drawn", "kept")}
    pairs = {}
    for times in bodies:
        found = read(tmp_path / times)
        pairs[times] = list(zip(found["time"].to_pylist(), found["status"].to_pylist(), strict=True))
    assert sorted(pairs["kept"]) == sorted(truth)
    assert np.mean([pair in set(truth) for pair in pairs["drawn"]]) < 0.35  # by chance: times are whole and close
    nobody = "no record belongs to a real person, except by chance"
    assert nobody in bodies["drawn"]["risk"]["words"][0]
    assert "time" not in bodies["drawn"]["parameters"]["kept"]
    assert bodies["kept"]["risk"]["words"][0].startswith("Real values of time were kept: ")
    [line] = [line for line in bodies["kept"]["risk"]["kept"] if line["column"] == "time"]
    assert line["alone"] > 0.9
    assert line["beside"] > line["by_chance"] + 0.1
    pages = {times: (tmp_path / times / "out" / "report.html").read_text() for times in bodies}
    assert nobody in pages["drawn"]
    assert nobody not in pages["kept"]
    assert "Real values of time were kept" in pages["kept"].partition("<h2>")[0]


@pytest.mark.parametrize(
    "change", [{"kind": "k-anonymous"}, {"method": "condensation"}, {"models": []}, {"models": ["linear: sbp ~ age"]}]
)
def test_times_are_kept_only_where_there_are_some(change: dict[str, Any], tmp_path: Path) -> None:
    wish: dict[str, Any] = {"kind": "condensed", "models": [COX], "times": "kept", **change}
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path, **wish)
    assert refused.value.code == "QG604"


def test_the_same_secret_draws_the_same_records(tmp_path: Path) -> None:
    wish: dict[str, Any] = {"kind": "condensed", "k": 20, "method": "improved", "columns": COLUMNS}
    for name, secret in (("one", b"secret"), ("two", b"secret"), ("three", b"another")):
        extract(tmp_path / name, secret=secret, table=records(80), **wish)
    one, two, three = (read(tmp_path / name) for name in ("one", "two", "three"))
    assert one.equals(two)
    assert not one.equals(three)


def test_the_order_tells_nothing(tmp_path: Path) -> None:
    table = records().sort_by("age")
    extract(tmp_path, table=table, kind="condensed", k=20, method="improved", columns=COLUMNS)
    ages = [age for age in read(tmp_path)["age"].to_pylist() if age is not None]
    assert abs(np.corrcoef(ages, np.arange(len(ages)))[0, 1]) < 0.25


def test_the_models_are_reported_over_repetitions(tmp_path: Path) -> None:
    body = extract(tmp_path, kind="condensed", k=10, models=[COX, "linear: sbp ~ age"], columns=COLUMNS)
    cox, linear = body["utility"]["models"]
    assert cox["repetitions"]["number"] == 5
    assert {"significance", "sign", "outside"} <= linear.keys()
    assert {line["method"] for line in body["utility"]["tried"]} >= {"improved, weight 0.5", "condensation"}
    assert body["risk"]["membership"]["auc"] < 0.8
    assert body["risk"]["nearness"]["equal"] < 0.5
    assert set(body["utility"]["privacy"]) == {"age", "sbp", "time"}


def test_tolerances_find_the_largest_k_that_keeps_them(tmp_path: Path) -> None:
    loose = extract(
        tmp_path / "loose",
        kind="condensed",
        models=["linear: sbp ~ age"],
        columns=["age", "sbp"],
        tolerances={"significance": 1, "sign": 1, "outside": 1},
    )
    assert loose["k"] >= 40  # the largest that is tried
    with pytest.raises(ExtractRefused) as refused:
        extract(
            tmp_path / "strict",
            kind="condensed",
            k=150,
            models=["linear: sbp ~ age + sex"],
            method="tfrp",
            columns=["age", "sex", "sbp"],
            tolerances={"outside": 0},
        )
    assert refused.value.code == "QG605"
    assert "requested: at most 0.0%" in refused.value.detail


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 250, "models": [COX]}, "status"),  # above the smallest stratum
        ({"k": 400}, "selects fewer than"),
        ({"method": "mondrian"}, "method"),
        ({"models": ["logistic: status ~ nothing"]}, "nothing"),
        ({"tolerances": {"mean(age)": 3}}, "mean(age)"),
    ],
)
def test_what_cannot_be_condensed_is_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path, **{"kind": "condensed", "columns": COLUMNS, **change})
    assert words in f"{refused.value.detail} {refused.value.remedy}"
    assert not list((tmp_path / "out").iterdir())


def test_rare_values_are_told_of(tmp_path: Path) -> None:
    table = records()
    sex = ["X", *table["sex"].to_pylist()[1:]]
    body = extract(tmp_path, table=table.set_column(2, "sex", pa.array(sex)), kind="condensed", k=20, columns=COLUMNS)
    assert body["parameters"]["rare"] == ["sex"]
    assert "Rare values" in (tmp_path / "out" / "report.html").read_text()


def test_columns_without_anything_in_them(tmp_path: Path) -> None:
    table = records().set_column(5, "sbp", pa.nulls(300, pa.float64())).set_column(1, "age", pa.array([50] * 300))
    extract(tmp_path, table=table, kind="condensed", k=20, columns=COLUMNS)
    found = read(tmp_path)
    assert found["sbp"].null_count == 300
    assert set(found["age"].to_pylist()) == {50}
