"""Joins to public tables: on the raw rows DuckDB's own join says the same, and what it finds ambiguous is refused."""

from __future__ import annotations

import atexit
import functools
from dataclasses import replace

import duckdb
import pytest

from querygate.core.errors import Refusal
from querygate.core.types import Column, Reference
from querygate.sql import understand
from tests.each import each
from tests.engine import scratch
from tests.sql.study import AXIS_ROWS, CREATE, NATIVE, POOLS, ROWS
from tests.sql.study import CATALOG as STUDY
from tests.unit.sql.plan_reference import agrees, exact_block

TOWNS = Reference(
    "towns",
    "city",
    ("Graz", "Linz", "O'Brien", "Wien", "nowhere", ""),
    (
        ("name", ("G", "L", 'it\'s\\n\n"odd"', None, "N", "empty")),
        ("country", ("AT", "AT", "IE", "AT", "XX", None)),
        ("people", (300_000, 2**61, -5, 1_900_000, 0, None)),
        ("height", (353.5, 0.1, None, -1e-9, 1e200, 2.0)),
        ("age", ("a", "b", "c", "d", "e", "f")),
    ),
)
LANDS = Reference("lands", "code", ("AT", "IE"), (("land", ("Austria", "Ireland")), ("tax", (20, 23))))
ELSEWHERE = Reference("elsewhere", "code", ("zz",), (("word", ("z",)), ("number", (1,))))
CATALOG = replace(STUDY, references=(TOWNS, LANDS, ELSEWHERE))
TYPES = {"category": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE"}


@functools.cache
def raw() -> duckdb.DuckDBPyConnection:
    """The study and its public tables."""
    connection = scratch()
    connection.execute(CREATE)
    marks = ", ".join("?" * len(POOLS))
    connection.executemany(f"INSERT INTO patients VALUES ({marks})", [list(row.values()) for row in ROWS])
    for table in CATALOG.references:
        columns = ", ".join(f"{name} {TYPES[table.type_of(name)]}" for name, _ in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({table.key} VARCHAR, {columns})")
        rows = list(zip(table.keys, *(values for _, values in table.columns), strict=True))
        connection.executemany(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return connection


atexit.register(raw.cache_clear)

ACCEPTED = [
    # ON, either way round, and USING
    "SELECT t.country, COUNT(*) FROM patients p JOIN towns t ON p.city = t.city GROUP BY t.country",
    "SELECT country, COUNT(*) FROM patients INNER JOIN towns ON towns.city = (patients.city) GROUP BY country",
    "SELECT country, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY country",
    "SELECT Country, COUNT(*) FROM PATIENTS JOIN TOWNS USING (CITY) GROUP BY COUNTRY",
    "SELECT COUNT(*) FROM patients JOIN lands ON sex = code",
    # LEFT JOIN keeps everybody
    "SELECT country, COUNT(*) FROM patients LEFT JOIN towns USING (city) GROUP BY country",
    "SELECT name, COUNT(*) FROM patients LEFT OUTER JOIN towns USING (city) GROUP BY name ORDER BY name",
    "SELECT COUNT(t.name), COUNT(*) FROM patients LEFT JOIN towns t USING (city)",
    "SELECT COUNT(*) FROM patients LEFT JOIN towns t USING (city) WHERE t.name IS NULL",
    "SELECT COUNT(*) FROM patients LEFT JOIN towns USING (city) WHERE country <> 'AT'",
    "SELECT COUNT(*) FILTER (WHERE country = 'AT') FROM patients LEFT JOIN towns USING (city)",
    # the key, on both sides
    "SELECT city, COUNT(*) FROM patients LEFT JOIN towns USING (city) GROUP BY city",
    "SELECT towns.city, COUNT(*) FROM patients LEFT JOIN towns USING (city) GROUP BY towns.city",
    "SELECT towns.city, patients.city, COUNT(*) FROM patients LEFT JOIN towns USING (city) GROUP BY ALL",
    "SELECT towns.city, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY towns.city",
    # numbers
    "SELECT AVG(people), SUM(people), MIN(height), MAX(height) FROM patients LEFT JOIN towns USING (city) "
    "WHERE people < 5000000",
    "SELECT people, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY people",
    "SELECT height, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY height",
    "SELECT AVG(tax * sbp) FROM patients JOIN towns USING (city) JOIN lands ON country = code",
    "SELECT MEDIAN(tax), COUNT(DISTINCT country) FROM patients JOIN towns USING (city) JOIN lands ON country = code",
    "SELECT COUNT(*) FROM patients JOIN towns USING (city) WHERE people > 250000 AND height < 1",
    "SELECT COUNT(*) FROM patients JOIN towns USING (city) WHERE people > sbp",
    # conditions, expressions, groups
    "SELECT sex, SUM(t.people) FROM patients JOIN towns t USING (city) WHERE t.name = 'G' GROUP BY sex",
    "SELECT t.name || '!' AS n, COUNT(*) FROM patients JOIN towns t USING (city) GROUP BY n HAVING COUNT(*) > 2",
    "SELECT CASE WHEN t.country = 'AT' THEN 'home' ELSE 'abroad' END AS w, COUNT(*) "
    "FROM patients LEFT JOIN towns t USING (city) GROUP BY w",
    "SELECT sex, country, COUNT(*) FROM patients LEFT JOIN towns USING (city) GROUP BY ROLLUP (sex, country)",
    "SELECT towns.age, AVG(patients.age) FROM patients JOIN towns USING (city) GROUP BY towns.age",
    "SELECT COUNT(*) FROM patients JOIN towns USING (city) WHERE name LIKE '%odd%' OR name = 'it''s\\n\n\"odd\"'",
    # several tables, one of them twice, one on a column of another
    "SELECT COUNT(*) FROM patients p JOIN towns AS a USING (city) JOIN towns AS b ON p.city = b.city "
    "WHERE a.country = 'AT' AND b.name = 'L'",
    "SELECT land, COUNT(*), AVG(tax) FROM patients JOIN towns USING (city) JOIN lands ON towns.country = lands.code "
    "GROUP BY land",
    "SELECT land, COUNT(*), SUM(tax) FROM patients LEFT JOIN towns USING (city) LEFT JOIN lands l ON l.code = country "
    "GROUP BY land",
    # in and around subqueries
    "SELECT country, COUNT(*) FROM (SELECT city AS c FROM patients WHERE age > 39) s JOIN towns ON s.c = towns.city "
    "GROUP BY country",
    "SELECT country, COUNT(*) FROM (SELECT * FROM patients JOIN towns USING (city) WHERE sex = 'F') GROUP BY country",
    "SELECT country, COUNT(*) FROM (SELECT p.*, country FROM patients p JOIN towns USING (city)) s GROUP BY country",
    "SELECT country, COUNT(*) FROM (SELECT t.* FROM patients JOIN towns t USING (city)) s GROUP BY country",
    "SELECT sex, COUNT(*) FROM (SELECT * FROM patients JOIN towns ON patients.city = towns.city) GROUP BY sex",
    "WITH here AS (SELECT * FROM patients JOIN towns USING (city)) SELECT land, COUNT(*) FROM here "
    "JOIN lands ON here.country = lands.code GROUP BY land",
    "SELECT country, SUM(n) FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) g "
    "JOIN towns t ON g.city = t.city GROUP BY country",
    "SELECT country, MAX(n) FROM (SELECT city AS c, COUNT(*) AS n FROM patients GROUP BY city) g "
    "LEFT JOIN towns t ON c = t.city GROUP BY country",
    # nobody has a key of the table
    "SELECT COUNT(*) FROM patients JOIN elsewhere ON sex = code",
    "SELECT COUNT(*), COUNT(word) FROM patients LEFT JOIN elsewhere ON sex = code",
    "SELECT COUNT(*) FROM patients LEFT JOIN elsewhere ON sex = code WHERE number IS NULL",
]

AMBIGUOUS = [
    "SELECT city, COUNT(*) FROM patients JOIN towns ON patients.city = towns.city GROUP BY city",
    "SELECT age, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY age",
    "SELECT towns.age AS age, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY age",
    "SELECT AVG(age) FROM patients JOIN towns USING (city)",
    "SELECT COUNT(*) FROM patients JOIN towns USING (city) WHERE age > 40",
    "SELECT COUNT(*) FROM patients JOIN towns ON city = towns.city",
    "SELECT COUNT(*) FROM patients JOIN towns a USING (city) JOIN towns b ON a.city = b.city WHERE country = 'AT'",
    # names of one table that were said to be of another
    "SELECT patients.name, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY 1",
    "SELECT towns.sex, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY 1",
    "SELECT COUNT(*) FROM patients JOIN towns t USING (city) WHERE towns.country = 'AT'",
    "SELECT country, COUNT(*) FROM (SELECT patients.* FROM patients JOIN towns USING (city)) s GROUP BY country",
]

REFUSED = [
    ("SELECT COUNT(*) FROM towns", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN nothing USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN patients p USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN (SELECT * FROM towns) t USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients, towns", "QG205"),
    ("SELECT COUNT(*) FROM patients CROSS JOIN towns", "QG205"),
    ("SELECT COUNT(*) FROM patients RIGHT JOIN towns USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients FULL JOIN towns USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients NATURAL JOIN towns", "QG205"),
    ("SELECT COUNT(*) FROM patients SEMI JOIN towns USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients ANTI JOIN towns USING (city)", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON patients.city = towns.name", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON towns.name = towns.city", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON patients.city = towns.city AND smoker", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON patients.city <> towns.city", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON UPPER(patients.city) = towns.city", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns USING (sex)", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns USING (city, age)", "QG205"),
    ("SELECT COUNT(*) FROM patients JOIN towns patients ON patients.city = patients.city", "QG205"),
    ("SELECT COUNT(city) FROM patients JOIN towns a USING (city) JOIN towns b ON a.city = b.city", "QG203"),
    # a named query hides the table of its name
    ("WITH towns AS (SELECT * FROM patients) SELECT COUNT(*) FROM patients JOIN towns USING (city)", "QG205"),
    # keys are texts: DuckDB would cast them, and '7' and '07' would meet the same number
    ("SELECT COUNT(*) FROM patients JOIN towns ON patients.age = towns.city", "QG209"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON patients.born = towns.city", "QG209"),
    ("SELECT COUNT(*) FROM patients JOIN towns ON patients.smoker = towns.city", "QG209"),
    ("SELECT COUNT(*) FROM (SELECT UPPER(city) AS u FROM patients) s JOIN towns ON s.u = towns.city", "QG209"),
    ("SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM patients GROUP BY sex) JOIN towns ON n = towns.city", "QG209"),
    ("SELECT COUNT(*) FROM patients JOIN towns USING (city) JOIN lands ON towns.people = lands.code", "QG209"),
    # the table's name is a whole row to DuckDB
    ("SELECT towns, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY towns", "QG203"),
    ("SELECT country FROM patients JOIN towns USING (city)", "QG201"),
    ("SELECT * FROM patients JOIN towns USING (city)", "QG201"),
]  # fmt: skip


@each("sql", ACCEPTED)
def test_a_join_means_what_duckdb_means(sql: str) -> None:
    plan = understand(sql, CATALOG, NATIVE)

    assert agrees(plan, exact_block(AXIS_ROWS, CATALOG), raw().execute(sql).fetchall())


@pytest.mark.parametrize("sql", AMBIGUOUS)
def test_what_duckdb_cannot_tell_apart_is_refused(sql: str) -> None:
    with pytest.raises(duckdb.BinderException):
        raw().execute(sql)
    with pytest.raises(Refusal) as caught:
        understand(sql, CATALOG, NATIVE)

    assert caught.value.code == "QG203"
    assert caught.value.remedy


@each("sql, code", REFUSED)
def test_refused(sql: str, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        understand(sql, CATALOG, NATIVE)

    assert caught.value.code == code
    assert caught.value.remedy


def test_a_refusal_names_the_tables_there_are() -> None:
    with pytest.raises(Refusal, match="reference tables") as caught:
        understand("SELECT COUNT(*) FROM patients JOIN nothing USING (city)", CATALOG, NATIVE)
    assert caught.value.remedy.startswith("Tables that can be joined: towns, lands, elsewhere.")
    with pytest.raises(Refusal) as caught:
        understand("SELECT COUNT(*) FROM patients JOIN towns USING (city)", STUDY, NATIVE)
    assert caught.value.remedy.startswith("This dataset has no reference tables: query it on its own.")


def test_ways_to_write_a_join_are_one_question() -> None:
    wordings = (
        "SELECT country, COUNT(*) FROM patients JOIN towns USING (city) GROUP BY country",
        "SELECT t.country, COUNT(*) FROM patients p JOIN towns t ON t.city = p.city GROUP BY 1",
        "SELECT country, COUNT(*) FROM patients LEFT JOIN towns t USING (city) WHERE t.city IS NOT NULL GROUP BY 1",
    )

    assert len({understand(sql, CATALOG, NATIVE).hash for sql in wordings}) == 1


def test_a_table_of_five_thousand_keys_can_be_used_in_every_clause() -> None:
    values = tuple(f"code{i:05d}" for i in range(5_000))
    table = Reference(
        "icd",
        "code",
        values,
        (("chapter", tuple(f"chapter {v[-1]}" for v in values)), ("cost", tuple(range(5_000)))),
    )
    column = Column("code", 0, "quasi-identifier", "category", False, values=values)
    catalog = replace(STUDY, columns=(column,), references=(table,))
    plan = understand(
        "SELECT chapter, AVG(cost) FROM patients LEFT JOIN icd USING (code) WHERE cost > 99 AND chapter <> 'chapter 3' "
        "GROUP BY chapter HAVING AVG(cost) > 0 ORDER BY chapter",
        catalog,
        NATIVE,
    )

    assert [key for key in plan.keys[0].values if key is not None] == [f"chapter {i}" for i in range(10)]
