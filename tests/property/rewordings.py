"""Questions, and other words for them.

A condition is a small tree. `vary` rewrites it by laws that hold in SQL's three-valued logic (De Morgan, absorption,
distribution, double negation, what the public domain makes always true), `say` writes it in one of the ways SQL has. A
question is varied around its conditions too: synonyms, FILTER or CASE, aliases, subqueries and named queries, the order
of everything that has none.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tests.sql.study import CATALOG, EPOCH

Condition: TypeAlias = "Compare | Among | Missing | Said | Both | Either | Not"
Name = Callable[[str], str]

COLUMNS = {column.name: column for column in CATALOG.columns}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "<>", "<>": "="}
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}


@dataclass(frozen=True)
class Compare:
    column: str
    sign: str
    value: Any


@dataclass(frozen=True)
class Among:
    column: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Missing:
    column: str


@dataclass(frozen=True)
class Said:
    """A condition with its rewordings written out, names in braces."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Both:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Either:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    part: Condition


def both(*parts: Condition) -> Both:
    return Both(parts)


def either(*parts: Condition) -> Either:
    return Either(parts)


def within(column: str, low: Any, high: Any) -> Both:
    return both(Compare(column, ">=", low), Compare(column, "<=", high))


# -- conditions in other words ---------------------------------------------------------------------------------------


Law: TypeAlias = "Callable[[Condition, random.Random], Condition]"


def vary(p: Condition, rng: random.Random, odds: float, laws: tuple[Law, ...] = ()) -> Condition:
    """Another tree with the same truth for every record, NULL included."""
    match p:
        case Both(parts) | Either(parts):
            varied = [vary(part, rng, odds, laws) for part in parts]
            rng.shuffle(varied)
            p = type(p)(tuple(varied))
        case Not(part):
            p = Not(vary(part, rng, odds, laws))
    while rng.random() < odds:
        p, odds = rng.choice(laws or LAWS)(p, rng), odds / 2
    return p


def _de_morgan(p: Condition, rng: random.Random) -> Condition:
    match p:
        case Both(parts):
            return Not(Either(tuple(Not(part) for part in parts)))
        case Either(parts):
            return Not(Both(tuple(Not(part) for part in parts)))
        case Compare(column, sign, value):
            return Not(Compare(column, OPPOSITE[sign], value))
    return Not(Not(p))


def _distribute(p: Condition, rng: random.Random) -> Condition:
    """p AND (q OR r) is (p AND q) OR (p AND r), and the other way round."""
    inner, outer = (Either, Both) if isinstance(p, Both) else (Both, Either)
    if not isinstance(p, (Both, Either)):
        return p
    places = [i for i, part in enumerate(p.parts) if isinstance(part, inner)]
    if not places:
        return p
    chosen = rng.choice(places)
    others = p.parts[:chosen] + p.parts[chosen + 1 :]
    return inner(tuple(outer((*others, part)) for part in p.parts[chosen].parts))  # type: ignore[union-attr]


def _absorb(p: Condition, rng: random.Random) -> Condition:
    other = random_atom(rng)
    return rng.choice([both(p, either(p, other)), either(p, both(other, p)), both(p, p), either(p, p)])


def _negate_twice(p: Condition, rng: random.Random) -> Condition:
    return Not(Not(p))


def _with_constants(p: Condition, rng: random.Random) -> Condition:
    true, false = Said(("TRUE", "1 = 1", "NOT FALSE")), Said(("FALSE", "1 > 2", "NOT TRUE"))
    return rng.choice([both(p, true), either(p, false), both(true, p, true)])


def _with_domain(p: Condition, rng: random.Random) -> Condition:
    """What the public domain makes always true."""
    column = rng.choice([c for c in COLUMNS.values() if c.is_numeric])
    end = Compare(column.name, *rng.choice([(">=", column.low), ("<=", column.high)]))
    true = either(end, Missing(column.name)) if column.nullable else end
    listed = Among("sex", ("F", "M", "X"))
    return rng.choice([both(p, true), both(p, listed), either(p, Not(true)), both(p, Not(Missing("age")))])


