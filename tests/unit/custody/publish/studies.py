"""Made-up sources that look like those of hospitals: a health survey, a register of people, a table of claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.unit.custody.publish.publications import write_parquet


def survey(folder: Path, rows: int = 2000) -> Path:
    """Like NHANES: a key, demographic columns, measurements that children miss, answers, a survey weight."""
    chance = np.random.default_rng(1)
    age = chance.integers(0, 81, rows)
    child = age < 8
    systolic = np.round(100 + age * 0.5 + chance.normal(0, 12, rows)).astype(int)
    return write_parquet(
        folder / "survey.parquet",
        {
            "SEQN": np.arange(50_000, 50_000 + rows),
            "SurveyYr": ["2009_10"] * rows,
            "Gender": chance.choice(["male", "female"], rows),
            "Age": age,
            "AgeMonths": age * 12 + chance.integers(0, 12, rows),
            "Race": chance.choice(["White", "Black", "Hispanic", "Other"], rows, p=[0.5, 0.2, 0.2, 0.1]),
            "BPSysAve": pa.array(systolic, mask=child),
            "Weight": np.round(np.where(child, 5 + 3 * age, 50 + chance.normal(25, 12, rows)), 1),
            "Diabetes": chance.choice(["Yes", "No"], rows, p=[0.2, 0.8]),
            "WTINT2YR": chance.uniform(3000, 150_000, rows),
        },
    )


FIRST = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "John", "Leslie", "Tony"]
LAST = ["Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Allen", "Backus", "Lamport", "Hoare"]


def people(folder: Path, rows: int = 1500) -> Path:
    """Like a register: everything that names a person, under names that say so and under names that do not."""
    chance = np.random.default_rng(2)
    digits = chance.integers(100, 999, (rows, 3))
    full = [f"{a} {c}. {b}{e}" for a, b, c, e in zip(
        chance.choice(FIRST, rows), chance.choice(LAST, rows), chance.choice(list("ABCDEFGHIJKLMN"), rows),
        chance.choice(["", "son", "man", "smith"], rows), strict=True)]  # fmt: skip
    born = np.datetime64("1930-01-01") + chance.integers(0, 25_000, rows)
    return write_parquet(
        folder / "people.parquet",
        {
            "who": full,
            "last_name": chance.choice([a + b.lower() for a in LAST for b in FIRST], rows),
            "col7": [f"{a}-{b % 90 + 10}-{c}{a % 10}" for a, b, c in digits.tolist()],
            "reach": [f"({a}) {b}-{c}{a % 10}" for a, b, c in digits.tolist()],
            "contact": [f"user{i}@example.org" for i in range(rows)],
            "date_of_birth": born,
            "zipcode": [f"{z:05d}" for z in chance.integers(37_000, 37_300, rows)],
            "sex": chance.choice(["Female", "Male"], rows),
            "housing": chance.choice(["Household", "College", "Military"], rows, p=[0.8, 0.15, 0.05]),
            "remarks": [f"Called from ({a}) {b}-{c}1 about the visit of last week" for a, b, c in digits.tolist()],
        },
    )


def claims(folder: Path, rows: int = 1500) -> Path:
    """Like claims: a patient on several rows, diagnoses of ICD-9-CM, compact dates, costs."""
    chance = np.random.default_rng(3)
    codes = [f"{c}{d}" for c in (401, 250, 428, 486, 715, 780, 786, 724) for d in ("", "0", "1", "01", "09", "2", "9")]
    codes += [f"V{c}" for c in (10, 15, 58, 72)] + ["E8490"]
    return write_parquet(
        folder / "claims.parquet",
        {
            "patient_id": chance.integers(10_000, 10_400, rows),
            "dgns_cd_1": chance.choice(codes, rows),
            "dgns_cd_2": pa.array(chance.choice(codes, rows), mask=chance.random(rows) < 0.3),
            "state_code": chance.integers(1, 50, rows),
            "from_dt": chance.integers(1, 28, rows) + 20_090_100,
            "cost": np.round(chance.exponential(3000, rows), 2),
            "admitted": np.datetime64("2009-01-01T00:00:00") + chance.integers(0, 36_000_000, rows),
        },
    )
