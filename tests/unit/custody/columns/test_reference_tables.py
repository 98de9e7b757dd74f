"""Public tables of a policy: read, checked, kept with the version, described, and joined with the right answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError, Refusal
from querygate.core.types import Reference
from querygate.gate.description import make_description
from querygate.site.open_gate import OpenSite
from tests.unit.custody.publish.publications import ask, new_site, staged_files, write_parquet
from tests.unit.custody.publish.tables import (
    PEOPLE,
    REFERENCES,
    REGIONS,
    outside,
    publish_in,
    publish_regions,
    raw_tables,
    write_all,
    write_regions,
)

POLICY = PEOPLE.but(**REFERENCES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clinic")


@pytest.fixture(scope="module")
def opened(folder: Path) -> OpenSite:
    return publish_regions(folder)


def test_the_version_keeps_the_table(opened: OpenSite) -> None:
    codes, names, countries, numbers, densities = zip(*REGIONS, strict=True)

    assert opened.store.current("t").catalog.references == (
        Reference(
            "regions",
            "code",
            codes,
            (("name", names), ("country", countries), ("people", numbers), ("density", densities)),
        ),
    )


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT regions.name, COUNT(*) FROM t JOIN regions ON t.region = regions.code GROUP BY regions.name", 1),
        ("SELECT r.country, COUNT(*), AVG(sbp) FROM t LEFT JOIN regions r ON region = code GROUP BY r.country", 1),
        ("SELECT COUNT(*), COUNT(name), SUM(people), AVG(density) FROM t LEFT JOIN regions ON region = code", 0),
        ("SELECT COUNT(*), MAX(people), MIN(density) FROM t JOIN regions ON region = code WHERE age > 50", 0),
        ("SELECT AVG(sbp), COUNT(*) FROM t JOIN regions ON region = code WHERE country = 'AA' AND people > 0", 0),
        ("SELECT AVG(sbp * density) FROM t JOIN regions ON region = code", 0),
        ("SELECT COUNT(*) FROM t LEFT JOIN regions ON region = code WHERE name IS NULL", 0),
        ("SELECT people, COUNT(*) FROM t LEFT JOIN regions ON region = code GROUP BY people", 1),
    ],
)
def test_the_truth_is_inside(sql: str, keys: int, opened: OpenSite, folder: Path) -> None:
    assert not outside(ask(opened, sql), raw_tables(folder).execute(sql).fetchall(), keys)


def test_a_table_that_was_not_registered_is_refused(opened: OpenSite) -> None:
    with pytest.raises(Refusal) as caught:
        ask(opened, "SELECT COUNT(*) FROM t JOIN visits ON t.region = visits.patient")
    assert caught.value.code == "QG205"


def test_it_is_described(opened: OpenSite) -> None:
    catalog = opened.store.current("t").catalog
    told = make_description(catalog, opened.gate.native, opened.gate.limits)

    assert told["tables"] == [
        {
            "name": "regions",
            "key": "code",
            "rows": 4,
            "columns": [
                {"name": "name", "type": "category"},
                {"name": "country", "type": "category"},
                {"name": "people", "type": "integer"},
                {"name": "density", "type": "number"},
            ],
            "on": ["region"],
            "hash": catalog.references[0].hash,
        }
    ]
    assert "Public tables that can be joined: regions." in told["policy"]
    assert told["examples"][-1] == (
        "SELECT regions.name, COUNT(*) FROM t JOIN regions ON t.region = regions.code GROUP BY regions.name"
    )
    assert ask(opened, told["examples"][-1])


def test_its_hash_is_on_record(opened: OpenSite) -> None:
    (event,) = [event for event in opened.log.events() if event["kind"] == "publish"]

    assert event["body"]["references"] == {"regions": opened.store.current("t").catalog.references[0].hash}


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    write_all(tmp_path)
    columns: dict[str, Any] = {
        "code": ["N", "S"],
        "name": pa.array([1, 22], pa.int32()),  # a number as text
        "country": ["AA", None],
        "people": pa.array([5.0, float("nan")]),  # whole, and missing
        "density": pa.array([3, None], pa.int8()),
    }
    write_parquet(tmp_path / "regions.parquet", columns)
    opened = new_site(tmp_path)
    publish_in(tmp_path, opened, POLICY.but(references={"regions": {"file": "regions.parquet"}}))

    assert opened.store.current("t").catalog.references[0].columns == (
        ("name", ("1", "22")),
        ("country", ("AA", None)),
        ("people", (5, None)),
        ("density", (3.0, None)),
    )


NORTH = ("N", "North", "AA", 1, 0.5)
SECRET = "SECRET-4711"


@pytest.mark.parametrize(
    ("rows", "code", "told"),
    [
        ([NORTH, NORTH], "QG802", "references.regions.key: regions.csv: 1 value of code is repeated."),
        ([NORTH, (None, *NORTH[1:])], "QG802", "references.regions.key: regions.csv: 1 value of code is missing."),
        ([], "QG802", "references.regions.file: regions.csv: there are no rows."),
        (
            [NORTH, ("S", "South", "AA", SECRET, 1)],
            "QG802",
            "references.regions.columns: regions.csv: 1 value of people cannot be read as integer, the first in row 2",
        ),
        ([("N", "North", "AA", "1.5", 1)], "QG802", "people cannot be read as integer, the first in row 1."),
        ([("N", "North", "AA", 2**62, 1)], "QG802", "people cannot be read as integer, the first in row 1."),
        ([("N", "North", "AA", "\u0663", 1)], "QG802", "people cannot be read as integer, the first in row 1."),
        ([("N", "North", "AA", 1, "inf")], "QG802", "density cannot be read as number, the first in row 1."),
        ([("N", "North", "AA", 1, "1e400")], "QG802", "density cannot be read as number, the first in row 1."),
        ([("N", "n" * 1001, "AA", 1, 1)], "QG802", "name cannot be read as category, the first in row 1."),
        ([(SECRET + "\x1f", "n", "AA", 1, 1)], "QG802", "regions.key: regions.csv: 1 value of code cannot be read"),
        ([(f"c{i}", "n", "AA", 1, 1) for i in range(5_001)], "QG802", "there are more than 5,000 rows."),
    ],
)
def test_a_table_that_cannot_be_joined_stops_the_publication(
    rows: list[tuple[Any, ...]], code: str, told: str, tmp_path: Path
) -> None:
    write_all(tmp_path)
    if rows:
        write_regions(tmp_path, rows)
    else:
        (tmp_path / "regions.csv").write_text("code,name,country,people,density\n")
    opened = new_site(tmp_path)
    with pytest.raises(ConfigError) as caught:
        publish_in(tmp_path, opened, POLICY)

    assert caught.value.code == code
    assert told in caught.value.detail
    assert caught.value.remedy
    assert SECRET not in caught.value.detail + caught.value.remedy
    assert not opened.store.datasets()
    assert not staged_files(opened)


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (("regions.csv", "absent.csv"), "QG802", "absent.csv: the file does not exist."),
        (('key = "code"', 'key = "cod"'), "QG801", "references.regions.key: regions.csv has no column cod."),
        (("country =", "land ="), "QG801", "references.regions.columns: regions.csv has no column land."),
        (("regions.csv", "people.csv"), "QG801", "references.regions.key: people.csv has no column code."),
    ],
)
def test_a_policy_that_does_not_fit_the_file(change: tuple[str, str], code: str, told: str, tmp_path: Path) -> None:
    write_all(tmp_path)
    with pytest.raises(ConfigError) as caught:
        publish_in(tmp_path, new_site(tmp_path), POLICY.replace(*change))

    assert caught.value.code == code
    assert told in caught.value.detail