def _redundant(p: Condition, rng: random.Random) -> Condition:
    """age > 40 is age > 40 AND age > 30, and age > 40 OR age > 50."""
    match p:
        case Compare(column, sign, value) if sign not in ("=", "<>") and isinstance(value, int):
            step = rng.randint(1, 9) * (1 if sign in ("<", "<=") else -1)
            return rng.choice(
                [both(p, Compare(column, sign, value + step)), either(p, Compare(column, sign, value - step))]
            )
        case Compare(column, "=", value):
            return Among(column, (value, value))
    return p


def _split(p: Condition, rng: random.Random) -> Condition:
    """A comparison as the two it is made of."""
    match p:
        case Compare(column, "<=" | ">=" as sign, value):
            return either(Compare(column, sign[0], value), Compare(column, "=", value))
        case Compare(column, "=", value) if COLUMNS.get(column, COLUMNS["age"]).is_numeric:
            return within(column, value, value)
        case Compare(column, "<>", value) if COLUMNS.get(column, COLUMNS["age"]).is_numeric:
            return either(Compare(column, "<", value), Compare(column, ">", value))
        case Among(column, values):
            return Either(tuple(Compare(column, "=", value) for value in values))
    return p


OF_ANYTHING: tuple[Law, ...] = (_de_morgan, _distribute, _negate_twice, _with_constants, _redundant, _split)
LAWS: tuple[Law, ...] = (*OF_ANYTHING, _absorb, _with_domain)


def random_atom(rng: random.Random) -> Condition:
    return rng.choice(
        [
            Compare("age", rng.choice(list(OPPOSITE)), rng.randint(1, 119)),
            Compare("weight", "<", rng.choice([0.5, 70.0])),
            Among("city", ("Wien", "Graz")),
            Compare("smoker", "=", True),
            Missing("sbp"),
        ]
    )


def say(p: Condition, rng: random.Random, name: Name) -> str:
    """The condition in SQL, fully in brackets."""
    match p:
        case Both(parts) if rng.random() < 0.5 and (ends := _ends(p)) is not None:
            column, low, high = ends
            return f"({name(column)} BETWEEN {literal(low, column)} AND {literal(high, column)})"
        case Both(parts):
            return "(" + " AND ".join(say(part, rng, name) for part in parts) + ")"
        case Either(parts):
            return "(" + " OR ".join(say(part, rng, name) for part in parts) + ")"
        case Not(Missing(column)) if rng.random() < 0.5:
            return f"{name(column)} IS NOT NULL"
        case Not(part):
            return f"(NOT {say(part, rng, name)})"
        case Missing(column):
            return f"({name(column)} IS NULL)"
        case Said(texts):
            return f"({_filled(rng.choice(texts), name)})"
        case Among(column, values):
            listed = [literal(value, column) for value in rng.sample(values, len(values))]
            return f"({name(column)} IN ({', '.join(listed)}))"
        case Compare():
            return f"({_compared(p, rng, name)})"


def _ends(p: Both) -> tuple[str, Any, Any] | None:
    match p.parts:
        case (Compare(a, ">=", low), Compare(b, "<=", high)) if a == b:
            return a, low, high
    return None


def _compared(p: Compare, rng: random.Random, name: Name) -> str:
    column, sign, value = name(p.column), p.sign, p.value
    if isinstance(value, bool):
        told = column if value == (sign == "=") else f"NOT {column}"
        return rng.choice([told, f"{column} {sign} {literal(value, p.column)}"])
    if type(value) is int and abs(value) < 2**53 and rng.random() < 0.4:
        if sign in ("<=", ">") and COLUMNS[p.column].type != "date" and rng.random() < 0.3:
            return f"{column} {sign} {value}.5"
        sign, value = {
            "<": ("<=", value - 1),
            "<=": ("<", value + 1),
            ">": (">=", value + 1),
            ">=": (">", value - 1),
        }.get(sign, (sign, value))
    if rng.random() < 0.3:
        return f"{literal(value, p.column)} {MIRRORED[sign]} {column}"
    return f"{column} {sign} {literal(value, p.column)}"


