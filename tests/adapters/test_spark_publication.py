"""Publishing inside Spark, on one that really runs here: the same cells as embedded, and no row comes to the driver."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import Policy
from querygate.custody.publish import partition
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.delete_person import delete_from
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.use_cases.publish_with_report import ReportedPublication, publish_with_report
from querygate.site.health import files_health
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.spark import spark_engine
from querygate_adapters.vault.spark.part_tables import PartLayout
from querygate_adapters.vault.spark.spark_tables import PART_BYTES, _divided
from querygate_adapters.vault.written_store import WrittenStore
from tests.policies import AGE, IDENTIFIER, ILLNESS, SEX, ZIP, diverse, make_policy, quasi, sensitive
from tests.spark import MARKS, session
from tests.unit.custody.publish.publications import new_site

pytestmark = MARKS

ROWS, AT_ONCE = 300, 200
"""Records, and the most combinations of a part."""

MARK = "person-"
ODD = 'an "odd", `long`.name'
POLICY = make_policy(
    "t",
    {
        "id": IDENTIFIER,
        "age": AGE,
        "zip": ZIP,
        "sex": SEX,
        ODD: quasi("integer", (0, 9)),
        "sbp": sensitive("number", (40, 300), grid=5),
        "illness": ILLNESS | diverse("distinct", l=2),
    },
    k=4,
    anonymise={"method": "mondrian"},
    person="id",
)


def people() -> pa.Table:
    """Missing values, ties, an empty column, leading zeros, other alphabets, an odd name."""
    chance = np.random.default_rng(11)
    age = chance.integers(0, 100, ROWS)
    return pa.table(
        {
            "id": pa.array([f"{MARK}{n:06}" for n in range(ROWS)]),
            "age": pa.array(age, pa.int32(), mask=chance.random(ROWS) < 0.1),
            "zip": pa.array(chance.choice(["00123", "00199", "01000", "99999"], ROWS), mask=chance.random(ROWS) < 0.1),
            "sex": pa.array(chance.choice(["F", "M, or so", 'the "third"', "Ω 日本"], ROWS, p=[0.5, 0.3, 0.15, 0.05])),
            ODD: pa.array([None] * ROWS, pa.int64()),
            "sbp": pa.array(np.round(chance.normal(130, 15, ROWS), 1), mask=chance.random(ROWS) < 0.1),
            "illness": pa.array(chance.choice(["flu", "gout", "émia"], ROWS), mask=chance.random(ROWS) < 0.1),
            "ward": pa.array(["not in the policy"] * ROWS),
        }
    )


@dataclass
class Published:
    """The same rows, once in the site's own vault and once inside Spark; and what came from Spark meanwhile."""

    folder: Path
    policy: Policy
    sites: list[OpenSite]
    done: list[ReportedPublication]
    came: list[list[pa.Table]]

    def publish(self, **more: Any) -> Report:
        """One more version of the site whose rows are in Spark."""
        return publish_to(self.sites[1], self.policy, f"spark:{self.folder}/people", user="carl", **more)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("inside")
    (folder / "people").mkdir()
    for i in range(3):
        part = people().slice(i * 150, 150)
        pa.parquet.write_table(part, folder / "people" / f"{i}.parquet")
    found = Published(folder, POLICY.parsed(), [], [], [])
    session()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partition, "BYTES", PART_BYTES // AT_ONCE)  # both divide into the same parts
        patched.setenv("QUERYGATE_PUBLISH_MEMORY_MB", "128")
        for i, vault in enumerate(("", f"spark:{folder}/vault")):
            (folder / str(i)).mkdir()
            found.sites.append(new_site(folder / str(i)))
            with watched() as came:
                done = publish_with_report(
                    found.sites[i],
                    found.policy,
                    f"spark:{folder}/people",
                    user="carl",
                    vault=vault,
                    kind=None if vault else "none",
                )
            found.done.append(done)
            found.came.append(came)
    return found


@contextmanager
def watched() -> Iterator[list[pa.Table]]:
    """Everything that PySpark hands to this process, by whatever way."""
    came: list[pa.Table] = []
    kind = type(session().range(1))
    arrow, rows, streamed = kind._collect_as_arrow, kind.collect, kind.toLocalIterator

    def collected_as_arrow(self: Any, *given: Any, **more: Any) -> Any:
        found = arrow(self, *given, **more)
        came.append(pa.Table.from_batches(found if isinstance(found, list) else found[0]))
        return found

    def collected(self: Any) -> Any:
        found = rows(self)
        came.append(pa.table({"row": [str(row) for row in found]}))
        return found

    def iterated(self: Any, *given: Any, **more: Any) -> Any:
        for row in streamed(self, *given, **more):
            came.append(pa.table({"row": [bytes(value) for value in row]}))
            yield row

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, "_collect_as_arrow", collected_as_arrow)
        patched.setattr(kind, "collect", collected)
        patched.setattr(kind, "toLocalIterator", iterated)
        yield came


