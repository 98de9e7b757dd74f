"""Protected tables that a policy joins to the source: one table before anything else is done with it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import JoinedTable
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.engine import reading
from tests.policies import IDENTIFIER, WITHHELD, sensitive
from tests.postgres import Server
from tests.unit.custody.publish.publications import ask, new_site, raw_rows, staged_files, write_parquet
from tests.unit.custody.publish.tables import (
    PEOPLE,
    ROWS,
    VISITS,
    outside,
    people,
    publish_in,
    raw_tables,
    visits,
    write_all,
    write_csv,
)

POLICY = PEOPLE.but(**VISITS)
SECRET = "SECRET-4711"


@pytest.mark.parametrize("kind", ["left", "inner"])
def test_the_vault_holds_what_duckdb_joins(kind: str, tmp_path: Path) -> None:
    write_all(tmp_path)
    opened = new_site(tmp_path)
    report = publish_in(tmp_path, opened, POLICY.but(join={"visits": {"kind": kind}}))
    columns = "age, region, sbp, n_visits, first_visit"
    truth = (
        raw_tables(tmp_path)
        .execute(f"SELECT {columns} FROM t {kind.upper()} JOIN visits ON visits.patient = t.pid")
        .fetchall()
    )
    found = raw_rows(opened, columns.split(", "))

    assert sorted(map(repr, found)) == sorted(map(repr, truth))
    assert report.rows == len(truth)
    assert report.joined == {"visits": 39}
    assert report.measured.k >= 5


@pytest.mark.parametrize("kind", ["left", "inner"])
def test_the_truth_is_inside(kind: str, tmp_path: Path) -> None:
    write_all(tmp_path)
    opened = new_site(tmp_path)
    publish_in(tmp_path, opened, POLICY.but(join={"visits": {"kind": kind}}))
    raw = raw_tables(tmp_path)
    raw.execute("ALTER TABLE t RENAME TO p")
    raw.execute(f"CREATE TABLE t AS SELECT * FROM p {kind.upper()} JOIN visits ON visits.patient = p.pid")
    for sql in (
        "SELECT COUNT(*), COUNT(n_visits), AVG(n_visits), SUM(sbp) FROM t",
        "SELECT AVG(sbp), COUNT(*) FROM t WHERE n_visits > 20",
        "SELECT COUNT(*), AVG(age) FROM t WHERE first_visit IS NULL",
        "SELECT MAX(n_visits) FROM t WHERE first_visit > DATE '2015-01-01' AND age < 60",
    ):
        assert not outside(ask(opened, sql), raw.execute(sql).fetchall(), 0)


def test_what_tables_are_joined_on_stays_outside(tmp_path: Path) -> None:
    """The key is not named in the policy: it is withheld, and in no file of the site."""
    write_all(tmp_path)
    opened = new_site(tmp_path)
    publish_in(tmp_path, opened, POLICY)
    with reading(opened.site.vault / "t" / "v00001.duckdb") as vault:
        tables = {name for (name,) in vault.execute("SHOW TABLES").fetchall()}
        columns = {row[0] for row in vault.execute("DESCRIBE rows").fetchall()}

    assert tables == {"rows", "row_class", "policy"}
    assert columns == {"row_id", "age", "region", "sbp", "n_visits", "first_visit"}
    assert not _files_with(opened, b"P041")


def _files_with(opened: OpenSite, text: bytes) -> list[str]:
    return [path.name for path in opened.site.folder.rglob("*.duckdb") if text in path.read_bytes()]


def test_a_key_that_is_an_identifier_is_kept_in_the_vault(tmp_path: Path) -> None:
    write_all(tmp_path)
    opened = new_site(tmp_path)
    publish_in(tmp_path, opened, POLICY.but(columns={"pid": IDENTIFIER}))

    assert len({pid for (pid,) in raw_rows(opened, ["pid"])}) == ROWS
    assert _files_with(opened, b"P041") == ["v00001.duckdb"]
    assert "pid" not in [column.name for column in opened.store.current("t").catalog.columns]


def test_two_tables_and_two_keys(tmp_path: Path) -> None:
    write_all(tmp_path)
    seen = [{"who": row["pid"], "years": row["age"], "weight": 70.5} for row in people() if row["pid"]]
    write_csv(tmp_path / "scales.csv", seen)
    weight = sensitive("number", (0, 200), guard=0)
    scales = {"source": "scales.csv", "on": {"who": "pid", "years": "age"}, "columns": ["weight"], "kind": "inner"}
    opened = new_site(tmp_path)
    report = publish_in(tmp_path, opened, POLICY.but(columns={"weight": weight}, join={"scales": scales}))

    assert report.rows == ROWS - 1
    assert report.joined == {"visits": 39, "scales": ROWS - 1}
    assert {weight for (weight,) in raw_rows(opened, ["weight"])} == {70.5}


# -- what stops it -----------------------------------------------------------------------------------------------------


def refused(folder: Path, policy: str = POLICY) -> ConfigError:
    opened = new_site(folder)
    with pytest.raises(ConfigError) as caught:
        publish_in(folder, opened, policy)
    assert not opened.store.datasets()
    assert not staged_files(opened)
    return caught.value


def test_several_rows_for_one_person_are_refused(tmp_path: Path) -> None:
    write_all(tmp_path)
    again = [{"patient": who, "n_visits": 1, "first_visit": "2012-01-01"} for who in ("P001", "P002", "P002", SECRET)]
    write_csv(tmp_path / "visits.csv", [*visits(), *again, again[-1]])
    error = refused(tmp_path)

    assert error.code == "QG803"
    assert error.detail == (
        "join.visits: 3 keys have more than one row (7 in all), so a record would be counted several times."
    )
    assert "patient" in error.remedy


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (("{ patient =", "{ person ="), "QG801", "join.visits.on: the table has no column person."),
        (('"pid"', '"number"'), "QG801", "join.visits.on: the source has no column number."),
        (("visits.csv", "absent.csv"), "QG802", "absent.csv: the file does not exist."),
        (("n_visits", "visits"), "QG801", "join.visits.columns: the table has no column visits."),
        (
            ('{ patient = "pid" }', '{ patient = "region" }'),
            "QG802",
            "join.visits: no record of the source has a matching row",
        ),
    ],
)
def test_a_policy_that_does_not_fit_the_tables(change: tuple[str, str], code: str, told: str, tmp_path: Path) -> None:
    write_all(tmp_path)
    error = refused(tmp_path, POLICY.replace(*change))

    assert error.code == code
    assert told in error.detail


def test_a_column_of_both_tables_is_refused(tmp_path: Path) -> None:
    write_all(tmp_path)
    write_csv(tmp_path / "visits.csv", [{**row, "SBP": 1} for row in visits()])
    brought = {"visits": {"columns": ["n_visits", "first_visit", "SBP"]}}
    error = refused(tmp_path, POLICY.but(columns={"SBP": WITHHELD}, join=brought))

    assert error.code == "QG801"
    assert error.detail == "join.visits.columns: the source also has a column SBP."


def test_a_value_of_another_type_is_told_by_its_place(tmp_path: Path) -> None:
    write_all(tmp_path)
    rows = visits()
    rows[2]["n_visits"] = SECRET
    write_csv(tmp_path / "visits.csv", rows)
    error = refused(tmp_path)

    assert error.code == "QG802"
    assert error.detail == "join.visits, column n_visits: 1 value cannot be read as integer, the first in row 3."


# -- keys of different kinds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pa.array([1, 2, None]), pa.array(["1", "3", None])),
        (pa.array(["1", "2", None]), pa.array([1, 3, None], pa.int16())),
        (pa.array([1, 2, None]), pa.array([1.0, 2.5, float("nan")])),
        (pa.array([Decimal("1.00"), Decimal("2.50"), None]), pa.array([1, 2, None])),
        (pa.array([dt.date(2020, 1, 1), None, None]), pa.array(["2020-01-01", None, "x"])),
        (pa.array([10**17, 2, None]), pa.array([10**17, 10**17 + 1, None])),
    ],
    ids=["number and text", "text and number", "whole and real", "decimal and whole", "date and text", "large"],
)
def test_keys_meet_whatever_they_are_kept_as(ours: pa.Array, theirs: pa.Array, tmp_path: Path) -> None:
    """The first of each are the same, and no others; missing ones never meet."""
    mains = write_parquet(tmp_path / "main.parquet", {"id": ours, "age": [1, 2, 3]})
    parts = write_parquet(tmp_path / "part.parquet", {"id": theirs, "dose": [10, 20, 30]})
    staging = DuckDBStagingTables(tmp_path / "vault.duckdb")
    joined = JoinedTable("part", open_source(str(parts)), (("id", "id"),), {"dose": "integer"})
    staging.load(open_source(str(mains)), {"age": "integer"}, [joined])
    staging.close()
    with duckdb.connect(str(tmp_path / "vault.duckdb")) as vault:
        found = vault.execute("SELECT age, dose FROM rows ORDER BY age").fetchall()

    assert found == [(1, 10), (2, None), (3, None)]


def test_names_that_the_loader_would_use_itself(tmp_path: Path) -> None:
    odd: dict[str, Any] = {"key0": [1, 2], "Row_ID": [5, 6], "m": ["a", "b"]}
    mains = write_parquet(tmp_path / "main.parquet", odd)
    parts = write_parquet(tmp_path / "part.parquet", {"id": ["a", "b"], "KEY_0": [7, 8], "p0": [9, 10]})
    staging = DuckDBStagingTables(tmp_path / "vault.duckdb")
    joined = JoinedTable("part", open_source(str(parts)), (("id", "m"),), {"KEY_0": "integer", "p0": "integer"})
    rows = staging.load(open_source(str(mains)), dict.fromkeys(odd, "category"), [joined])
    staging.close()
    with duckdb.connect(str(tmp_path / "vault.duckdb")) as vault:
        found = vault.execute('SELECT "key0", "Row_ID", "m", "KEY_0", "p0" FROM rows ORDER BY 1').fetchall()

    assert rows == 2
    assert found == [("1", "5", "a", 7, 9), ("2", "6", "b", 8, 10)]


def test_large_tables_are_joined_in_little_memory(tmp_path: Path) -> None:
    """Keys of sixty megabytes, twice, in sixty."""
    size = 250_000
    with duckdb.connect() as maker:
        for name, column in (("main", "age"), ("part", "note")):
            maker.execute(
                f"COPY (SELECT hash(i) || '-' || repeat(hash(i + 7)::VARCHAR, 4) AS id, i % 90 AS {column} "
                f"FROM range({size}) t(i) ORDER BY hash(i, '{name}')) TO '{tmp_path / name}.parquet'"
            )
    staging = DuckDBStagingTables(tmp_path / "vault.duckdb", memory_mb=60)
    joined = JoinedTable("part", open_source(f"{tmp_path}/part.parquet"), (("id", "id"),), {"note": "integer"})
    rows = staging.load(open_source(f"{tmp_path}/main.parquet"), {"age": "integer"}, [joined])

    assert rows == size
    assert staging.matched == {"part": size}
    assert staging.profile("note").missing == 0
    staging.close()


def test_too_little_memory_is_told_as_such(tmp_path: Path) -> None:
    ids = [f"{i:0200d}" for i in range(60_000)]
    mains = write_parquet(tmp_path / "main.parquet", {"id": ids, "age": [1] * len(ids)})
    staging = DuckDBStagingTables(tmp_path / "vault.duckdb", memory_mb=12)
    joined = JoinedTable("part", open_source(str(mains)), (("id", "id"),), {})
    with pytest.raises(ConfigError, match="more memory than the setting publish_memory_mb") as caught:
        staging.load(open_source(str(mains)), {"age": "integer"}, [joined])
    staging.close()

    assert caught.value.code == "QG804"


# -- another database --------------------------------------------------------------------------------------------------


def test_a_table_of_a_database_is_joined_to_a_file(postgres: Server, tmp_path: Path) -> None:
    write_all(tmp_path)
    database = postgres.new_database()
    postgres.run("CREATE TABLE visits (patient text, n_visits int, first_visit date)", database=database)
    for row in visits():
        with postgres.connect(database) as connection:
            connection.execute("INSERT INTO visits VALUES (%s, %s, %s)", list(row.values()))
    location = f"{postgres.url(database=database)}#visits"
    report = publish_in(tmp_path, new_site(tmp_path), POLICY.but(join={"visits": {"source": location}}))

    assert report.joined == {"visits": 39}
