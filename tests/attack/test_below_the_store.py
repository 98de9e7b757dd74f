"""The gate tells nothing below the store: raw values that are published alike are answered alike, to every question."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import duckdb

from querygate.core.types import Ints, Principal, Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.methods.anonymise import mondrian
from querygate.site.open_gate import OpenSite
from tests.policies import make_policy, quasi, sensitive
from tests.property.random_cases import Case, random_query
from tests.unit.custody.publish.publications import new_site, put

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 100), grid=5),
        "ward": quasi("category", values=["a", "b"]),
        "weight": sensitive("number", (0.0, 200.0), bins=20.0, guard=10.0),
        "pulse": sensitive("integer", (0, 200), carry="hull", grid=10, guard=0),
    },
    k=3,
)
QUERIES = 90
ROWS = 60


def table(pick: Callable[[int], int]) -> dict[str, list]:
    """Sixty people. `pick` chooses among five ages, twenty weights or ten pulses that are published alike."""
    rng = random.Random(11)
    people = [(rng.randrange(18), rng.choice("ab"), rng.randrange(8), rng.randrange(4, 12)) for _ in range(ROWS)]
    return {
        "age": [5 * step + pick(5) for step, _, _, _ in people],
        "ward": [ward for _, ward, _, _ in people],
        "weight": [20.0 * bin + pick(20) + pick(10) / 10 for _, _, bin, _ in people],
        "pulse": [10 * step + pick(10) for _, _, _, step in people],
    }


def publish(folder: Path, pick: Callable[[int], int], labels: list[Ints]) -> Case:
    """Publish with the classes in `labels`; where there are none yet, with those the anonymiser makes."""

    def anonymise(found, k, guards=(), *, progress=None) -> Ints:
        if not labels:
            labels.append(mondrian(found, k, guards))
        return labels[0]

    folder.mkdir()
    opened = new_site(folder)
    put(opened, POLICY, table(pick), anonymiser=anonymise)
    truth = duckdb.connect()
    truth.execute(f"ATTACH '{opened.site.vault}/t/v00001.duckdb' AS vault (READ_ONLY)")
    truth.execute("CREATE VIEW t AS SELECT * FROM vault.rows")
    return Case(POLICY.parsed(), opened, truth)


def told(opened: OpenSite, sql: str) -> str:
    body = make_body(answer(Request(Principal("tester", "researcher"), "t", sql), opened.gate))
    return json.dumps({key: value for key, value in body.items() if key not in ("query_id", "elapsed_ms")})


def test_values_published_alike_are_answered_alike(tmp_path: Path) -> None:
    labels: list[Ints] = []
    lowest = publish(tmp_path / "lowest", lambda choices: 0, labels)
    highest = publish(tmp_path / "highest", lambda choices: choices - 1, labels)
    dice = random.Random(7)
    mixed = publish(tmp_path / "mixed", dice.randrange, labels)

    raw = [
        case.truth.execute("SELECT SUM(age), SUM(weight), SUM(pulse) FROM t").fetchall()
        for case in (lowest, highest, mixed)
    ]
    assert raw[0] != raw[1] != raw[2]
    rng = random.Random(1)
    asked = [random_query(rng, case) for case in (lowest, highest, mixed) for _ in range(QUERIES // 3)]
    for sql in asked:
        assert told(lowest.opened, sql) == told(highest.opened, sql) == told(mixed.opened, sql), sql


def test_values_published_differently_are_noticed(tmp_path: Path) -> None:
    """What proves the test above: the same questions do see a difference where the store has one."""
    labels: list[Ints] = []
    one = publish(tmp_path / "one", lambda choices: 0, labels)
    other = publish(tmp_path / "other", lambda choices: choices, labels)  # a step too far, into the next bin
    rng = random.Random(1)
    asked = [random_query(rng, one) for _ in range(20)]

    assert any(told(one.opened, sql) != told(other.opened, sql) for sql in asked)
