"""Small cohorts to condense."""

from __future__ import annotations

import numpy as np

from querygate.methods.synthesis import Microdata, Variable

COHORT = (
    Variable("age", "integer", 0, 110),
    Variable("weight", "number", 20, 200),
    Variable("nodes", "integer", 0, 60),
    Variable("grade", "category", size=6),
    Variable("meno", "boolean"),
    Variable("time", "integer", 0, 9000),
    Variable("status", "boolean"),
)


def cohort(records: int = 600, seed: int = 1) -> Microdata:
    """Skewed counts, missing numbers and categories, a rare category, survival times with an event for a third."""
    random = np.random.default_rng(seed)
    age = np.clip(np.rint(random.normal(55, 14, records)), 18, 100)
    weight = np.clip(random.normal(60 + 0.3 * age, 12), 35, 180)
    weight[random.random(records) < 0.2] = np.nan
    grade = random.choice(4, records, p=[0.5, 0.3, 0.15, 0.05])
    grade[random.random(records) < 0.05] = -1
    grade[7] = 5
    return Microdata(
        COHORT,
        {
            "age": age,
            "weight": weight,
            "nodes": np.minimum(np.floor(random.exponential(3, records)), 60),
            "grade": grade.astype(np.int64),
            "meno": (age > 50).astype(np.int64),
            "time": np.ceil(random.exponential(2000 - 10 * age)).clip(1, 8000),
            "status": (random.random(records) < 0.34).astype(np.int64),
        },
    )


def numbers(**columns: list[float]) -> Microdata:
    """Columns of numbers without bounds."""
    return Microdata(
        tuple(Variable(name, "number") for name in columns),
        {name: np.array(values, dtype=np.float64) for name, values in columns.items()},
    )
