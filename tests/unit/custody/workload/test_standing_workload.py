"""The standing workload is made from the schema alone, and is the same each time."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter

import duckdb
import pytest

from querygate.core.types import Catalog, Column
from querygate.custody.workload import Question, public_cuts, standing_workload
from querygate.custody.workload.usable_share import PAPER
from querygate.custody.workload.workload_sample import drawn
from tests.policies import AGE, SEX, make_policy, quasi, sensitive

DAY = (dt.date(2020, 1, 1) - dt.date(1970, 1, 1)).days


def column(name: str, role: str, kind: str, **more: object) -> Column:
    return Column(name, 0, role, kind, nullable=True, **more)  # type: ignore[arg-type]


AGES = column("age", "quasi-identifier", "integer", low=0, high=100)
SEXES = column("sex", "quasi-identifier", "category", values=("f", "m"))
RACES = column("race", "quasi-identifier", "category", values=("a'b", "b", "c"))
PRESSURE = column("sbp", "sensitive", "integer", low=40, high=300)
WEIGHT = column("kg", "sensitive", "number", low=0.0, high=300.0)
SMOKES = column("smokes", "sensitive", "boolean", values=("false", "true"))
ILL = column("ill", "sensitive", "category", values=("no", "yes"))
HEALTH = column("health", "sensitive", "category", values=("bad", "fair", "good"))


def asked(*columns: Column, cuts: tuple[int, ...] = (30, 60), **more: int) -> tuple[Question, ...]:
    return standing_workload(Catalog("t", 1, "", 5, 10, columns), {"age": cuts}, **more)


def test_every_statistic_is_asked_for_everybody_by_each_category_and_by_each_pair() -> None:
    found = asked(AGES, SEXES, RACES, PRESSURE, WEIGHT, SMOKES, ILL, HEALTH)
    kinds = Counter(q.kind for q in found if not q.keys and q.ends == "none")
    assert kinds == {  # each with and without one category fixed
        "count": 2, "prevalence": 2 * 5, "mean": 4, "median": 4, "sd": 4, "correlation": 2, "odds ratio": 2,
    }  # fmt: skip
    assert {q.keys for q in found} == {(), ("sex",), ("race",), ("sex", "race")}
    by_ends = Counter(q.ends for q in found)
    assert by_ends["aligned"] == by_ends["free"] == 4 * by_ends["none"]


def test_it_is_the_same_each_time_and_another_for_another_seed() -> None:
    columns = AGES, SEXES, RACES, PRESSURE
    assert asked(*columns) == asked(*columns)
    assert asked(*columns) != asked(*columns, seed=2)


def test_aligned_ends_are_public_cuts_and_free_ones_are_not() -> None:
    found = asked(AGES, SEXES)
    aligned = {int(text) for q in found if q.ends == "aligned" for text in re.findall(r"age [<>]=? (\d+)", q.sql)}
    assert aligned
    assert aligned <= {30, 60}
    free = {ends for q in found if q.ends == "free" for ends in re.findall(r"BETWEEN (\d+) AND (\d+)", q.sql)}
    for low, high in free:
        assert 0 <= int(low) <= int(high) <= 100
        assert 8 <= int(high) - int(low) <= 50
        assert not {int(low), int(high) + 1} <= {0, 30, 60, 101}


def test_a_fixed_category_is_never_one_of_the_keys() -> None:
    for q in asked(AGES, SEXES, RACES):
        assert not any(f"{key} = " in q.sql for key in q.keys)
        assert q.quasi == {name for name in ("age", "sex", "race") if re.search(rf"\b{name}\b", q.sql)}
    assert any("race = 'a''b'" in q.sql for q in asked(AGES, SEXES, RACES))


def test_the_same_part_is_drawn_each_time_of_what_papers_print_and_of_the_rest() -> None:
    everything = asked(AGES, SEXES, RACES, PRESSURE, WEIGHT, SMOKES, ILL, HEALTH)
    some = drawn(everything, 30, 5)
    assert [q.kind in PAPER for q in some] == [True] * 30 + [False] * 5
    assert len(set(some)) == 35
    assert drawn(everything, 30, 5) == some
    assert set(drawn(everything, 10**6, 10**6)) == set(everything)
    assert drawn((), 5) == []


def test_more_questions_than_wanted_are_drawn_from() -> None:
    everything, some = asked(AGES, SEXES, PRESSURE), asked(AGES, SEXES, PRESSURE, most=20)
    assert len(some) == 20
    assert set(some) < set(everything)


@pytest.mark.parametrize(
    ("columns", "number"),
    [
        ((), 1),  # the count of everybody
        ((SEXES,), 3),  # everybody, with a category fixed, and by it
        ((AGES,), 9),
        ((PRESSURE,), 4),
        ((column("age", "quasi-identifier", "integer", low=7, high=7),), 1),  # a domain of one value
        ((column("age", "quasi-identifier", "integer", low=0, high=1),), 1),  # too small for any ends but its own
        ((column("sex", "quasi-identifier", "category"),), 1),  # nobody has a value
        ((column("zip", "quasi-identifier", "category", values=tuple(f"{i:05}" for i in range(60))),), 1),
        ((column("born", "sensitive", "date", low=0, high=DAY),), 1),
        ((column("codes", "codes", "codes", values=("A",)),), 1),
    ],
)
def test_schemas_with_little_in_them(columns: tuple[Column, ...], number: int) -> None:
    assert len(asked(*columns)) == number


@pytest.mark.parametrize(
    ("kind", "low", "high", "cut"),
    [("date", 0, DAY, 9131), ("timestamp", 0, DAY * 86_400_000_000, 10**15), ("number", -1.5, 2.5, 0.25)],
)
def test_ends_of_dates_and_numbers_are_sql(kind: str, low: float, high: float, cut: float) -> None:
    sql_type = {"date": "DATE", "timestamp": "TIMESTAMP", "number": "DOUBLE"}[kind]
    at = column("at", "quasi-identifier", kind, low=low, high=high)
    catalog = Catalog("t", 1, "", 5, 10, (at, SEXES, PRESSURE, WEIGHT))
    with duckdb.connect() as db:
        db.execute(f'CREATE TABLE t ("at" {sql_type}, sex VARCHAR, sbp INTEGER, kg DOUBLE)')
        for question in standing_workload(catalog, {"at": (cut,)}, most=60):
            db.execute(question.sql)
            db.execute(question.records)


def test_cuts_are_those_of_the_policy_or_round_numbers() -> None:
    columns = {"age": AGE | {"cuts": [18, 65]}, "year": quasi("integer", (1920, 2010)), "sex": SEX}
    columns |= {"share": quasi("number", (0.0, 1.0)), "sbp": sensitive("integer", (40, 300))}
    found = public_cuts(make_policy("t", columns).parsed())
    assert found["age"] == (18, 65)
    assert found["year"] == (1930, 1940, 1950, 1960, 1970, 1980, 1990, 2000)
    assert found["share"] == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert set(found) == {"age", "year", "share"}


def test_free_ends_have_as_many_digits_as_people_write() -> None:
    real = column("age", "quasi-identifier", "number", low=0.0, high=120.0)
    ends = [end for one in asked(real) if one.ends == "free" for end in re.findall(r"[0-9]+\.[0-9]+", one.sql)]
    assert ends
    assert all(len(end.replace(".", "")) <= 7 for end in ends)
