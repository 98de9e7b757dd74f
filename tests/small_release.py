"""A small published dataset for what needs one and not its content."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite
from tests.policies import ROUGH_AGE, SBP, SEX, make_policy, quasi, sensitive

POLICY = make_policy(
    "patients",
    {
        "age": ROUGH_AGE,
        "sex": SEX,
        "ward": quasi("category"),
        "weight": sensitive("number", (20, 250)),
        "sbp": SBP,
        "pulse": sensitive("integer", (20, 220)),
        "smoker": sensitive("boolean"),
    },
)


def publish_small(opened: OpenSite, folder: Path, rows: int = 2_000, **more: Any) -> None:
    """Publish random patients; the policy may say more."""
    rng = random.Random(5)
    columns = {
        "age": [rng.randint(0, 100) for _ in range(rows)],
        "sex": rng.choices(["F", "M", "X"], weights=[5, 5, 1], k=rows),
        "ward": rng.choices(["A", "B", "C1", "C2"], k=rows),
        "weight": [round(rng.uniform(40, 120), 1) for _ in range(rows)],
        "sbp": [rng.randint(90, 190) for _ in range(rows)],
        "pulse": [rng.randint(50, 130) for _ in range(rows)],
        "smoker": [rng.random() < 0.3 for _ in range(rows)],
    }
    source = folder / "patients.parquet"
    pyarrow.parquet.write_table(pa.table(columns), source)
    publish_to(opened, POLICY.but(**more).parsed(), str(source), user="custodian")
