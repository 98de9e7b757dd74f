"""Nobody becomes several people because of how their key is written: spaces, characters that nobody sees, 7 or 7.0."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.person_removal import Without, holding
from querygate_adapters.vault.shared_people import count_shared
from tests.unit.custody.publish.publications import ends, new_site, put, raw_rows, write_parquet

ONE_PERSON = ["7", " 7", "7\u00a0", "7.0", "\ufeff7\t", "\u20037.00"]
NOBODY = ["", " ", "\u00a0", "\t\u2003"]
DISTINCT = ["07", "7x", "7.5", "-7", "7 7"]

PERSON = """
dataset = "t"
k = 2
person = "pid"
[columns.pid]
role = "identifier"
"""
COLUMNS = f"""{PERSON}
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
"""
COUNTED = """
[columns.n]
role = "sensitive"
type = "integer"
domain = [0, 50]
guard = 0
[derive.n]
events = "visits"
take = "count"
[events.visits]
on = { who = "pid" }
"""
CODED = """
[columns.code]
role = "withheld"
[columns.means]
role = "sensitive"
type = "category"
values = ["a", "b", "c"]
[join.codes]
source = "codes.parquet"
on = { code = "code" }
columns = ["means"]
"""
OF_SOURCE = """
[columns.years]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
[columns.hiv]
role = "sensitive"
type = "category"
values = ["negative", "positive"]
[events.visits]
on = { pid = "pid" }
time = "day"
[derive.years]
events = "visits"
take = "last"
column = "age"
[derive.hiv]
events = "visits"
take = "last"
column = "status"
"""


def open_in(folder: Path, place: str) -> Source:
    return open_source(place, folder)


def vault_of(file: Path, keys: list[str]) -> Path:
    """The rows of a version that kept keys as they were written."""
    with closing(duckdb.connect(str(file))) as database:
        database.execute("CREATE TABLE rows AS SELECT 0 AS row_id, unnest(?) AS pid", [keys])
    return file


def test_a_class_is_not_made_of_one_person_whose_key_is_written_in_several_ways(tmp_path: Path) -> None:
    """Four spellings of one key were a published class of four, and what they have in common one person's status."""
    keys = [*ONE_PERSON[:4], *NOBODY]
    rows: dict[str, Any] = {"pid": [*keys, *(f"p{i}" for i in range(8))]}
    size = len(rows["pid"])
    rows |= {"age": [90] * 8 + [30] * 8, "day": ["2020-01-01"] * size, "status": ["positive"] * 8 + ["negative"] * 8}
    policy = PERSON.replace("k = 2", "k = 4") + OF_SOURCE
    opened = new_site(tmp_path)

    report = put(opened, policy, rows)

    assert (report.rows, report.persons) == (9, 9)
    assert raw_rows(opened, ["pid"])[0] == ("7",)
    assert ends(opened, "COUNT(*)", "years > 60 AND hiv = 'positive'") == (0, 1)


def test_rows_of_a_person_are_theirs_however_the_key_is_written(tmp_path: Path) -> None:
    keys = [*ONE_PERSON, *DISTINCT]

    report = put(new_site(tmp_path), COLUMNS, {"pid": keys, "age": [40] * len(keys)})

    assert (report.rows, report.persons) == (len(keys), 1 + len(DISTINCT))


@pytest.mark.parametrize("blank", NOBODY)
def test_a_blank_key_is_a_missing_one(blank: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pid is missing in 1 of 4 rows") as refused:
        put(new_site(tmp_path), COLUMNS, {"pid": ["a", "b", "c", blank], "age": [40] * 4})

    assert refused.value.code == "QG803"


def test_numbers_and_texts_are_the_same_people(tmp_path: Path) -> None:
    """A float column of one table and padded texts in another."""
    opened, people = new_site(tmp_path), {"pid": pa.array([7.0, 8.0, 9.5]), "age": [40] * 3}
    write_parquet(tmp_path / "visits.parquet", {"who": [*ONE_PERSON, "8", "9.5 ", " ", "stranger"]})

    put(opened, COLUMNS + COUNTED + 'source = "visits.parquet"\n', people, open_beside=partial(open_in, tmp_path))

    assert raw_rows(opened, ["pid", "n"]) == [("7", 6), ("8", 1), ("9.5", 1)]


def test_a_joined_table_is_matched_without_spaces_and_codes_keep_their_zeros(tmp_path: Path) -> None:
    opened, beside = new_site(tmp_path), partial(open_in, tmp_path)
    write_parquet(tmp_path / "codes.parquet", {"code": ["250", "250.0", "1 "], "means": ["a", "b", "c"]})
    policy = COLUMNS + CODED
    rows = {"pid": ["a", "b", "c"], "age": [40] * 3, "code": ["250", " 250.0", "1\u00a0"]}

    put(opened, policy, rows, open_beside=beside)

    assert raw_rows(opened, ["means"]) == [("a",), ("b",), ("c",)]


def test_people_of_a_vault_that_kept_spaces_are_found(tmp_path: Path) -> None:
    """People of another dataset are found, and a person is deleted, however the key is written."""
    own = vault_of(tmp_path / "own.duckdb", [*ONE_PERSON, "x "])
    other = vault_of(tmp_path / "other.duckdb", ["7 ", " x", "y", " "])

    assert count_shared((own, "pid"), (other, "pid")) == 2
    assert holding({1: own}, ("pid", " 7.0")) == {1: len(ONE_PERSON)}
    assert holding({1: own}, ("pid", " ")) == {}
    source = open_source(str(write_parquet(tmp_path / "rows.parquet", {"pid": [*ONE_PERSON, "x ", None]})))
    assert Without(source, ("pid", "7\u00a0")).batches(["pid"]).read_all()["pid"].to_pylist() == ["x ", None]
