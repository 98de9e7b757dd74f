"""Tables of many columns: they are coded in several passes, and nothing goes astray between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.types import Principal, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site
from tests.engine import scratch
from tests.policies import make_policy, quasi, sensitive

AT_ONCE, COLUMNS = 3, 8


def test_a_table_of_many_columns_is_published_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate_adapters.vault.staging_tables.AT_ONCE", AT_ONCE)
    rng = np.random.default_rng(3)
    table = pa.table({f"x{i}": np.where(rng.random(60) < 0.1, np.nan, rng.integers(0, 50, 60)) for i in range(COLUMNS)})
    pq.write_table(table, tmp_path / "wide.parquet")
    roles = {f"x{i}": (quasi if i in (0, COLUMNS - 1) else sensitive)("number", (0, 50)) for i in range(COLUMNS)}
    policy = make_policy("wide", roles, anonymise={"method": "mondrian"}).parsed()
    opened = open_gate(empty_site(tmp_path / "site"))
    publish_to(opened, policy, str(tmp_path / "wide.parquet"), user="me")
    truth = scratch()
    truth.execute(f"CREATE TABLE wide AS SELECT * FROM '{tmp_path / 'wide.parquet'}'")
    for i in (0, 1, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE, COLUMNS - 1):
        sql = f"SELECT SUM(x{i}), COUNT(x{i}) FROM wide WHERE NOT isnan(x{i})"
        [(total, count)] = truth.execute(sql).fetchall()
        found = answer(
            Request(Principal("me", "researcher"), "wide", f"SELECT SUM(x{i}), COUNT(x{i}) FROM wide"), opened.gate
        )
        sums, counts = found.groups[0].ranges
        assert sums.low <= total <= sums.high
        assert counts.low <= count <= counts.high
