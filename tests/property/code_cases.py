"""Published tables with lists of codes, random case definitions about them, and the truth.

The truth is DuckDB's own on the raw rows, by the macros that docs/reference/codes.md prints. Small tables have lists
like those of claims: a few frequent diagnoses, a long tail of rare ones, categories of five codes each. The claims are
those of all patients of a synthetic Medicare sample.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from querygate.core.ports import Limits
from querygate.gate.answer_rows import compute_groups
from querygate.site.open_gate import OpenSite
from querygate.sql import understand
from tests.code_study import macros
from tests.engine import scratch
from tests.places import DATA
from tests.policies import AGE, WITHHELD, code_list, make_policy
from tests.unit.custody.publish.publications import new_site, put

PATIENTS = 400
CATEGORIES = tuple(str(number) for number in range(240, 300, 2))
CODES = tuple(f"{category}.{digit}" for category in CATEGORIES for digit in range(5))
TESTS = ("has_code(", "has_any(", "has_all(", "has_code_under(")
VISITS = {"kind": "visits", "column": "visits"}
KNOWN = {"kind": "itemsets", "itemsets": "known.csv", "k": 40}
SETTINGS = {
    "cba, sets of two": ("cba", {"kind": "k^m", "m": 2}, 2),
    "ugaclip, sets of visits": ("ugaclip", VISITS, 1),
    "k^m in the hierarchy": ("apriori", {"kind": "k^m", "m": 2}, 1),
    "listed sets, most of it suppressed": ("cba", KNOWN, 1),
    "whole lists alike": ("partition", {"kind": "complete"}, 1),
    "within classes": ("classes", {"kind": "classes", "m": 1}, 1),
}


def patients(rng: random.Random) -> dict[str, list[Any]]:
    weights = [1 / (1 + place) for place in range(len(CODES))]
    rows: dict[str, list[Any]] = {"age": [], "dx": [], "visits": []}
    for _ in range(PATIENTS):
        visits = [rng.choices(CODES, weights, k=rng.randint(1, 3)) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        held = [code for visit in visits for code in visit]
        rows["age"].append(rng.randint(20, 90))
        rows["dx"].append(rng.choice([None, []]) if not held else [*held, None] if rng.random() < 0.1 else held)
        rows["visits"].append(visits)
    return rows


def published(folder: Path, rows: dict[str, list[Any]], setting: str, rng: random.Random) -> OpenSite:
    method, protect, level = SETTINGS[setting]
    folder.joinpath("codes.csv").write_text(
        "".join(f"{code};{code[:3]};{code[:2]};any\n" for code in CODES), encoding="utf-8"
    )
    folder.joinpath("known.csv").write_text(
        "".join(";".join(rng.sample(CODES, rng.randint(1, 3))) + "\n" for _ in range(60)), encoding="utf-8"
    )
    dx = code_list("codes.csv", method=method, protect=protect, utility={"kind": "level", "level": level})
    columns = {"age": AGE, "dx": dx} | ({"visits": WITHHELD} if protect is VISITS else {})
    opened = new_site(folder)
    put(opened, make_policy("t", columns).parsed(folder), {name: rows[name] for name in columns})
    return opened


def condition(rng: random.Random, depth: int, codes: Sequence[str] = CODES) -> str:
    """A random case definition: codes and age with AND, OR and NOT."""
    if depth and rng.random() < 0.7:
        parts = [condition(rng, depth - 1, codes) for _ in range(rng.randint(2, 3))]
        joined = f" {rng.choice(['AND', 'OR'])} ".join(f"({part})" for part in parts)
        return f"NOT ({joined})" if rng.random() < 0.3 else joined
    some = ", ".join(f"'{code}'" for code in rng.choices(codes[:80], k=rng.randint(1, 3)))
    test = rng.choice(
        [
            f"has_code(dx, '{rng.choice(codes)}')",
            f"has_any(dx, {some})",
            f"has_all(dx, {some})",
            f"has_code_under(dx, '{rng.choice(codes)[:3]}')",
            f"age {rng.choice(['<', '>='])} {rng.randint(20, 90)}",
        ]
    )
    return f"NOT {test}" if rng.random() < 0.3 else test


def raw(rows: dict[str, list[Any]]) -> duckdb.DuckDBPyConnection:
    connection = scratch()
    for macro in macros():
        connection.execute(macro)
    connection.execute("CREATE TABLE t (age BIGINT, dx VARCHAR[])")
    connection.register("given", pa.table({"age": rows["age"], "dx": pa.array(rows["dx"], pa.list_(pa.string()))}))
    connection.execute("INSERT INTO t SELECT age, dx FROM given")
    return connection


def counted(opened: OpenSite, sql: str) -> tuple[Any, Any]:
    """As the gate answers, without its log."""
    release, limits = opened.gate.store.current("t"), Limits()
    plan = understand(sql, release.catalog, opened.gate.native, limits)
    [group] = compute_groups(plan, release.project(plan.columns, limits), lambda: None)
    return group.ranges[0].low, group.ranges[0].high


@dataclass
class Tried:
    """What came of random case definitions."""

    wrong: list[str] = field(default_factory=list)
    exact: int = 0
    tests: Counter[str] = field(default_factory=Counter)


def try_small(setting: str, folder: Path, queries: int, seed: str = "") -> Tried:
    """A random small table under a setting."""
    rng = random.Random(setting + seed)
    rows = patients(rng)
    return _tried(published(folder, rows, setting, rng), raw(rows), rng, CODES, queries)


def _tried(
    opened: OpenSite, truth: duckdb.DuckDBPyConnection, rng: random.Random, codes: Sequence[str], queries: int
) -> Tried:
    tried = Tried()
    for _ in range(queries):
        sql = f"SELECT COUNT(*) AS n FROM t WHERE {condition(rng, rng.choice([0, 1, 1, 2]), codes)}"
        [(count,)] = truth.execute(sql).fetchall()
        low, high = counted(opened, sql)
        if not low <= count <= high:
            tried.wrong.append(f"{count} is not from {low} to {high}: {sql}")
        tried.exact += low == high
        tried.tests.update(test for test in TESTS if test in sql)
    return tried


# -- claims --------------------------------------------------------------------------------------------------------

CLAIMS = DATA / "codes" / "synpuf_1.csv.gz"
CLAIMS_SETTINGS = {
    "what is left of visits": {"protect": VISITS},
    "whole visits, diseases spared": {
        "protect": VISITS | {"look_for": "whole"},
        "utility": {"kind": "diseases", "spare": "listed"},
    },
    "sets of two": {"protect": {"kind": "k^m", "m": 2}, "method": "ugaclip"},
    "whole lists alike": {"protect": {"kind": "complete"}},
}


def dotted(code: str) -> str:
    """A claim's code in its official spelling: a dot after the category; one that begins with E has four characters."""
    place = 4 if code.startswith("E") else 3
    return f"{code[:place]}.{code[place:]}" if len(code) > place else code


