"""Random tables under random policies with views: what is written is true of every record, or it is refused in words.

Tables are small and hostile: all missing, constants, ties at both ends of a domain, people with several rows, odd
texts, numbers of every size, days and moments.
"""

from __future__ import annotations

import datetime as dt
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from querygate.core.errors import ConfigError
from tests.policies import IDENTIFIER, Column, PolicyText, make_policy, quasi, sensitive
from tests.report import row
from tests.unit.custody.publish.publications import new_site, put
from tests.unit.custody.publish.view_stores import ViewStore

TABLES = 400
NOISE = {"epsilon_per_query": 1.0, "epsilon_total": 10.0, "epsilon_per_user": 10.0}
KINDS = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "category": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
Make = Callable[..., Column]
Made = tuple[Column, Callable[[], Any]]


def run() -> list[dict[str, Any]]:
    found: Counter[str] = Counter()
    for seed in range(TABLES):
        with tempfile.TemporaryDirectory() as folder:
            outcome = publish_one(seed, Path(folder))
        found["refused" if outcome == "refused" else "wrong" if outcome else "published"] += 1
        if outcome not in ("", "refused"):
            print(f"table {seed}: {outcome}")
    tried = f"{found['published']} published, {found['refused']} refused"
    return [row("views: tables that are told wrong", found["wrong"], "of", tried, target=0, met=not found["wrong"])]


def publish_one(seed: int, folder: Path) -> str:
    """What is wrong with the published table; "refused" where there are too few people."""
    policy, rows = random_case(random.Random(seed))
    opened = new_site(folder)
    try:
        put(opened, policy, rows)
    except ConfigError as refused:
        return "refused" if "fewer than k" in refused.detail else refused.detail
    store = ViewStore(opened)
    wrong = list(store.wrong())
    if store.catalog.persons:
        for place in range(len(store.catalog.margins)):
            people = [len({member["mrn"] for member in members}) for members in store.members(place).values()]
            wrong += [f"margin {place}: a class of {min(people)} people"] if min(people) < store.catalog.k else []
    return "; ".join(wrong)


def random_case(rng: random.Random) -> tuple[PolicyText, dict[str, pa.Array]]:
    number = rng.choice([3, 5, 8, 20, 50, 90])
    quasi_made = [_quasi(rng) for _ in range(rng.randint(1, 5))]
    secret_made = [rng.choice([_number, _text])(rng, sensitive) for _ in range(rng.randint(0, 3))]
    made = {f"q{i}": one for i, one in enumerate(quasi_made)} | {f"s{i}": one for i, one in enumerate(secret_made)}
    columns = {name: column for name, (column, _) in made.items()}
    rows = {}
    for name, (column, draw) in made.items():
        missing = rng.choice([0, 0, 0.2, 0.9, 1])
        values = [None if rng.random() < missing else draw() for _ in range(number)]
        rows[name] = pa.array(values, KINDS[column["type"]])
    views: dict[str, Any] = {"values": rng.choice([2, 2, 3])}
    views |= {"linked": [["s0", "s1"]]} if len(secret_made) > 1 and rng.random() < 0.4 else {}
    views |= {"extra": [["q1", "q2"]]} if len(quasi_made) > 2 and rng.random() < 0.2 else {}
    views |= {"frame": []} if rng.random() < 0.2 else {}
    more: dict[str, Any] = {}
    if rng.random() < 0.3:
        columns["mrn"], more = IDENTIFIER, {"person": "mrn"}
        rows["mrn"] = pa.array([f"0{rng.randrange(max(2, number // 2))}" for _ in range(number)])
    if rng.random() < 0.1:
        more |= {"answers": {"modes": ["laplace"]}, "laplace": NOISE}
    return make_policy("t", columns, k=rng.choice([2, 3, 5]), views=views, **more), rows


def _quasi(rng: random.Random) -> Made:
    if rng.random() < 0.2:
        return quasi("category", groups=[["a", "b"], ["c"]]), lambda: rng.choice("abc")
    return rng.choice([_number, _text])(rng, quasi)


def _number(rng: random.Random, make: Make) -> Made:
    kind = rng.choice(["integer", "number", "date", "timestamp"])
    if kind == "integer":
        low, high = rng.choice([(0, 9), (-5, 120), (0, 10**12)])
        return make(kind, (low, high)), lambda: rng.choice([low, high, rng.randint(low, high)])
    if kind == "number":
        first, last = rng.choice([(0.0, 1.0), (-1e9, 1e9), (0.0, 1e-6)])
        return make(kind, (first, last)), lambda: rng.choice([first, last, rng.uniform(first, last)])
    if kind == "date":
        return make(kind, ("2000-01-01", "2010-01-01")), lambda: dt.date(2000, 1, 1) + dt.timedelta(rng.randrange(3600))
    begin = dt.datetime(2000, 1, 1)
    domain = ("2000-01-01T00:00:00", "2010-01-01T00:00:00")
    return make(kind, domain), lambda: begin + dt.timedelta(seconds=rng.randrange(300_000_000))


def _text(rng: random.Random, make: Make) -> Made:
    if rng.random() < 0.4:
        return make("boolean"), lambda: rng.random() < 0.3
    values = ["a", "b", "ß\n,;", "", "007"]
    return make("category", values=values), lambda: rng.choice(["a", *values])
