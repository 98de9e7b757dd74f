"""Moments of classes: every engine has the same, and projects by class as the reference does by hand."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pytest

from querygate.core.block import Block, NumberColumn
from querygate.core.errors import ConfigError, Refusal
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body, to_json
from querygate_adapters.store.catalog_json import catalog_from_json, catalog_to_json
from querygate_adapters.store.duckdb_store import DuckDBRelease
from tests.adapters.engines import OTHERS, Engine
from tests.adapters.published import PATIENT, Published
from tests.adapters.reference import contents
from tests.engine import reading
from tests.policies import AGE, SBP, make_policy
from tests.property.moment_cases import moment_case, moment_query
from tests.property.random_cases import RESEARCHER, Case
from tests.unit.custody.publish.publications import new_site, put

SEEDS = (3, 5, 8)


Cases = Callable[[int], Case]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """The table of a seed, published once for all engines."""
    return cache(lambda seed: case_of(seed, tmp_path_factory.mktemp(f"case{seed}")))


def case_of(seed: int, folder: Path) -> Case:
    for attempt in range(20):
        case = moment_case(seed + 100 * attempt, folder / str(attempt))
        if case is not None:
            return case
    raise AssertionError("no random table can be published")


def everything(block: Block) -> list[bytes]:
    """The bytes of a block, classes and moments included."""
    assert block.classified is not None
    told = [
        getattr(moments, name).tobytes()
        for _, moments in sorted(block.classified.moments.items())
        for name in ("label", "n", "sum_low", "sum_high", "var_low", "var_high")
    ]
    return [*contents(block), block.classified.label.tobytes(), block.classified.row.tobytes(), *told]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_engine_has_the_same_moments(engine: Engine, seed: int, made: Cases) -> None:
    if seed != SEEDS[0]:
        engine.needs("speed")
    case = made(seed)
    release = Published(engine, case.opened).open()
    first = case.opened.store.current("t")
    names = [column.name for column in release.catalog.columns]
    for wanted in (["x"], ["age", "x"], ["ward", "x"], names):
        block = release.project(wanted, PATIENT, ["x"])
        assert everything(block) == everything(first.project(wanted, PATIENT, ["x"]))
        assert contents(release.project(wanted, PATIENT)) == contents(first.project(wanted, PATIENT))
        assert release.project(wanted, PATIENT).classified is None


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_and_moments_are_those_of_the_file(engine: Engine, seed: int, made: Cases, tmp_path: Path) -> None:
    """Grouped by hand, from the file, in plain Python."""
    engine.needs("speed")
    case = made(seed)
    release = Published(engine, case.opened).open()
    file = case.opened.site.store / "t" / "v00001.duckdb"
    shutil.copy(file, tmp_path / "copy.duckdb")
    i = release.catalog.column("x").index  # type: ignore[union-attr]
    with reading(tmp_path / "copy.duckdb") as database:
        cells = database.execute(f"SELECT class, c{i}_lo, c{i}_hi, n FROM cells").fetchall()
        told = database.execute(f"SELECT class, n, sum_lo, sum_hi FROM class_moment WHERE column_id = {i}").fetchall()
    expected: Counter[tuple] = Counter()
    known: dict[int, int] = defaultdict(int)
    for label, low, high, n in cells:
        expected[label, low or 0, high or 0] += n
        known[label] += n if low is not None else 0

    block = release.project(["x"], PATIENT, ["x"])
    column = block.columns["x"]
    assert isinstance(column, NumberColumn)
    assert block.classified is not None
    rows = zip(
        block.classified.label.tolist(), column.low.tolist(), column.high.tolist(), block.n.tolist(), strict=True
    )
    assert Counter({row[:3]: row[3] for row in rows}) == expected
    moments = block.classified.moments["x"]
    listed = zip(
        moments.label.tolist(), moments.n.tolist(), moments.sum_low.tolist(), moments.sum_high.tolist(), strict=True
    )
    assert sorted(listed) == sorted(told)
    assert all(known[label] == n for label, n, *_ in told)
    assert block.told == frozenset({"x"})


@pytest.mark.parametrize("engine", OTHERS)
def test_answers_are_alike(engine: Engine, tmp_path: Path) -> None:
    engine.needs("speed")
    case = case_of(1, tmp_path)
    other, rng, compared = engine.gate(case.opened), random.Random(1), 0
    for _ in range(25):
        sql = moment_query(rng, case)
        found = []
        for gate in (case.opened.gate, other):
            try:
                body = make_body(answer(Request(RESEARCHER, "t", sql), gate)) | {"query_id": "", "elapsed_ms": 0}
                found.append(to_json(body))
            except Refusal as refusal:
                found.append(refusal.code)
        assert found[0] == found[1], sql
        compared += isinstance(found[0], bytes)
    assert compared > 15


# -- the form of a store ---------------------------------------------------------------------------------------------


def test_a_store_without_moments_is_what_it_was(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    policy = make_policy("t", {"age": AGE, "sbp": SBP | {"guard": 5}}, k=2)
    put(opened, policy, {"age": [1, 2, 3, 4], "sbp": [100, 120, 140, 160]})
    release = opened.store.current("t")
    text = catalog_to_json(release.catalog)
    assert "moments" not in text
    assert "shared" not in text
    assert '"format"' not in text
    assert release.project(["sbp"], PATIENT, ["sbp"]).classified is None
    shutil.copy(opened.site.store / "t" / "v00001.duckdb", tmp_path / "copy.duckdb")
    with reading(tmp_path / "copy.duckdb") as file:
        assert "class_moment" not in {row[0] for row in file.execute("SHOW TABLES").fetchall()}


def test_a_store_with_moments_says_that_it_is_newer(tmp_path: Path) -> None:
    case = case_of(2, tmp_path)
    text = catalog_to_json(case.opened.store.current("t").catalog)
    assert json.loads(text)["format"] > 3, "its ages have cuts too"
    assert catalog_from_json(text) == case.opened.store.current("t").catalog
    with pytest.raises(ConfigError, match="newer"):
        catalog_from_json(json.dumps(json.loads(text) | {"format": 99}))


def test_damaged_moments_are_not_read(tmp_path: Path) -> None:
    case = case_of(4, tmp_path)
    copy = tmp_path / "damaged.duckdb"
    shutil.copy(case.opened.site.store / "t" / "v00001.duckdb", copy)
    with duckdb.connect(str(copy)) as file:
        file.execute("UPDATE class_moment SET sum_lo = sum_hi + 1")
    with pytest.raises(ValueError, match="damaged"):
        DuckDBRelease(copy).project(["x"], PATIENT, ["x"])
    assert np.all(DuckDBRelease(copy).project(["x"], PATIENT).n > 0)
