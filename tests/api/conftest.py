from __future__ import annotations

import pytest

from querygate.web import create_app
from tests.api.console_site import ConsoleSite, copy_console_site, make_console_site
from tests.api.small_site import make_small_site


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return make_small_site(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="session")
def app(small):
    return create_app(small.opened)


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def get(client, small):
    """GET as one of the people of the site; without a name, as nobody."""
    return lambda path, name=None: client.get(path, headers=small.headers(name) if name else {}, buffered=True)


@pytest.fixture
def ask(client, small):
    """Ask a statement as one of the people of the site."""

    def asked(sql, name="ann", path="/api/v1/query", dataset="clinic", **more):
        return client.post(path, headers=small.headers(name), json={"dataset": dataset, "sql": sql, **more})

    return asked


@pytest.fixture(scope="session")
def console_template(tmp_path_factory: pytest.TempPathFactory) -> ConsoleSite:
    settings = f"upload_mb = 1\npublish_sources = 'kept={__file__}'\n"
    return make_console_site(tmp_path_factory.mktemp("console"), settings)


@pytest.fixture(scope="module")
def site(console_template: ConsoleSite, tmp_path_factory: pytest.TempPathFactory) -> ConsoleSite:
    """A site for the pages of those who look after it. Each module has its own to change."""
    return copy_console_site(console_template, tmp_path_factory.mktemp("console"))