def literal(value: Any, column: str) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if COLUMNS[column].type == "date":
        return f"DATE '{EPOCH + dt.timedelta(days=value)}'"
    return repr(value)


def _filled(text: str, name: Name) -> str:
    for column in COLUMNS:
        text = text.replace(f"{{{column}}}", name(column))
    return text


# -- questions ---------------------------------------------------------------------------------------------------------

SYNONYMS = {
    "count": ("COUNT({x})",),
    "distinct": ("COUNT(DISTINCT {x})",),
    "avg": ("AVG({x})", "MEAN({x})", "avg({x})"),
    "sum": ("SUM({x})",),
    "min": ("MIN({x})",),
    "max": ("MAX({x})",),
    "var": ("VAR_SAMP({x})", "VARIANCE({x})"),
    "sd": ("STDDEV({x})", "STDDEV_SAMP({x})"),
    "quartile": ("QUANTILE_CONT({x}, 0.25)", "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY {x})"),
    "median": ("MEDIAN({x})", "median({x})"),
}


@dataclass(frozen=True)
class Item:
    """An aggregate of an expression (one of its `texts`), of the records for which `where` is true."""

    function: str
    texts: tuple[str, ...] = ("*",)
    where: Condition | None = None


@dataclass(frozen=True)
class Question:
    """Aggregates, a condition, keys with their rewordings, HAVING (on the count, whatever column it names), and what is
    asked of the groups."""

    items: tuple[Item, ...]
    where: Condition | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    having: Condition | None = None
    outer: str = ""
    """An aggregate over the groups, in which n is the first item."""


def reword(question: Question, rng: random.Random, odds: float) -> tuple[str, tuple[int, ...]]:
    """The question in other words, and for each column of its answer the place of the key or the item it shows."""
    rows, name, left = _rows(question.where, rng, odds)
    table, _, before = rows.partition("\n")
    items = [_item(item, rng, name, odds) for item in question.items]
    keys = [_filled(rng.choice(key), name) for key in question.keys]
    clauses = f"FROM {table}"
    if left is not None:
        clauses += f" WHERE {say(left, rng, name)}"
    order = list(range(len(keys) + len(items)))
    rng.shuffle(order)
    aliases = rng.sample([f"c{i}" for i in range(9)], len(order))
    shown = [f"{(keys + items)[i]} AS {aliases[i]}" for i in order]
    if keys:
        by = rng.choice(
            [keys, [aliases[i] for i in range(len(keys))], [str(order.index(i) + 1) for i in range(len(keys))]]
        )
        clauses += f" GROUP BY {', '.join(rng.sample(by, len(by)))}"
    if question.having is not None:
        having = vary(question.having, rng, odds, OF_ANYTHING)
        clauses += f" HAVING {say(having, rng, lambda _: 'COUNT(*)')}"
    if question.outer:
        extra = rng.choice(["", ", MAX(" + name("age") + ") AS oldest"])
        inner = f"SELECT {', '.join(shown)}{extra} {clauses}"
        return _over(question.outer, aliases[len(keys)], inner, before, rng), (0,)
    if rng.random() < odds / 2 and not keys:
        clauses += " ORDER BY 1"
    return f"{before}SELECT {', '.join(shown)} {clauses}", tuple(order)


def _rows(where: Condition | None, rng: random.Random, odds: float) -> tuple[str, Name, Condition | None]:
    """Where records come from (a table, and in a second line a WITH), what columns are called, what is left to ask."""
    varied = vary(where, rng, odds) if where is not None else None
    upper = rng.random() < 0.2

    def plain(column: str) -> str:
        return column.upper() if upper else column

    form = (
        rng.choice(["plain", "plain", "alias", "with", "subquery", "renamed"]) if rng.random() < 2 * odds else "plain"
    )
    if form == "plain":
        return "patients\n", plain, varied
    if form == "alias":
        return "patients AS p\n", lambda column: f"p.{plain(column)}", varied
    inner, left = varied, None
    if isinstance(varied, Both) and len(varied.parts) > 1 and rng.random() < 0.5:
        inner, left = Both(varied.parts[:1]), Both(varied.parts[1:])
    elif rng.random() < 0.5:
        inner, left = None, varied
    asked = f" WHERE {say(inner, rng, plain)}" if inner is not None else ""
    if form == "renamed":
        listed = ", ".join(f"{column} AS of_{column}" for column in COLUMNS)
        return f"(SELECT {listed} FROM patients{asked}) AS q\n", lambda column: f"of_{column}", left
    if form == "with":
        return f"chosen\nWITH chosen AS (SELECT * FROM patients{asked}) ", plain, left
    return f"(SELECT * FROM patients{asked}) AS s\n", lambda column: f"s.{plain(column)}", left


