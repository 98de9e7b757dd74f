"""Equal meaning, equal hash: a thousand rewordings of fifty questions, and near misses of each.

That a rewording is one is not taken on trust: DuckDB answers it on the raw rows as it answers the question.
"""

from __future__ import annotations

import atexit
import functools
import math
import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import duckdb
import pytest

from querygate.sql import understand
from tests.engine import scratch
from tests.property.questions import QUESTIONS
from tests.property.rewordings import Question, missed, reword
from tests.seeds import cases
from tests.sql.study import CATALOG, CREATE, NATIVE, POOLS, raw

REWORDINGS, MISSES = cases(150), 10
NUMBERED = pytest.mark.parametrize("number", range(len(QUESTIONS)))


def plain(question: Question) -> tuple[str, tuple[int, ...]]:
    """The question in its first words."""
    return reword(question, random.Random(1), 0.0)


def digest(sql: str) -> str:
    return understand(sql, CATALOG, NATIVE).hash


@functools.cache
def many() -> duckdb.DuckDBPyConnection:
    """A study of the same columns with so many records that different questions have different answers."""
    connection = scratch()
    connection.execute(CREATE)
    rng = random.Random(7)
    pools: dict[str, Any] = {**POOLS, "age": range(121), "sbp": [None, *range(40, 301)]}
    rows = [[rng.choice(pool) for pool in pools.values()] for _ in range(2_000)]
    connection.executemany(f"INSERT INTO patients VALUES ({', '.join('?' * len(pools))})", rows)
    return connection


atexit.register(many.cache_clear)


def answer(sql: str, order: Sequence[int], study: duckdb.DuckDBPyConnection | None = None) -> list[tuple[Any, ...]]:
    """DuckDB's rows, columns in the order of the question's keys and items."""
    places = [order.index(i) for i in range(len(order))]
    rows = [tuple(row[place] for place in places) for row in (study or raw()).execute(sql).fetchall()]
    return sorted(rows, key=lambda row: [str(value) for value in row])


def is_same(one: Any, other: Any) -> bool:
    """Numbers up to the rounding of another order of addition."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


def agree(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return len(one) == len(other) and all(
        is_same(x, y) for row, same in zip(one, other, strict=True) for x, y in zip(row, same, strict=True)
    )


@NUMBERED
def test_rewordings_have_one_hash(number: int) -> None:
    question, rng = QUESTIONS[number], random.Random(number)
    first = plain(question)
    truth, hash_ = answer(*first), digest(first[0])
    worded = [reword(question, rng, rng.choice([0.2, 0.4, 0.6])) for _ in range(REWORDINGS)]

    assert len({sql for sql, _ in worded}) > REWORDINGS // 2
    assert not [sql for sql, order in worded if not agree(answer(sql, order), truth)]
    assert not [sql for sql, _ in worded if digest(sql) != hash_]


@NUMBERED
def test_near_misses_have_another_hash(number: int) -> None:
    question, rng = QUESTIONS[number], random.Random(number)
    misses = list(missed(question))
    hash_ = digest(plain(question)[0])
    worded = [reword(miss, rng, 0.3)[0] for miss in rng.sample(misses, min(MISSES, len(misses)))]

    assert not [sql for sql in worded if digest(sql) == hash_]


def test_questions_are_different_and_have_different_hashes() -> None:
    answers = [answer(*plain(question), many()) for question in QUESTIONS]
    hashes = {digest(plain(question)[0]) for question in QUESTIONS}

    assert len(QUESTIONS) == 50
    assert not [(i, j) for i, j in combinations(range(len(answers)), 2) if answers[i] == answers[j]]
    assert len(hashes) == 50


def test_misses_are_many() -> None:
    """Every kind of slip occurs, in words that are far from the first ones."""
    assert sum(min(MISSES, len(list(missed(question)))) for question in QUESTIONS) > 200


BY_CITY = "FROM patients GROUP BY city)"
TWO = f"(SELECT COUNT(*) n, SUM(age) m {BY_CITY}"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (f"AVG(n) FROM {TWO}", f"AVG(m) FROM (SELECT SUM(age) m, COUNT(*) n {BY_CITY}", False),
        (f"AVG(n) FROM {TWO}", f"AVG(k) FROM (SELECT city, COUNT(1) k {BY_CITY}", True),
        ("SUM(1) FILTER (WHERE smoker) / COUNT(*) FROM patients", "COUNT_IF(smoker) / COUNT(*) FROM patients", False),
        ("SUM(age) / COUNT(*) FROM patients", "SUM(age) / COUNT(age) FROM patients", True),
        ("SUM(sbp) / COUNT(*) FROM patients", "SUM(sbp) / COUNT(sbp) FROM patients", False),
        ("SUM(CASE WHEN smoker THEN age END) FROM patients", "SUM(IF(smoker, age, 0)) FROM patients", False),
        ("AVG(CASE sex WHEN 'F' THEN sbp END) FROM patients", "AVG(sbp) FILTER (WHERE sex = 'F') FROM patients", True),
        ("MEAN_DIFF(sbp, smoker) FROM patients", "MEAN_DIFF(sbp, NOT smoker) FROM patients", False),
        ("MEAN_DIFF(sbp, age > 40) FROM patients", "MEAN_DIFF(sbp, NOT age < 41) FROM patients", True),
        ("COUNT(*) FROM patients WHERE weight = weight", "COUNT(weight) FROM patients", False),
        ("COUNT(*) FROM patients WHERE weight = weight", "COUNT(*) FROM patients WHERE weight IS NOT NULL", True),
        ("COUNT(*) FROM patients WHERE sbp > age OR sbp = age", "COUNT(*) FROM patients WHERE NOT age > sbp", True),
    ],
)  # fmt: skip
def test_pairs(one: str, other: str, same: bool) -> None:
    assert (digest(f"SELECT {one}") == digest(f"SELECT {other}")) is same
