"""Rows typed batch by batch, as Spark's workers do it, are those that a vault in a file has."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from querygate.core.publications.vault_ports import AgeAt, ReadAs
from querygate_adapters.sources.files import ParquetFile
from querygate_adapters.vault.spark.typed_rows import TypedRows
from querygate_adapters.vault.staging_tables import DuckDBStagingTables

GIVEN = {
    "born": ["31/12/1980", "01/02/1999", None, "29/02/2000", " 1/1/1950 ", "NA"],
    "weight": ["71,5", "1e-9", "nan", None, "123456789012.25", "NA"],
    "crp": ["<0,5", "> 100", "7", None, "-", "90+"],
    "code": ["007", "7", " 7", None, "Ω", ""],
    "sex": ["F", "female", "m ", None, "F", "x"],
    "seen": ["2024-01-31 23:59:59", "31.1.2024 10:00", None, "2024-02-29", "0001-01-01", "9999-12-31"],
    "smokes": ["true", "f", "1", None, "no", "yes"],
    "visits": ["12", "012", "3.0", None, "-4", "9007199254740993"],
    "unused": ["secret"] * 6,
}
COLUMNS = {
    "age": "integer",
    "born": "date",
    "weight": "number",
    "crp": "number",
    "code": "category",
    "sex": "category",
    "seen": "timestamp",
    "smokes": "boolean",
    "visits": "integer",
}
READ_AS = ReadAs(
    absent={"born": ("NA",), "weight": ("NA",), "crp": ("-",)},
    ages=(AgeAt("age", "born", day="2024-06-30"),),
    written={"born": "day/month/year"},
    spelled={"sex": {"F": ("female",), "M": ("m ", "m")}},
    censored={"crp": "limit"},
    person="code",
)


def typed(given: pa.Table) -> pa.Table:
    """In batches of two rows, and nothing but the columns that are needed."""
    reading = TypedRows(COLUMNS, READ_AS, given.schema)
    batches = given.select(list(reading.needed)).to_batches(max_chunksize=2)
    return pa.Table.from_batches(list(reading.of(iter(batches))), reading.result)


def test_rows_are_those_of_a_file(tmp_path: Path) -> None:
    given = pa.table({name: pa.array(values, pa.string()) for name, values in GIVEN.items()})
    pyarrow.parquet.write_table(given, tmp_path / "given.parquet")
    staging = DuckDBStagingTables(None)
    assert staging.load(ParquetFile(str(tmp_path / "given.parquet")), COLUMNS, (), READ_AS) == 6
    found = typed(given)
    for name in COLUMNS:
        raw = staging.raw_column(name)
        assert found[name].is_null().to_pylist() == raw.missing.tolist(), name
    there = staging._db.sql("SELECT * EXCLUDE row_id FROM rows").to_arrow_table()
    assert found.select(list(COLUMNS)).to_pylist() == there.to_pylist()
    staging.close()


def test_marks_say_what_could_not_be_read() -> None:
    given = pa.table({name: pa.array(values, pa.string()) for name, values in GIVEN.items()})
    given = given.set_column(1, "weight", pa.array(["71,5", "heavy", "1.2.3", None, "NA", ""]))
    found, marks = typed(given), TypedRows(COLUMNS, READ_AS, given.schema).marks
    assert set(marks) == set(COLUMNS) - {"code", "sex"}
    assert found[marks["weight"]].to_pylist() == [False, True, True, False, False, True]
    assert not any(any(found[mark].to_pylist()) for name, mark in marks.items() if name != "weight")


def test_no_batch_is_no_row() -> None:
    given = pa.table({name: pa.array([], pa.string()) for name in GIVEN})
    reading = TypedRows(COLUMNS, READ_AS, given.schema)
    assert "unused" not in reading.needed
    assert list(reading.of(iter(()))) == []
    assert typed(given).num_rows == 0
