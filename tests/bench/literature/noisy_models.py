"""Noisy models beside models without noise: what privacy costs at the epsilons that policies have.

20,000 made patients. The functional mechanism (Zhang and others 2012) and objective perturbation (Chaudhuri, Monteleoni
and Sarwate 2011) report errors that fall with epsilon and with the number of records and come near those without noise
from epsilon 1 on, on data sets of this size; that is what must hold here. Their census data are not used: the papers
differ in columns and cleaning.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.noisy_models.noisy_model import NoisyModelPlan
from tests.policies import make_policy, quasi, sensitive
from tests.report import row

RECORDS, REPEATS = 20_000, 15
EPSILONS = (0.1, 1.0, 10.0)
POLICY = make_policy(
    "bench",
    {
        "age": quasi("integer", (0, 100)),
        "sex": quasi("category", values=["f", "m"]),
        "sbp": sensitive("number", (60, 240)),
        "died": sensitive("boolean"),
    },
).parsed()


def patients() -> pa.Table:
    chance = np.random.default_rng(7)
    age, sex = chance.integers(20, 90, RECORDS), chance.choice(["f", "m"], RECORDS)
    sbp = np.clip(90 + 0.5 * age + 5 * (sex == "m") + chance.normal(0, 15, RECORDS), 60, 240)
    died = chance.random(RECORDS) < 1 / (1 + np.exp(-(age - 55) / 10))
    return pa.table({"age": age, "sex": sex, "sbp": sbp, "died": died})


def drawn(table: pa.Table, noisy: str, epsilon: float) -> dict[str, Any]:
    wish = {"dataset": "bench", "purpose": "bench", "kind": "noisy-model", "noisy": noisy, "epsilon": epsilon}
    return NoisyModelPlan.of(ExtractSpec.of(wish), POLICY).draw(table, secrets.SystemRandom())


def squared_error(table: pa.Table, found: dict[str, Any]) -> float:
    age, sbp = np.asarray(table["age"], dtype=float), np.asarray(table["sbp"])
    male = np.asarray(table["sex"].to_pylist()) == "m"
    told = found["coefficients"]
    return float(np.mean((found["intercept"] + told["age"] * age + told["sex=m"] * male - sbp) ** 2))


def wrong_share(table: pa.Table, found: dict[str, Any]) -> float:
    [model] = found["models"]
    guess = model["intercept"] + model["coefficients"]["age"] * np.asarray(table["age"], dtype=float) > 0
    return float(np.mean(guess != np.asarray(table["died"])))


def rows() -> list[dict[str, Any]]:
    """The median over repeats of each error, beside the error without noise."""
    table = patients()
    age, male = np.asarray(table["age"], dtype=float), np.asarray(table["sex"].to_pylist()) == "m"
    design = np.stack([age, male, np.ones(RECORDS)], axis=1)
    plain = float(np.linalg.lstsq(design, np.asarray(table["sbp"]), rcond=None)[1][0]) / RECORDS
    best = float(np.mean((age > 55) != np.asarray(table["died"])))
    rows = []
    for epsilon in EPSILONS:
        for name, formula, error, without in (
            ("linear", "linear: sbp ~ age + sex", squared_error, plain),
            ("logistic", "logistic: died ~ age", wrong_share, best),
        ):
            found = float(np.median([error(table, drawn(table, formula, epsilon)) for _ in range(REPEATS)]))
            near = found <= 1.1 * without if epsilon >= 1 else None
            what = "mean squared error" if name == "linear" else "misclassified"
            rows.append(
                row(f"Noisy {name}, epsilon {epsilon:g}: {what}", found, "", f"{without:.4g} without noise", met=near)
            )
    return rows