def test_the_same_cells_as_embedded(published: Published) -> None:
    own, inside = (WrittenStore(version_file(site.site.store / "t", 1)).tables() for site in published.sites)
    assert own == inside
    first, second = (done.published for done in published.done)
    assert (second.rows, second.classes, second.cells, second.loss) == (ROWS, first.classes, first.cells, first.loss)
    assert second.measured == first.measured
    assert "parts" in first.comparison[0].note
    assert first.comparison[0].note.split()[1] == second.comparison[0].note.split()[1] != "1"


def test_there_is_no_report_on_rows_in_spark(published: Published) -> None:
    assert [done.file for done in published.done] == [None, None]
    assert [done.problem for done in published.done] == [None, None]


def test_workers_have_the_same_querygate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session()
    monkeypatch.setattr(spark_engine, "version", lambda name: str(os.getpid()))
    with pytest.raises(ConfigError, match="Spark's workers do not have QueryGate") as refused:
        spark_engine.SparkEngine(tmp_path)
    assert refused.value.code == "QG804"


def test_rows_and_classes_stay_in_spark(published: Published) -> None:
    (version,) = (published.folder / "vault" / "t").iterdir()
    assert sorted(path.name for path in version.iterdir()) == ["policy.toml", "row_class", "rows"]
    assert version.stat().st_mode & 0o077 == 0
    rows, classes = (pa.dataset.dataset(version / name).to_table() for name in ("rows", "row_class"))
    assert rows.sort_by("id").drop_columns("row_id").equals(_typed(people()))
    joined = classes.join(rows, "row_id")
    assert joined.num_rows == ROWS
    assert min(joined.group_by("class").aggregate([("id", "count_distinct")])["id_count_distinct"].to_pylist()) >= 4
    assert not list((published.sites[1].site.vault / "t").glob("*.duckdb"))


def _typed(table: pa.Table) -> pa.Table:
    kinds = {"age": pa.int64()}
    wanted = [name for name in table.column_names if name != "ward"]
    return pa.table({name: table[name].cast(kinds.get(name, table[name].type)) for name in wanted})


def test_no_row_comes_to_the_driver(published: Published) -> None:
    streamed, inside = published.came
    assert any(MARK.encode() in _bytes(table) for table in streamed)  # rows that come are noticed
    assert inside
    assert not any(MARK.encode() in _bytes(table) for table in inside)
    for table in inside:
        names = set(table.column_names)
        assert "row_id" not in names
        if "v" in names:  # the only column of raw values is alone, with the number of records of each
            assert names <= {"v", "n"}
        else:
            assert not any(pa.types.is_string(field.type) for field in table.schema)


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def test_earlier_versions_are_retired_or_in_the_way(published: Published) -> None:
    vault = f"spark:{published.folder}/vault"
    for more in ({"vault": vault}, {}, {"on_overlap": "retire"}):
        with pytest.raises(ConfigError) as refused:
            published.publish(**more)
        assert refused.value.code == "QG803"
        assert "retire" in refused.value.remedy
    assert published.sites[1].store.current("t").catalog.version == 1
    assert len(list((published.folder / "vault" / "t").iterdir())) == 1


def test_a_person_is_not_deleted_in_part(published: Published) -> None:
    with pytest.raises(ConfigError) as refused:
        delete_from(published.sites[1], published.policy, f"{MARK}000007", user="carl")
    assert refused.value.code == "QG804"
    assert "vault erase t" in refused.value.remedy
    assert all(found.ok for found in files_health(published.sites[1].site))


def test_values_that_cannot_be_read(published: Published, tmp_path: Path) -> None:
    (tmp_path / "csv").mkdir()
    lines = ["age,sbp", *(f"{n},120.5" for n in range(40)), "secret,121"]
    (tmp_path / "csv" / "0.csv").write_text("\n".join(lines))
    policy = make_policy("u", {"age": AGE, "sbp": sensitive("number", (40, 300), grid=5)})
    opened = new_site(tmp_path)
    for source, told in ((f"spark:{tmp_path}/csv#csv", "column age: 1 value"), (f"{tmp_path}/csv/0.csv", "Spark")):
        with pytest.raises(ConfigError) as refused:
            publish_to(opened, policy.parsed(), source, user="carl", vault=f"spark:{tmp_path}/vault")
        assert refused.value.code == "QG802"
        assert told in str(refused.value)
        assert "secret" not in str(refused.value)
        assert not list((tmp_path / "vault" / "u").iterdir())
        assert not list((opened.site.vault / "u").glob("v*"))


def test_a_refusal_comes_back_from_a_worker() -> None:
    def work(tables: Any) -> Any:
        assert tables.combinations().codes["age"].tolist() == [0, 1]
        raise ConfigError("QG803", "It cannot be done.", "Do something else.")

    layout = PartLayout([["age"]], {"age": 5}, {"age": "x0"}, [])
    found = _divided(layout, work, pa.table({"part": [3, 3], "k0": [1, 2], "n": [4, 4]}))
    assert (found["part"].to_pylist(), found["told"].null_count) == ([3, 3], 1)
    told = pickle.loads(found["told"][0].as_py()).error()
    assert (told.code, told.detail, told.remedy) == ("QG803", "It cannot be done.", "Do something else.")
