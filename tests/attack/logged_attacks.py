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

from querygate.custody.audit.audit import LogStatement
from tests.engine import scratch

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
        database = scratch()
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


def _count(condition: str) -> str:
    return f"SELECT COUNT(*) FROM patients WHERE {condition}"


def _has_hiv(row: dict[str, Any]) -> Fraction:
    return Fraction(row["dx"] == "hiv")


def secret_or(people: People, random: np.random.Generator) -> Attack:
    """|A or B| - |B| is 1 less what A, of one person, shares with B."""
    person = target_of(people, random)
    where = _where(people.row(person))
    queries = [_count(f"({where}) OR dx = 'hiv'"), _count("dx = 'hiv'")]
    return _alone(queries, lambda a: 1 - Fraction(a[0] - a[1]), person, secret=_has_hiv)


def secret_complement(people: People, random: np.random.Generator) -> Attack:
    """Those who have it among all, and those who do not among all but one: the size of that group is known."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [_count(f"{group} AND dx = 'hiv'"), _count(f"{group} AND age <> {row['age']} AND NOT dx = 'hiv'")]
    rest = [people.row(i) for i in range(people.number) if i != person]
    size = sum(r["sex"] == row["sex"] and r["region"] == row["region"] and r["age"] != row["age"] for r in rest)
    return _alone(queries, lambda a: Fraction(a[0] - (size - a[1])), person, secret=_has_hiv)


def secret_parts(people: People, random: np.random.Generator) -> Attack:
    """A sum of those who have it and one of those who have not are together the sum of all."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [
        _sum(f"{group} AND dx = 'flu'"),
        _sum(f"({group}) AND (dx <> 'flu' OR dx IS NULL)"),
        _sum(f"{group} AND age <> {row['age']}"),
    ]
    return _alone(queries, lambda a: Fraction(a[0] or 0) + (a[1] or 0) - a[2], person)


def secret_table(people: People, random: np.random.Generator) -> Attack:
    """Tables by diagnosis, with the target and without."""
    person = target_of(people, random)
    row = people.row(person)
    where = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [
        f"SELECT dx, COUNT(*) FROM patients WHERE {where} {more} GROUP BY dx ORDER BY dx"
        for more in ("", f"AND age <> {row['age']}")
    ]

    def recover(a: Answers) -> Fraction:
        with_, without = (dict(map(tuple, rows)) for rows in a)
        return Fraction(with_.get("hiv", 0) - without.get("hiv", 0))

    return _alone(queries, recover, person, secret=_has_hiv)


def by_cases(people: People, random: np.random.Generator) -> Attack:
    """Conditions inside the aggregates, as dashboards write them."""
    person = target_of(people, random)
    where = _where(people.row(person))
    queries = [
        "SELECT SUM(CASE WHEN age >= 0 THEN sbp ELSE 0 END) AS all_of_them, COUNT(*) FROM patients",
        f"SELECT SUM(sbp * 1.0) FILTER (WHERE NOT ({where})) AS rest FROM patients",
    ]
    return _alone(queries, lambda a: Fraction(a[0][0]) - Fraction(a[1]), person)


def told_at_once(people: People, random: np.random.Generator) -> Attack:
    """The difference of two sums in one item of the select list, and a share of a total."""
    person = target_of(people, random)
    where = _where(people.row(person))
    queries = [f"SELECT SUM(sbp) - SUM(CASE WHEN {where} THEN 0 ELSE sbp END) FROM patients"]
    return _alone(queries, lambda a: Fraction(a[0]), person)


