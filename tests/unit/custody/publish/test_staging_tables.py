"""Staging tables on DuckDB: packed codes, rows that were read before, and counting raw rows in what was published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from querygate_adapters.sources.files import ParquetFile
from querygate_adapters.vault import code_words, verifier_counts
from querygate_adapters.vault.distinct_rows import distinct_rows
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from querygate_adapters.vault.verifier_counts import Checks, DuckDBEngine
from tests.engine import reading, scratch
from tests.unit.custody.publish.publications import write_parquet

pytestmark = pytest.mark.usefixtures("own_engines")

TYPES = {"age": "integer", "sex": "category", "pulse": "number"}


def people(rows: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)

    def some(values: Any) -> list[Any]:
        return [None if rng.random() < 0.1 else value for value in values.tolist()]

    return {
        "age": some(rng.integers(20, 40, rows)),
        "sex": some(rng.choice(["F", "M", "X"], rows)),
        "pulse": some(rng.integers(50, 60, rows) / 2),
    }


class Watched(ParquetFile):
    """A file that tells how often it was read."""

    reads = 0

    def batches(self, columns: Any) -> Any:
        self.reads += 1
        return super().batches(columns)


def coded(path: Path, source: ParquetFile) -> DuckDBStagingTables:
    """Staging tables in which every value has its rank as its code."""
    staging = DuckDBStagingTables(path)
    staging.load(source, TYPES)
    for name in TYPES:
        values = staging.profile(name).values
        staging.set_codes(name, values, np.arange(len(values)))
    return staging


# -- codes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [2**62, 100, 5], ids=["one word", "two words", "a word each"])
@pytest.mark.parametrize("by_record", [False, True])
def test_packed_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, by_record: bool) -> None:
    monkeypatch.setattr(code_words, "WORD", room)
    data = people()
    staging = coded(tmp_path / "vault.duckdb", ParquetFile(str(write_parquet(tmp_path / "p.parquet", data))))
    ranks = {name: {v: i for i, v in enumerate(sorted({*values} - {None}))} for name, values in data.items()}
    records = sorted(zip(*([ranks[n].get(v, -1) for v in data[n]] for n in ("age", "sex")), strict=True))

    staging.prepare(["age", "sex"], ["pulse"])
    found = staging.combinations(by_record=by_record)
    pairs = list(zip(found.codes["age"].tolist(), found.codes["sex"].tolist(), strict=True))
    assert pairs == (records if by_record else sorted(set(records)))
    assert found.counts.tolist() == ([1] * len(records) if by_record else [records.count(pair) for pair in pairs])

    classes = np.arange(len(pairs)) // 7
    staging.add_classes(classes)
    staging.seal_classes()
    label, codes, counts = staging.cells(["pulse"])
    of_class = np.bincount(classes, found.counts).astype(int)
    assert np.array_equal(np.bincount(label, counts).astype(int), of_class)
    keys = list(zip(label.tolist(), codes["pulse"].tolist(), strict=True))
    assert keys == sorted(set(keys))
    by_combination = staging.counts_by_combination("pulse")
    assert int(by_combination[2].sum()) == len(records)
    staging.close()


# -- rows that are there -------------------------------------------------------------------------------------------


def test_rows_that_were_read_are_not_read_again(tmp_path: Path) -> None:
    source = Watched(str(write_parquet(tmp_path / "p.parquet", people())))
    cut_off = coded(tmp_path / "vault.duckdb", source)
    cut_off.prepare(["age"], [])
    cut_off.combinations()
    cut_off._db.close()  # as a kill leaves it: nothing is cleared away

    staging = DuckDBStagingTables(tmp_path / "vault.duckdb")
    assert staging.load(source, TYPES) == 300
    assert source.reads == 1
    tables = {name for (name,) in staging._db.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert tables == {"rows", "loaded"}
    assert len(staging.profile("age").values) == 20
    staging.close()

    with reading(tmp_path / "vault.duckdb") as kept:
        assert [name for (name,) in kept.execute("SHOW TABLES").fetchall()] == ["rows"]


@pytest.mark.parametrize("change", ["source", "touched", "columns", "unreadable"])
def test_anything_else_is_read_anew(tmp_path: Path, change: str) -> None:
    path, file = tmp_path / "p.parquet", tmp_path / "vault.duckdb"
    DuckDBStagingTables(file).load(ParquetFile(str(write_parquet(path, people()))), TYPES)
    types = dict(TYPES)
    if change == "source":
        write_parquet(path, people(310))
    elif change == "touched":
        path.touch()
    elif change == "columns":
        types["age"] = "number"
    else:
        file.write_bytes(b"nonsense")

    source = Watched(str(path))
    staging = DuckDBStagingTables(file)
    assert staging.load(source, types) == (310 if change == "source" else 300)
    assert source.reads == 1
    staging.close()


def test_nothing_of_rows_that_are_read_anew_stays_in_the_file(tmp_path: Path) -> None:
    path, file, name = tmp_path / "p.parquet", tmp_path / "vault.duckdb", b"Methuselah the very last"
    DuckDBStagingTables(file).load(
        ParquetFile(str(write_parquet(path, {"sex": [name.decode()] * 500}))), {"sex": "category"}
    )
    assert name in file.read_bytes()

    staging = DuckDBStagingTables(file)
    staging.load(ParquetFile(str(write_parquet(path, {"sex": ["F", "M"] * 20}))), {"sex": "category"})
    staging.close()
    assert name not in file.read_bytes()


def test_a_source_that_cannot_tell_is_read_anew(tmp_path: Path) -> None:
    class Unknown:
        def __init__(self, source: Watched) -> None:
            self.source = source
            self.columns, self.batches, self.reading = source.columns, source.batches, source.reading

    source = Watched(str(write_parquet(tmp_path / "p.parquet", people())))
    for _ in range(2):
        DuckDBStagingTables(tmp_path / "vault.duckdb").load(Unknown(source), TYPES)
    assert source.reads == 2


# -- checks --------------------------------------------------------------------------------------------------------

AGES = [20, 21, 22, 40, 41, None, 60, 61, None]
SEXES = ["F", "F", "M", "M", "M", None, "F", "F", "F"]
CLASSES = [0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.fixture
def checks() -> Checks:
    database = scratch()
    database.execute("CREATE TABLE rows (row_id BIGINT, age BIGINT, sex VARCHAR)")
    database.executemany("INSERT INTO rows VALUES (?, ?, ?)", list(zip(range(9), AGES, SEXES, strict=True)))
    database.execute("CREATE TABLE row_class (row_id BIGINT, class BIGINT)")
    database.executemany("INSERT INTO row_class VALUES (?, ?)", list(enumerate(CLASSES)))
    return Checks(DuckDBEngine(database), "row_id", {"age": "r.age", "sex": "r.sex"}, ["age"])


def ages(checks: Checks, *cells: tuple[int, int | None, int | None, int, int]) -> int:
    """Cells are (class, low, high, state of missing values, records)."""
    classes, low, high, state, n = zip(*cells, strict=True)
    ends = [np.ma.masked_equal([-1 if end is None else end for end in side], -1) for side in (low, high)]
    return checks.intervals_off("age", np.array(classes), *ends, np.array(state), np.array(n))


def test_one_interval_for_each_class(checks: Checks) -> None:
    right = ((0, 20, 22, 0, 3), (1, 40, 50, 1, 3), (2, 60, 61, 1, 3))
    assert ages(checks, *right) == 0
    assert ages(checks, *right[:2], (2, 60, 61, 1, 2), (2, 60, 61, 1, 1)) == 0  # one class in two cells
    for place, wrong in [
        (0, (0, 21, 22, 0, 3)),
        (0, (0, 20, 21, 0, 3)),
        (0, (0, 20, 22, 0, 2)),
        (1, (1, 40, 50, 0, 3)),
        (1, (1, None, None, 2, 3)),
        (2, (3, 60, 61, 1, 3)),
    ]:
        assert ages(checks, *right[:place], wrong, *right[place + 1 :]) > 0


def test_intervals_that_are_apart(checks: Checks) -> None:
    right = [(0, 20, 29, 0, 3), (1, 40, 49, 0, 2), (1, None, None, 2, 1), (2, 60, 69, 0, 2), (2, None, None, 2, 1)]
    assert ages(checks, *right) == 0
    for place, wrong in enumerate(
        [(0, 20, 29, 0, 2), (1, 41, 49, 0, 2), (1, None, None, 2, 2), (2, 60, 60, 0, 2), (2, 20, 29, 0, 1)]
    ):
        assert ages(checks, *right[:place], wrong, *right[place + 1 :]) > 0
    assert ages(checks, right[0], (1, 40, 40, 0, 1), (1, 41, 62, 0, 1), *right[2:]) > 0  # overlap
    assert ages(checks, *right[:-1]) > 0  # somebody is not published
    assert ages(checks, *right, (2, 70, 79, 0, 1)) > 0  # somebody who is not there


def sexes(checks: Checks, members: list[tuple[int, int]], *cells: tuple[int, int, int]) -> int:
    """Members are (set, value); values are F = 0, M = 1, missing = -1. Cells are (class, set, records)."""
    pairs = tuple(np.array(side) for side in zip(*members, strict=True))
    classes, sets, n = (np.array(side) for side in zip(*cells, strict=True))
    return checks.sets_off("sex", classes, sets, n, (pairs[0], pairs[1]), ["F", "M"])


@pytest.mark.parametrize("bits", [62, 1], ids=["few values", "many values"])
def test_one_set_for_each_class(checks: Checks, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    monkeypatch.setattr(verifier_counts, "BITS", bits)
    members = [(0, 0), (0, 1), (1, 1), (1, -1), (2, 0)]
    right = ((0, 0, 3), (1, 1, 3), (2, 2, 3))
    assert sexes(checks, members, *right) == 0
    assert sexes(checks, members, right[0], (1, 0, 3), right[2]) > 0
    assert sexes(checks, members, right[0], (1, 1, 2), right[2]) > 0
    assert sexes(checks, members, *right[:2], (2, 1, 3)) > 0
    assert sexes(checks, members, *right[:2]) > 0


def test_sets_that_are_apart(checks: Checks) -> None:
    members = [(0, 0), (1, 1), (2, -1)]
    right = ((0, 0, 2), (0, 1, 1), (1, 1, 2), (1, 2, 1), (2, 0, 3))
    assert sexes(checks, members, *right) == 0
    assert sexes(checks, members, (0, 0, 1), (0, 1, 2), *right[2:]) > 0
    assert sexes(checks, members, *right[:3], (1, 0, 1), right[4]) > 0
    assert sexes(checks, [*members, (0, 1)], *right) > 0  # M is in two sets


def test_hulls(checks: Checks) -> None:
    classes, low, high = checks.hulls("age")
    assert classes.tolist() == [0, 1, 2]
    assert (low.tolist(), high.tolist()) == ([20, 40, 60], [22, 41, 61])


@pytest.mark.parametrize("seed", range(5))
def test_distinct_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    near = rng.integers(0, 30, 200)
    whole, real = rng.integers(-3, 3, 30)[near], rng.choice([0.5, 1e300, -2.0], 30)[near]
    nulls = np.ma.array(rng.integers(0, 2, 30)[near], mask=rng.random(30)[near] < 0.3)
    for columns in ([whole, real, nulls], [rng.permutation(whole), real, nulls], [whole * 10**12, real * 3, whole]):
        numbers = distinct_rows(columns, near)
        texts = list(zip(*(np.ma.asarray(column).tolist() for column in columns), strict=True))
        assert len(Counter(texts)) == int(numbers.max()) + 1
        assert len(set(zip(texts, numbers.tolist(), strict=True))) == int(numbers.max()) + 1
        _, first = np.unique(numbers, return_index=True)
        assert (np.diff(first) > 0).all()


# -- other files of the publication --------------------------------------------------------------------------------


def test_files_beside_can_be_attached_and_no_others(tmp_path: Path) -> None:
    for name in ("near", "far"):
        (tmp_path / name).mkdir()
        with duckdb.connect(str(tmp_path / name / "v.duckdb")) as database:
            database.execute("CREATE TABLE told AS SELECT 7 AS n")
    staging = DuckDBStagingTables(tmp_path / "near" / "vault.duckdb", beside=(tmp_path / "near",))
    with staging.attached({"other": tmp_path / "near" / "v.duckdb"}) as database:
        assert database.execute("SELECT n FROM other.told").fetchall() == [(7,)]
    for statement in (
        f"ATTACH '{tmp_path}/far/v.duckdb' AS other",
        f"ATTACH '{tmp_path}/near/../far/v.duckdb' AS other",
        "SELECT * FROM read_text('/etc/hostname')",
        "SET allowed_directories = ['/']",
        "SET enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error, match=r"disabled by configuration|locked|has been locked|while database"):
            staging._db.execute(statement)
    staging.close()
    assert not staging.is_open
