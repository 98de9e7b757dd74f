"""A provider, which is started once, and a site whose people come through it."""

from __future__ import annotations

import pytest

from tests.empty_site import empty_site
from tests.oidc_provider import OidcProvider, running
from tests.sign_on_site import make_sign_on_site


@pytest.fixture(scope="session")
def running_provider():
    with running(OidcProvider()) as provider:
        yield provider


@pytest.fixture
def provider(running_provider):
    running_provider.reset()
    return running_provider


@pytest.fixture
def site(tmp_path, provider, monkeypatch):
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "100000")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    yield made
    made.opened.log.database.close()
