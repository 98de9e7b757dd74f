"""A provider that is silent, or another than it says: keys work, and pages do not wait."""

from __future__ import annotations

from querygate.web import create_app
from tests.each import each


def test_without_the_provider_keys_work_and_pages_do_not_wait(tmp_path, site, provider):
    key = site.opened.accounts.keys.new(site.opened.accounts.add_user("carl", "custodian").name).secret
    client = site.app.test_client()
    calls = len(provider.calls)
    page = client.get("/sign-in")
    assert "Sign in with the hospital" in page.text
    assert len(provider.calls) == calls  # a page asks nobody
    provider.broken = True
    refused = client.get("/sign-in/provider")
    assert (refused.status_code, "QG320: The provider" in refused.text) == (503, True)
    assert 'name="key"' in refused.text
    assert "Set-Cookie" not in refused.headers
    calls = len(provider.calls)
    assert client.get("/sign-in/provider").status_code == 503
    assert len(provider.calls) == calls  # not tried again at once
    assert client.post("/sign-in", data={"key": key}).status_code == 303
    assert site.opened.log.database.rows("SELECT * FROM sign_in_attempt") == []


@each(
    "metadata",
    [
        {"issuer": "https://elsewhere.example"},
        {"token_endpoint": "http://elsewhere.example/token"},
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:x"},
        {"token_endpoint": "https://user@elsewhere.example/"},
    ],
)
def test_a_provider_that_describes_another_is_none(site, provider, metadata):
    provider.metadata_more = metadata
    fresh = create_app(site.opened).test_client()
    assert fresh.get("/sign-in/provider").status_code == 503


def test_a_provider_that_falls_silent_on_the_way_back(site, provider):
    provider.add("ann", "researchers")
    browser = site.browser()
    back = browser.sign_in_there(browser.depart(), "ann")
    provider.broken = True
    assert browser.arrive(back).status_code == 503
    assert not browser.is_in
