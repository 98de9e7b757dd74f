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
import resource
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.bench.gate import beside_raw
from tests.bench.publish import published
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


GATE_ROWS = int(os.environ.get("VIEW_SCALE_GATE_ROWS", "10000000"))
ASKED = SURVEY.but(columns=dict.fromkeys(set(SECRETS) - {"sbp", "diabetes"}))
"""Fewer sensitive columns: a statement reads the margins of one, and publishing ten million rows takes its time."""

STATEMENTS = {
    "count where": "SELECT COUNT(*) FROM people WHERE age BETWEEN 40 AND 60 AND sbp > 140",
    "avg where": "SELECT AVG(sbp) FROM people WHERE age BETWEEN 41 AND 57 AND sex = 'F'",
    "count group": "SELECT race, COUNT(*) FROM people WHERE age >= 65 GROUP BY race",
    "avg group": "SELECT education, AVG(sbp) FROM people WHERE age BETWEEN 40 AND 60 GROUP BY education",
    "prevalence": "SELECT sex, COUNT(*) FROM people WHERE diabetes = 'yes' AND age >= 45 GROUP BY sex",
    "several": "SELECT race, COUNT(*), AVG(sbp), MIN(sbp), MAX(sbp) FROM people WHERE NOT (age < 30 OR sbp < 100) "
    "GROUP BY race",
}


def run() -> list[dict[str, Any]]:
    rows = [line for name, (policy, people) in PEOPLE.items() for line in _published(name, policy, people)]
    return rows + _asked()


def _published(name: str, policy: PolicyText, people: str) -> list[dict[str, Any]]:
    rows, made = [], {}
    for number in ROWS:
        one = made[number] = published(policy, people.replace("ROWS", str(number)), number, MEMORY_MB)
        asked = number == TARGET_ROWS
        title = f"views: {name}, {number:,} rows"
        told = f"{one.processor_s:.0f} s of processors, {one.frame_cells:,} frame cells of {one.most_classes:,} classes"
        for what, value, unit, most in (
            ("", one.seconds, "s", TARGET_S),
            (": memory", one.peak_mb, "MB", TARGET_MB),
        ):
            limit = {"ratio": value / most, "target": 1.0} if asked else {}
            rows.append(row(title + what, value, unit, told if unit == "s" else "peak of all processes", **limit))
    for fewer, more in pairwise(ROWS):
        exponent = math.log(made[more].processor_s / made[fewer].processor_s) / math.log(more / fewer)
        against = f"of processor time, {fewer:,} to {more:,} rows"
        rows.append(row(f"views: {name}, growth exponent", exponent, "", against))
    return rows


def _asked() -> list[dict[str, Any]]:
    """Views of many source rows, through the gate and by DuckDB on the raw table."""
    _, people = PEOPLE["survey"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "raw.duckdb"
        with duckdb.connect(str(path)) as raw:
            raw.execute("SELECT setseed(0.42)")
            raw.execute(f"CREATE TABLE people AS {people.replace('ROWS', str(GATE_ROWS))}")
        opened = open_gate(init_site(Path(folder) / "site"))
        began = time.perf_counter()
        report = publish_to(opened, ASKED.parsed(), f"duckdb:{path}#people", user="bench")
        seconds = time.perf_counter() - began
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        title = f"views: {GATE_ROWS:,} source rows, 2 sensitive columns"
        rows = [row(title, seconds, "s", f"{report.cells:,} cells"), row(f"{title}: memory", peak_mb, "MB", "peak")]
        return rows + beside_raw("views: gate", opened, "people", path, STATEMENTS)
