"""Publishing one million rows with five quasi-identifiers, source to served cells."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from querygate.policy import parse_policy
from querygate.site.custody import publish_to
from querygate.site.gate import open_gate
from querygate.site.layout import init_site
from tests.report import row

ROWS = 1_000_000
TARGET_S = 20.0
POLICY = """
dataset = "people"
k = 5
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
grid = 1
[columns.zip]
role = "quasi-identifier"
type = "integer"
domain = [0, 999]
grid = 1
[columns.sex]
role = "quasi-identifier"
type = "category"
[columns.race]
role = "quasi-identifier"
type = "category"
[columns.education]
role = "quasi-identifier"
type = "category"
[columns.sbp]
role = "sensitive"
type = "integer"
domain = [40, 300]
"""


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        raw = duckdb.connect()
        raw.execute("SELECT setseed(0.5)")
        raw.execute(
            "COPY (SELECT CAST(floor(random() * 100) AS INTEGER) AS age, "
            "CAST(floor(1000 * random() * random()) AS INTEGER) AS zip, "
            "CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex, "
            "'race ' || floor(6 * random() * random()) AS race, 'level ' || floor(16 * random()) AS education, "
            "CAST(90 + floor(80 * random()) AS INTEGER) AS sbp "
            f"FROM range({ROWS})) TO '{path}' (FORMAT parquet)"
        )
        opened = open_gate(init_site(Path(folder) / "site"))
        began = time.perf_counter()
        report = publish_to(opened, parse_policy(POLICY), str(path), user="bench")
        seconds = time.perf_counter() - began
    against = f"{report.classes:,} classes, {report.cells:,} cells, k = {report.measured.k}"
    name = "publish 1 million rows x 5 quasi-identifiers"
    return [row(name, seconds, "s", against, ratio=seconds / TARGET_S, target=1.0)]