def quotients(people: People, random: np.random.Generator) -> Attack:
    """Means written as quotients, sums as products."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [
        f"SELECT SUM(sbp) / COUNT(*) FROM patients WHERE {group}",
        f"SELECT AVG(sbp) * COUNT(*) FROM patients WHERE {group} AND age <> {row['age']}",
    ]
    size = sum(r["sex"] == row["sex"] and r["region"] == row["region"] for r in map(people.row, range(people.number)))
    return _alone(queries, lambda a: Fraction(round(a[0] * size) - round(a[1])), person)


def missing_cell(people: People, random: np.random.Generator) -> Attack:
    """A table by region that leaves small cells out, and its total."""
    person = target_of(people, random)
    row = people.row(person)
    base = f"sex = '{row['sex']}' AND (age BETWEEN {row['age'] - 9} AND {row['age']} AND region <> '{row['region']}' "
    base += f"OR age = {row['age']})"
    table = f"SELECT region, SUM(sbp) FROM patients WHERE {base} GROUP BY region HAVING COUNT(*) > 1"

    def recover(a: Answers) -> Fraction:
        rows = a[0] if a[0] and isinstance(a[0][0], list) else [a[0]]
        return Fraction(a[1]) - sum(Fraction(value) for _, value in rows)

    return _alone([table, _sum(base)], recover, person) if _large(people, row) else differencing(people, random)


def _large(people: People, row: dict[str, Any]) -> bool:
    """Has the table every other region, with more than one person in each?"""
    near = [
        r["region"]
        for r in map(people.row, range(people.number))
        if r["sex"] == row["sex"] and row["age"] - 9 <= r["age"] <= row["age"] and r["region"] != row["region"]
    ]
    return all(near.count(region) > 1 for region in {"N", "E", "S", "W"} - {row["region"]})


def spreads(people: People, random: np.random.Generator) -> Attack:
    """Means and variances with and without somebody: a total of squares, and with it the square of one value."""
    person = target_of(people, random)
    row = people.row(person)
    group = f"sex = '{row['sex']}' AND region = '{row['region']}'"
    queries = [
        f"SELECT VAR_POP(sbp), AVG(sbp), COUNT(*) FROM patients WHERE {group} {more}"
        for more in ("", f"AND age <> {row['age']}")
    ]

    def recover(a: Answers) -> Fraction:
        squares = [n * (var + mean**2) for var, mean, n in a]
        return Fraction(round(squares[0] - squares[1]))

    return _alone(queries, recover, person, secret=lambda r: Fraction(r["sbp"] ** 2))


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
        secret_or,
        secret_complement,
        secret_parts,
        secret_table,
        by_cases,
        told_at_once,
        quotients,
        missing_cell,
        spreads,
        modular,
        two_colluders,
        three_colluders,
    )
}


def largest(people: People, random: np.random.Generator) -> Attack:
    """The maximum of a group, and of all of it but the one who has it."""
    groups = [(sex, region) for sex in "FM" for region in "NESW"]
    for sex, region in (groups[i] for i in random.permutation(len(groups))):
        rows = [(i, people.row(i)) for i in range(people.number)]
        members = [(r["sbp"], i) for i, r in rows if (r["sex"], r["region"]) == (sex, region)]
        top, person = max(members)
        age = people.row(person)["age"]
        ages = [r["age"] for _, r in rows if (r["sex"], r["region"]) == (sex, region)]
        if [value for value, _ in members].count(top) == 1 and ages.count(age) == 1:
            break
    group = f"sex = '{sex}' AND region = '{region}'"
    queries = [f"SELECT MAX(sbp) FROM patients WHERE {group}{more}" for more in ("", f" AND age <> {age}")]
    return _alone(queries, lambda a: Fraction(a[0]) if a[0] > a[1] else Fraction(0), person)


def division(people: People, random: np.random.Generator) -> list[tuple[str, str]]:
    """A statement that fails if one person has one value; whether it did is the answer."""
    row = people.row(target_of(people, random))
    return [("eve", f"SELECT COUNT(*) FROM patients WHERE {_where(row)} AND 1 // (sbp - {row['sbp']}) > -1")]


def run_log(people: People, attack: Attack) -> list[LogStatement]:
    """The log that an exact database would have kept."""
    database = people.database()
    entries = []
    for i, (user, sql) in enumerate(attack.queries):
        rows = [list(row) for row in database.execute(sql).fetchall()]
        answer: Any = rows
        if len(rows) == 1:
            answer = rows[0][0] if len(rows[0]) == 1 else rows[0]
        entries.append(LogStatement(f"q{i + 1}", user, sql, answer=answer))
    return entries
