"""Browsers set out, arrive and leave: nobody else arrives in their place, and nothing leads elsewhere."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import requests

from querygate.web.console.page_session import COOKIE
from tests.each import each
from tests.empty_site import empty_site
from tests.oidc_provider import CLIENT
from tests.sign_on_site import make_sign_on_site
from tests.work import HANG_S


def test_another_browser_cannot_be_made_to_arrive(site, provider):
    """Login CSRF: the attacker signs in at the provider and has a victim's browser go where they were sent back to."""
    provider.add("mallory", "researchers")
    attacker = site.browser()
    back = attacker.sign_in_there(attacker.depart(), "mallory")
    victim = site.browser()
    assert victim.arrive(back).status_code == 401
    victim.depart()
    assert victim.arrive(back).status_code == 401
    assert not victim.is_in
    assert attacker.arrive(back).status_code == 303


@each("change", ["state=x", "state=", "state=%ff", "stat=1"])
def test_a_browser_with_another_state_does_not_arrive(site, provider, change):
    provider.add("ann", "researchers")
    browser = site.browser()
    back = browser.sign_in_there(browser.depart(), "ann")
    code = parse_qs(urlsplit(back).query)["code"][0]
    assert browser.arrive(f"/sign-in/callback?code={code}&{change}").status_code == 401
    assert browser.arrive(back).status_code == 401  # and has to set out again
    assert not browser.is_in


def test_a_code_is_good_once_and_for_the_browser_that_set_out(site, provider):
    provider.add("ann", "researchers")
    browser = site.browser()
    back = browser.sign_in_there(browser.depart(), "ann")
    assert browser.arrive(back).status_code == 303
    assert browser.arrive(back).status_code == 401
    # Somebody else's code in one's own way back: the provider compares the verifier.
    first, second = site.browser(), site.browser()
    stolen = parse_qs(urlsplit(first.sign_in_there(first.depart(), "ann")).query)["code"][0]
    own = parse_qs(urlsplit(second.depart()).query)["state"][0]
    assert second.arrive(f"/sign-in/callback?code={stolen}&state={own}").status_code == 401
    assert not second.is_in


@each("more", ["&iss=https%3A%2F%2Felsewhere.example", "&iss=", "&error=access_denied", "&error=", "&code="])
def test_what_another_provider_sends_is_not_believed(site, provider, more):
    provider.add("ann", "researchers")
    browser = site.browser()
    back = browser.sign_in_there(browser.depart(), "ann")
    back = back.replace("code=", "was=") + more if more == "&code=" else back + more
    assert browser.arrive(back).status_code == 401
    assert not browser.is_in


def test_a_provider_that_names_itself_is_not_silent(site, provider):
    provider.add("ann", "researchers")
    provider.metadata_more = {"authorization_response_iss_parameter_supported": True}
    browser = site.browser()
    assert browser.sign_in("ann").status_code == 401
    back = browser.sign_in_there(browser.depart(), "ann")
    assert browser.arrive(f"{back}&iss={provider.issuer}").status_code == 303


def test_a_session_is_never_the_one_that_the_browser_had(site, provider):
    provider.add("ann", "researchers")
    browser = site.browser()
    browser.client.set_cookie(COOKIE, "a" * 64)
    browser.sign_in("ann")
    first = browser.client.get_cookie(COOKIE).value
    assert first != "a" * 64
    browser.sign_in("ann")
    assert browser.client.get_cookie(COOKIE).value != first
    other = site.app.test_client()
    other.set_cookie(COOKIE, first)
    assert other.get("/history").status_code == 303


@each(
    "then", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "javascript:x", "/a\r\nX: y"]
)
def test_signing_in_leads_nowhere_else(site, provider, then):
    provider.add("ann", "researchers")
    assert site.browser().sign_in("ann", then).headers["Location"] == "/"


def test_nobody_is_sent_off_by_another_site(site):
    sent = site.app.test_client().get("/sign-in/provider", headers={"Sec-Fetch-Site": "cross-site"})
    assert (sent.status_code, sent.headers["Location"]) == (303, "/sign-in")
    assert "Set-Cookie" not in sent.headers


def test_over_tls_cookies_are_for_tls_alone(tmp_path, provider, monkeypatch):
    monkeypatch.setenv("QUERYGATE_PUBLIC_URL", "https://gate.example.org")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    assert "Secure" in made.app.test_client().get("/sign-in/provider").headers["Set-Cookie"]
    key = made.opened.accounts.keys.new(made.opened.accounts.add_user("carl", "custodian").name).secret
    assert "Secure" in made.app.test_client().post("/sign-in", data={"key": key}).headers["Set-Cookie"]


def test_signing_out_ends_the_session_here_and_there(site, provider):
    provider.add("ann", "researchers")
    browser = site.browser()
    browser.sign_in("ann")
    token = browser.client.get_cookie(COOKIE).value
    gone = browser.client.post("/sign-out", data={"proof": browser.proof("/history")})
    assert (gone.status_code, gone.headers["Location"]) == (303, "/signed-out")
    page = browser.client.get("/signed-out")
    assert f"{provider.issuer}/logout?client_id={CLIENT}&amp;post_logout_redirect_uri=" in page.text
    there = requests.get(
        page.text.split("; url=")[1].split('"')[0].replace("&amp;", "&"), allow_redirects=False, timeout=HANG_S
    )
    assert there.headers["Location"] == "http://127.0.0.1/sign-in"
    other = site.app.test_client()
    other.set_cookie(COOKIE, token)
    assert other.get("/history").status_code == 303
    assert [user for _, user, _ in site.events("session.end")] == ["ann"]
