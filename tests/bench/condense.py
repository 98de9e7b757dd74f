"""Time to condense records shaped like a large cohort: ten columns, one record in six with an event, K = 100.

Two sizes, 17,549 and 430,000 records, for improved condensation tailored to a Cox model; the exponent is that of the
growth of CPU time between them (published: near linear). Wall-clock seconds are beside the CPU seconds of the process.
The records are made here: correlated body measures, a quarter of them missing together, survival times that depend on
age and weight.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from querygate.methods.synthesis import Microdata, Variable, condense
from tests.report import row

K = 100
COHORT, LARGE = 17_549, 430_000
COHORT_S, LARGE_S, EXPONENT = 5.0, 150.0, 1.2

VARIABLES = (
    Variable("age", "integer", 18, 110),
    Variable("male", "boolean"),
    Variable("weight", "number", 20, 300),
    Variable("height", "number", 100, 230),
    Variable("bmi", "number", 5, 150),
    Variable("sbp", "integer", 50, 260),
    Variable("hdl", "number", 5, 200),
    Variable("region", "category", size=5),
    Variable("futime", "integer", 1, 8000),
    Variable("status", "boolean"),
)


def cohort(records: int, seed: int = 1) -> Microdata:
    """Records like those of a cohort followed for twenty years."""
    random = np.random.default_rng(seed)
    age = np.clip(np.rint(random.normal(53, 15, records)), 18, 98)
    male = (random.random(records) < 0.47).astype(np.int64)
    height = np.clip(random.normal(163 + 13 * male, 7), 120, 215).round(1)
    weight = np.clip(np.exp(random.normal(4.35 + 0.15 * male, 0.24)), 35, 250).round(1)
    sbp = np.clip(np.rint(random.normal(105 + 0.4 * age, 15)), 70, 230)
    hdl = np.clip(random.gamma(16, 3.3 - 0.5 * male), 10, 150).round()
    hazard = np.exp(0.09 * (age - 53) + 0.01 * (weight - 85) + 0.3 * male) / 40_000
    event, censored = random.exponential(1 / hazard), random.uniform(1, 7000, records)
    futime = np.clip(np.ceil(np.minimum(event, censored)), 1, 7300)
    bmi = weight / (height / 100) ** 2
    for column in (weight, height, bmi):
        column[random.random(records) < 0.02] = np.nan
    unmeasured = random.random(records) < 0.25
    weight[unmeasured] = bmi[unmeasured] = np.nan
    columns = {"age": age, "male": male, "weight": weight, "height": height, "bmi": bmi, "sbp": sbp, "hdl": hdl}
    columns["region"] = random.choice(5, records, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    return Microdata(VARIABLES, columns | {"futime": futime, "status": (event <= censored).astype(np.int64)})


def measure(records: int) -> tuple[float, float]:
    """Wall-clock and CPU seconds of one run, with the promise checked."""
    data = cohort(records)
    wall, cpu = time.perf_counter(), time.process_time()
    made = condense(data, K, response="futime", status="status", rng=np.random.default_rng(2))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if int(np.bincount(made.labels).min()) < K:
        raise AssertionError(f"a cluster of fewer than {K} records")
    return wall, cpu


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    rows, cpu_s = [], {}
    for records, target in ((COHORT, COHORT_S), (LARGE, LARGE_S)):
        wall, cpu_s[records] = measure(records)
        name = f"Condensed, {records:,} x {len(VARIABLES)}, K={K}"
        rows.append(row(name, wall, "s", target=target, met=wall <= target))
        rows.append(row(f"{name}: processor", cpu_s[records], "CPU s"))
    exponent = math.log(cpu_s[LARGE] / cpu_s[COHORT]) / math.log(LARGE / COHORT)
    rows.append(row("Condensed: growth exponent", exponent, "", target=EXPONENT, met=exponent <= EXPONENT))
    return rows
