"""Versions of views at length: hostile tables are published, and the verifier passes them; one figure of a written file
is changed, and it refuses. Neither may end in anything but a measurement or a coded refusal.
"""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.errors import ConfigError
from querygate.custody.verify.view_check import verify_views
from querygate_adapters.vault.written_store import WrittenStore
from tests.policies import IDENTIFIER, PolicyText, diverse, make_policy, quasi, sensitive
from tests.report import row
from tests.unit.custody.publish.publications import new_site, put
from tests.unit.custody.verify.view_stores import SURVEY, publish_views, survey

TABLES, CHANGES, LIMIT_S = 200, 1_000, 450
FIRST_SEED = 1_000_000
OTHER_NAMES = ("alone", "class", "c0_lo", "c0_hi", "c1_set", "c2_set", "c3_set")
"""Columns that may be otherwise: classes have any numbers, and a box that is wider than need be tells the truth."""

TYPES = {"age": pa.int64(), "num": pa.int64(), "wide": pa.float64(), "real": pa.float64(), "day": pa.date32()}


def run() -> list[dict[str, Any]]:
    return [_published(), _changed()]


def _published() -> dict[str, Any]:
    began, number, wrong = time.monotonic(), 0, []
    for seed in range(FIRST_SEED, FIRST_SEED + TABLES):
        if time.monotonic() - began > LIMIT_S:
            break
        policy, columns = hostile(np.random.default_rng(seed))
        with tempfile.TemporaryDirectory() as folder:
            try:
                put(new_site(Path(folder)), policy, columns)
                number += 1
            except ConfigError as error:
                if not any(
                    text in str(error) for text in ("No class would have", "People have several rows", "fewer than k")
                ):
                    wrong.append(f"seed {seed}: {error.detail}")
    print("\n".join(wrong[:20]))
    return row("views refused by the verifier", len(wrong), "of", f"{number:,} hostile tables", target=0, met=not wrong)


def hostile(random: np.random.Generator) -> tuple[PolicyText, dict[str, pa.Array]]:
    """Ties, constants, missing and rare values, leading zeros, huge numbers, repeated persons; one to three views."""
    size, k = int(random.integers(8, 400)), int(random.choice([2, 3, 5, 10]))
    many = [f"v{i}" for i in range(int(random.choice([1, 2, 5, 30])))]
    texts = {"a": ["x", "ü", "01", "1"], "b": many, "c": ["no", "yes", "1e3"], "d": many}
    raw: dict[str, Any] = {
        "age": np.minimum(random.zipf(1.3, size), 60) if random.random() < 0.3 else random.integers(0, 60, size),
        "wide": random.normal(0, 1, size).round(3).clip(-5, 5),
        **{name: random.choice(values, size) for name, values in texts.items()},
        "num": random.choice([-1, 1], size) * np.minimum(random.zipf(1.3, size), 10**6),
        "real": (random.normal(0, 1, size) * 10.0 ** random.integers(-3, 3)).clip(-900, 900),
        "day": [dt.date(1970, 1, 1) + dt.timedelta(days=int(day)) for day in random.integers(0, 3000, size)],
    }
    columns = {}
    for name, values in raw.items():
        share = float(random.choice([0.0, 0.0, 0.2, 1.0], p=[0.4, 0.3, 0.27, 0.03]))
        listed = values if isinstance(values, list) else values.tolist()
        columns[name] = pa.array(
            [None if random.random() < share else value for value in listed], TYPES.get(name, pa.string())
        )
    people = random.random() < 0.1
    if people:
        columns["who"] = pa.array([f"p{i}" for i in random.integers(0, max(2, size // 2), size)])
    views: dict[str, Any] = {"mode": "spanning", "spanning": [["age", "a", "wide"], ["age", "b"]]}
    if random.random() < 0.25:
        views["spanning"] = [["age", "a", "wide", "b"]]
    elif random.random() < 0.5:
        views["extra"] = [["a", "b"]]
    if random.random() < 0.3:
        views["linked"] = [["c", "num"]]
    policy = make_policy(
        "t",
        {
            "age": quasi("integer", (0, 60), grid=int(random.choice([1, 5]))),
            "wide": quasi("number", (-5.0, 5.0), grid=0.5),
            **{name: quasi("category", values=texts[name]) for name in "ab"},
            "num": sensitive("integer", (-(10**6), 10**6), bins=[-(10**6), -100, -10, 0, 10, 100, 10**6], guard=10),
            "real": sensitive("number", (-1e3, 1e3), bins=[-1e3, -10.0, -1.0, 0.0, 1.0, 10.0, 1e3], guard=1.0),
            "day": sensitive("date", ("1970-01-01", "1980-01-01"), bins=365, guard=30),
            "c": sensitive("category", values=texts["c"]) | (diverse("distinct", l=2) if random.random() < 0.3 else {}),
            "d": sensitive("category", values=many),
            **({"who": IDENTIFIER} if people else {}),
        },
        k=k,
        views=views,
        **({"person": "who"} if people else {}),
    )
    return policy, columns


def _changed() -> dict[str, Any]:
    began, number, wrong = time.monotonic(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        store = publish_views(Path(folder), SURVEY.but(columns={"age": {"cuts": [40]}}), survey(240))
        copy = Path(folder) / "changed.duckdb"
        for seed in range(FIRST_SEED, FIRST_SEED + CHANGES):
            if time.monotonic() - began > LIMIT_S:
                break
            shutil.copy(store.path, copy)
            statement = change(copy, np.random.default_rng(seed))
            if not statement:
                continue
            number += 1
            try:
                verify_views(WrittenStore(copy), store.policy, store.staging, store.rows, store.proposals)
                wrong.append(statement)
            except ConfigError:
                continue
    print("\n".join(wrong[:20]))
    return row("views passed by the verifier", len(wrong), "of", f"{number:,} changed files", target=0, met=not wrong)


def change(path: Path, random: np.random.Generator) -> str:
    """Change one figure of a file; returns how, and nothing if it is what it was."""
    with duckdb.connect(str(path)) as file:
        table = str(random.choice(["cells", "class_moment", "set_value"], p=[0.8, 0.15, 0.05]))
        names = [name for (name, *_) in file.execute(f"DESCRIBE {table}").fetchall() if name not in OTHER_NAMES]
        [(rows,)] = file.execute(f"SELECT COUNT(*) FROM {table}").fetchall()
        name, where = random.choice(names), f"rowid = {random.integers(0, rows)}"
        value = str(random.choice(["{x} + 1", "{x} - 1", "NULL", "0", "{x} * 2", "COALESCE({x}, 0) + 1"])).format(
            x=name
        )
        if random.random() < 0.1:
            statement = f"DELETE FROM {table} WHERE {where}"
        else:
            statement = f"UPDATE {table} SET {name} = {value} WHERE {where} AND ({value}) IS DISTINCT FROM {name}"
        [(changed,)] = file.execute(statement).fetchall()
    return statement if changed else ""
