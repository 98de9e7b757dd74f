"""Many threads on one release, and a version that changes under their hands."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from tests.adapters.published import NAMES, PATIENT, Published
from tests.adapters.reference import contents
from tests.policies import AGE, make_policy
from tests.unit.custody.publish.publications import RESEARCHER, ask, new_site, put, shelf_of
from tests.work import HANG_S

THREADS = 8
TURNS = 50
SUBSETS = [subset for size in (0, 1, 2) for subset in itertools.combinations(NAMES[:4], size)]


def in_threads(work: Callable[[int], object]) -> list[object]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def test_threads_on_one_release_read_the_same(heavy: Published) -> None:
    heavy.engine.needs("speed")
    expected = {names: contents(heavy.open().project(names, PATIENT)) for names in SUBSETS}
    shared = heavy.open()
    together = threading.Barrier(THREADS)

    def read(number: int) -> int:
        rng = random.Random(number)
        together.wait()
        return sum(
            contents(shared.project(names, PATIENT)) == expected[names] for names in rng.choices(SUBSETS, k=TURNS)
        )

    assert in_threads(read) == [TURNS] * THREADS


def test_threads_through_the_gate_are_answered_the_same(heavy: Published) -> None:
    heavy.engine.needs("speed")
    statements = [
        "SELECT COUNT(*), AVG(dose) FROM t WHERE age BETWEEN 20 AND 40",
        "SELECT ward, COUNT(*), MAX(age) FROM t WHERE disease = 'flu' OR dose > 1 GROUP BY ward",
        "SELECT disease, SUM(dose) FROM t WHERE NOT (ward = 'a' AND age < 30) GROUP BY disease ORDER BY disease",
    ]
    served = replace(heavy.opened, gate=heavy.engine.gate(heavy.opened))
    expected = [json.dumps(ask(heavy.opened, sql)) for sql in statements]

    def question(number: int) -> bool:
        order = random.Random(number).choices(range(len(statements)), k=4)
        return all(json.dumps(ask(served, statements[i])) == expected[i] for i in order)

    assert all(in_threads(question))


def test_a_switch_of_versions_is_seen_whole(heavy: Published, tmp_path: Path) -> None:
    """Answers of either version, right for the version they name, and never an error."""
    heavy.engine.needs("speed")
    heavy.engine.needs("switch")
    opened = new_site(tmp_path)
    policy = make_policy("t", {"age": AGE}, k=2)
    rows = {1: 6, 2: 40}
    put(opened, policy, {"age": list(range(20, 20 + rows[1]))})
    gate = heavy.engine.gate(opened)
    ended = threading.Event()
    first = {version: threading.Event() for version in rows}
    seen = []

    def ask_on(number: int) -> None:
        while not ended.is_set():
            body = make_body(answer(Request(RESEARCHER, "t", "SELECT COUNT(*) AS n FROM t"), gate))
            seen.append((body["version"], body["rows"][0]["n"]["low"], body["rows"][0]["n"]["high"]))
            first[body["version"]].set()

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask_on, number) for number in range(3)]
        try:
            assert first[1].wait(HANG_S)
            put(opened, policy, {"age": list(range(20, 20 + rows[2]))})
            heavy.engine.bring(opened)
            assert first[2].wait(HANG_S)
            for turn in range(20):
                shelf_of(opened).serve_version("t", 1 + turn % 2)
                heavy.engine.bring(opened)
        finally:
            ended.set()
        assert [future.result() for future in asking] == [None] * 3

    assert all((low, high) == (rows[version], rows[version]) for version, low, high in seen)
