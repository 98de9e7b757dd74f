"""The default extract is as good as the best method that is tried: on records of the census, and on hostile tables."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from querygate.custody.publish.method_choice import QUICK, SLOW
from tests.policies import PolicyText, make_policy, quasi, sensitive
from tests.unit.custody.extract.study import extract

pytestmark = pytest.mark.usefixtures("compared_methods")

ADULT = Path(__file__).parents[3] / "data" / "adult_30162.csv.gz"
CATEGORIES = ("sex", "race", "marital-status", "education", "workclass", "occupation")
ADULTS = make_policy(
    "trial",
    {name: quasi("category") for name in CATEGORIES}
    | {"age": quasi("integer", (17, 90), grid=1), "salary-class": sensitive("category")},
)
SMALL = make_policy(
    "trial",
    {"age": quasi("integer", (0, 120), grid=1), "place": quasi("category"), "sbp": sensitive("number", (40, 300))},
)


def adults(rows: int) -> pa.Table:
    with gzip.open(ADULT) as file:
        table = pyarrow.csv.read_csv(file, parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    return table.select([*CATEGORIES, "age", "salary-class"]).slice(0, rows)


def hostile(kind: str) -> pa.Table:
    rng = np.random.default_rng(8)
    age: list[Any] = rng.integers(0, 100, 60).tolist()
    place: list[Any] = rng.choice(["Graz", "Wien", "\N{SNOWMAN}", "007", "=1+1"], 60).tolist()
    if kind == "ties":
        age, place = [30] * 40 + [31] * 20, ["Graz"] * 59 + ["Wien"]
    elif kind == "constant":
        age, place = [50] * 60, ["Graz"] * 60
    elif kind == "missing":
        age, place = [None] * 60, [None if i % 3 else text for i, text in enumerate(place)]
    elif kind == "one class":
        age, place = age[:5], place[:5]
    sbp = rng.normal(120, 20, len(age)).clip(40, 300)
    return pa.table({"age": pa.array(age, pa.int64()), "place": pa.array(place, pa.string()), "sbp": sbp})


def check_is_best(folder: Path, table: pa.Table, policy: PolicyText, k: int, *alone: str) -> None:
    body = extract(folder / "auto", table=table, policy=policy, k=k)
    tried = {line["method"]: line["ncp"] for line in body["tried"]}
    assert set(tried) == {*QUICK, *SLOW}
    assert tried[body["method"]] == min(tried.values())
    assert np.mean(list(body["loss"].values())) == pytest.approx(tried[body["method"]])
    for method in alone:
        [line] = extract(folder / method, table=table, policy=policy, k=k, method=method)["tried"]
        assert line["ncp"] == pytest.approx(tried[method])


def test_no_method_is_better_than_auto(tmp_path: Path) -> None:
    check_is_best(tmp_path, adults(250), ADULTS, 10, "snake")


@pytest.mark.parametrize("kind", ["random", "ties", "constant", "missing", "one class"])
def test_no_method_is_better_than_auto_on_a_hostile_table(kind: str, tmp_path: Path) -> None:
    check_is_best(tmp_path, hostile(kind), SMALL, 5, *(["snake"] if kind == "ties" else []))


def test_the_largest_k_is_that_of_the_best_method(tmp_path: Path) -> None:
    wish: dict[str, Any] = {"table": adults(300), "policy": ADULTS, "columns": ["sex", "race", "age", "salary-class"]}
    wish["tolerances"] = {"mean(age)": 8}
    found = {method: extract(tmp_path / method, method=method, **wish)["k"] for method in ("auto", "snake", "mondrian")}
    assert found["auto"] >= max(found["snake"], found["mondrian"])


def test_weights_of_the_policy_are_kept_to(tmp_path: Path) -> None:
    """A custodian who wants ages sharp has them sharper than one who says nothing."""
    heavy = ADULTS.but(columns={"age": {**quasi("integer", (17, 90), grid=1), "weight": 20}})
    losses = [
        extract(tmp_path / name, table=adults(200), policy=policy, k=10)["loss"]["age"]
        for name, policy in (("plain", ADULTS), ("heavy", heavy))
    ]
    assert losses[1] < losses[0]
