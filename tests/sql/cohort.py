"""A cohort as epidemiologists have it, published through the real path, and its raw rows in DuckDB."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

from tests.policies import IDENTIFIER, make_policy, public, quasi, sensitive
from tests.property.random_cases import Case, publish_case
from tests.property.truth import define

PATIENTS = 300
FIRST_DAY = dt.date(2019, 1, 1)
DAYS = 5 * 365

POLICY = make_policy(
    "cohort",
    {
        "patient_id": IDENTIFIER,
        "age": quasi("integer", (18, 99), cuts=[30, 40, 50, 60, 70, 80]),
        "sex": quasi("category", values=["female", "male"]),
        "education": quasi("category", values=["primary", "secondary", "tertiary"]),
        "region": public("category", values=["east", "north", "south", "west"]),
        "arm": public("category", values=["control", "treatment"]),
        "smoker": sensitive("category", values=["no", "yes"]),
        "diabetes": sensitive("category", values=["no", "yes"]),
        "died": sensitive("boolean"),
        "bmi": sensitive("number", (14, 60)),
        "sbp": sensitive("integer", (80, 220)),
        "dbp": sensitive("integer", (40, 130)),
        "hba1c": sensitive("number", (3, 16)),
        "admitted": sensitive("date", (str(FIRST_DAY), "2023-12-31")),
        "los": sensitive("integer", (0, 90)),
        "wt": sensitive("number", (0.1, 8)),
    },
    person="patient_id",
)


def patients() -> dict[str, list[Any]]:
    """Columns of patients, with values that are missing, tied and rare."""
    rng = random.Random(1)

    def perhaps(value: Any, missing: float) -> Any:
        return None if rng.random() < missing else value

    rows = []
    for number in range(PATIENTS):
        age = min(95, max(18, round(rng.gauss(55, 17))))
        sbp = min(215, max(85, round(rng.gauss(100 + age / 2, 16))))
        rows.append(
            {
                "patient_id": f"p{number:04}",
                "age": age,
                "sex": rng.choice(["female", "male"]),
                "education": rng.choices(["primary", "secondary", "tertiary"], weights=[3, 5, 2])[0],
                "region": rng.choice(["east", "north", "south", "west"]),
                "arm": rng.choice(["control", "treatment"]),
                "smoker": perhaps(rng.choices(["yes", "no"], weights=[1, 3])[0], 0.1),
                "diabetes": perhaps(rng.choices(["yes", "no"], weights=[1, 5])[0], 0.05),
                "died": perhaps(rng.random() < 0.12, 0.02),
                "bmi": perhaps(round(min(59, max(15, rng.gauss(27, 5))), 1), 0.08),
                "sbp": perhaps(sbp, 0.05),
                "dbp": perhaps(min(125, max(45, round(sbp * 0.6 + rng.gauss(0, 7)))), 0.05),
                "hba1c": perhaps(round(min(15, max(3.5, rng.gauss(5.8, 1.1))), 1), 0.3),
                "admitted": FIRST_DAY + dt.timedelta(rng.randrange(DAYS)),
                "los": perhaps(min(90, int(rng.expovariate(0.15))), 0.03),
                "wt": round(min(7.9, max(0.2, rng.lognormvariate(0, 0.6))), 3),
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}


def published_cohort(folder: Path) -> Case:
    case = publish_case(POLICY.parsed(), patients(), folder)
    assert case is not None
    define(case.truth)
    return case
