"""Public tables reach every engine with their version, whole, and answer there as they do at home."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body
from querygate.site.open_gate import OpenSite
from tests.adapters.engines import Engine
from tests.unit.custody.publish.publications import RESEARCHER
from tests.unit.custody.publish.tables import (
    outside,
    publish_regions,
    raw_tables,
)

SQL = "SELECT name, COUNT(*), SUM(people), AVG(density) FROM t LEFT JOIN regions ON region = code GROUP BY name"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clinic")


@pytest.fixture(scope="module")
def opened(folder: Path) -> OpenSite:
    return publish_regions(folder)


def test_the_tables_arrive(engine: Engine, opened: OpenSite) -> None:
    there = engine.gate(opened).store.current("t").catalog

    assert there == opened.store.current("t").catalog
    assert there.references[0].hash == opened.store.current("t").catalog.references[0].hash


def test_the_truth_is_inside(engine: Engine, opened: OpenSite, folder: Path) -> None:
    rows = make_body(answer(Request(RESEARCHER, "t", SQL), engine.gate(opened)))["rows"]

    assert not outside(rows, raw_tables(folder).execute(SQL).fetchall(), 1)
