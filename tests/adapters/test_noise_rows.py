"""Columns of raw rows for noisy answers: public codes where there are few values, and never rows that are gone."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest

from querygate.core.errors import NotPermitted
from querygate.core.noise_ports import RowCodes, RowNumbers
from querygate.core.ports import Limits
from querygate.core.types import Catalog, Column
from querygate_adapters.vault.noise_rows import VaultColumns
from tests.unit.custody.noise.exact_numbers import with_noise, write_vault

CATALOG = Catalog(
    dataset="t",
    version=1,
    title="",
    k=2,
    rows=0,
    columns=(
        Column("age", 0, "quasi-identifier", "integer", True, 0, 120),
        Column("far", 1, "sensitive", "integer", True, -(2**62), 2**62),
        Column("weight", 2, "sensitive", "number", True, 0.0, 500.0),
        Column("born", 3, "quasi-identifier", "date", True, -40_000, 20_000),
        Column("seen", 4, "sensitive", "timestamp", True, -(2**60), 2**60),
        Column("Größe", 5, "quasi-identifier", "category", True, values=("", "007", "ß")),
        Column("smoker", 6, "sensitive", "boolean", True, values=("false", "true")),
    ),
)
NAMES = tuple(column.name for column in CATALOG.columns)
NOBODY = dict.fromkeys(NAMES)
SOMEBODY = {
    "age": 40,
    "far": 2**62,
    "weight": 1e-300,
    "born": dt.date(1970, 1, 11),
    "seen": dt.datetime(1970, 1, 1, 0, 0, 1),
    "Größe": "007",
    "smoker": True,
}


def test_columns_come_as_codes_and_numbers_and_missing_values_are_behind_the_last(tmp_path: Path) -> None:
    catalog = with_noise(CATALOG)
    rows = write_vault(tmp_path, catalog, [SOMEBODY, NOBODY]).read(catalog, NAMES, Limits())
    assert rows.size == 2
    assert rows.persons is None
    coded = {name: column for name, column in rows.columns.items() if isinstance(column, RowCodes)}
    places = {"age": [40, 121], "born": [40_010, 60_001], "Größe": [1, 3], "smoker": [1, 2]}
    assert {name: column.codes.tolist() for name, column in coded.items()} == places
    told = {name: column for name, column in rows.columns.items() if isinstance(column, RowNumbers)}
    numbers = {"far": 2**62, "weight": 1e-300, "seen": 1_000_000}
    assert {name: column.numbers[0] for name, column in told.items()} == numbers
    assert all(column.missing.tolist() == [False, True] for column in told.values())


def test_rows_of_one_person_stand_together_and_those_of_nobody_come_first(tmp_path: Path) -> None:
    catalog = with_noise(CATALOG, person="who", rows_per_person=2)
    people = [{**SOMEBODY, "who": who, "age": i} for i, who in enumerate(["b", None, "a", "b", "a", None, "b"])]
    vault = write_vault(tmp_path, catalog, people)
    rows = vault.read(catalog, ["age", "who"], Limits())
    assert rows.persons is not None
    assert rows.persons.tolist() == [-1, -1, 0, 0, 0, 1, 1]
    ages, who = rows.columns["age"], rows.columns["who"]
    assert isinstance(ages, RowCodes)
    assert isinstance(who, RowNumbers)
    assert [{1, 5}, {0, 3, 6}, {2, 4}] == [
        set(ages.codes[part].tolist()) for part in (slice(2), slice(2, 5), slice(5, 7))
    ]
    assert who.missing.tolist() == [True, True, *[False] * 5]


def test_rows_that_were_taken_away_are_not_remembered(tmp_path: Path) -> None:
    catalog = with_noise(CATALOG)
    vault = write_vault(tmp_path, catalog, [SOMEBODY] * 3)
    assert vault.read(catalog, ["age"], Limits()).size == 3
    write_vault(tmp_path, catalog, [SOMEBODY] * 2)
    assert vault.read(catalog, ["age"], Limits()).size == 2
    (file,) = (tmp_path / "t").iterdir()
    os.rename(file, tmp_path / "gone")
    with pytest.raises(NotPermitted) as gone:
        vault.read(catalog, ["age"], Limits())
    assert gone.value.code == "QG310"


def test_no_more_is_kept_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = with_noise(CATALOG)
    write_vault(tmp_path, catalog, [SOMEBODY] * 100_000)
    vault = VaultColumns(tmp_path, memory_mb=64)
    monkeypatch.setattr(vault, "_memory_mb", 2)  # of which half is for columns that are kept
    for name in (*NAMES, *NAMES):
        assert vault.read(catalog, [name], Limits()).size == 100_000
        assert 0 < len(vault._kept) < len(NAMES)
