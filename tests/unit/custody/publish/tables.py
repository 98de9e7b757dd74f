"""A clinic with a public table of regions and a protected table of visits, as files and as one table in DuckDB."""

from __future__ import annotations

import csv
import datetime as dt
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from querygate.custody.policy import parse_policy
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite
from tests.engine import scratch
from tests.policies import AGE, SBP, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site

ROWS = 60
REGIONS = [
    ("N", "North", "AA", 1200, 0.5),
    ("S", 'South, "deep"', "AA", -7, 2.25),
    ("E", None, "BB", None, None),
    ("X", "unused", "BB", 5, 1e10),
]
REGION_COLUMNS = ("code", "name", "country", "people", "density")
PEOPLE = make_policy("t", {"age": AGE, "region": quasi("category"), "sbp": SBP | {"grid": 5}})
# What a policy says of the public table, and of the one that is joined: PEOPLE.but(**REFERENCES, **VISITS)
COLUMN_TYPES = {"name": "category", "country": "category", "people": "integer", "density": "number"}
REFERENCES = {"references": {"regions": {"file": "regions.csv", "key": "code", "columns": COLUMN_TYPES}}}
VISITS = {
    "columns": {
        "n_visits": sensitive("integer", (0, 50), grid=1, guard=0),
        "first_visit": quasi("date", (dt.date(2010, 1, 1), dt.date(2030, 1, 1))),
    },
    "join": {
        "visits": {"source": "visits.csv", "on": {"patient": "pid"}, "columns": ["n_visits", "first_visit"]},
    },
}


def people() -> list[dict[str, Any]]:
    """Sixty people, some without a region and one without a number."""
    rng = random.Random(3)
    return [
        {
            "pid": None if i == 7 else f"P{i:03d}",
            "age": rng.randrange(20, 80),
            "region": rng.choice(["N", "S", "E", "W", None]),
            "sbp": rng.randrange(90, 180),
        }
        for i in range(ROWS)
    ]


def visits() -> list[dict[str, Any]]:
    """One row each for two people of three, for somebody unknown, and for nobody."""
    rng = random.Random(4)
    known = [f"P{i:03d}" for i in range(ROWS) if i % 3]
    return [
        {
            "patient": who,
            "n_visits": rng.randrange(50),
            "first_visit": f"20{rng.randrange(10, 29)}-0{rng.randrange(1, 9)}-11",
        }
        for who in [*known, "P999", None, None]
    ]


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    rows = list(rows)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_regions(folder: Path, rows: Sequence[Sequence[Any]] = REGIONS) -> Path:
    return write_csv(folder / "regions.csv", [dict(zip(REGION_COLUMNS, row, strict=True)) for row in rows])


def write_all(folder: Path) -> Path:
    write_regions(folder)
    write_csv(folder / "visits.csv", visits())
    return write_csv(folder / "people.csv", people())


def publish_in(folder: Path, opened: OpenSite, policy: str, source: str = "") -> Report:
    """Publish the people of a folder, which is the policy's."""
    return publish_to(
        opened, parse_policy(policy), source or str(folder / "people.csv"), user="tester", base_dir=folder
    )


def publish_regions(folder: Path) -> OpenSite:
    """A new site in the folder, with the people and the table of regions."""
    write_all(folder)
    opened = new_site(folder)
    publish_in(folder, opened, PEOPLE.but(**REFERENCES))
    return opened


def raw_tables(folder: Path) -> duckdb.DuckDBPyConnection:
    """What a custodian would ask without a gate: the same files as tables t, regions and visits."""
    database = scratch()
    types = {
        "t": "pid VARCHAR, age BIGINT, region VARCHAR, sbp BIGINT",
        "regions": "code VARCHAR, name VARCHAR, country VARCHAR, people BIGINT, density DOUBLE",
        "visits": "patient VARCHAR, n_visits BIGINT, first_visit DATE",
    }
    for table, columns in types.items():
        file = folder / ("people.csv" if table == "t" else f"{table}.csv")
        database.execute(f"CREATE TABLE {table} ({columns})")
        database.execute(f"COPY {table} FROM '{file}' (HEADER, NULLSTR '')")
    return database


def outside(rows: Sequence[Mapping[str, Any]], truth: Sequence[tuple[Any, ...]], keys: int) -> list[str]:
    """What of DuckDB's answer is not inside the gate's."""
    told = {tuple(list(row.values())[:keys]): row for row in rows}
    true = {line[:keys] for line in truth}
    wrong = [f"{key} is not there" for key, row in told.items() if row["_group"]["certain"] and key not in true]
    for line in truth:
        row = told.get(line[:keys])
        if row is None:
            wrong.append(f"{line[:keys]} is missing")
            continue
        for cell, value in zip(list(row.values())[keys:-1], line[keys:], strict=True):
            inside = cell["may_be_null"] if value is None else cell["low"] <= value <= cell["high"]
            wrong += [] if inside else [f"{line[:keys]}: {value} is not in {cell}"]
    return wrong
