"""Publishing inside Spark beside publishing embedded: random tables and policies, the same cells to the last bit.

Tables have missing values, ties, constants, columns without any value, leading zeros, other alphabets, tiny and huge
numbers, dates and moments; policies have guards, guarantees, hierarchies, groups and tight edges. Both divide into the
same coarse parts, a random number of them. What one refuses, the other has to refuse by the same code.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from querygate.core.errors import ConfigError
from querygate.custody.publish import partition
from querygate.custody.use_cases.publish_version import publish_to
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.spark.spark_tables import PART_BYTES
from querygate_adapters.vault.written_store import WrittenStore
from tests import spark
from tests.policies import (
    AGE,
    IDENTIFIER,
    ILLNESS,
    SEX,
    ZIP,
    PolicyText,
    diverse,
    make_policy,
    public,
    quasi,
    sensitive,
)
from tests.report import row
from tests.unit.custody.publish.publications import new_site

CASES = int(os.environ.get("SPARK_PUBLISH_CASES", "40"))
FILES = 3
ODD = 'an "odd", `long`.name (%) ä'
QUASI = {
    "age": AGE,
    "zip": ZIP,
    "sex": SEX,
    ODD: quasi("category"),
    "gone": quasi("integer", (0, 9)),
    "moved": quasi("boolean"),
    "born": quasi("date", ("1900-01-01", "2030-01-01"), grid=365),
    "seen": quasi("timestamp", ("1900-01-01", "2030-01-01")),
    "height": quasi("number", (0, 3)),
    "blood": quasi("category", values=["A", "B", "AB", "0"], groups=[["A", "AB"], ["B", "0"]]),
    "wing": public("category"),
}
SECRET = {
    "sbp": [
        sensitive("number", (40, 300), grid=5),
        sensitive("number", (40, 300), grid=5, carry="hull", guard=10),
        sensitive("number", (40, 300), grid=5, carry="univariate", guard=5),
        sensitive("number", (40, 300), grid=5, carry="joint"),
    ],
    "cost": [sensitive("number", (0, 1e12), grid=1e9, carry="hull", guard=1e3)],
    "illness": [
        ILLNESS,
        ILLNESS | diverse("distinct", l=2),
        ILLNESS | diverse("t-closeness", t=0.5),
        ILLNESS | diverse("entropy", l=1.5),
        ILLNESS | diverse("alpha", alpha=0.8),
    ],
}


def run() -> list[dict[str, Any]]:
    wrong: list[str] = []
    published = 0
    try:
        spark.begin()
        for seed in range(CASES):
            with tempfile.TemporaryDirectory() as folder:
                found = _case(Path(folder), seed)
                published += found == ""
                wrong += [f"case {seed}: {found}"] if found not in ("", "refused") else []
    finally:
        spark.stop()
    print("\n".join(wrong))
    told = f"{CASES} random tables, {published} of them published"
    return [row("spark: published otherwise than embedded", len(wrong), "of", told, target=0, met=not wrong)]


def _case(folder: Path, seed: int) -> str:
    """What differs; `refused` if both refuse."""
    chance = np.random.default_rng(seed)
    rows = int(chance.choice([0, 1, 7, 60, 500, 3_000]))
    policy = _policy(chance)
    (folder / "people").mkdir()
    table = _people(chance, rows)
    for i in range(FILES):
        pq.write_table(table.slice(i * rows // FILES, (i + 1) * rows // FILES - i * rows // FILES), _file(folder, i))
    at_once = int(chance.choice([30, 200, 10_000]))
    with (
        mock.patch.object(partition, "BYTES", PART_BYTES // at_once),
        mock.patch.dict(os.environ, {"QUERYGATE_PUBLISH_MEMORY_MB": "128"}),
    ):
        made = [_made(folder / name, folder, policy, vault) for name, vault in (("own", ""), ("inside", "vault"))]
    if isinstance(made[0], str) or isinstance(made[1], str):
        codes = [one.partition(":")[0] if isinstance(one, str) else "published" for one in made]
        return "refused" if codes[0] == codes[1] else f"{made[0]!s:.300} | {made[1]!s:.300}"
    return "" if made[0] == made[1] else f"cells of {policy}"


def _made(site: Path, folder: Path, policy: PolicyText, vault: str) -> dict[str, pa.Table] | str:
    site.mkdir()
    opened = new_site(site)
    where = f"spark:{folder}/{vault}" if vault else ""
    try:
        publish_to(opened, policy.parsed(), f"spark:{folder}/people", user="carl", vault=where)
    except ConfigError as error:
        return f"{error.code}: {error}"
    return WrittenStore(version_file(opened.site.store / "t", 1)).tables()


def _file(folder: Path, number: int) -> Path:
    return folder / "people" / f"{number}.parquet"


def _policy(chance: np.random.Generator) -> PolicyText:
    names = chance.choice(list(QUASI), int(chance.integers(1, 5)), replace=False).tolist()
    secret = [name for name in SECRET if chance.random() < 0.6]
    columns = {"id": IDENTIFIER, **{name: QUASI[name] for name in names}}
    columns |= {name: SECRET[name][int(chance.integers(len(SECRET[name])))] for name in secret}
    edges = "tight" if chance.random() < 0.2 else "grid"
    options = {"method": "mondrian", "edges": edges}
    return make_policy("t", columns, k=int(chance.integers(2, 12)), anonymise=options, person="id")


def _people(chance: np.random.Generator, rows: int) -> pa.Table:
    def masked() -> Any:
        return chance.random(rows) < chance.choice([0, 0.1, 0.9])

    age = chance.integers(0, 100, rows)
    days = np.datetime64("2026-01-01") - age * 365
    moments = days.astype("datetime64[us]") + chance.integers(0, 10**11, rows)
    cost = np.where(chance.random(rows) < 0.5, 1e-9, chance.random(rows) * 1e12)
    return pa.table(
        {
            "id": pa.array([f"person-{n:06}" for n in range(rows)]),
            "age": pa.array(age, pa.int32(), mask=masked()),
            "zip": pa.array(chance.choice(["00123", "00199", "01000", "99999"], rows), mask=masked()),
            "sex": pa.array(chance.choice(["F", "M, or so", 'the "third"', "Ω 日本"], rows), mask=masked()),
            ODD: pa.array(["only one"] * rows),
            "gone": pa.array([None] * rows, pa.int64()),
            "moved": pa.array(chance.random(rows) < 0.5, mask=masked()),
            "born": pa.array(days, mask=masked()),
            "seen": pa.array(moments, mask=masked()),
            "blood": pa.array(chance.choice(["A", "B", "AB", "0"], rows), mask=masked()),
            "wing": pa.array(chance.choice(["north", "south"], rows)),
            "height": pa.array(np.abs(chance.normal(1.7, 0.2, rows)).clip(0, 3), mask=masked()),
            "sbp": pa.array(np.round(chance.normal(130, 15, rows), 1).clip(40, 300), mask=masked()),
            "cost": pa.array(cost, mask=masked()),
            "illness": pa.array(chance.choice(["flu", "gout", "émia"], rows), mask=masked()),
        }
    )
