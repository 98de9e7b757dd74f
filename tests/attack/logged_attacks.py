"""Attacks on a database that answers aggregates exactly: queries, and the arithmetic that turns answers into a secret.

Each attack is run on a plain database, and its own arithmetic, in fractions, must give the secret of its target: that
proves that it discloses. Then an auditor is shown the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from querygate.gateway.auditing import Entry

K = 5
Answers = Sequence[Any]


@dataclass(frozen=True)
class People:
    """A study: what is known of people, and their secrets."""

    columns: dict[str, list[Any]]

    @property
    def number(self) -> int:
        return len(self.columns["id"])

    def database(self) -> duckdb.DuckDBPyConnection:
        database = duckdb.connect()
        database.register("given", pa.table(self.columns))
        database.execute("CREATE TABLE patients AS SELECT * FROM given")
        return database

    def row(self, person: int) -> dict[str, Any]:
        return {name: values[person] for name, values in self.columns.items()}


@dataclass(frozen=True)
class Attack:
    """Queries by their users, the arithmetic, and who is singled out."""

    queries: tuple[tuple[str, str], ...]  # (user, SQL)
    recover: Callable[[Answers], Fraction]
    secret: Callable[[dict[str, Any]], Fraction]
    person: int
    users: frozenset[str]
    secrets: tuple[str, ...] = ("sbp", "dx")


def make_people(seed: int, number: int = 300) -> People:
    random = np.random.default_rng(seed)
    return People(
        {
            "id": list(range(1, number + 1)),
            "age": random.integers(20, 80, number).tolist(),
            "sex": random.choice(["F", "M"], number).tolist(),
            "region": random.choice(["N", "E", "S", "W"], number).tolist(),
            "sbp": random.integers(95, 190, number).tolist(),
            "dx": random.choice(["flu", "hiv", "asthma"], number, p=[0.6, 0.1, 0.3]).tolist(),
        }
    )


def target_of(people: People, random: np.random.Generator) -> int:
    """Somebody who is alone in age, sex and region, not at either end of the ages."""
    keys = list(zip(*(people.columns[name] for name in ("age", "sex", "region")), strict=True))
    alone = [i for i, key in enumerate(keys) if keys.count(key) == 1 and 30 <= key[0] <= 70]
    return int(random.choice(alone))


def _where(row: dict[str, Any]) -> str:
    return f"age = {row['age']} AND sex = '{row['sex']}' AND region = '{row['region']}'"


def _sbp(row: dict[str, Any]) -> Fraction:
    return Fraction(row["sbp"])


def _sum(condition: str) -> str:
    return f"SELECT SUM(sbp) FROM patients WHERE {condition}"


def _alone(queries: Sequence[str], recover: Callable[[Answers], Fraction], person: int, **more: Any) -> Attack:
    return Attack(
        tuple(("eve", sql) for sql in queries), recover, more.pop("secret", _sbp), person, frozenset({"eve"}), **more
    )


def differencing(people: People, random: np.random.Generator) -> Attack:
    """Two ranges of age, one of which has one person more."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    wide = f"{group} AND age BETWEEN 20 AND {row['age']}"
    narrow = f"{group} AND age BETWEEN 20 AND {row['age'] - 1}"
    return _alone([_sum(wide), _sum(narrow)], lambda a: Fraction(a[0]) - Fraction(a[1]), person)


def exclusion(people: People, random: np.random.Generator) -> Attack:
    """Everybody, and everybody but one."""
    person = target_of(people, random)
    without = f"NOT ({_where(people.row(person))})"
    return _alone([_sum("TRUE"), _sum(without)], lambda a: Fraction(a[0]) - Fraction(a[1]), person)


def individual_tracker(people: People, random: np.random.Generator) -> Attack:
    """C and D by C, and C without D (Schloerer 1975)."""
    person = target_of(people, random)
    row = people.row(person)
    c, d = f"sex = '{row['sex']}'", f"(age = {row['age']} AND region = '{row['region']}')"
    return _alone([_sum(c), _sum(f"{c} AND NOT {d}")], lambda a: Fraction(a[0]) - Fraction(a[1]), person)


