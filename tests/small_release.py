"""A small published dataset for what needs one and not its content."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from querygate.custody.policy import parse_policy
from querygate.custody.roots.publish_version import publish_to
from querygate.site.open_gate import OpenSite

POLICY = """
dataset = "patients"
k = 5
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
[columns.sex]
role = "quasi-identifier"
type = "category"
[columns.ward]
role = "quasi-identifier"
type = "category"
[columns.weight]
role = "sensitive"
type = "number"
domain = [20, 250]
[columns.sbp]
role = "sensitive"
type = "integer"
domain = [40, 300]
[columns.pulse]
role = "sensitive"
type = "integer"
domain = [20, 220]
[columns.smoker]
role = "sensitive"
type = "boolean"
"""


def publish_small(opened: OpenSite, folder: Path, rows: int = 2_000, more: str = "") -> None:
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
    publish_to(opened, parse_policy(POLICY + more), str(source), user="custodian")
