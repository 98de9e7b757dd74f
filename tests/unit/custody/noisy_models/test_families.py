"""Noisy models: right where noise is small, an answer for any data, and never more epsilon than was paid."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.noisy_models.guarded_library import guarded, open_library
from querygate.custody.noisy_models.noisy_model import NoisyModelPlan, model_files, model_lines
from querygate.custody.noisy_models.public_design import one_row_each
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive

POLICY = make_policy(
    "trial",
    {
        "mrn": IDENTIFIER,
        "age": quasi("integer", (0, 100)),
        "sex": quasi("category", values=["f", "m"]),
        "born": quasi("date", ("1900-01-01", "2020-12-31")),
        "sbp": sensitive("number", (60, 240)),
        "died": sensitive("boolean"),
        "dx": sensitive("category", values=["a", "b", "Łódź"]),
        "open": sensitive("category"),
    },
).parsed()
FAMILIES = {
    "linear: sbp ~ age + sex": None,
    "logistic: died ~ age + sex": None,
    "logistic: dx ~ age": None,
    "bayes: dx ~ age + sbp + sex": None,
    "pca: ~ age + sbp": 2,
    "kmeans: ~ age + sbp": 3,
    "histogram: ~ age + sex + died": 4,
}


def rows(count: int, seed: int = 1) -> pa.Table:
    chance = np.random.default_rng(seed)
    age, sex = chance.integers(20, 90, count), chance.choice(["f", "m"], count)
    sbp = 90 + 0.5 * age + 5 * (sex == "m") + chance.normal(0, 8, count)
    return pa.table(
        {
            "age": age,
            "sex": sex,
            "born": pa.array(chance.integers(-20_000, 10_000, count).astype(np.int32)).cast(pa.date32()),
            "sbp": sbp,
            "died": chance.random(count) < 1 / (1 + np.exp(-(age - 55) / 10)),
            "dx": chance.choice(["a", "b", "Łódź"], count, p=[0.6, 0.3, 0.1]),
        }
    )


def plan(noisy: str, parts: int | None = None, epsilon: float = 1.0) -> NoisyModelPlan:
    wish = {"dataset": "trial", "purpose": "to see", "kind": "noisy-model", "noisy": noisy, "epsilon": epsilon}
    return NoisyModelPlan.of(ExtractSpec.of(wish | ({} if parts is None else {"parts": parts})), POLICY)


def drawn(table: pa.Table, noisy: str, parts: int | None = None, epsilon: float = 1.0) -> dict[str, Any]:
    return plan(noisy, parts, epsilon).draw(table, secrets.SystemRandom())


# -- right where noise is small --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> pa.Table:
    return rows(20_000)


def test_linear_regression_is_that_of_least_squares(many: pa.Table) -> None:
    found = drawn(many, "linear: sbp ~ age + sex", epsilon=100)
    design = np.stack([np.asarray(many["age"]), np.asarray(many["sex"]) == "m", np.ones(many.num_rows)], axis=1)
    age, sex, intercept = np.linalg.lstsq(design.astype(float), np.asarray(many["sbp"]), rcond=None)[0]
    assert found["coefficients"]["age"] == pytest.approx(age, abs=0.05)
    assert found["coefficients"]["sex=m"] == pytest.approx(sex, abs=2)
    assert found["intercept"] == pytest.approx(intercept, abs=4)
    assert found["stable"]


def test_logistic_regression_finds_the_slope(many: pa.Table) -> None:
    [found] = drawn(many, "logistic: died ~ age", epsilon=100)["models"]
    assert found["value"] == "true"
    assert found["coefficients"]["age"] == pytest.approx(0.1, abs=0.02)
    assert -found["intercept"] / found["coefficients"]["age"] == pytest.approx(55, abs=3)


def test_naive_bayes_has_the_moments_of_each_class(many: pa.Table) -> None:
    found = {one["value"]: one for one in drawn(many, "bayes: dx ~ age + sex", epsilon=100)["classes"]}
    ages = np.asarray(many["age"])[np.asarray(many["dx"]) == "a"]
    assert found["a"]["share"] == pytest.approx(0.6, abs=0.02)
    assert found["a"]["mean"]["age"] == pytest.approx(ages.mean(), abs=1)
    assert found["a"]["sd"]["age"] == pytest.approx(ages.std(), abs=1)
    assert found["a"]["mean"]["sex=m"] == pytest.approx(0.5, abs=0.05)
    assert found["a"]["sd"]["sex=m"] == pytest.approx(0.5, abs=0.05)


def test_components_centres_and_counts(many: pa.Table) -> None:
    found = drawn(many, "pca: ~ age + sbp", 1, epsilon=100)
    assert found["centre"]["age"] == pytest.approx(np.asarray(many["age"]).mean(), abs=1)
    assert abs(found["components"][0]["direction"]["age"]) > 0.85
    centres = drawn(many, "kmeans: ~ age + sbp", 2, epsilon=100)["centres"]
    assert sorted(round(one["age"]) for one in centres)[0] in range(30, 46)
    cells = {one["sex"]: one["count"] for one in drawn(many, "histogram: ~ sex", epsilon=100)["cells"]}
    counted = Counter(many["sex"].to_pylist())
    assert cells["missing"] <= 1
    assert all(abs(cells[value] - counted[value]) <= 1 for value in ("f", "m"))


# -- an answer for any data ------------------------------------------------------------------------------------------

HOSTILE = {
    "no rows": rows(0),
    "one row": rows(1),
    "all missing": pa.table({n: pa.nulls(5, rows(1).schema.field(n).type) for n in rows(1).column_names}),
    "constant": rows(1).take(pa.array([0] * 30)),
    "outside": rows(3)
    .set_column(0, "age", pa.array([-(10**12), 10**12, 50]))
    .set_column(1, "sex", pa.array(["", "divers", None], pa.string()))
    .set_column(3, "sbp", pa.array([float("nan"), float("inf"), -1e300])),
}


@pytest.mark.parametrize("table", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("noisy", FAMILIES)
def test_every_family_answers_whatever_the_data(table: pa.Table, noisy: str) -> None:
    """No failure tells of the data: an answer comes for any, of one shape, and it says what its noise is."""
    found = drawn(table, noisy, FAMILIES[noisy])
    usual = drawn(rows(40), noisy, FAMILIES[noisy])
    assert [line[:2] for line in model_lines(found)] == [line[:2] for line in model_lines(usual)]
    assert found["bounds"] == usual["bounds"]
    assert "floating point by diffprivlib" in found["notes"][0]
    files = model_files(
        json.loads(json.dumps(found, allow_nan=False)), {"dataset": "trial", "version": 1, "purpose": "to see"}
    )
    assert b"floating point by diffprivlib" in files["report.html"]
    assert found["account"] <= 1.0 + 1e-9


def test_one_row_of_each_person_counts() -> None:
    table = pa.table({"mrn": ["b", "a", "b", "a", "c"], "age": [1, 2, 3, 4, 5]})
    assert one_row_each(table, "mrn")["age"].to_pylist() == [1, 2, 5]
    assert one_row_each(table, "").num_rows == 5
    assert one_row_each(table.slice(0, 0), "mrn").num_rows == 0


# -- never more than was paid ----------------------------------------------------------------------------------------


class Spent:
    """What every mechanism of the library was asked to keep, call by call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from diffprivlib import mechanisms

        self.calls: list[tuple[str, float]] = []
        for name in ("Laplace", "LaplaceFolded", "LaplaceTruncated", "LaplaceBoundedDomain"):
            self._watch(monkeypatch, getattr(mechanisms, name))
        for name in ("GeometricFolded", "GeometricTruncated", "Bingham", "Vector"):
            self._watch(monkeypatch, getattr(mechanisms, name))

    def _watch(self, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
        drawn = kind.randomise

        def randomise(mechanism: Any, value: Any) -> Any:
            if type(mechanism) is kind:
                self.calls.append((kind.__name__, float(mechanism.epsilon)))
            return drawn(mechanism, value)

        monkeypatch.setattr(kind, "randomise", randomise)

    @property
    def total(self) -> float:
        return sum(epsilon for _, epsilon in self.calls)


def test_a_linear_regression_spends_its_price_call_by_call(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = Spent(monkeypatch)
    drawn(rows(50), "linear: sbp ~ age + sex", epsilon=0.7)
    assert spent.total == pytest.approx(0.7)


@pytest.mark.parametrize("patched", [True, False])
def test_k_means_of_many_columns_spends_its_price(monkeypatch: pytest.MonkeyPatch, patched: bool) -> None:
    """Clusters hold different people, so one of them is charged: a count and a sum of each column in each round. The
    library gives the two parts away the wrong way round, and spends more than epsilon from five columns on."""
    table = pa.table({f"x{i}": np.random.default_rng(i).random(60) for i in range(8)})
    policy = make_policy("t", {name: quasi("number", (0, 1)) for name in table.column_names}).parsed()
    formula = "kmeans: ~ " + " + ".join(table.column_names)
    wish = {"dataset": "t", "purpose": "p", "kind": "noisy-model", "noisy": formula, "epsilon": 1.0, "parts": 2}
    spent = Spent(monkeypatch)
    if patched:
        NoisyModelPlan.of(ExtractSpec.of(wish), policy).draw(table, secrets.SystemRandom())
    else:
        open_library().models.KMeans(2, epsilon=1.0, bounds=(0.0, 1.0)).fit(np.random.default_rng(1).random((60, 8)))
    assert (spent.total / 2 <= 1.0 + 1e-9) is patched


def test_an_empty_cluster_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody is in one place. The library skips an empty cluster, whose centre then stays where it was."""
    spent = Spent(monkeypatch)
    drawn(rows(1).take(pa.array([0] * 50)), "kmeans: ~ age + sbp", 6)
    counts = Counter(name for name, _ in spent.calls)
    assert counts["GeometricFolded"] % 6 == 0
    assert counts["LaplaceBoundedDomain"] == 2 * counts["GeometricFolded"]


def test_the_counts_of_naive_bayes_do_not_add_up_to_the_number_of_records() -> None:
    sums = {
        round(sum(1 / one["share"] for one in drawn(rows(30), "bayes: died ~ age")["classes"]), 6) for _ in range(12)
    }
    assert len(sums) > 3


def test_the_sensitivity_of_a_square_is_that_of_the_wider_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bounds that are not symmetric the library takes the lower one alone: 0 for [0, 1], and so no noise at all."""
    from diffprivlib.mechanisms import LaplaceFolded

    seen: list[float] = []
    made = LaplaceFolded.__init__

    def make(mechanism: Any, **given: Any) -> None:
        seen.append(given["sensitivity"])
        made(mechanism, **given)

    monkeypatch.setattr(LaplaceFolded, "__init__", make)
    drawn(rows(20), "linear: sbp ~ age + sex")
    assert seen
    assert all(one >= 1 for one in seen)


def test_a_bound_from_the_data_is_a_refusal() -> None:
    library = open_library()
    for model in (library.models.LinearRegression(), library.models.GaussianNB(), library.models.LogisticRegression()):
        with pytest.raises(ExtractRefused, match="learnt a bound from the data"), guarded():
            model.fit(np.ones((4, 2)) * np.arange(4)[:, None], np.array([0, 1, 0, 1]))


# -- what is no question ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noisy", "code"),
    [
        ("cox: Surv(time, died) ~ age", "QG604"),
        ("linear: ~ age", "QG604"),
        ("pca: age ~ sbp", "QG604"),
        ("linear: sbp ~ log(age)", "QG604"),
        ("linear: sbp ~ age:sex", "QG604"),
        ("linear: sbp ~ age +", "QG604"),
        ("linear: sbp ~ sbp", "QG604"),
        ("linear: sbp ~ open", "QG605"),
        ("histogram: ~ age + sbp + born + dx + sex", "QG605"),
    ],
)
def test_what_is_refused_before_anything_is_read(noisy: str, code: str) -> None:
    with pytest.raises(ExtractRefused) as refused:
        plan(noisy, 30 if noisy.startswith("histogram") else None)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "wish",
    [
        {"epsilon": None},
        {"epsilon": 0},
        {"epsilon": True},
        {"epsilon": float("nan")},
        {"noisy": ""},
        {"k": 5},
        {"columns": ["age"]},
        {"kind": "k-anonymous"},
        {"parts": 0},
        {"parts": "two"},
    ],
)
def test_a_request_that_is_not_valid(wish: dict[str, Any]) -> None:
    whole = {"dataset": "trial", "purpose": "p", "kind": "noisy-model", "noisy": "pca: ~ age + sbp", "epsilon": 1.0}
    with pytest.raises(ExtractRefused) as refused:
        ExtractSpec.of({key: value for key, value in (whole | wish).items() if value is not None})
    assert refused.value.code == "QG604"
