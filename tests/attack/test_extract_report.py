"""The report that leaves with an extract is no second way to the records: what it tells of few people is not in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.policies import AGE, ZIP, make_policy, quasi, sensitive
from tests.unit.custody.extract.study import extract

PLANTED, ROWS, K = 12, 600, 50
RARE = [f"rare {i:02d}" for i in range(PLANTED)]
POLICY = make_policy(
    "trial", {"age": AGE, "zip": ZIP, "job": quasi("category"), "time": sensitive("integer", (0, 5000))}
)
MODELS = ["linear: age ~ job", "linear: time ~ age"]


def people(seed: int = 3) -> pa.Table:
    """Twelve of them have a job that nobody else has."""
    rng = np.random.default_rng(seed)
    jobs = [*RARE, *rng.choice(["clerk", "nurse"], ROWS - PLANTED).tolist()]
    age = rng.integers(18, 90, ROWS)
    return pa.table(
        {
            "age": age,
            "zip": [f"{37 + n % 3}{n % 2}10" for n in range(ROWS)],
            "job": jobs,
            "time": rng.permutation(5000)[:ROWS],
        }
    )


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text())
    return found


def ages_by_correlations(report: dict[str, Any], mean: float, spread: float) -> dict[str, float]:
    """Of a level that one record has: correlation = (age - mean) / (spread * sqrt(n - 1))."""
    found = report["utility"]["correlations"]
    places = {name: i for i, name in enumerate(found["names"])}
    sides = [found[side] for side in ("before", "after") if side in found]
    return {
        name: mean + float(side[places["age"]][places[f"job[{name}]"]]) * spread * np.sqrt(ROWS - 1)
        for side in reversed(sides)
        for name in RARE
        if f"job[{name}]" in places
    }


def ages_by_coefficients(report: dict[str, Any], base: float) -> dict[str, float]:
    """Of a level that one record has: coefficient = age - mean of the first level."""
    [model] = [model for model in report["utility"]["models"] if model["model"] == MODELS[0]]
    terms = {line["term"]: line.get("before", line["after"]) for line in model["terms"]}
    return {name: base + terms[f"job[{name}]"] for name in RARE if terms.get(f"job[{name}]") is not None}


@pytest.mark.parametrize("kind", ["k-anonymous", "condensed"])
def test_no_age_of_a_planted_person_follows_from_the_report(kind: str, tmp_path: Path) -> None:
    table = people()
    method = {"method": "mondrian"} if kind == "k-anonymous" else {"method": "condensation"}
    extract(tmp_path, table=table, policy=POLICY, kind=kind, k=K, models=MODELS, **method)
    ages = np.array(table["age"].to_pylist(), dtype=float)
    clerks = ages[np.array(table["job"].to_pylist()) == "clerk"]
    report = told(tmp_path)
    for guessed in (
        ages_by_correlations(report, float(ages.mean()), float(ages.std())),
        ages_by_coefficients(report, float(clerks.mean())),
    ):
        right = [name for i, name in enumerate(RARE) if abs(guessed.get(name, -99) - ages[i]) < 0.5]
        assert len(right) <= 1, right  # by chance: an age is one of some seventy


def test_two_tables_with_one_extract_have_one_report_with_pictures(tmp_path: Path) -> None:
    """One person's age is another one of the same class: nothing that leaves may tell which."""
    wish: dict[str, Any] = {"policy": POLICY, "k": K, "method": "mondrian", "models": MODELS[1:]}
    table = people()
    ages = table["age"].to_pylist()
    extract(tmp_path / "one", table=table, **wish)
    low, high = ages_of(tmp_path / "one", table["time"][0].as_py())
    ages[0] = next(age for age in range(low + 1, high) if abs(age - ages[0]) > 1)
    extract(tmp_path / "other", table=table.set_column(0, "age", pa.array(ages)), **wish)
    one, other = (files(tmp_path / name / "out") for name in ("one", "other"))
    assert sorted(one.pop("extract.csv").splitlines()) == sorted(other.pop("extract.csv").splitlines())
    assert one.pop("extract.parquet").startswith(b"PAR1")
    assert {"report.json", "report.html", "dictionary.csv", "columns.png", "correlations.png", "model_1.png"} <= set(
        one
    )
    assert [name for name in one if one[name] != other.get(name)] == []


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def ages_of(folder: Path, time: int) -> tuple[int, int]:
    """From which to which age the record with this time says."""
    left = pq.read_table(folder / "out" / "extract.parquet").to_pylist()
    [found] = [(line["age_low"], line["age_high"]) for line in left if line["time"] == time]
    return found
