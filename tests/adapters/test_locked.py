"""SQL on the connection of a store reaches the cells and nothing else, and cannot change that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querygate.core.ports import PublishedVersion
from tests.adapters.published import Published

READS = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM read_csv('https://example.org/x.csv')",
    "ATTACH '{file}'",
    "ATTACH '{other}' AS other (READ_ONLY)",
    "ATTACH ':memory:' AS scratch; USE scratch; SELECT * FROM read_text('{file}')",
]
WRITES = [
    "COPY cells TO '{other}'",
    "COPY (SELECT 1) TO '{other}' (FORMAT parquet)",
    "EXPORT DATABASE '{other}'",
    "IMPORT DATABASE '{other}'",
    "CREATE TABLE mine AS SELECT * FROM cells",
    "DELETE FROM cells",
    "UPDATE cells SET n = 1",
    "DROP TABLE cells",
    "INSERT INTO cells SELECT * FROM cells",
    "COPY cells FROM '{file}'",
]
UNLOCKS = [
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "SET memory_limit = '900GB'",
    "SET GLOBAL threads = 64",
    "PRAGMA memory_limit = '900GB'",
    "PRAGMA enable_external_access = true",
    "SET temp_directory = '/tmp'",
    "SET allowed_directories = ['/']",
    "SET allowed_paths = ['{file}']",
    "SET autoload_known_extensions = true",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL json FROM community",
]


@pytest.mark.parametrize("statement", READS + WRITES + UNLOCKS)
def test_a_connection_of_the_store_is_locked(
    heavy: Published, release: PublishedVersion, tmp_path: Path, statement: str
) -> None:
    heavy.engine.needs("lock")
    file, other = tmp_path / "secret.txt", tmp_path / "other"
    file.write_text("SECRET-4711")
    connection: Any = release._connection.cursor()  # type: ignore[attr-defined]

    with pytest.raises(
        Exception, match=r"(?i)disabled|locked|read-only|not allowed|permission|cannot|not found|exist"
    ) as refused:
        connection.execute(statement.replace("{file}", str(file)).replace("{other}", str(other))).fetchall()
    assert type(refused.value).__module__.startswith(("duckdb", "_duckdb"))
    assert list(tmp_path.iterdir()) == [file]
    settings = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    assert (settings["enable_external_access"], settings["lock_configuration"]) == ("false", "true")
    assert settings["memory_limit"] != "900GB"


def test_what_a_gate_reads_is_open(heavy: Published, release: PublishedVersion) -> None:
    """What proves the test above: the connection does work."""
    heavy.engine.needs("lock")
    connection: Any = release._connection.cursor()  # type: ignore[attr-defined]

    assert connection.execute("SELECT SUM(n) FROM cells").fetchall() == [(release.catalog.rows,)]
