"""Random tables split over gates: what is put together of the gates' answers is compared with all records at once."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from querygate.client.answer import Answer, Range
from querygate.core.errors import ConfigError, Refusal
from querygate.core.types import Principal, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.federation import Member, ask_members
from querygate.gate.answer import ask
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site
from tests.policies import PolicyText, make_policy, public, quasi, sensitive
from tests.property.tally import Tally

EPOCH = dt.date(2000, 1, 1)
SEXES = ("f", "m", "ü '%")
REGIONS = ("01", "02", "10", "nord")
RESEARCHER = Principal("ann", "researcher")
Record = dict[str, Any]

SCHEMA = pa.schema(
    [("age", pa.int64()), ("sex", pa.string()), ("region", pa.string()), ("sbp", pa.float64()), ("seen", pa.date32())]
)


def random_records(rng: random.Random, number: int) -> list[Record]:
    """With ties, constants, missing values, huge and tiny numbers, and columns that nobody has a value of."""
    scale = rng.choice((1.0, 1e-9, 1e6, 0.1))
    usual = rng.choice(([120.0], [110.0, 120.0, 130.5], None))
    missing = {name: rng.choice((0.0, 0.0, 0.2, 1.0 if rng.random() < 0.1 else 0.1)) for name in SCHEMA.names}
    missing["age"] = min(missing["age"], 0.2)

    def record() -> Record:
        values: Record = {
            "age": rng.choice((18, 40, 40, 51, 99, rng.randint(18, 99))),
            "sex": rng.choice(SEXES[: rng.choice((1, 2, 3))]),
            "region": rng.choice(REGIONS),
            "sbp": (rng.choice(usual) if usual else rng.uniform(-200, 200)) * scale,
            "seen": EPOCH + dt.timedelta(days=rng.randint(0, 700)),
        }
        return {name: None if rng.random() < missing[name] else value for name, value in values.items()}

    return [record() for _ in range(number)]


def random_policy(rng: random.Random, records: Sequence[Record]) -> PolicyText:
    """Each member has one of its own; domains are wide, as public ones are."""
    widest = max((abs(one["sbp"]) for one in records if one["sbp"] is not None), default=1.0) * 2 or 1.0
    domain = [-widest, widest]
    moments = rng.random() < 0.5
    guard = widest / 1e3 if moments else 0
    return make_policy(
        "t",
        {
            "age": quasi("integer", [0, 120]),
            "sex": quasi("category", values=list(SEXES)),
            "region": rng.choice((quasi, public))("category", values=list(REGIONS)),
            "sbp": sensitive("number", domain, guard=guard),
            "seen": sensitive("date", ["1999-01-01", "2005-01-01"], guard=1 if moments else 0),
        },
        k=rng.choice((2, 3, 5)),
        anonymise={"class_moments": "rounded" if moments else "none"},
        answers={"min_group": rng.choice((0, 0, 3))},
    )


def split(rng: random.Random, records: Sequence[Record]) -> list[list[Record]]:
    """At random, or by a value: then groups of one member are not those of another."""
    members = rng.choice((2, 2, 3, 4))
    by = rng.choice(("chance", "region", "age"))
    places: list[list[Record]] = [[] for _ in range(members)]
    for one in records:
        told = rng.randrange(members) if by == "chance" else sum(str(one[by]).encode()) % members
        places[told].append(one)
    return [place for place in places if place]


def make_member(name: str, folder: Path, policy: PolicyText, records: Sequence[Record]) -> Member:
    path = folder / f"{name}.parquet"
    pa.parquet.write_table(pa.Table.from_pylist(list(records), schema=SCHEMA), path)
    opened = open_gate(empty_site(folder / name))
    publish_to(opened, policy.parsed(), str(path), user="local")
    return Member(name, "t", lambda sql: Answer(ask(Request(RESEARCHER, "t", sql), opened.gate)))  # type: ignore[arg-type]


AGGREGATES = (
    "COUNT(*)", "COUNT(sbp)", "SUM(sbp)", "AVG(sbp)", "MIN(sbp)", "MAX(sbp)", "MIN(seen)", "MAX(age)", "AVG(age)",
    "SUM(age)", "COUNT(DISTINCT sex)", "MEDIAN(age)", "MEDIAN(sbp)",
    "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY age)",
    "VAR_SAMP(sbp)", "VAR_POP(age)", "STDDEV(sbp)", "STDDEV_POP(age)", "STDDEV_SAMP(age)", "COUNT_IF(age >= 40)",
    "100.0 * COUNT(*) FILTER (WHERE age >= 51) / COUNT(*)", "AVG(sbp) FILTER (WHERE sex = 'f')",
    "ROUND(AVG(age), 1)", "ROUND(MAX(sbp))", "-MAX(sbp)", "AVG(sbp) * 2 + 1",
    "ROUND(100.0 * COUNT_IF(sex = 'f') / COUNT(*), 1)",
    "COUNT(*) / 2", "3 - AVG(age)", "AVG(CASE WHEN age < 50 THEN 1 ELSE 0 END)",
)  # fmt: skip
CONDITIONS = ("", "age BETWEEN 30 AND 50", "sex = 'f'", "age > 98", "region IN ('01', 'nord')", "sbp > 0", "age > 200")
GROUPINGS = ((), (), ("sex",), ("region",), ("sex", "region"), ("CASE WHEN age < 50 THEN 'young' ELSE 'old' END",))


def random_statement(rng: random.Random) -> str:
    keys = rng.choice(GROUPINGS)
    chosen = rng.sample(AGGREGATES, rng.randint(1, 3))
    shown = [f"{key} AS key{at}" for at, key in enumerate(keys)] + [f"{one} AS a{at}" for at, one in enumerate(chosen)]
    condition = rng.choice(CONDITIONS)
    where = f" WHERE {condition}" if condition else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(shown)} FROM t{where}{group}"


def try_split(seed: int, folder: Path, statements: int) -> Tally:
    """Some statements about one random table, split over gates."""
    rng, tally = random.Random(seed), Tally()
    records = random_records(rng, rng.choice((12, 30, 60)))
    members = []
    held: list[Record] = []
    for number, part in enumerate(split(rng, records)):
        try:
            members.append(make_member(f"gate {number}", folder, random_policy(rng, records), part))
        except (ConfigError, Refusal):
            continue  # fewer people than k: this one has nothing to serve
        held += part
    if not members:
        return tally
    with duckdb.connect() as truth:
        truth.register("rows_of_all", pa.Table.from_pylist(held, schema=SCHEMA))
        truth.execute("CREATE TABLE t AS SELECT * FROM rows_of_all")
        for _ in range(statements):
            _try(random_statement(rng), members, truth, tally)
    tally.wrong = [f"split {seed}: {text}" for text in tally.wrong]
    return tally


def _try(sql: str, members: Sequence[Member], truth: duckdb.DuckDBPyConnection, tally: Tally) -> None:
    tally.asked += 1
    try:
        body = ask_members(sql, members)
    except Refusal as refusal:
        tally.refused[refusal.code] += 1
        return
    tally.answered += 1
    pooled = Answer({**body, "query_id": "", "dataset": "", "version": 0})
    keys = [column["name"] for column in body["columns"] if column["kind"] == "key"]
    given = {tuple(group[key] for key in keys): group for group in pooled.rows}
    left_out = any("left out" in note for note in body["notes"])
    found = truth.execute(sql)
    names = [one[0] for one in found.description]
    seen = set()
    for values in found.fetchall():
        row = dict(zip(names, values, strict=True))
        key = tuple(row[name] for name in keys)
        seen.add(key)
        if key not in given:
            hidden = left_out or any("are not shown" in note for note in body["notes"])
            tally.wrong += [] if hidden else [f"group {key!r} is missing\n  {sql}"]
            continue
        for name in set(names) - set(keys):
            tally.figures += 1
            cell = given[key][name]
            if not _holds(cell, row[name]):
                tally.wrong.append(f"{name} is {row[name]!r}, not in {cell!r}\n  {sql}")
    for key, group in given.items():
        if key not in seen and group.certain:
            tally.wrong.append(f"group {key!r} is not there\n  {sql}")


def _holds(cell: Any, value: Any) -> bool:
    """DuckDB computes with doubles: a variance of equal numbers may be a little off zero."""
    if not isinstance(cell, Range):
        return False
    if value is None or isinstance(value, dt.date):
        return value in cell
    near = max(abs(float(value)), 1e-300) * 1e-9
    if cell.low is None or not (cell.low - near <= value <= cell.high + near):  # type: ignore[operator]
        return False
    guess = cell.estimate
    return guess is None or (cell.low <= guess <= cell.high and not math.isnan(float(guess)))  # type: ignore[operator, arg-type]
