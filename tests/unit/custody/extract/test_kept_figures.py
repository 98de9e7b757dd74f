"""Means, medians, sums and information, before and after: right, and nothing of the records before for recipients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.methods.anonymise.mutual_information import entropy, mutual_information, share_told
from querygate.site.extract_requests.extract_figures import make_figures
from tests.unit.custody.extract.study import extract, records


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("kept")
    return extract(folder, table=records(200), method="mondrian", k=7), folder


def test_figures_are_those_of_duckdb(made: tuple[dict[str, Any], Path]) -> None:
    body, folder = made
    raw, left = (f"'{folder / name}'" for name in ("trial.parquet", "out/extract.parquet"))
    asked = "avg({0}), median({0}), sum({0})"
    for column, middle in (("age", "(age_low + age_high) / 2.0"), ("sbp", "sbp"), ("time", "time")):
        sides = (
            duckdb.sql(f"SELECT {asked.format(column)} FROM {raw}").fetchall()[0],
            duckdb.sql(f"SELECT {asked.format(middle)} FROM {left}").fetchall()[0],
        )
        for what, before, after in zip(("means", "medians", "sums"), *sides, strict=True):
            assert body["utility"][what][column] == pytest.approx({"before": float(before), "after": float(after)})


def test_information_is_that_of_the_files(made: tuple[dict[str, Any], Path]) -> None:
    """Entropies by SQL, on what the files show and on the raw records."""
    body, folder = made
    left = f"'{folder / 'out' / 'extract.parquet'}'"
    shown = "age_low, age_high, sex, born_low, born_high, zip"
    both = duckdb.sql(
        f"WITH t AS (SELECT count(*) AS n FROM {left} GROUP BY {shown}), v AS (SELECT count(*) AS n FROM {left} "
        f"GROUP BY status), b AS (SELECT count(*) AS n FROM {left} GROUP BY {shown}, status) SELECT "
        "(SELECT -sum(n / 200 * log2(n / 200)) FROM t), (SELECT -sum(n / 200 * log2(n / 200)) FROM v), "
        "(SELECT -sum(n / 200 * log2(n / 200)) FROM b)"
    ).fetchall()[0]
    assert body["utility"]["associations"]["status"] == pytest.approx((both[0] + both[1] - both[2]) / both[1], abs=1e-5)
    assert set(body["utility"]["information"]) == {"age", "sex", "born", "zip"}
    assert all(0 <= share < 1 for share in body["utility"]["information"].values())


def test_recipients_see_the_extract_alone(made: tuple[dict[str, Any], Path]) -> None:
    body, folder = made
    told = json.loads((folder / "out" / "report.json").read_text())["utility"]
    assert "information" not in told
    assert told["means"] == pytest.approx({name: side["after"] for name, side in body["utility"]["means"].items()})
    assert set(told["means"]) == set(told["medians"]) == set(told["sums"]) == {"age", "born", "sbp", "time"}
    page = (folder / "out" / "report.html").read_text()
    assert "Relations with sensitive columns" in page
    age = body["utility"]["means"]["age"]
    assert f"{age['before']:.6g}" not in page
    assert f"{age['before']:.6g}" not in (folder / "out" / "report.json").read_text()


def test_reviewers_read_both_sides(made: tuple[dict[str, Any], Path]) -> None:
    (means,) = [one for one in make_figures(made[0]).kept if one.title == "Means"]
    assert dict(means.values)["age"].startswith("before ")
    assert "; after " in dict(means.values)["age"]


def test_a_column_without_values_and_one_with_a_single_one(tmp_path: Path) -> None:
    raw = records(60)
    empty = pa.array([None] * 60, pa.float64())
    raw = raw.set_column(raw.column_names.index("sbp"), "sbp", empty)
    raw = raw.set_column(raw.column_names.index("smoker"), "smoker", pa.array([True] * 60))
    body = extract(tmp_path, table=raw, method="mondrian", k=5)
    assert body["utility"]["means"]["sbp"] == {"before": None, "after": None}
    assert body["utility"]["associations"]["smoker"] == 1.0
    assert json.loads((tmp_path / "out" / "report.json").read_text())["utility"]["sums"]["sbp"] is None


def test_synthetic_records_have_no_pairs_to_compare(tmp_path: Path) -> None:
    body = extract(tmp_path, table=records(200), kind="condensed", method="condensation", k=20)
    assert body["utility"]["information"] == body["utility"]["associations"] == {}
    assert set(body["utility"]["means"]) == {"age", "born", "sbp", "time"}


def test_mutual_information_of_tables_worked_by_hand() -> None:
    """A channel that errs one time in four: 1 - H(1/4) = 0.1887 bits (Shannon). Counts stand for records."""
    sent, received = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert mutual_information(sent, received, np.array([3, 1, 1, 3])) == pytest.approx(0.18872, abs=1e-5)
    assert mutual_information(sent, received) == 0.0
    assert mutual_information(sent, sent) == entropy(sent) == 1.0
    assert entropy(np.arange(8)) == 3.0
    assert entropy(np.zeros(5, dtype=int)) == 0.0
    assert share_told(np.arange(4), np.zeros(4, dtype=int)) == 1.0


@pytest.mark.parametrize(
    ("not_audited", "findings", "told"),
    [
        (11, 0, "None of the 11 could be audited, so nothing is known."),
        (
            11,
            2,
            "The audit of them has 2 findings; 1 could single people out. 11 of the 11 could not be audited fully.",
        ),
        (
            4,
            0,
            "The audit of the other 7 has 0 findings; none could single people out. 4 of the 11 could not be audited.",
        ),
        (0, 0, "The audit of them has 0 findings; none could single people out."),
    ],
)
def test_what_could_not_be_audited_is_not_called_harmless(not_audited: int, findings: int, told: str) -> None:
    learnt = {"people": 1, "asked": 12, "answered": 11, "audit": "audited", "findings": findings}
    learnt |= {"isolating": findings // 2, "not_audited": not_audited}
    figures = make_figures({"learnt": learnt})
    assert figures.learnt == f"1 person asked 12 questions about this dataset; 11 answered. {told}"
