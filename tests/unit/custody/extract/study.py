"""A small trial with everything an extract has to cope with, and the shortest way to an extract of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.extract_builder import make_extract
from querygate_adapters.sources.open_source import open_source
from tests.policies import AGE, IDENTIFIER, ILLNESS, SEX, WITHHELD, ZIP, diverse, make_policy, quasi, sensitive

POLICY = make_policy(
    "trial",
    {
        "name": IDENTIFIER,
        "age": AGE,
        "sex": SEX | {"title": "Sex at birth"},
        "born": quasi("date", ("1900-01-01", "2020-12-31")),
        "zip": ZIP,
        "sbp": sensitive("number", (40, 300)),
        "smoker": sensitive("boolean"),
        "time": sensitive("integer", (0, 5000)),
        "status": ILLNESS | diverse("distinct", l=2),
        "note": WITHHELD,
    },
)

COX = "cox: Surv(time, status) ~ age + sex"


def records(rows: int = 300, seed: int = 1) -> pa.Table:
    """Patients whose blood pressure rises with age and whose time falls with it; some values are missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    sex = rng.choice(["F", "M"], rows)
    born = 20_000 - age * 365 - rng.integers(0, 365, rows)
    missing = rng.random(rows) < 0.05
    time = np.ceil(rng.exponential(40_000 / age)).clip(1, 5000)
    return pa.table(
        {
            "name": [f"Patient {i}" for i in range(rows)],
            "age": pa.array(age, mask=missing),
            "sex": pa.array(sex, mask=rng.random(rows) < 0.03),
            "born": pa.array(born.astype(np.int32)).cast(pa.date32()),
            "zip": [f"{37 + rng.integers(0, 3)}{rng.integers(0, 3)}{rng.integers(10, 30)}" for _ in range(rows)],
            "sbp": pa.array((90 + age / 2 + rng.normal(0, 8, rows)).round(1), mask=rng.random(rows) < 0.05),
            "smoker": rng.random(rows) < 0.3,
            "time": pa.array(time.astype(np.int64)),
            "status": pa.array(rng.choice(["dead", "alive"], rows)),
            "note": ["private"] * rows,
        }
    )


def extract(
    folder: Path, *, table: pa.Table | None = None, policy: str = POLICY, secret: bytes = b"s", **wish: Any
) -> Any:
    """The figures of an extract whose files are in `folder / "out"`."""
    folder.mkdir(exist_ok=True)
    source, out = folder / "trial.parquet", folder / "out"
    pq.write_table(records() if table is None else table, source)
    out.mkdir()
    asked = ExtractSpec.of({"dataset": "trial", "purpose": "to see", **wish})
    return make_extract(parse_policy(policy), open_source(str(source)), asked, out, secret=secret)
