from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.wire.wire_site import WireSite, wire_site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireSite]:
    """One server for all tests of this folder; they leave accounts and grants as they were."""
    with wire_site(tmp_path_factory.mktemp("wire")) as served:
        yield served
