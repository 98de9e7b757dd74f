from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from querygate.client import Client
from querygate.web import create_app
from tests.api.small_site import SmallSite, make_small_site

URL = "http://localhost"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return make_small_site(tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="session")
def app(small: SmallSite) -> Any:
    return create_app(small.opened)


@pytest.fixture
def inside(app: Any) -> httpx.WSGITransport:
    """The way to the gate without a port."""
    return httpx.WSGITransport(app=app)


@pytest.fixture
def gate(small: SmallSite, inside: httpx.WSGITransport) -> Iterator[Client]:
    with Client(URL, small.keys["ann"], "clinic", transport=inside) as client:
        yield client