def claims(rng: random.Random) -> dict[str, list[Any]]:
    """The diagnoses of synthetic Medicare patients, without dots as claims have them, and an age for each."""
    visits: dict[str, list[list[str]]] = {}
    with gzip.open(CLAIMS, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            visits.setdefault(row["patient"], []).append(row["codes"].split())
    drawn = list(visits.values())
    held = [[code.lower() for visit in one for code in visit] for one in drawn]
    return {"age": [rng.randint(60, 99) for _ in drawn], "dx": held, "visits": drawn}


def try_claims(setting: str, folder: Path, queries: int, seed: str = "", patients: int | None = None) -> Tried:
    """All patients under a setting, or the first of them."""
    rng = random.Random(setting + seed)
    rows = {name: values[:patients] for name, values in claims(rng).items()}
    opened = new_site(folder)
    columns = {"age": AGE, "dx": code_list("icd9cm", **CLAIMS_SETTINGS[setting]), "visits": WITHHELD}
    report = put(opened, make_policy("t", columns), rows)
    assert min(figure for name, figure in report.measured.kept.items() if name.startswith("fewest records")) >= 5
    truth = raw({"age": rows["age"], "dx": [[dotted(code.upper()) for code in one] for one in rows["dx"]]})
    common = Counter(dotted(code.upper()) for one in rows["dx"] for code in set(one))
    codes = [code for code, _ in common.most_common(400) if not code.startswith("E")]
    return _tried(opened, truth, rng, codes, queries)
