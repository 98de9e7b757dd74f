"""Which adapter reads a source, and that a reader reads its one file and nothing else."""

from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.errors import ConfigError
from querygate_adapters.sources.files import CsvFile, DuckDBFile, ParquetFile
from querygate_adapters.sources.open_source import open_source
from tests.unit.adapters.loaded_rows import load, texts


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    path = tmp_path / "hospital.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE patients (id INTEGER, name VARCHAR)")
        database.execute("INSERT INTO patients VALUES (1, 'Anna'), (2, NULL)")
        database.execute("CREATE VIEW adults AS SELECT * FROM patients WHERE id > 1")
        database.execute("CREATE TABLE gone AS SELECT 1 AS id")
        database.execute("CREATE VIEW broken AS SELECT * FROM gone")
        database.execute("DROP TABLE gone")
        database.execute('CREATE TABLE "odd; ""name""" AS SELECT 7 AS id')
        database.execute("CREATE VIEW reaching AS SELECT * FROM read_text('/etc/hostname')")
    return path


# -- which adapter -------------------------------------------------------------------------------------------------


def test_the_ending_or_the_kind_names_the_adapter(tmp_path: Path, hospital: Path) -> None:
    plain = tmp_path / "a.csv"
    plain.write_text("id\n1\n")
    odd = tmp_path / "a.dat"
    odd.write_text("id\n1\n")
    pyarrow.parquet.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")

    assert isinstance(open_source(str(plain)), CsvFile)
    assert isinstance(open_source(f"csv:{odd}"), CsvFile)
    assert isinstance(open_source(str(tmp_path / "a.parquet")), ParquetFile)
    assert isinstance(open_source(f"duckdb:{hospital}#patients"), DuckDBFile)
    assert isinstance(open_source(f"DuckDB:{hospital}#patients"), DuckDBFile)


@pytest.mark.parametrize(
    "specification", ["patients", "patients.xlsx", "oracle:host#t", "", ":", "x.csv.zip", "ftp://x/y.csv"]
)
def test_an_unknown_kind_is_refused_with_what_is_accepted(specification: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_source(specification)

    assert refused.value.code == "QG802"
    assert "csv, duckdb, fhir, parquet" in refused.value.remedy


@pytest.mark.parametrize("specification", ["none.csv", "none.parquet", "duckdb:none.duckdb#t", ".csv", "csv:"])
def test_a_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, specification: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refused:
        open_source(specification)

    assert refused.value.code == "QG802"


@pytest.mark.parametrize("name", ["folder.csv", "folder.parquet"])
def test_a_folder_is_not_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(ConfigError):
        open_source(str(tmp_path / name))


@pytest.mark.parametrize("name", ["broken.parquet", "broken.duckdb"])
def test_a_file_of_another_kind_is_refused_without_a_quote(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("SECRET-4711\n" * 500)
    specification = f"duckdb:{tmp_path / name}#t" if name.endswith("duckdb") else str(tmp_path / name)
    with pytest.raises(ConfigError) as refused:
        open_source(specification)

    assert refused.value.code == "QG802"
    assert "SECRET" not in str(refused.value.to_dict())


def test_a_path_with_quotes_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s; "odd"'
    folder.mkdir()
    (folder / "a'b.csv").write_text("id\n1\n")

    assert texts(tmp_path, folder / "a'b.csv", "id") == [("1",)]


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM read_csv('{other}')", "COPY (SELECT 1) TO '{other}'", "ATTACH '{other}'"]
)
def test_the_reader_of_a_file_can_open_no_other(tmp_path: Path, statement: str) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "b.csv").write_text("id\n2\n")
    source = CsvFile(str(tmp_path / "a.csv"))

    with pytest.raises(duckdb.Error):
        source._connection.execute(statement.format(other=tmp_path / "b.csv"))
    with pytest.raises(duckdb.Error):
        source._connection.execute("SET allowed_paths = []")
    assert (tmp_path / "b.csv").read_text() == "id\n2\n"


# -- DuckDB files --------------------------------------------------------------------------------------------------


def test_a_table_or_view_of_a_duckdb_file(tmp_path: Path, hospital: Path) -> None:
    assert open_source(f"duckdb:{hospital}#patients").columns() == ("id", "name")
    assert texts(tmp_path, f"duckdb:{hospital}#patients", "id", "name") == [("1", "Anna"), ("2", None)]
    assert texts(tmp_path, f"duckdb:{hospital}#adults", "id") == [("2",)]
    assert load(tmp_path, f'duckdb:{hospital}#odd; "name"', {"id": "integer"}) == [(7,)]


@pytest.mark.parametrize("table", ["", "#", "#none", "#patients; DROP TABLE patients", "#information_schema.tables"])
def test_a_table_that_is_not_there(hospital: Path, table: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_source(f"duckdb:{hospital}{table}")

    assert refused.value.code == "QG802"


@pytest.mark.parametrize("view", ["broken", "reaching"])
def test_a_view_that_does_not_work_or_reaches_outside_is_refused(hospital: Path, view: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_source(f"duckdb:{hospital}#{view}").columns()

    assert refused.value.code == "QG802"
    assert "hostname" not in str(refused.value.to_dict())


# -- Parquet -------------------------------------------------------------------------------------------------------


def test_a_view_over_files_is_told_apart_from_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("id\n1\n")
    with duckdb.connect(str(tmp_path / "v.duckdb")) as database:
        database.execute(f"CREATE VIEW patients AS SELECT * FROM read_csv('{tmp_path}/other.csv')")
    with pytest.raises(ConfigError) as refused:
        open_source(f"duckdb:{tmp_path}/v.duckdb#patients").columns()
    assert refused.value.code == "QG802"
    assert "the view patients cannot be read. It may need other files" in refused.value.detail
    mended = shutil.copy(tmp_path / "v.duckdb", tmp_path / "w.duckdb")  # the refused one is still open
    with duckdb.connect(mended) as database:
        database.execute('CREATE TABLE name AS SELECT * FROM "patients"')  # as the remedy says
    assert texts(tmp_path, f"duckdb:{mended}#name", "id") == [("1",)]


def test_parquet_types(tmp_path: Path) -> None:
    columns = {
        "small": pa.array([1, None], pa.int8()),
        "unsigned": pa.array([2**63 - 1, 0], pa.uint64()),
        "float": pa.array([0.5, float("nan")]),
        "whole": pa.array([4.0, None]),
        "money": pa.array([Decimal("12.50"), Decimal("-0.01")], pa.decimal128(10, 2)),
        "day": pa.array([dt.date(1969, 7, 20), None]),
        "moment": pa.array([dt.datetime(2020, 2, 29, 23, 59), None], pa.timestamp("us")),
        "flag": pa.array([True, None]),
        "word": pa.array(["b", "a"]).dictionary_encode(),
        "large": pa.array(["x", ""], pa.large_string()),
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    types = ["integer", "integer", "number", "integer", "number", "date", "date", "boolean", "category", "category"]

    assert load(tmp_path, tmp_path / "a.parquet", dict(zip(columns, types, strict=True))) == [
        (1, 2**63 - 1, 0.5, 4, 12.5, dt.date(1969, 7, 20), dt.date(2020, 2, 29), True, "b", "x"),
        (None, 0, None, None, -0.01, None, None, None, "a", ""),
    ]
