"""Spark as a source, and the coarse split on Spark, on a Spark that really runs here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.coarse_parts import Fork, numbers_of
from querygate.custody.use_cases.publish_version import publish_to
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.coarse_counts import CoarseCounts
from tests.engine import scratch
from tests.policies import AGE, SEX, make_policy, quasi, sensitive
from tests.spark import MARKS, session
from tests.unit.custody.publish.publications import ask, new_site

pytestmark = MARKS

ROWS = 600
POLICY = make_policy(
    "t",
    {
        "age": AGE,
        "sex": SEX,
        "born": quasi("date", ("1900-01-01", "2030-01-01"), grid=365),
        "sbp": sensitive("number", (40, 300), grid=5),
    },
    anonymise={"method": "mondrian"},
)
ASKED = "SELECT sex, COUNT(*) AS n, AVG(sbp) AS x FROM t WHERE age >= 40 GROUP BY sex"


def people() -> pa.Table:
    chance = np.random.default_rng(3)
    age = chance.integers(0, 100, ROWS)
    return pa.table(
        {
            "age": pa.array(age, pa.int32(), mask=chance.random(ROWS) < 0.05),
            "sex": pa.array(chance.choice(["F", "M, or so", 'the "third"'], ROWS)),
            "born": pa.array(np.datetime64("2026-01-01") - age * 365),
            "sbp": pa.array(np.round(chance.normal(130, 15, ROWS), 1), mask=chance.random(ROWS) < 0.05),
            "name": pa.array([f"person {n}" for n in range(ROWS)]),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The people in three files of each kind."""
    folder = tmp_path_factory.mktemp("people")
    for kind in ("parquet", "csv", "broken"):
        (folder / kind).mkdir()
    table = people()
    for i in range(3):
        part = table.slice(i * ROWS // 3, ROWS // 3)
        pa.parquet.write_table(part, folder / "parquet" / f"{i}.parquet")
        with scratch() as connection:
            connection.register("part", part)
            connection.execute(f"COPY part TO '{folder}/csv/{i}.csv' (HEADER)")
    (folder / "broken" / "0.csv").write_text("age,sex,born,sbp\n40,F,1980-01-01,120\n41,secret\n")
    return folder


@pytest.fixture(scope="module")
def spark(folder: Path) -> Any:
    found = session()
    found.read.parquet(str(folder / "parquet")).createOrReplaceTempView("patients")
    return found


@pytest.mark.parametrize("location", ["#patients", "{folder}/parquet", "{folder}/csv#csv"])
def test_published_as_from_a_file(spark: Any, folder: Path, tmp_path: Path, location: str) -> None:
    pa.parquet.write_table(people(), tmp_path / "people.parquet")
    answers = []
    for source in (str(tmp_path / "people.parquet"), "spark:" + location.format(folder=folder)):
        (tmp_path / str(len(answers))).mkdir()
        opened = new_site(tmp_path / str(len(answers)))
        report = publish_to(opened, POLICY.parsed(), source, user="carl")
        answers.append((report.rows, report.classes, report.cells, report.loss, ask(opened, ASKED)))
    assert answers[0] == answers[1]
    assert answers[0][0] == ROWS


def test_rows_come_in_batches(spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate_adapters.store.spark_session.BATCH_ROWS", 100)
    source = open_source(f"spark:{folder}/parquet")
    assert source.columns() == ("age", "sex", "born", "sbp", "name")
    reader = source.batches(("name", "age"))
    batches = list(reader)
    assert max(batch.num_rows for batch in batches) == 100
    assert pa.Table.from_batches(batches).sort_by("name").equals(people().select(["name", "age"]).sort_by("name"))


@pytest.mark.parametrize(
    "specification", ["spark:#nowhere.patients", "spark:/no/such/folder", "spark:", "spark:/data#xml"]
)
def test_what_is_not_there(spark: Any, specification: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_source(specification)
    assert refused.value.code == "QG802"


def test_a_broken_file_is_told_without_its_rows(spark: Any, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        publish_to(new_site(tmp_path), POLICY.parsed(), f"spark:{folder}/broken#csv", user="carl")
    assert refused.value.code == "QG802"
    assert "secret" not in str(refused.value)


def test_the_coarse_split_counts_alike_on_duckdb_and_spark(spark: Any) -> None:
    chance = np.random.default_rng(5)
    codes = pa.table({name: chance.integers(-1, size, 2_000) for name, size in (("x0", 40), ("x1", 3), ("k0", 90))})
    parts = Fork("x0", ((-1, -1), (4, 17)), Fork("x1", ((0, 0), (2, 2)), 0, 2), Fork("x0", ((18, 30),), 1, 3))
    spark.createDataFrame(codes.to_pylist()).createOrReplaceTempView("coded")
    with scratch() as connection:
        connection.register("coded", codes)
        engines = {
            "duckdb": lambda sql: connection.execute(sql).fetchnumpy(),
            "spark": lambda sql: _arrays(spark.sql(sql).toArrow()),
        }
        found = {}
        for name, query in engines.items():
            counts = CoarseCounts(query, "coded", lambda column: column, ["k0"])
            told = sorted(zip(*(figures.tolist() for figures in counts.codes("x1", parts)), strict=True))
            found[name] = told, sorted(counts.combinations(parts).items())
    assert found["duckdb"] == found["spark"]
    assert [part for part, _ in found["spark"][1]] == sorted(numbers_of(parts))
    assert sum(n for *_, n in found["spark"][0]) == 2_000


def _arrays(table: pa.Table) -> dict[str, np.ndarray]:
    return {name: table.column(name).to_numpy() for name in table.column_names}