def general_tracker(people: People, random: np.random.Generator) -> Attack:
    """q(C) = q(C or T) + q(C or not T) - q(T) - q(not T) (Denning, Denning, Schwartz 1979)."""
    person = target_of(people, random)
    c, t = f"({_where(people.row(person))})", "(region IN ('N', 'E'))"
    queries = [_sum(f"{c} OR {t}"), _sum(f"{c} OR NOT {t}"), _sum(t), _sum(f"NOT {t}")]
    return _alone(queries, lambda a: Fraction(a[0]) + a[1] - a[2] - a[3], person)


def double_tracker(people: People, random: np.random.Generator) -> Attack:
    """q(C) = q(U) + q(C or T) - q(T) - q(not (C and T) and U), with T inside U."""
    person = target_of(people, random)
    row = people.row(person)
    inside = "age >= 30" if row["age"] >= 30 else "age < 60"
    c, t, u = f"({_where(row)})", f"(sex = '{row['sex']}' AND {inside})", f"({inside})"
    queries = [_sum(u), _sum(f"{c} OR {t}"), _sum(t), _sum(f"NOT ({c} AND {t}) AND {u}")]
    return _alone(queries, lambda a: Fraction(a[0]) + a[1] - a[2] - a[3], person)


def sliding(people: People, random: np.random.Generator) -> Attack:
    """A window of ages that slides by one year: each step in and out, until the target drops out alone."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    steps = [f"{group} AND age >= {age}" for age in range(20, row["age"] + 2)]
    return _alone([_sum(step) for step in steps], lambda a: Fraction(a[-2]) - Fraction(a[-1]), person)


def reworded(people: People, random: np.random.Generator) -> Attack:
    """Differencing in words that no two texts share."""
    person = target_of(people, random)
    row = people.row(person)
    age, sex, region = row["age"], row["sex"], row["region"]
    wide = f"NOT (age * 2 > {2 * age} OR sex <> '{sex}' OR NOT region IN ('{region}'))"
    narrow = f"region || '' = '{region}' AND sex = '{sex}' AND age BETWEEN 0 AND {age - 1}"
    return _alone([_sum(wide), _sum(narrow)], lambda a: Fraction(a[0]) - Fraction(a[1]), person)


def means_and_counts(people: People, random: np.random.Generator) -> Attack:
    """Means of two groups and their sizes, in one statement each."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [
        f"SELECT COUNT(*) AS n, AVG(sbp) AS mean FROM patients WHERE {group} AND age {sign} {row['age']}"
        for sign in ("<=", "<")
    ]

    def recover(a: Answers) -> Fraction:
        return Fraction(round(a[0][0] * a[0][1]) - round(a[1][0] * a[1][1]))

    return _alone(queries, recover, person)


def grouped(people: People, random: np.random.Generator) -> Attack:
    """A table by region with the target, and one without."""
    person = target_of(people, random)
    row = people.row(person)
    queries = [
        f"SELECT region, SUM(sbp) FROM patients WHERE sex = '{row['sex']}' AND age {sign} {row['age']} GROUP BY region"
        for sign in ("<=", "<")
    ]

    def recover(a: Answers) -> Fraction:
        with_, without = (dict(map(tuple, rows)) for rows in a)
        return Fraction(with_[row["region"]]) - Fraction(without[row["region"]])

    return _alone(queries, recover, person) if _others(people, person) else sliding(people, random)


def _others(people: People, person: int) -> bool:
    """Are there younger people of the target's sex and region?"""
    row = people.row(person)
    rows = [people.row(i) for i in range(people.number)]
    return any(r["sex"] == row["sex"] and r["region"] == row["region"] and r["age"] < row["age"] for r in rows)


