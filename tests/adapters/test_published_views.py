"""Versions of views: every engine has the same blocks of every margin, and a copy that differs is not kept."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from querygate.core.block import ALL_NULLS, Block, NumberColumn
from querygate.core.errors import ConfigError
from querygate.core.ports import PublishedVersion
from querygate.custody.use_cases.copy_store import copy_store
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.store.held_release import HeldRelease
from querygate_adapters.vault import postgres_writer
from tests.adapters.engines import Engine
from tests.adapters.published import PATIENT, Published
from tests.adapters.reference import contents
from tests.policies import code_list, make_policy, quasi, sensitive
from tests.postgres import Server
from tests.unit.custody.publish.publications import new_site, put

NUMBER = 80
POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 99), grid=1, cuts=[50]),
        "ward": quasi("category", values=["a", "b", "ü,\n", ""]),
        "sex": quasi("boolean"),
        "job": quasi("boolean"),
        "sbp": sensitive("integer", (40, 300), guard=20),
        "bmi": sensitive("number", (10, 80), guard=5),
        "ill": sensitive("category", values=["flu", "gout"]),
        "dx": code_list("flat", values=["007", "250.00", "401.9"]),
    },
    k=3,
    views={"linked": [["bmi", "ill"]], "codes": {"dx": {"zucker, alle": ["250.00"]}}},
)


def people() -> dict[str, list[Any]]:
    rng = random.Random(1)
    return {
        "age": [None if rng.random() < 0.1 else rng.randrange(100) for _ in range(NUMBER)],
        "ward": [rng.choice(["a", "b", "ü,\n", "", None]) for _ in range(NUMBER)],
        **{name: [rng.random() < 0.5 for _ in range(NUMBER)] for name in ("sex", "job")},
        "sbp": [None if rng.random() < 0.1 else rng.randrange(90, 180) for _ in range(NUMBER)],
        "bmi": [rng.uniform(15, 40) for _ in range(NUMBER)],
        "ill": [rng.choice(["flu", "gout", None]) for _ in range(NUMBER)],
        "dx": [rng.choice([None, [], ["007"], ["250.00", "401.9"], ["250.00"]]) for _ in range(NUMBER)],
    }


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    made = new_site(tmp_path_factory.mktemp("views"))
    put(made, POLICY, people())
    return made


def everything(block: Block) -> list[bytes]:
    assert block.frame is not None
    told = [] if block.classified is None else [block.classified.label.tobytes()]
    return [*contents(block), block.frame.tobytes(), *told]


def test_every_engine_has_the_same_blocks_of_every_margin(engine: Engine, opened: OpenSite) -> None:
    release = Published(engine, opened).open()
    places = range(len(release.catalog.margins))
    check_same_blocks(release, opened, places[-1:] if engine.slow else places)


def test_cells_that_are_held_in_memory_are_the_same_blocks(opened: OpenSite) -> None:
    release = HeldRelease(version_file(opened.site.store / "t", 1))
    check_same_blocks(release, opened, range(len(release.catalog.margins)))


def check_same_blocks(release: PublishedVersion, opened: OpenSite, places: Sequence[int]) -> None:
    first = opened.store.current("t")
    names = [column.name for column in release.catalog.columns]
    frames = set()
    for margin in places:
        for wanted, moments in ((names, ()), (names, ("sbp", "bmi")), ((), ()), (("age", "sbp"), ("sbp",))):
            block = release.project(wanted, PATIENT, moments, margin)
            assert everything(block) == everything(first.project(wanted, PATIENT, moments, margin))
            assert int(block.n.sum()) == NUMBER
        assert block.frame is not None
        frames.add(tuple(np.bincount(block.frame, block.n).tolist()))
    assert len(frames) == 1  # all margins have the same records in a frame cell


def test_a_column_that_a_margin_does_not_tell_of_may_have_any_value(opened: OpenSite) -> None:
    release = opened.store.current("t")
    (place, *_) = [i for i, margin in enumerate(release.catalog.margins) if margin.sensitive == ("sbp",)]
    column = release.project(["bmi"], PATIENT, (), place).columns["bmi"]
    assert isinstance(column, NumberColumn)
    assert (set(column.low.tolist()), set(column.high.tolist())) == ({10.0}, {80.0})
    known = release.project(["sbp"], PATIENT, (), place).columns["sbp"]
    assert isinstance(known, NumberColumn)
    assert ALL_NULLS in known.null.tolist()  # missing values are cells of their own


def test_a_copy_that_differs_in_one_class_is_not_kept(
    opened: OpenSite, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = postgres.url(database=postgres.new_database())
    right = postgres_writer.block_bits
    seen: list[int] = []

    def wrong(block: Block, dictionaries: Any) -> Any:
        """What arrived of the last margin has another frame."""
        seen.append(1)
        if len(seen) == 2 * len(opened.store.current("t").catalog.margins) and block.frame is not None:
            return right(replace(block, frame=block.frame + 1), dictionaries)
        return right(block, dictionaries)

    monkeypatch.setattr(postgres_writer, "block_bits", wrong)
    with pytest.raises(ConfigError, match="differ from what was sent"):
        copy_store(opened, to, (), user="tester")
    monkeypatch.undo()
    (copied,) = copy_store(opened, to, (), user="tester")
    assert copied.copied == (1,)
