"""The wide study, published once for all tests of a process."""

from __future__ import annotations

import pytest

from querygate.site.open_gate import OpenSite
from tests.wide_study import publish_study


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    return publish_study(tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="session")
def views(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    return publish_study(tmp_path_factory.mktemp("views"), views=True)