def suppressed_cell(people: People, random: np.random.Generator) -> Attack:
    """A small cell is not shown, but the total and all the other cells are."""
    person = target_of(people, random)
    row = people.row(person)
    base = f"age = {row['age']} AND sex = '{row['sex']}'"
    broad = f"({base}) OR region = '{row['region']}'"
    cells = [f"({broad}) AND NOT ({_where(row)})"]
    return _alone([_sum(broad), *map(_sum, cells)], lambda a: Fraction(a[0]) - sum(map(Fraction, a[1:])), person)


def linear_system(people: People, random: np.random.Generator) -> Attack:
    """Sums over random unions of groups, none small and no two close, whose sum of products leaves one person."""
    person = target_of(people, random)
    row = people.row(person)
    target = f"({_where(row)})"
    band = [f"(region = '{r}' AND NOT {target})" for r in ("N", "E", "S", "W")]
    subsets = [(0, 1), (1, 2), (2, 3), (3, 0, 1), (0, 2)]
    queries = [_sum(" OR ".join([target, *(band[i] for i in subset)])) for subset in subsets]
    # t + b0 + b1, t + b1 + b2, t + b2 + b3, t + b3 + b0 + b1, t + b0 + b2: solve for t
    matrix = [[Fraction(1), *(Fraction(int(i in subset)) for i in range(4))] for subset in subsets]

    def recover(a: Answers) -> Fraction:
        return _solve(matrix, [Fraction(value) for value in a])[0]

    return _alone(queries, recover, person)


def _solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(r for r in range(i, len(rows)) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [line[-1] for line in rows]


def secret_count(people: People, random: np.random.Generator) -> Attack:
    """Counts of a secret diagnosis in two groups that differ by one person."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [
        f"SELECT COUNT(*) FROM patients WHERE {group} AND age {sign} {row['age']} AND {diagnosis}"
        for sign, diagnosis in (("<=", "dx = 'hiv'"), ("<", "NOT (dx <> 'hiv')"))
    ]
    return _alone(queries, lambda a: Fraction(a[0] - a[1]), person, secret=lambda r: Fraction(r["dx"] == "hiv"))


def modular(people: People, random: np.random.Generator) -> Attack:
    """Subsets of the key by remainders: everybody with one remainder, and all of them but one by their number."""
    person = target_of(people, random)
    number = people.row(person)["id"]
    queries = [_sum(f"id % 7 = {number % 7}"), _sum(f"id % 7 = {number % 7} AND id <> {number}")]
    return _alone(queries, lambda a: Fraction(a[0]) - Fraction(a[1]), person)


def _colluding(attack: Attack, users: Sequence[str]) -> Attack:
    """The same queries, spread over several people so that none of them has all."""
    given = tuple((users[i % len(users)], sql) for i, (_, sql) in enumerate(attack.queries))
    return Attack(given, attack.recover, attack.secret, attack.person, frozenset(user for user, _ in given))


def two_colluders(people: People, random: np.random.Generator) -> Attack:
    return _colluding(differencing(people, random), ["eve", "mallory"])


def three_colluders(people: People, random: np.random.Generator) -> Attack:
    return _colluding(general_tracker(people, random), ["eve", "mallory", "trent"])


LINEAR: dict[str, Callable[[People, np.random.Generator], Attack]] = {
    make.__name__: make
    for make in (
        differencing,
        exclusion,
        individual_tracker,
        general_tracker,
        double_tracker,
        sliding,
        reworded,
        means_and_counts,
        grouped,
        suppressed_cell,
        linear_system,
        secret_count,
        modular,
        two_colluders,
        three_colluders,
    )
}


def run_log(people: People, attack: Attack) -> list[Entry]:
    """The log that an exact database would have kept."""
    database = people.database()
    entries = []
    for i, (user, sql) in enumerate(attack.queries):
        rows = [list(row) for row in database.execute(sql).fetchall()]
        answer: Any = rows
        if len(rows) == 1:
            answer = rows[0][0] if len(rows[0]) == 1 else rows[0]
        entries.append(Entry(f"q{i + 1}", user, sql, answer=answer))
    return entries
