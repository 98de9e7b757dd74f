"""Every engine returns the cells the reference returns, and answers come out the same from first principles.

Random tables under random policies, published through the real path, and random statements on them; `make soak
ONLY=engines` tries many more.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from querygate.bounds import gather
from querygate.core.ports import PublishedVersion
from querygate.sql import understand
from tests.adapters.engines import Engine
from tests.adapters.published import NAMES, PATIENT, Published
from tests.adapters.reference import as_merged, as_rows, contents
from tests.property.random_cases import Case, make_case, random_query

RELEASES = range(5)
PROJECTIONS = 6
STATEMENTS = 30


@pytest.fixture(params=RELEASES)
def seed(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Case]:
    """The table of a seed, published once for all engines."""

    @cache
    def make(seed: int) -> Case:
        folder = tmp_path_factory.mktemp(f"release{seed}")
        case = make_case(seed, folder / "first") or make_case(seed + 1000, folder / "second")
        assert case is not None
        return case

    return make


def test_random_releases(engine: Engine, seed: int, made: Callable[[int], Case], tmp_path: Path) -> None:
    if seed != RELEASES[0]:
        engine.needs("speed")
    volume = (1, 2) if engine.slow else (PROJECTIONS, STATEMENTS)
    check_release(engine, seed, made(seed), tmp_path, *volume)


def check_release(
    engine: Engine, seed: int, case: Case, folder: Path, projections: int = PROJECTIONS, statements: int = STATEMENTS
) -> None:
    published = Published(engine, case.opened)
    release, reference = published.open(), published.reference(folder)
    rng = random.Random(seed)

    names = [column.name for column in release.catalog.columns]
    for wanted in [[], names, *(rng.sample(names, rng.randint(1, len(names))) for _ in range(projections))]:
        block = release.project(wanted, PATIENT)
        assert as_rows(block) == reference.project(wanted), wanted
        assert contents(block) == contents(case.opened.store.current("t").project(wanted, PATIENT)), wanted
    for _ in range(statements):
        sql = random_query(rng, case)
        plan = understand(sql, release.catalog, case.opened.gate.native)
        groups = gather(plan, release.project(plan.columns, PATIENT))
        assert as_merged(groups) == reference.fetch(plan), sql
        keys = [group.keys for group in groups]
        assert keys == sorted(keys, key=lambda key: [(k is None, k or "") for k in key]), sql


# -- the shape of a block ------------------------------------------------------------------------------------------


def test_a_block_counts_every_record_once(release: PublishedVersion) -> None:
    for names in ([], ["age"], ["ward", "disease"], NAMES):
        block = release.project(names, PATIENT)
        assert set(block.columns) == set(names)
        assert block.n.dtype == np.int64
        assert block.n.sum() == release.catalog.rows
        assert (block.n > 0).all()


def test_whole_numbers_come_as_whole_numbers(release: PublishedVersion) -> None:
    block = release.project(NAMES, PATIENT)

    assert block.number("record").low.dtype == block.number("record").high.dtype == np.int64
    assert block.number("age").integer
    assert block.number("dose").low.dtype == np.float64
    assert not block.number("dose").integer
    assert set(block.number("dose").null.tolist()) == {0, 2}


def test_names_are_a_set(release: PublishedVersion) -> None:
    same = [
        release.project(names, PATIENT)
        for names in (["age", "ward"], ("ward", "age"), {"age", "ward"}, ["age", "age", "ward"])
    ]

    assert all(as_rows(block) == as_rows(same[0]) for block in same)


def test_the_order_is_fixed(heavy: Published) -> None:
    """Equal bytes from equal files: two engines, or one opened twice, disagree in nothing."""
    heavy.engine.needs("speed")
    first = heavy.opened.store.current("t")
    for names in (["ward"], ["age", "disease"], NAMES):
        same = {tuple(contents(release.project(names, PATIENT))) for release in (first, heavy.open(), heavy.open())}
        assert len(same) == 1
