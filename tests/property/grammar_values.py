"""Random values and conditions over columns, by type: the part of the grammar below aggregates.

A piece of SQL is written from the types of its parts, so that DuckDB accepts nearly all of it. Functions that the gate
knows only of one column with few values are mostly written so; the rest takes any columns, which is where interval
arithmetic and refusals are met.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.property.grammar_functions import (
    CONDITIONS_OF_INTEGER,
    CONDITIONS_OF_TEXT,
    INTEGERS_OF_DATE,
    INTEGERS_OF_INTEGER,
    NUMBERS_OF_INTEGER,
    NUMBERS_OF_TEXT,
    TEXTS_OF_INTEGER,
    TEXTS_OF_TEXT,
)

TEXTS = ("", "a", "B", "b c", "d'e", "é", "f%", "zz", "q")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Field:
    """A column as a query calls it: its type, some of its values, and how many its public domain may have."""

    name: str
    kind: str
    pool: tuple[Any, ...] = ()
    size: float = float("inf")


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def written(value: Any) -> str:
    """A value as a literal."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.date):
        return f"DATE '{value}'"
    if isinstance(value, float):
        return repr(value) if "e" not in repr(value) and len(repr(value)) < 12 else f"{value:.16e}"
    return quoted(value) if isinstance(value, str) else str(value)


