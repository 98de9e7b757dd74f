"""A database in memory writes nothing into the folder in which it was begun, however little memory it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.custody.use_cases.publish_with_report import publish_with_report
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate_adapters.sources.files import ParquetFile
from querygate_adapters.store.duckdb_lockdown import in_memory
from querygate_adapters.vault.raw_records import DuckDBRecords
from querygate_adapters.vault.report_rows import ReportRows
from tests.api.small_site import POLICY, write_inputs
from tests.places import ROOT

MORE_THAN_FITS = "CREATE TABLE much AS SELECT hash(i) AS x, hash(i + 1) AS y FROM range(1000000) t(i)"
LITTLE = "16MB"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is empty."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_what_does_not_fit_goes_nowhere_or_where_it_is_told(here: Path, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    with in_memory(memory_limit=LITTLE, threads="1") as nowhere, pytest.raises(duckdb.OutOfMemoryException):
        nowhere.execute(MORE_THAN_FITS)
    with in_memory(spill=spill, memory_limit=LITTLE, threads="1") as told:
        told.execute(MORE_THAN_FITS)
        assert any(spill.iterdir())
        assert not any(here.iterdir())
    assert not spill.exists()


@pytest.mark.parametrize("left", ["", "kept"])
def test_a_report_writes_nothing_into_the_current_folder(here: Path, tmp_path: Path, left: str) -> None:
    """Nor does a file of the name that databases in memory have in SQL matter to it."""
    if left:
        (here / ":memory:").write_text(left)
    opened = open_gate(init_site(tmp_path / "site"))
    publish_with_report(opened, POLICY.parsed(), str(write_inputs(tmp_path)[1]), user="carl", kind="json")
    assert {file.name: file.read_text() for file in here.iterdir()} == ({":memory:": left} if left else {})
    vault = opened.site.vault / "clinic" / "v00001.duckdb"
    with closing(ReportRows(vault)) as rows, closing(rows.staging()) as staging:
        [(spill,)] = staging._db.execute("SELECT current_setting('temp_directory')").fetchall()
    assert Path(spill).parent == vault.parent


def test_records_of_an_audit_that_do_not_fit_are_private_and_go_with_it(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    source = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [1, 2, 2]}), source)
    records = DuckDBRecords(ParquetFile(str(source)), memory_mb=16)
    (private,) = tmp_path.glob("querygate-*")
    records._db.execute(MORE_THAN_FITS)
    assert any(private.iterdir())
    assert private.stat().st_mode & 0o777 == 0o700
    del records
    assert not private.exists()
    assert not any(here.iterdir())


def begun(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "duckdb.connect":
            yield node


def test_nobody_begins_a_database_in_memory_that_chooses_its_own_folder() -> None:
    """Those without a file, or whose file is a text that no path was made of."""
    found = {}
    for path in (path for room in ("querygate", "adapters") for path in (ROOT / room).rglob("*.py")):
        for call in begun(path):
            if not call.args or not ast.unparse(call.args[0]).startswith("str("):
                found[path.name] = ast.unparse(call)
    assert set(found) == {"duckdb_lockdown.py", "catalog_engine.py"}, found
    assert all("temp_directory" in text for text in found.values())
