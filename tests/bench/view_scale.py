"""Publishing certified views of 5,500 to 500,000 rows, source to served cells: time, memory, growth; and asking them.

Two views chosen by the schema, four sensitive numbers and three categories, with missing and rare values. `survey` has
the quasi-identifiers of a national survey, so that larger tables have larger classes; `register` tells people apart
more finely (counties, occupations), so that larger tables have more classes, and more frame cells. Each publication is
a process of its own, as in tests/bench/publish.py.

The gate is measured as in tests/bench/gate.py: ten million source rows, whole answers with the log on disk, beside the
same statements by DuckDB on the raw table.

VIEW_SCALE_ROWS="5500,50000" and VIEW_SCALE_GATE_ROWS=100000 are for a quick look.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from typing import Any

from tests.bench.publish import Published, published
from tests.policies import PolicyText, make_policy, quasi, sensitive
from tests.report import row

ROWS = tuple(int(text) for text in os.environ.get("VIEW_SCALE_ROWS", "5500,50000,500000").split(","))
TARGET_ROWS, TARGET_S, TARGET_MB = 500_000, 200.0, 1024.0
MEMORY_MB = 1024

YES_NO = sensitive("category", values=["no", "yes"])
SECRETS = {
    "sbp": sensitive("integer", (60, 260), bins=10, guard=10),
    "glucose": sensitive("integer", (30, 600), bins=20, guard=20),
    "bmi": sensitive("number", (10.0, 90.0), bins=2.5, guard=2.0),
    "cholesterol": sensitive("number", (1.0, 15.0), bins=0.5, guard=0.5),
    "diabetes": YES_NO,
    "smoker": sensitive("category", values=["current", "former", "never"]),
    "health": sensitive("category", values=["excellent", "fair", "good", "poor", "very good"]),
}
AGE = quasi("integer", (18, 90), grid=1, cuts=[25, 35, 45, 55, 65, 75], weight=4)
SEX = quasi("category", values=["F", "M"])
SURVEY = make_policy(
    "people",
    {
        "age": AGE,
        "sex": SEX,
        "race": quasi("category", values=[f"race {i:03}" for i in range(6)]),
        "education": quasi("category", values=[f"level {i:03}" for i in range(5)]),
        **SECRETS,
    },
    k=10,
    views={"mode": "auto"},
)
REGISTER = SURVEY.but(
    columns={
        "race": {"values": [f"race {i:03}" for i in range(300)]},
        "education": {"values": [f"level {i:03}" for i in range(120)]},
    }
)

_NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"


def _people(race: str, education: str) -> str:
    """Values depend on age, as they do; `random()` is anew wherever it stands."""
    return f"""
WITH drawn AS (
    SELECT CAST(least(90, 18 + floor(73 * pow(random(), 1.2))) AS INTEGER) AS age,
        CASE WHEN random() < 0.52 THEN 'F' ELSE 'M' END AS sex, {race} AS race,
        CASE WHEN random() < 0.97 THEN {education} END AS education, random() AS luck
    FROM range(ROWS)
)
SELECT age, sex, race, education,
    CASE WHEN random() < 0.95 THEN CAST(least(260, greatest(60, 100 + 0.45 * age + 15 * {_NORMAL})) AS INTEGER) END
        AS sbp,
    CASE WHEN random() < 0.85 THEN CAST(least(600, 75 + 0.3 * age - 12 * ln(1 - random())) AS INTEGER) END AS glucose,
    CASE WHEN random() < 0.98 THEN round(least(90, greatest(12, 27 + 0.02 * age + 5.5 * {_NORMAL})), 1) END AS bmi,
    CASE WHEN random() < 0.9 THEN round(least(15, greatest(2, 4 + 0.015 * age + {_NORMAL})), 2) END AS cholesterol,
    CASE WHEN luck < 0.004 * (age - 16) THEN 'yes' ELSE 'no' END AS diabetes,
    CASE WHEN random() < 0.2 THEN 'current' WHEN random() < 0.3 THEN 'former' WHEN random() < 0.97 THEN 'never' END
        AS smoker,
    CASE WHEN luck > 0.99 THEN 'poor' WHEN random() < 0.15 THEN 'fair' WHEN random() < 0.4 THEN 'good'
        WHEN random() < 0.6 THEN 'very good' ELSE 'excellent' END AS health
FROM drawn"""


def _one_of(name: str, number: int) -> str:
    """The first are the commonest."""
    return f"'{name} ' || lpad(CAST(floor({number} * random() * random()) AS INTEGER)::VARCHAR, 3, '0')"


PEOPLE = {
    "survey": (SURVEY, _people(_one_of("race", 6), _one_of("level", 5))),
    "register": (REGISTER, _people(_one_of("race", 300), _one_of("level", 120))),
}


def run() -> list[dict[str, Any]]:
    return [line for name, (policy, people) in PEOPLE.items() for line in _published(name, policy, people)]


def _published(name: str, policy: PolicyText, people: str) -> list[dict[str, Any]]:
    rows, made = [], {}
    for number in ROWS:
        one = made[number] = published(policy, people.replace("ROWS", str(number)), number, MEMORY_MB)
        asked = number == TARGET_ROWS
        title = f"views: {name}, {number:,} rows"
        told = f"{one.frame_cells:,} frame cells, {one.classes:,} classes, at most {one.most_classes:,} in a cell"
        rows.append(row(title, one.seconds, "s", told, ratio=one.seconds / TARGET_S if asked else None,
                        target=1.0 if asked else None))  # fmt: skip
        rows.append(row(f"{title}: memory", one.peak_mb, "MB", "peak", ratio=one.peak_mb / TARGET_MB if asked else None,
                        target=1.0 if asked else None))  # fmt: skip
    for fewer, more in pairwise(ROWS):
        exponent = math.log(made[more].seconds / made[fewer].seconds) / math.log(more / fewer)
        rows.append(row(f"views: {name}, growth exponent", exponent, "", f"{fewer:,} to {more:,} rows"))
    return rows
