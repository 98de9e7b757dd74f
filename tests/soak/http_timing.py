"""An attack by time over HTTP, against the real worker: two hundred people, each of whom is in one of two datasets that
are otherwise alike. Does the time of a noisy answer, or whether there is one, tell in which?

The statement takes the database milliseconds for that one person, and nothing where they are not. Each person is asked
about in both datasets, in random order. What an attacker learns is the area under the curve (AUC) of guessing "is in
it" from the time: .5 is nothing. Asked of the rows themselves, without a gate, the same statements tell it all.
TIMING_PEOPLE changes how many people are attacked.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import open_gate
from tests.attack.dear_statements import HIGH, dear
from tests.empty_site import empty_site
from tests.policies import make_policy, quasi, sensitive
from tests.report import row
from tests.served_site import Door, ServedSite, serving

PEOPLE = int(os.environ.get("TIMING_PEOPLE", "200"))
FIRST = 1_000
"""Targets have ages that nobody else has; nobody is that old, but a study may number people so."""

OTHERS = 2_000
DATASETS = ("north", "south")
BY_CHANCE = 3.29
"""So many standard errors from .5 are exceeded by chance once in a thousand times."""


def run() -> list[dict[str, Any]]:
    rng = random.Random(3)
    where = {FIRST + number: rng.choice(DATASETS) for number in range(PEOPLE)}
    asked = [(age, name) for age in where for name in DATASETS]
    rng.shuffle(asked)
    with tempfile.TemporaryDirectory() as folder, attacked(Path(folder), where) as door:
        timed_query(door, "north", 50)  # the worker has begun, and has read the columns
        timed_query(door, "south", 50)
        seen = [(where[age] == name, *timed_query(door, name, age)) for age, name in asked]
        bare = [(where[age] == name, bare_s(Path(folder), name, age)) for age, name in asked]
    told = Counter((is_there, status) for is_there, _, status in seen)
    statuses = {status for _, status in told}
    by_status = max(abs(told[True, status] - told[False, status]) for status in statuses)
    area, error = auc([(is_there, taken_s) for is_there, taken_s, _ in seen])
    without, _ = auc(bare)
    low, high = area - 1.96 * error, area + 1.96 * error
    near = {is_there: by_tick(seen, is_there) for is_there in (True, False)}
    print(dict(told), f"AUC {area:.3f} ({low:.3f} .. {high:.3f}), ticks later than the first: {near}")
    return [
        row("http_timing: people", PEOPLE, "", f"{len(seen)} noisy answers over HTTP"),
        row("http_timing: AUC of the time", area, "", f"95 %: {low:.3f} .. {high:.3f}", target=0.5,
            met=abs(area - 0.5) <= BY_CHANCE * error),
        row("http_timing: statuses that differ", by_status, "answers", ", ".join(sorted(map(str, statuses))), target=0,
            met=by_status == 0),
        row("http_timing: AUC without a gate", without, "", "the same statements on the rows", target=0.9,
            met=without >= 0.9),
    ]  # fmt: skip


@contextmanager
def attacked(folder: Path, where: dict[int, str]) -> Iterator[Door]:
    """A gate with its worker and the ticks of a new site, over both datasets."""
    site = empty_site(folder / "site")
    opened = open_gate(site)
    for name in DATASETS:
        people: list[dict[str, Any]] = [
            {"age": 20 + i % 60, "ward": "AB"[i % 2], "sbp": 100 + i % 80, "married": i % 3 == 0} for i in range(OTHERS)
        ]
        for age, there in where.items():
            people += [{"age": age, "ward": "A", "sbp": HIGH, "married": True}] if there == name else []
        pyarrow.parquet.write_table(pa.Table.from_pylist(people), source := folder / f"{name}.parquet")
        publish_to(opened, policy(name).parsed(), str(source), user="custodian")
    opened.accounts.add_user("ann", "researcher")
    served = ServedSite(opened, {"ann": opened.accounts.keys.new("ann").secret})
    opened.log.database.close()
    os.environ.pop("QUERYGATE_NOISE_TICK_MS", None)
    with serving(served) as door:
        yield door


def policy(name: str) -> Any:
    columns = {
        "age": quasi("integer", (0, FIRST + PEOPLE)),
        "ward": quasi("category", values=["A", "B"]),
        "sbp": sensitive("integer", (40, 300)),
        "married": sensitive("boolean"),
    }
    budget = {"epsilon_per_query": 0.01, "epsilon_total": 100.0, "epsilon_per_user": 100.0}
    return make_policy(name, columns, k=2, answers={"modes": ["laplace"]}, laplace=budget)


def timed_query(door: Door, name: str, age: int) -> tuple[float, int | str]:
    """How long it took, and what came: a status, or a code."""
    sql = dear("abcdefgh", age).replace("FROM people", f"FROM {name}")
    body = {"dataset": name, "sql": sql, "options": {"mode": "laplace"}}
    began_s = time.perf_counter()
    status, answer = door.call("ann", "POST", "/api/v1/query", body)
    return time.perf_counter() - began_s, answer.get("code", status)


def bare_s(folder: Path, name: str, age: int) -> float:
    sql = dear("abcdefgh", age).replace("FROM people", f"FROM '{folder / name}.parquet'")
    taken = []
    for _ in range(3):
        began_s = time.process_time()
        duckdb.sql(sql).fetchall()
        taken.append(time.process_time() - began_s)
    return min(taken)


def auc(seen: list[tuple[bool, float]]) -> tuple[float, float]:
    """The share of pairs in which the one that is there took longer, and its standard error where nothing is learnt."""
    there, absent = ([taken for is_there, taken in seen if is_there == wanted] for wanted in (True, False))
    wins = sum((one > other) + 0.5 * (one == other) for one in there for other in absent)
    pairs = len(there) * len(absent)
    return wins / pairs, math.sqrt((len(there) + len(absent) + 1) / (12 * pairs))


def by_tick(seen: list[tuple[bool, float, int | str]], wanted: bool, tick_s: float = 0.25) -> dict[int, int]:
    """How many answers came after how many ticks."""
    return dict(sorted(Counter(int(taken // tick_s) for is_there, taken, _ in seen if is_there == wanted).items()))
