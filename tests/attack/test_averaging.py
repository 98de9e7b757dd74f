"""Averaging: the same question in two hundred wordings, by four people. One answer, one spend."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from tests.unit.custody.noise.site_with_noise import noisy_site

WORDINGS = 200
AGES = (
    "age BETWEEN {a} AND {b}",
    "NOT (age < {a} OR age > {b})",
    "age >= {a} AND age <= {b}",
    "age > {a} - 1 AND age < {b} + 1",
    "NOT (NOT (age >= {a}) OR NOT (age <= {b}))",
    "age * 2 >= 2 * {a} AND age * 2 <= 2 * {b}",
    "age IN ({list})",
    "(age BETWEEN {a} AND {m} OR age BETWEEN {m} AND {b})",
)
SEXES = ("sex = 'F'", "sex IN ('F')", "NOT sex <> 'F'", "sex LIKE 'F'", "'F' = sex", "UPPER(sex) = 'F'")
CHAFF = ("", " AND TRUE", " AND age >= 0", " AND (sex = 'M' OR sex IS NOT NULL)", " AND age < 1000")
COUNTS = ("COUNT(*)", "COUNT(1)", "COUNT(*) AS n", "COUNT(sex) AS c", "SUM(1)")


def wordings(rng: random.Random) -> set[str]:
    found: set[str] = set()
    low, high = 30, 60
    while len(found) < WORDINGS:
        age = rng.choice(AGES).format(
            a=low, b=high, m=rng.randint(low, high), list=", ".join(map(str, range(low, high + 1)))
        )
        parts = [age, rng.choice(SEXES)]
        rng.shuffle(parts)
        found.add(f"SELECT {rng.choice(COUNTS[:4])} FROM patients WHERE {' AND '.join(parts)}{rng.choice(CHAFF)}")
    return found


def test_two_hundred_wordings_have_one_answer_and_one_price(tmp_path: Path) -> None:
    site = noisy_site(tmp_path, each=0.1, total=10.0, user=10.0)
    told, spent = [], []
    for i, sql in enumerate(sorted(wordings(random.Random(1)))):
        answer = site.ask(sql, user=f"user{i % 4}")
        (cell,) = answer["rows"][0].values()
        told.append(cell["value"])
        spent.append(answer["budget"]["spent"])
    assert len(told) == WORDINGS
    assert len(set(told)) == 1
    assert sum(spent) == 0.1


def test_without_it_averaging_would_work(tmp_path: Path) -> None:
    """What the test above is about: two hundred draws, averaged, are close to the truth."""
    site = noisy_site(tmp_path, each=0.1, total=30.0, user=30.0)
    (truth,) = site.truth.execute("SELECT COUNT(*) FROM patients WHERE age BETWEEN 30 AND 60 AND sex = 'F'").fetchone()
    told = []
    for i in range(WORDINGS):  # other questions with the same truth, each paid for
        sql = f"SELECT COUNT(*) AS n FROM patients WHERE age BETWEEN 30 AND 60 AND sex = 'F' AND weight < {121 + i / 2}"
        told.append(site.ask(sql)["rows"][0]["n"]["value"])
    assert abs(np.mean(told) - truth) < 5
    assert np.std(told) > 8
