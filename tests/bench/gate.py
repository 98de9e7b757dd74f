"""The headline: a guaranteed range comes back faster than the exact answer on the raw table.

Ten million rows (age, sex, sbp). Each statement runs through the whole gate in process, log on disk included, and as
the same text by DuckDB on the raw table, alternating, with the same number of threads; p50 of each.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from querygate.core.types import Principal, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.policies import AGE, SBP, make_policy, quasi
from tests.report import row

ROWS = 10_000_000
REPEATS = 25
POLICY = make_policy("patients", {"age": AGE, "sex": quasi("category", values=["F", "M"]), "sbp": SBP}, k=10)
STATEMENTS = {
    "count where": "SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 60 AND sbp > 140",
    "avg where": "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 41 AND 57",
    "count group": "SELECT sex, COUNT(*) FROM patients WHERE age >= 65 GROUP BY sex",
    "avg group": "SELECT sex, AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 60 GROUP BY sex ORDER BY sex",
    "several": "SELECT sex, COUNT(*), AVG(sbp), MIN(sbp), MAX(sbp) FROM patients WHERE NOT (age < 30 OR sbp < 100) "
    "GROUP BY sex",
}


def make_raw(path: Path, rows: int) -> None:
    raw = duckdb.connect(str(path))
    raw.execute("SELECT setseed(0.42)")
    raw.execute(
        "CREATE TABLE patients AS SELECT CAST(least(119, greatest(0, 45 + 22 * sqrt(-2 * ln(1 - random())) * "
        "cos(2 * pi() * random()))) AS INTEGER) AS age, CASE WHEN random() < 0.52 THEN 'F' ELSE 'M' END AS sex, "
        "CAST(least(299, greatest(41, 118 + 18 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))) AS INTEGER) "
        f"AS sbp FROM range({rows})"
    )
    raw.close()


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "raw.duckdb"
        make_raw(path, ROWS)
        opened = open_gate(init_site(Path(folder) / "site"))
        began = time.perf_counter()
        report = publish_to(opened, POLICY.parsed(), f"duckdb:{path}#patients", user="bench")
        seconds = time.perf_counter() - began
        rows = [
            row("publish 10 million rows", seconds, "s", f"{report.cells:,} cells"),
        ]
        return rows + beside_raw("gate", opened, "patients", path, STATEMENTS)


def beside_raw(
    name: str, opened: OpenSite, dataset: str, path: Path, statements: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Each statement by the gate, and by DuckDB on the raw table in this file: p50 of both."""
    who, rows = Principal("bench", "researcher"), []
    with duckdb.connect(str(path), read_only=True) as raw:
        for title, sql in statements.items():
            gate_s, raw_s = [], []
            for _ in range(REPEATS):
                began = time.perf_counter()
                answer(Request(who, dataset, sql), opened.gate)
                gate_s.append(time.perf_counter() - began)
                began = time.perf_counter()
                raw.execute(sql).fetchall()
                raw_s.append(time.perf_counter() - began)
            ours, theirs = statistics.median(gate_s[2:]) * 1000, statistics.median(raw_s[2:]) * 1000
            against = f"raw DuckDB {theirs:.1f} ms"
            rows.append(row(f"{name} {title}, p50", ours, "ms", against, ratio=ours / theirs, target=1.0))
    return rows