def _item(item: Item, rng: random.Random, name: Name, odds: float) -> str:
    value = _filled(rng.choice(item.texts), name)
    function = rng.choice(SYNONYMS[item.function])
    if item.where is None:
        plain = rng.choice(["*", "1", name("age"), "'x'"]) if value == "*" else value
        return function.replace("{x}", plain)
    condition = say(vary(item.where, rng, odds), rng, name)
    if value == "*":
        value = "1"
    cased = rng.choice(
        [f"CASE WHEN {condition} THEN {value} END", f"CASE WHEN {condition} THEN {value} ELSE NULL END",
         f"IF({condition}, {value}, NULL)"]
    )  # fmt: skip
    filtered = f"{function.replace('{x}', value)} FILTER (WHERE {condition})"
    return rng.choice([filtered, function.replace("{x}", cased)])


def _over(outer: str, n: str, inner: str, before: str, rng: random.Random) -> str:
    asked = outer.replace("{n}", n)
    aggregate, _, condition = asked.partition(" WHERE ")
    tail = f" WHERE {condition}" if condition else ""
    if before:
        return f"{before}, g AS ({inner}) SELECT {aggregate} FROM g{tail}"
    return rng.choice(
        [f"SELECT {aggregate} FROM ({inner}) AS g{tail}", f"WITH g AS ({inner}) SELECT {aggregate} AS r FROM g{tail}"]
    )


# -- near misses -------------------------------------------------------------------------------------------------------


def near_misses(p: Condition) -> Iterator[Condition]:
    """Conditions that look alike and are not: one sign, one number, one column, one AND or OR changed."""
    match p:
        case Compare(column, sign, value):
            if sign in MIRRORED and COLUMNS[column].is_numeric:
                slip = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "="}
                yield Compare(column, slip[sign], value)
            if type(value) is int:
                yield Compare(column, sign, value + 1)
            if column in ("age", "sbp"):
                yield Compare("sbp" if column == "age" else "age", sign, value)
        case Among(column, values):
            yield Among(column, values[1:])
        case Missing(column):
            yield Not(p)
        case Both(parts) | Either(parts):
            yield Either(parts) if isinstance(p, Both) else Both(parts)
            for i, part in enumerate(parts):
                yield type(p)(parts[:i] + parts[i + 1 :])
                yield from (type(p)((*parts[:i], miss, *parts[i + 1 :])) for miss in near_misses(part))
        case Not(part):
            yield part
            yield from map(Not, near_misses(part))


def missed(question: Question) -> Iterator[Question]:
    """Questions that are nearly this one."""
    if question.where is not None:
        yield from (replace(question, where=miss) for miss in near_misses(question.where))
    if question.having is not None:
        yield replace(question, having=None)
        yield from (replace(question, having=miss) for miss in near_misses(question.having) if "sbp" not in repr(miss))
    if question.keys:
        yield replace(question, keys=question.keys[1:], outer="")
    for i, item in enumerate(question.items[:1] if question.outer else question.items):
        changed = [replace(item, function=SLIPS[item.function])] if item.function in SLIPS else []
        if item.where is not None:
            changed += [replace(item, where=None), *(replace(item, where=miss) for miss in near_misses(item.where))]
        yield from (replace(question, items=(*question.items[:i], miss, *question.items[i + 1 :])) for miss in changed)


SLIPS = {"avg": "sum", "sum": "avg", "min": "max", "max": "min", "var": "sd", "sd": "var", "median": "avg"}
