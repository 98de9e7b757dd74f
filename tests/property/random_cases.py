"""Random tables, policies and queries, and the comparison of a gate's answer with the truth.

The truth is DuckDB's own answer to the same text on the raw rows of the vault. There is no tolerance anywhere: a range
holds the double that DuckDB returned, or the promise is broken.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from querygate.core.errors import ConfigError
from querygate.core.types import Answer, Principal, Range, Request
from querygate.custody.policy import Policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.site.open_gate import OpenSite, open_gate
from tests.empty_site import empty_site
from tests.policies import Column, make_column, make_policy
from tests.property.truth import estimates_outside

EPOCH = dt.date(1970, 1, 1)
WORDS = ["", "a", "B", "b c", "d'e", "é", "f%", "NULL", "zz", "Z"]
RESEARCHER = Principal("tester", "researcher")


@dataclass
class Case:
    """A published random table: its policy, its open site, and the raw rows to compare with."""

    policy: Policy
    opened: OpenSite
    truth: duckdb.DuckDBPyConnection
    _pools: dict[str, list[Any]] = field(default_factory=dict)

    def pool(self, column: str) -> list[Any]:
        """Some values of a column, read once."""
        if column not in self._pools:
            found = self.truth.execute(f'SELECT DISTINCT "{column}" FROM t ORDER BY 1 LIMIT 50').fetchall()
            self._pools[column] = [value for (value,) in found if value is not None]
        return self._pools[column]


# -- tables and policies -----------------------------------------------------------------------------------------


def random_numbers(rng: random.Random, kind: str, rows: int) -> tuple[list[Any], tuple[Any, Any]]:
    """Values with ties, and a public domain around them."""
    if kind == "date":
        base, spread = rng.choice([-3000, 0, 18000]), rng.choice([0, 5, 400, 9000])
        values: list[Any] = [base + rng.randint(0, spread) for _ in range(rows)]
        low, high = min(values) - rng.randint(0, 50), max(values) + rng.randint(1, 50)
        return [EPOCH + dt.timedelta(days=v) for v in values], (EPOCH + dt.timedelta(low), EPOCH + dt.timedelta(high))
    if kind == "integer":
        base = rng.choice([0, 0, 40, -50, 10**6, -(2**53), 2**61])
        spread = rng.choice([0, 1, 6, 60, 1000, 2**40])
        values = [base + rng.randint(-spread, spread) for _ in range(rows)]
        return values, (min(values) - rng.randint(0, 9), max(values) + rng.randint(1, 9))
    scale = rng.choice([1.0, 1.0, 0.1, 1e-3, 1e6, 1e12])
    base = rng.choice([0.0, 0.0, 20.0, -7.5, 1e9])
    digits = rng.choice([0, 1, 2, 15])
    values = [round(base + scale * rng.uniform(-10, 10), digits) for _ in range(rows)]
    return values, (min(values) - scale * rng.uniform(0, 1), max(values) + scale * rng.uniform(0.1, 2))


def with_nulls(rng: random.Random, values: list[Any]) -> list[Any]:
    share = rng.choice([0.0, 0.0, 0.1, 0.5, 0.95])
    return [None if rng.random() < share else value for value in values]


def random_column(rng: random.Random, role: str, rows: int) -> tuple[list[Any], Column]:
    """Values of one column and its table in the policy."""
    kind = rng.choice(["integer", "integer", "number", "date", "category", "category", "boolean"])
    table = make_column(role, kind)
    if kind == "boolean":
        return with_nulls(rng, [rng.random() < 0.4 for _ in range(rows)]), table
    if kind == "category":
        words = rng.sample(WORDS, rng.randint(1, 6))
        table |= {"values": words} if len(words) % 2 else {"rare": "other"}
        return with_nulls(rng, rng.choices(words, weights=[2.0**-i for i in range(len(words))], k=rows)), table
    values, (low, high) = random_numbers(rng, kind, rows)
    if role != "public":
        table["domain"] = (str(low), str(high)) if kind == "date" else (low, high)
        if rng.random() < 0.5 and kind == "integer" and high - low < 5000:
            table["grid"] = min(rng.choice([1, 1, 2, 7]), high - low)
        if role == "quasi-identifier" and rng.random() < 0.4 and kind == "integer" and high - low > 3:
            table["cuts"] = sorted({rng.randint(low + 1, high - 1) for _ in range(3)})
    if role == "sensitive":
        table["carry"] = rng.choice(["bins", "bins", "hull"])
        if rng.random() < 0.8:
            table["guard"] = 0
    return with_nulls(rng, values), table


def publish_case(policy: Policy, columns: dict[str, list[Any]], folder: Path) -> Case | None:
    """The table published through the real path; None where even the whole table breaks a guard."""
    name = policy.dataset
    folder.mkdir(exist_ok=True)
    source = folder / f"{name}.parquet"
    pyarrow.parquet.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), source)
    opened = open_gate(empty_site(folder / "site"))
    try:
        publish_to(opened, policy, str(source), user="tester")
    except ConfigError as error:
        if error.code != "QG803" or "verifier" in str(error):
            raise
        return None
    truth = duckdb.connect()
    truth.execute(f"ATTACH '{folder}/site/vault/{name}/v00001.duckdb' AS vault (READ_ONLY)")
    truth.execute(f"CREATE VIEW {name} AS SELECT * FROM vault.rows")
    return Case(policy, opened, truth)


def make_case(seed: int, folder: Path) -> Case | None:
    """A random table published through the real path; None where even the whole table breaks a random guard."""
    rng = random.Random(seed)
    rows = rng.choice([3, 5, 12, 40, 150])
    k = rng.choice([2, 2, 3, 5, rows])
    roles = [
        "quasi-identifier",
        *rng.choices(["quasi-identifier", "sensitive", "sensitive", "public"], k=rng.randint(1, 5)),
    ]
    columns, tables = {}, {}
    for i, role in enumerate(roles):
        columns[f"c{i}"], tables[f"c{i}"] = random_column(rng, role, rows)
    edges = rng.choice(["grid", "grid", "tight"])
    policy = make_policy("t", tables, k=max(2, min(k, rows)), anonymise={"edges": edges}).parsed()
    return publish_case(policy, columns, folder)


# -- queries -----------------------------------------------------------------------------------------------------


def literal(value: Any, kind: str, rng: random.Random) -> str:
    if value is None:
        return "NULL"
    if kind == "date":
        return rng.choice(["", "DATE "]) + f"'{value}'"
    if kind == "category":
        return "'" + str(value).replace("'", "''") + "'"
    if kind == "boolean":
        return str(value).upper()
    if kind == "number":
        plain = f"{value:.15g}"
        return plain if rng.random() < 0.5 and "e" not in plain else f"{value:.16e}"
    return f"{value}.5" if rng.random() < 0.1 and abs(value) < 10**9 else str(value)


def random_atom(rng: random.Random, case: Case) -> str:
    column = rng.choice([c for c in case.policy.columns if c.is_published])
    kind = str(column.type)
    any_value = {"date": EPOCH, "category": column.rare or "q", "boolean": True}.get(kind, 1)
    values = case.pool(column.name) or [any_value]
    if kind in ("integer", "number") and rng.random() < 0.5:
        values = [v + rng.choice([-1, 1]) for v in values]
    pick = lambda: literal(rng.choice(values), kind, rng)  # noqa: E731
    name = rng.choice([column.name, column.name.upper(), f"t.{column.name}"])
    form = rng.randrange(9)
    if kind == "boolean" and form < 3:
        return rng.choice([name, f"NOT {name}", f"{name} IS TRUE", f"{name} IS NOT FALSE", f"{name} = {pick()}"])
    if form < 4:
        operator = rng.choice(["=", "<>", "<", "<=", ">", ">="])
        return f"{name} {operator} {pick()}" if rng.random() < 0.8 else f"{pick()} {operator} {name}"
    if form < 6:
        return f"{name} {rng.choice(['', 'NOT '])}BETWEEN {pick()} AND {pick()}"
    if form == 6:
        items = [pick() for _ in range(rng.randint(1, 4))] + (["NULL"] if rng.random() < 0.15 else [])
        return f"{name} {rng.choice(['', 'NOT '])}IN ({', '.join(items)})"
    if form == 7:
        return f"{name} IS {rng.choice(['', 'NOT '])}NULL"
    return f"{name} IS {rng.choice(['', 'NOT '])}DISTINCT FROM {rng.choice([pick(), 'NULL'])}"


def random_condition(rng: random.Random, case: Case, depth: int) -> str:
    if depth == 0 or rng.random() < 0.3:
        return random_atom(rng, case)
    parts = [random_condition(rng, case, depth - 1) for _ in range(rng.randint(2, 3))]
    text = "(" + rng.choice([" AND ", " OR "]).join(parts) + ")"
    return f"NOT {text}" if rng.random() < 0.25 else text


def random_query(rng: random.Random, case: Case) -> str:
    published = [c for c in case.policy.columns if c.is_published]
    numbers = [c for c in published if c.type in ("integer", "number")]
    dates = [c for c in published if c.type == "date"]
    items = ["COUNT(*)"] if rng.random() < 0.5 else []
    for _ in range(rng.randint(0, 3)):
        choices = [f"COUNT({rng.choice(published).name})"]
        if numbers:
            choices += [f"{rng.choice(['SUM', 'AVG', 'MIN', 'MAX'])}({rng.choice(numbers).name})" for _ in range(4)]
        if dates:
            choices += [f"{rng.choice(['MIN', 'MAX'])}({rng.choice(dates).name})"]
        items.append(rng.choice(choices))
    items = items or ["COUNT(*)"]
    keys = [c.name for c in published if not c.is_numeric]
    groups = rng.sample(keys, rng.randint(1, min(2, len(keys)))) if keys and rng.random() < 0.45 else []
    where = f" WHERE {random_condition(rng, case, rng.randint(0, 3))}" if rng.random() < 0.85 else ""
    named = [f"{item} AS x{i}" for i, item in enumerate(items)]
    sql = f"SELECT {', '.join(groups + named)} FROM t{where}"
    if groups:
        sql += f" GROUP BY {', '.join(groups)}"
        if rng.random() < 0.4:
            terms = rng.sample([*groups, *(f"x{i}" for i in range(len(items)))], k=1) + groups
            sql += " ORDER BY " + ", ".join(
                f"{term} {rng.choice(['', 'ASC', 'DESC', 'DESC NULLS FIRST'])}" for term in terms
            )
            if rng.random() < 0.7:
                sql += f" LIMIT {rng.randint(0, 3)}"
    return sql


# -- the comparison ----------------------------------------------------------------------------------------------


def holds(found: Range, value: Any) -> bool:
    """Is DuckDB's value inside the range? NaN, of a correlation without variation, is told as NULL."""
    if value is None or value != value:
        return found.may_be_null
    if isinstance(value, dt.date):
        value = (value - EPOCH).days
    return found.low is not None and found.high is not None and found.low <= value <= found.high


def violations(case: Case, sql: str) -> list[str]:
    """What is wrong with the gate's answer to one query; empty when the truth is inside."""
    given: Answer = answer(Request(RESEARCHER, "t", sql), case.opened.gate)
    rows = case.truth.execute(sql).fetchall()
    keys = [c for c in given.columns if c.kind == "key"]
    by_key = {tuple(g.keys[c.source] for c in keys): g for g in given.groups}
    wrong = []
    seen = set()
    for row in rows:
        key = tuple(None if v is None else str(v).lower() if isinstance(v, bool) else v for v in row[: len(keys)])
        seen.add(key)
        group = by_key.get(key)
        if group is None:
            wrong.append(f"group {key!r} is missing")
            continue
        for column, value in zip(given.columns[len(keys) :], row[len(keys) :], strict=True):
            found = group.ranges[column.source]
            if not holds(found, value):
                wrong.append(f"{column.name}: {value!r} is not in {found}")
    wrong += [text for group in given.groups for text in estimates_outside(group)]
    wrong += [f"group {key!r} is certain and not there" for key, g in by_key.items() if g.certain and key not in seen]
    return [f"{text}\n  {sql}" for text in wrong]
