"""A release of each engine."""

from __future__ import annotations

import pytest

from querygate.core.ports import PublishedVersion
from tests.adapters.engines import ENGINES, Engine
from tests.adapters.published import POLICY, Published, heavy_columns
from tests.unit.custody.publish.publications import new_site, put


@pytest.fixture(params=[pytest.param(one, id=one.name, marks=one.marks) for one in ENGINES], scope="session")
def engine(request: pytest.FixtureRequest) -> Engine:
    """One that lacks speed has its own tests, and the comparison of answers; all others in the soak."""
    request.param.needs("speed")
    return request.param


@pytest.fixture(scope="session")
def heavy(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Published:
    opened = new_site(tmp_path_factory.mktemp("heavy"))
    put(opened, POLICY, heavy_columns())
    return Published(engine, opened)


@pytest.fixture
def release(heavy: Published) -> PublishedVersion:
    return heavy.open()