class Values:
    """Writes expressions and conditions over the fields of a scope."""

    def __init__(self, rng: random.Random, fields: list[Field]) -> None:
        self.rng = rng
        self.fields = fields

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def one_of(self, *ways: Callable[[], str]) -> str:
        return self.rng.choice(ways)()

    def of_kind(self, *kinds: str) -> list[Field]:
        return [field for field in self.fields if field.kind in kinds]

    def few(self, kind: str) -> list[Field]:
        """Columns with so few values that the gate asks the database about each."""
        return [field for field in self.of_kind(kind) if field.size < 60_000]

    def about(self, field: Field) -> Values:
        """The same over one column alone: there the gate knows every function."""
        return Values(self.rng, [field])

    def near(self, field: Field) -> str:
        """A literal next to values of the column."""
        pool = field.pool or {"category": TEXTS, "date": (dt.date(2000, 2, 29),), "boolean": (True, False)}.get(
            field.kind, (0, 1, 3)
        )
        value = self.rng.choice(pool)
        if field.kind in ("integer", "number") and self.chance(0.4):
            value += self.rng.choice([-1, 1])
        if field.kind == "integer" and abs(value) < 10**6 and self.chance(0.1):
            return f"{value}.5"
        return written(value)

    # -- numbers -----------------------------------------------------------------------------------------------------

    def number(self, depth: int) -> str:
        """An integer, decimal or double."""
        names = self.of_kind("integer", "number")
        if depth <= 0 or not names:
            return self.rng.choice(names).name if names and self.chance(0.85) else self.small()
        if self.chance(0.3):
            return self.integer(depth)
        if self.few("integer") and self.chance(0.06):
            return self.filled(NUMBERS_OF_INTEGER, self.about(self.rng.choice(self.few("integer"))).integer(0))
        inner = lambda: self.number(depth - 1)  # noqa: E731
        return self.one_of(
            lambda: f"({inner()} {self.rng.choice('+-*')} {inner()})",
            lambda: f"({inner()} {self.rng.choice('+-*')} {self.small()})",
            lambda: f"({inner()} / {self.rng.choice(['2', '3.0', '10', '1e3', '-4'])})",
            lambda: f"({inner()} / NULLIF({inner()}, 0))",
            lambda: f"({inner()} / {inner()})",
            lambda: f"{self.rng.choice(['ABS', 'FLOOR', 'CEIL', 'CEILING', 'TRUNC', 'SIGN', 'ROUND', '-'])}({inner()})",
            lambda: f"ROUND({inner()}, {self.rng.choice([0, 1, 2])})",
            lambda: f"{self.rng.choice(['LN', 'LOG', 'LOG10', 'LOG2', 'SQRT'])}(ABS({inner()}) + 1)",
            lambda: f"{self.rng.choice(['SQRT', 'LN', 'CBRT', 'EXP'])}({inner()})",
            lambda: f"EXP({inner()} / 1e7)",
            lambda: f"POWER({inner()}, {self.rng.choice(['2', '3', '0', '0.5', '-1', '1'])})",
            lambda: f"CAST({inner()} AS {self.rng.choice(['DOUBLE', 'DECIMAL(18, 2)', 'FLOAT', 'NUMERIC'])})",
            lambda: f"{self.rng.choice(['LEAST', 'GREATEST'])}({inner()}, {inner()})",
            *self.choices(inner, depth),
        )

    def small(self) -> str:
        return self.rng.choice(["0", "1", "2", "3", "7", "10", "0.5", "1.5", "-1", "1e2", "0.1", "PI()"])

    def choices(self, inner: Callable[[], str], depth: int) -> list[Callable[[], str]]:
        """CASE, IF, COALESCE and NULLIF of values of any one type."""
        when = lambda: self.condition(depth - 1)  # noqa: E731
        return [
            lambda: f"CASE WHEN {when()} THEN {inner()} ELSE {inner()} END",
            lambda: f"CASE WHEN {when()} THEN {inner()} WHEN {when()} THEN {inner()} END",
            lambda: f"IF({when()}, {inner()}, {inner()})",
            lambda: f"COALESCE({inner()}, {inner()})",
            lambda: f"NULLIF({inner()}, {inner()})",
        ]

    def integer(self, depth: int) -> str:
        """A whole number."""
        names = self.of_kind("integer")
        if depth <= 0:
            return self.rng.choice(names).name if names and self.chance(0.85) else self.rng.choice("01237")
        inner = lambda: self.integer(depth - 1)  # noqa: E731
        ways = [
            lambda: f"({inner()} {self.rng.choice('+-*')} {inner()})",
            lambda: f"ABS({inner()})",
            lambda: f"CAST(({self.condition(depth - 1)}) AS INTEGER)",
            lambda: f"CAST({self.number(depth - 1)} AS {self.rng.choice(['BIGINT', 'INTEGER'])})",
            lambda: f"{self.rng.choice(['LEAST', 'GREATEST'])}({inner()}, {inner()}, {inner()})",
            *self.choices(inner, depth),
        ]
        few = self.few("integer")
        if few:
            x = self.about(self.rng.choice(few))
            divisor = self.rng.choice([2, 3, 7, 10])
            ways += [
                lambda: f"({x.integer(1)} % {divisor})",
                lambda: f"({x.integer(1)} // {divisor})",
                lambda: f"{self.rng.choice(['GCD', 'LCM'])}({x.integer(0)}, {divisor})",
                lambda: f"CASE {x.integer(0)} WHEN {x.near(x.fields[0])} THEN 1 WHEN {divisor} THEN 2 ELSE 0 END",
                lambda: f"CAST(EVEN({x.integer(0)} / {divisor}) AS BIGINT)",
                lambda: f"TRY_CAST({x.integer(0)} AS TINYINT)",
                lambda: self.filled(INTEGERS_OF_INTEGER, x.integer(0)),
                lambda: f"LENGTH({self.filled(TEXTS_OF_INTEGER, x.integer(0))})",
            ]
        if self.of_kind("date"):
            ways += [lambda: self.of_date(depth - 1), lambda: self.date_difference(depth - 1)]
        if self.of_kind("category"):
            ways += [lambda: self.length_of(depth - 1)]
        if self.of_kind("boolean"):
            ways += [lambda: f"CAST({self.rng.choice(self.of_kind('boolean')).name} AS INTEGER)"]
        return self.one_of(*ways)

    def length_of(self, depth: int) -> str:
        text = self.text(depth)
        return self.one_of(
            lambda: f"LENGTH({text})",
            lambda: f"STRPOS({text}, {quoted(self.rng.choice(TEXTS))})",
            lambda: f"CAST(10 * {self.filled(NUMBERS_OF_TEXT, text)} AS BIGINT)",
        )

    def filled(self, texts: Sequence[str], x: str) -> str:
        """One of the texts, with x in its place."""
        return self.rng.choice(texts).format(x=x)

    def of_date(self, depth: int) -> str:
        x = self.about(self.rng.choice(self.few("date") or self.of_kind("date")))
        day = x.date(depth)
        part = self.rng.choice(["year", "month", "day", "quarter", "week", "dow", "doy", "isodow", "decade"])
        function = self.rng.choice(["YEAR", "MONTH", "DAY", "QUARTER", "WEEK", "DAYOFWEEK", "DAYOFYEAR", "ISODOW"])
        return self.one_of(
            lambda: f"EXTRACT({part} FROM {day})",
            lambda: f"DATE_PART('{part}', {day})",
            lambda: f"{function}({day})",
            lambda: self.filled(INTEGERS_OF_DATE, day),
        )

    def date_difference(self, depth: int) -> str:
        unit = self.rng.choice(["day", "week", "month", "quarter", "year"])
        one, other = self.date(depth), self.date(depth)
        return self.one_of(
            lambda: f"DATE_DIFF('{unit}', {one}, {other})",
            lambda: f"DATEDIFF('{unit}', {self.date(0)}, {written(dt.date(2001, 3, 1))})",
            lambda: f"({one} - {other})",
            lambda: f"DATE_SUB('{unit}', {one}, {written(dt.date(2001, 3, 1))})",
        )

    # -- days and texts ----------------------------------------------------------------------------------------------

    def date(self, depth: int) -> str:
        names = self.of_kind("date")
        if depth <= 0 or not names:
            return self.rng.choice(names).name if names and self.chance(0.85) else "DATE '2004-02-29'"
        inner = lambda: self.date(depth - 1)  # noqa: E731
        return self.one_of(
            lambda: f"({inner()} {self.rng.choice('+-')} {self.rng.randint(0, 400)})",
            lambda: f"LAST_DAY({self.rng.choice(names).name})",
            lambda: f"MAKE_DATE(YEAR({(name := self.rng.choice(names).name)}), MONTH({name}), 1)",
            lambda: f"CAST(DATE_TRUNC('month', {self.rng.choice(names).name}) AS DATE)",
            lambda: f"CAST({inner()} + INTERVAL {self.rng.randint(1, 40)} {self.rng.choice(['DAY', 'MONTH'])} AS DATE)",
            lambda: f"CAST(DATE_ADD({inner()}, INTERVAL 2 MONTH) AS DATE)",
            lambda: f"{self.rng.choice(['LEAST', 'GREATEST'])}({inner()}, {inner()})",
            *self.choices(inner, depth),
        )

    def text(self, depth: int) -> str:
        names = self.of_kind("category")
        if not names:
            return self.rng.choice(["'a'", "'B'"])
        name = self.rng.choice(names).name
        return self.text_of(name, depth)

    def text_of(self, name: str, depth: int) -> str:
        """A text made of one column."""
        if depth <= 0:
            return name
        inner = self.text_of(name, depth - 1)
        n, word = self.rng.randint(1, 3), quoted(self.rng.choice(TEXTS))
        return self.one_of(
            lambda: f"{self.rng.choice(['UPPER', 'LOWER', 'TRIM', 'LTRIM', 'REVERSE'])}({inner})",
            lambda: f"{self.rng.choice(['LEFT', 'RIGHT'])}({inner}, {n})",
            lambda: f"SUBSTRING({inner}, {n}, 2)",
            lambda: f"({inner} || {word})",
            lambda: f"CONCAT({inner}, {word})",
            lambda: f"CONCAT_WS('-', {inner}, {name})",
            lambda: f"REPLACE({inner}, 'b', {word})",
            lambda: f"SPLIT_PART({inner}, ' ', 1)",
            lambda: self.filled(TEXTS_OF_TEXT, inner),
            lambda: f"REGEXP_EXTRACT({inner}, '[a-z]+')",
            lambda: f"REGEXP_REPLACE({inner}, '[a-z]', 'x')",
            lambda: f"COALESCE({inner}, {word})",
            lambda: f"CASE WHEN {name} < {word} THEN {inner} ELSE {word} END",
        )

    def text_of_day(self) -> str:
        name = self.rng.choice(self.of_kind("date")).name
        return self.one_of(
            lambda: f"STRFTIME({name}, '%Y-%m')",
            lambda: f"{self.rng.choice(['MONTHNAME', 'DAYNAME'])}({name})",
        )

    # -- conditions --------------------------------------------------------------------------------------------------

    def condition(self, depth: int) -> str:
        """TRUE, FALSE or NULL."""
        if depth <= 0 or self.chance(0.35):
            return self.plain_condition()
        parts = [self.condition(depth - 1) for _ in range(self.rng.randint(2, 3))]
        return self.one_of(
            lambda: f"({' AND '.join(parts)})",
            lambda: f"({' OR '.join(parts)})",
            lambda: f"NOT ({self.rng.choice([' AND ', ' OR ']).join(parts)})",
            lambda: f"({parts[0]}) IS {self.rng.choice(['', 'NOT '])}{self.rng.choice(['TRUE', 'FALSE'])}",
            lambda: f"CASE WHEN {parts[0]} THEN {parts[1]} ELSE {parts[-1]} END",
            lambda: self.compared(depth),
            lambda: self.compared(depth),
        )

    def plain_condition(self) -> str:
        """Something said of one column."""
        field = self.rng.choice(self.fields)
        name, near = field.name, lambda: self.near(field)
        maybe = lambda word: self.rng.choice(["", word])  # noqa: E731
        ways = [
            lambda: f"{name} {self.rng.choice(COMPARISONS)} {near()}",
            lambda: f"{near()} {self.rng.choice(COMPARISONS)} {name}",
            lambda: f"{name} {maybe('NOT ')}BETWEEN {near()} AND {near()}",
            lambda: f"{name} {maybe('NOT ')}IN ({near()}, {near()}, {self.rng.choice([near(), near(), 'NULL'])})",
            lambda: f"{name} IS {maybe('NOT ')}NULL",
            lambda: f"{name} IS {maybe('NOT ')}DISTINCT FROM {self.rng.choice([near(), 'NULL'])}",
        ]
        if field.kind == "boolean":
            ways += [lambda: name, lambda: f"NOT {name}", lambda: f"{name} IS {maybe('NOT ')}TRUE"]
        if field.kind == "category":
            ways += [lambda: self.about_text(name, maybe)] * 4
        if field in self.few("integer"):
            ways += [lambda: self.filled(CONDITIONS_OF_INTEGER, name)]
        return self.one_of(*ways)

    def about_text(self, name: str, maybe: Callable[[str], str]) -> str:
        pattern = quoted(self.rng.choice(["%a%", "b%", "_", "%", "d'e", "f!%%", "Z", "é"]))
        text = self.text_of(name, self.rng.randint(0, 1))
        like = self.rng.choice(["LIKE", "ILIKE"])
        return self.one_of(
            lambda: f"{text} {maybe('NOT ')}{like} {pattern}",
            lambda: f"{text} {maybe('NOT ')}LIKE {pattern} ESCAPE '!'",
            lambda: f"{text} GLOB '{self.rng.choice(['*a*', '[a-f]*', '?'])}'",
            lambda: f"{text} SIMILAR TO '{self.rng.choice(['[a-z]+', 'a|B', '.*'])}'",
            lambda: f"{self.rng.choice(['REGEXP_MATCHES', 'REGEXP_FULL_MATCH'])}({text}, '[a-f]')",
            lambda: f"{self.rng.choice(['STARTS_WITH', 'ENDS_WITH', 'CONTAINS'])}({text}, 'b')",
            lambda: f"{text} {self.rng.choice(COMPARISONS)} {quoted(self.rng.choice(TEXTS))}",
            lambda: self.filled(CONDITIONS_OF_TEXT, text),
        )

    def compared(self, depth: int) -> str:
        """Two expressions against each other."""
        kinds = {"number": ("integer", "number"), "date": ("date",), "category": ("category",)}
        kind = self.rng.choice([kind for kind, held in kinds.items() if self.of_kind(*held)] or ["number"])
        if kind == "category":
            sign = self.rng.choice(["=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
            return f"{self.text(depth - 1)} {sign} {self.text(0)}"
        write = self.number if kind == "number" else self.date
        left, right = write(depth - 1), write(self.rng.randint(0, 1))
        sign = self.rng.choice([*COMPARISONS, *COMPARISONS, "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
        return self.one_of(
            lambda: f"{left} {sign} {right}",
            lambda: f"{left} {sign} {right}",
            lambda: f"{left} BETWEEN {right} AND {write(0)}",
            lambda: f"{left} IN ({right}, {write(0)})",
            lambda: f"{left} IS NULL",
            *(
                [lambda: f"ISNAN(CAST({left} AS DOUBLE))", lambda: f"ISFINITE(CAST({left} AS DOUBLE))"]
                if kind == "number"
                else []
            ),
        )
