"""A small study, published as classes and as views, and 30 statements about it whose answers are wide."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.policies import make_policy, quasi, sensitive

POLICY = make_policy(
    "study",
    {
        "age": quasi("integer", (20, 79), grid=1, cuts=[30, 40, 50, 60, 70], weight=4),
        "sex": quasi("category", values=["F", "M"]),
        "region": quasi("category", values=["Nord", "Ost's", "Süd"]),
        "sbp": sensitive("integer", (60, 219), bins=10, guard=10),
        "weight": sensitive("number", (20.0, 220.0), bins=5, guard=5),
        "smoker": sensitive("category", values=["no", "yes"]),
    },
)

BY_CLASSES = (
    "SELECT COUNT(*) FROM study WHERE age BETWEEN 35 AND 54",
    "SELECT COUNT(*) FROM study WHERE age > 44",
    "SELECT COUNT(*) FROM study WHERE NOT age < 33",
    "SELECT COUNT(*) FROM study WHERE 66 >= age",
    "SELECT COUNT(*) FROM study WHERE age = 47",
    "SELECT sex, COUNT(*) FROM study WHERE age >= 45 GROUP BY sex",
    "SELECT COUNT(*) FROM study WHERE sbp >= 145",
    "SELECT COUNT(*) FROM study WHERE weight < 83 AND age < 50",
    "SELECT COUNT(*) FILTER (WHERE sbp > 138) AS high FROM study",
    "SELECT 100.0 * COUNT(*) FILTER (WHERE weight >= 92) / COUNT(*) AS share FROM study",
    "SELECT SUM(CASE WHEN age >= 45 THEN 1 ELSE 0 END) AS old FROM study",
    "SELECT AVG(sbp) FROM study WHERE age BETWEEN 36 AND 48",
    "SELECT sex, AVG(weight) FROM study WHERE age > 52 GROUP BY sex",
    "SELECT SUM(weight) FROM study WHERE age BETWEEN 44 AND 66",
    "SELECT ODDS_RATIO(smoker = 'yes', sbp >= 145) FROM study",
)
BY_VIEWS = (
    "SELECT COUNT(*) FROM study WHERE age BETWEEN 35 AND 54",
    "SELECT COUNT(*) FROM study WHERE age <= 44",
    "SELECT sex, COUNT(*) FROM study WHERE age >= 45 GROUP BY sex",
    "SELECT region, COUNT(*) FROM study WHERE age < 46 GROUP BY ALL",
    "SELECT COUNT(*) FROM study WHERE sbp > 133",
    "SELECT 100.0 * COUNT(*) FILTER (WHERE sbp >= 144) / COUNT(*) AS share FROM study WHERE sex = 'F'",
    "SELECT COUNT(*) FROM study WHERE weight BETWEEN 66 AND 88",
    "SELECT COUNT(*) FROM study WHERE smoker = 'yes' AND age BETWEEN 24 AND 56",
    "SELECT AVG(sbp) FROM study WHERE age > 43",
    "SELECT AVG(weight) FROM study WHERE age BETWEEN 25 AND 64",
    "SELECT MEDIAN(weight) FROM study WHERE age > 43",
    "SELECT sex, AVG(sbp) FROM study WHERE age BETWEEN 33 AND 66 GROUP BY sex",
    "SELECT CASE WHEN age < 45 THEN 'young' ELSE 'old' END AS part, COUNT(*) FROM study GROUP BY part",
    "SELECT AVG(sbp) AS mean FROM (SELECT sbp FROM study WHERE age >= 55)",
    "SELECT COUNT(*) FROM study WHERE sex = 'F' AND age BETWEEN 35 AND 54",
)


def make_rows(rows: int = 700) -> pa.Table:
    """Some weights are missing."""
    rng = random.Random(8)
    age = [rng.randint(20, 79) for _ in range(rows)]
    return pa.table(
        {
            "age": age,
            "sex": rng.choices("FM", k=rows),
            "region": rng.choices(["Nord", "Ost's", "Süd"], weights=[50, 1, 40], k=rows),
            "sbp": [min(219, round(rng.gauss(100 + a / 2, 17))) for a in age],
            "weight": [None if rng.random() < 0.05 else round(rng.gauss(80, 15), 1) for _ in age],
            "smoker": rng.choices(["no", "yes"], weights=[3, 1], k=rows),
        }
    )


def publish_study(
    folder: Path, table: pa.Table | None = None, *, views: bool = False, sums: str = "rounded", **more: object
) -> OpenSite:
    """A site with the study, as views or as classes with rounded sums."""
    opened = open_gate(init_site(folder / "site"))
    pyarrow.parquet.write_table(make_rows() if table is None else table, folder / "study.parquet")
    how = (
        {"views": {"spanning": [["age", "sex"], ["age", "region"]]}}
        if views
        else {"anonymise": {"class_moments": sums}}
    )
    publish_to(opened, POLICY.but(**how, **more).parsed(), str(folder / "study.parquet"), user="local")
    return opened
