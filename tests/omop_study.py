"""A hospital of any size in the OMOP common data model: each person is one of 28 synthetic patients, born some days
apart, with their events moved by as much, measured anew and now and then missing.

What tables of hospitals have is there too: values that are missing, an event without a day, a unit that nobody uses,
events of persons who are gone, and a person without any event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from querygate.core.types import Group
from querygate.custody.policy import Policy

PATTERNS = Path(__file__).parent / "data" / "omop"
TABLES = {
    "visit_occurrence": ("visit_start_date", 0.1),
    "condition_occurrence": ("condition_start_date", 0.3),
    "drug_exposure": ("drug_exposure_start_date", 0.3),
    "measurement": ("measurement_date", 0.2),
    "death": ("death_date", 0.5),
}
"""The time of an event, and the share of events that somebody lacks."""


def write_omop(folder: Path, persons: int, seed: int = 1) -> Path:
    """One Parquet file per table."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(config={"threads": 2, "preserve_insertion_order": "false"}) as database:

        def share(*of: str) -> str:
            """Chance between 0 and 1 that follows from what it is of."""
            return f"(hash({', '.join(of)}, {seed}) % 1000000 / 1e6)"

        database.execute(
            f"CREATE TABLE people AS SELECT i AS id, 1 + hash(i, 'like', {seed}) % 28 AS pattern, "
            f"CAST(hash(i, 'days', {seed}) % 3650 AS INTEGER) - 1825 AS days FROM range(1, {persons} + 1) t(i)"
        )
        _write(database, folder / "person.parquet", _person(share("p.id", "'sex'"), share("p.id", "'race'")))
        for table, (day, lacking) in TABLES.items():
            replaced = f"p.id AS person_id, CAST(o.{day} AS DATE) + p.days AS {day}"
            if table == "measurement":
                of = ("p.id", "o.measurement_id")
                value = f"ROUND(CAST(o.value_as_number AS DOUBLE) * (0.8 + 0.4 * {share(*of, '2')}), 1)"
                replaced += f", CASE WHEN {share(*of, '0')} > 0.02 THEN {value} END AS value_as_number"
                unit = f"CASE WHEN {share(*of, '1')} < 0.001 THEN '999' ELSE o.unit_concept_id END"
                replaced += f", {unit} AS unit_concept_id"
            patterns = f"SELECT *, row_number() OVER () AS n FROM '{PATTERNS}/{table}.parquet'"
            _write(
                database,
                folder / f"{table}.parquet",
                f"SELECT o.* EXCLUDE (n) REPLACE ({replaced}) FROM people p JOIN ({patterns}) o "
                f"ON CAST(o.person_id AS BIGINT) = p.pattern WHERE {share('p.id', 'o.n')} >= {lacking} AND p.id > 1",
            )
    return folder


def _person(sex: str, race: str) -> str:
    born = "CAST(o.birth_datetime AS TIMESTAMP) + to_days(p.days)"
    return (
        f"SELECT p.id AS person_id, CASE WHEN {sex} < 0.485 THEN 8507 WHEN {sex} < 0.998 THEN 8532 ELSE 0 END "
        f"AS gender_concept_id, year({born}) AS year_of_birth, month({born}) AS month_of_birth, "
        f"day({born}) AS day_of_birth, {born} AS birth_datetime, CASE WHEN {race} < 0.6 THEN 8527 "
        f"WHEN {race} < 0.8 THEN 8516 WHEN {race} < 0.95 THEN 8515 ELSE 0 END AS race_concept_id, "
        f"38003564 AS ethnicity_concept_id, 'mrn-' || p.id AS person_source_value "
        f"FROM people p JOIN '{PATTERNS}/person.parquet' o ON CAST(o.person_id AS BIGINT) = p.pattern"
    )


def _write(database: duckdb.DuckDBPyConnection, path: Path, query: str) -> None:
    database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


# -- the truth -------------------------------------------------------------------------------------------------------

PLAIN = {
    "min": "SELECT e.{x} FROM {e} e WHERE {tests} LIMIT 1",
    "count": "SELECT COUNT(*) FROM {e} e WHERE {tests}",
    "distinct": "SELECT COUNT(DISTINCT e.{x}) FROM {e} e WHERE {tests}",
    "any": "EXISTS (SELECT 1 FROM {e} e WHERE {tests})",
    "last": "SELECT arg_max(e.{x}, (e.{t}, e.{x})) FROM {e} e WHERE {tests} AND e.{x} IS NOT NULL",
}
NAMES = {
    "sex": {"8507": "male", "8532": "female", "0": "not stated"},
    "race": {"8527": "White", "8516": "Black or African American", "8515": "Asian", "0": "not stated"},
    "ethnicity": {"38003564": "Not Hispanic or Latino"},
}


@contextmanager
def truth_of(hospital: Path, policy: Policy) -> Iterator[duckdb.DuckDBPyConnection]:
    """A table of persons that is called as the dataset is: one subquery over the tables for each derived column."""
    born = policy.column("age").age
    assert born is not None
    wanted = [f"date_sub('year', CAST(p.birth_datetime AS DATE), DATE '{born.day}') AS age"]
    for events in policy.events:
        for column in events.derived:
            if policy.column(column.name).is_published:
                tests = [f"CAST(e.{test.column} AS VARCHAR) = '{test.texts[0]}'" for test in column.where]
                plain = PLAIN[column.take].format(
                    e=events.name,
                    x=column.column,
                    t=events.time,
                    tests=" AND ".join(["e.person_id = p.person_id", *tests]),
                )
                kind = "VARCHAR" if policy.column(column.name).type == "category" else ""
                wanted.append(f"{f'CAST(({plain}) AS {kind})' if kind else f'({plain})'} AS {column.name}")
    with duckdb.connect() as database:
        for table in ("person", *TABLES):
            database.execute(f"CREATE VIEW {table} AS FROM '{hospital / table}.parquet'")
        database.execute(f"CREATE TABLE {policy.dataset} AS SELECT {', '.join(wanted)} FROM person p")
        for name, names in NAMES.items():
            if policy.column(name).is_published:
                whens = " ".join(f"WHEN '{code}' THEN '{called}'" for code, called in names.items())
                database.execute(f"UPDATE {policy.dataset} SET {name} = CASE {name} {whens} END")
        for column in policy.columns:
            if column.is_published and column.rare:
                few = f"IN (SELECT {column.name} FROM {policy.dataset} GROUP BY 1 HAVING COUNT(*) < {policy.k})"
                if column.values:
                    few = f"NOT IN ({', '.join(map(repr, column.values))})"
                database.execute(
                    f"UPDATE {policy.dataset} SET {column.name} = '{column.rare}' WHERE {column.name} {few}"
                )
        yield database


def outside(sql: str, groups: Sequence[Group], truth: duckdb.DuckDBPyConnection) -> list[str]:
    """What is true and lies outside of its range, or in no group."""
    ranges = {tuple(map(str, group.keys)): group.ranges[0] for group in groups}
    wrong = []
    for *keys, value in truth.execute(sql).fetchall():
        found = ranges.get(tuple(map(str, keys)))
        if value is not None and (found is None or not found.low <= float(value) <= found.high):
            wrong.append(f"{sql}: {keys}: {value} is not in {found}")
    return wrong
