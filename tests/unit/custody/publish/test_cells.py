"""Public cells through the real path: nothing finer is written, the truth lies in the ranges, the verifier looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.columns.value_codes import NumberCodes
from querygate.custody.publish import coded_rows
from tests.policies import make_policy, quasi
from tests.unit.custody.publish.publications import ask, new_site, put

AGES = (0, 17, 52, 54, 90, 120)
GROUPS = (frozenset({"White"}), frozenset({"Black", "Other"}), frozenset({"Asian", "Native"}))
POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 120), edges=[17, 52, 54, 90]),
        "race": quasi("category", groups=[["White"], ["Black", "Other"], ["Asian", "Native"]]),
        "bmi": quasi("number", (10, 60), edges=[18.5, 25]),
        "smoker": quasi("boolean", groups=[["false", "true"]]),
        "seen": quasi("date", ("2018-01-01", "2020-12-31"), edges=["2019-01-01", "2020-01-01"]),
    },
    k=3,
    anonymise={"method": "mondrian"},
)


def columns(rows: int = 400, seed: int = 3) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    days = chance.integers(17_532, 18_627, rows).astype(np.int32)
    return {
        "age": pa.array(chance.integers(0, 121, rows), mask=chance.random(rows) < 0.05),
        "race": pa.array(chance.choice(sorted(frozenset().union(*GROUPS)), rows), mask=chance.random(rows) < 0.05),
        "bmi": chance.normal(26, 6, rows).clip(10, 60).round(1),
        "smoker": chance.random(rows) < 0.3,
        "seen": pa.array(days).cast(pa.date32()),
    }


def store_of(opened: Any) -> Any:
    return duckdb.connect(str(opened.site.store / "t" / "v00001.duckdb"), read_only=True)


@pytest.mark.parametrize("method", ["mondrian", "snake", "top-down"])
def test_nothing_finer_than_a_cell_is_written_and_the_truth_lies_in_the_ranges(tmp_path: Path, method: str) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY.but(anonymise={"method": method}), columns())
    with store_of(opened) as store:
        ages = store.execute("SELECT DISTINCT c0_lo, c0_hi FROM cells WHERE c0_lo IS NOT NULL").fetchall()
        bmis = store.execute("SELECT DISTINCT c2_lo, c2_hi FROM cells").fetchall()
        sets = store.execute(
            "SELECT column_id, list(text) FROM set_value JOIN value_text USING (column_id, value_id) "
            "GROUP BY column_id, set_id"
        ).fetchall()
    assert {low for low, _ in ages} <= set(AGES[:-1])
    assert {high + 1 for _, high in ages} <= {*AGES[1:-1], 121}
    assert {low for low, _ in bmis} <= {10.0, 18.5, 25.0}
    for column, texts in sets:
        held = frozenset(texts)
        assert column == 3 or all(group <= held or not group & held for group in GROUPS)
        assert column != 3 or held == {"false", "true"}
    source = tmp_path / "source.parquet"
    for where in (
        "age = 53",
        "age BETWEEN 30 AND 60",
        "race = 'Other'",
        "race IN ('White', 'Black')",
        "bmi < 20",
        "smoker",
        "seen >= DATE '2019-06-01'",
        "age IS NULL",
        "race IS NULL OR age >= 90",
    ):
        (row,) = ask(opened, f"SELECT COUNT(*) AS n, AVG(bmi) AS b FROM t WHERE {where}")
        n, b = duckdb.sql(f"SELECT COUNT(*), AVG(bmi) FROM read_parquet('{source}') WHERE {where}").fetchall()[0]
        assert row["n"]["low"] <= n <= row["n"]["high"], where
        assert b is None or row["b"]["low"] <= b <= row["b"]["high"], where


def test_values_outside_the_cells_are_counted_and_not_named(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    rows = columns()
    rows["race"] = pa.array(["White"] * 398 + ["Unheard"] * 2)
    with pytest.raises(ConfigError, match="2 values are not among its declared values") as caught:
        put(opened, POLICY, rows)
    assert "Unheard" not in caught.value.detail + caught.value.remedy


def test_the_verifier_stops_what_is_finer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The publisher is made to forget the cells of one column; what it writes then is not served."""

    def single(column: Any) -> NumberCodes:
        every = np.arange(0, 121)
        return NumberCodes(every, every) if column.name == "age" else true_codes(column)

    true_codes = coded_rows.grid_codes
    with monkeypatch.context() as patched:
        patched.setattr(coded_rows, "grid_codes", single)
        with pytest.raises(ConfigError, match=r"The verifier found.*age"):
            put(new_site(tmp_path / "a"), POLICY.but(k=2), columns())
    with monkeypatch.context() as patched:
        patched.setattr("querygate.custody.verify.column_check.grid_codes", single)
        patched.setattr(coded_rows, "grid_codes", single)  # both go wrong: the edges of the policy still tell
        with pytest.raises(ConfigError, match="age is published as whole cells"):
            put(new_site(tmp_path / "b"), POLICY.but(k=2), columns())
    with monkeypatch.context() as patched:
        patched.setattr("querygate.custody.publish.cell_tables.with_values", lambda state: state.boxes)
        with pytest.raises(ConfigError, match="race is published as whole groups"):
            put(new_site(tmp_path / "c"), POLICY.but(k=2), columns())
