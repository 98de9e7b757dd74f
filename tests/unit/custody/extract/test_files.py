"""The files of an extract: every format says the same, with what it means."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from querygate.custody.extract.extract_files import make_files, stata_names
from querygate.custody.extract.protected_records import Field, ProtectedRecords
from tests.unit.custody.extract.study import extract


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    extract(folder, method="mondrian", formats=["csv", "parquet", "arrow", "stata"])
    return folder / "out"


def test_every_format_says_the_same(out: Path) -> None:
    parquet, arrow = pq.read_table(out / "extract.parquet"), pyarrow.feather.read_table(out / "extract.arrow")
    assert parquet.cast(arrow.schema).equals(arrow)
    frame = pd.read_csv(out / "extract.csv")
    assert list(frame.columns) == parquet.column_names
    assert frame["sbp"].sum() == pytest.approx(pa.compute.sum(parquet["sbp"]).as_py())
    stata = pd.read_stata(out / "extract.dta")
    assert len(stata) == len(frame)
    assert stata["zip"].astype(str).tolist() == parquet["zip"].to_pylist()
    assert str(stata["born_low"].dt.date.iloc[0]) == str(parquet["born_low"][0].as_py())


def test_stata_has_labels(out: Path) -> None:
    with pd.read_stata(out / "extract.dta", iterator=True) as reader:
        labels = reader.variable_labels()
        assert labels["sex"] == "Sex at birth"
        assert labels["age_low"] == "lowest value that age can have"
        assert "F" in reader.value_labels()["sex"].values()


def test_the_dictionary_names_every_column(out: Path) -> None:
    lines = list(csv.DictReader((out / "dictionary.csv").read_text().splitlines()))
    assert [line["name"] for line in lines] == pq.read_table(out / "extract.parquet").column_names
    assert {line["column"] for line in lines} == {"age", "sex", "born", "zip", "sbp", "smoker", "time", "status"}


def test_parquet_carries_the_meaning(out: Path) -> None:
    field = pq.read_schema(out / "extract.parquet").field("age_low")
    assert field.metadata[b"description"] == b"lowest value that age can have"


def test_labels_that_are_too_long_together_are_texts() -> None:
    texts = [" | ".join(f"{n}{i:05d}" for i in range(100)) for n in range(40)]
    table = pa.table({"zip": texts})
    field = Field("zip", "zip", "where", labels=tuple(texts))
    protected = ProtectedRecords("same-disease", "partition", 1, table, table, table, np.arange(40), (field,), 40)
    assert pd.read_stata(io.BytesIO(make_files(protected, ("stata",))["extract.dta"]))["zip"].tolist() == texts


def test_names_for_stata_are_different_whatever_they_were() -> None:
    found = stata_names(["a" * 40, "a" * 41, "ä b", "ä-b", "A" * 32])
    assert len({name.lower() for name in found.values()}) == 5
    assert all(len(name) <= 32 for name in found.values())
