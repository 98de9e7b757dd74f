"""A noisy grouped count of a million rows: the gate's whole path over the raw query, beside smartnoise-sql.

Raw is DuckDB's own GROUP BY on the vault's table. The gate understands the statement, puts intent and spend on disk,
counts, draws noise, and puts the answer on disk; that it then waits for a tick of the clock is not measured.
smartnoise-sql runs in an environment of its own, on a pandas frame as its documentation has it, and its raw query is
the same GROUP BY by pandas.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.use_cases.open_custody import with_vault
from querygate.custody.use_cases.open_noise import open_noise
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import ask
from querygate.gate.query_state import NOISY
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.policies import make_policy, quasi
from tests.report import row

ROWS = 1_000_000
REPEATS = 15
INSTALL_S, RUN_S = 900, 600
TARGET = 4.0
"""Every row is looked up in every table: the short cuts of a database are not taken, as they tell what rows hold."""
SQL = "SELECT sex, region, COUNT(*) AS n FROM people WHERE age > {age} GROUP BY sex, region"
POLICY = make_policy(
    "people",
    {
        "age": quasi("integer", (0, 100)),
        "sex": quasi("category", values=["F", "M"]),
        "region": quasi("category", values=[f"r{number}" for number in range(10)]),
    },
    answers={"modes": ["laplace"]},
    laplace={"epsilon_per_query": 0.1, "epsilon_total": 100, "epsilon_per_user": 100},
)
PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import pandas as pd
import snsql
from snsql import Privacy
frame = pd.read_parquet(sys.argv[1])
meta = {"": {"main": {"people": {"row_privacy": True, "rows": len(frame),
        "age": {"type": "int", "lower": 0, "upper": 100}, "sex": {"type": "string"}, "region": {"type": "string"}}}}}
reader = snsql.from_df(frame, privacy=Privacy(epsilon=0.1, delta=1e-6), metadata=meta)
raw, noisy = [], []
for i in range(int(sys.argv[2])):
    began = time.perf_counter()
    frame[frame.age > 20 + i].groupby(["sex", "region"]).size()
    raw.append(time.perf_counter() - began)
    began = time.perf_counter()
    reader.execute(f"SELECT sex, region, COUNT(*) AS n FROM main.people WHERE age > {20 + i} GROUP BY sex, region")
    noisy.append(time.perf_counter() - began)
print(json.dumps({"raw": sorted(raw)[len(raw) // 2], "noisy": sorted(noisy)[len(noisy) // 2]}))
"""


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "people.parquet"
        rng = np.random.default_rng(1)
        pyarrow.parquet.write_table(
            pa.table(
                {
                    "age": rng.integers(0, 100, ROWS),
                    "sex": rng.choice(["F", "M"], ROWS),
                    "region": rng.choice([f"r{i}" for i in range(10)], ROWS),
                }
            ),
            source,
        )
        raw, noisy = ours(Path(folder), source)
        peer = smartnoise(Path(folder), source)
    against = f"raw DuckDB {raw * 1000:.1f} ms"
    ratio = noisy / raw
    rows = [row("noise: grouped count, 1 M rows", noisy * 1000, "ms", against, ratio=ratio, target=TARGET)]
    if peer is None:
        return [*rows, row("noise: smartnoise-sql", 0, "ms", "could not be installed")]
    told = f"raw pandas {peer['raw'] * 1000:.1f} ms"
    rows.append(
        row("noise: smartnoise-sql, the same", peer["noisy"] * 1000, "ms", told, ratio=peer["noisy"] / peer["raw"])
    )
    return rows


def ours(folder: Path, source: Path) -> tuple[float, float]:
    """Seconds of the raw query and of the gate's answer, in the middle."""
    opened = with_vault(open_gate(init_site(folder / "site")))
    publish_to(opened, POLICY.parsed(), str(source), user="custodian")
    person = Principal("ann", "researcher")
    (vault,) = (opened.site.vault / "people").glob("*.duckdb")
    with duckdb.connect(str(vault), read_only=True) as raw:
        seconds = _middle(lambda i: raw.execute(SQL.format(age=20 + i).replace("people", "rows")).fetchall())
    gate = replace(opened.gate, noise=replace(open_noise(opened), tick_s=0.0))
    noisy = _middle(lambda i: ask(Request(person, "people", SQL.format(age=20 + i), QueryOptions(NOISY)), gate))
    return seconds, noisy


def _middle(ask: Callable[[int], object]) -> float:
    taken = []
    for i in range(REPEATS):
        began = time.perf_counter()
        ask(i)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def smartnoise(folder: Path, source: Path) -> dict[str, float] | None:
    """The peer's seconds; None where it cannot be installed."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "peer")], check=True, timeout=INSTALL_S)
    python = folder / "peer" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "smartnoise-sql", "pyarrow", "setuptools<81"]
    if subprocess.run(install, capture_output=True, timeout=INSTALL_S).returncode != 0:
        return None
    done = subprocess.run(
        [str(python), "-c", PEER, str(source), str(REPEATS)], capture_output=True, text=True, timeout=RUN_S
    )
    if done.returncode != 0:
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
