"""Somebody signs out at the provider: their sessions here end, by its word alone and nobody else's."""

from __future__ import annotations

import time

import pytest

from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.sign_on.logout_token import EVENT
from tests.attack.sign_on.test_tokens import SPOILED
from tests.each import each


def claims(provider, **more):
    now = int(time.time())
    about = {"iss": provider.issuer, "aud": "querygate", "iat": now, "exp": now + 120, "jti": "once"}
    return {name: value for name, value in {**about, "events": {EVENT: {}}, **more}.items() if value is not ...}


def send(site, token):
    return site.app.test_client().post("/sign-in/backchannel-logout", data={"logout_token": token}).status_code


def enter(site, name, session=None):
    """Somebody in a browser of theirs, in a session that the provider names, or does not."""
    site.provider.spoil = session and (lambda said, access: site.provider.sign(said | {"sid": session}))
    browser = site.browser()
    assert browser.sign_in(name).status_code == 303
    return browser


@pytest.fixture
def people(site):
    for name in ("ann", "bob"):
        site.provider.add(name, "researchers")
    return site


def test_one_session_ends_or_all_of_a_person(people):
    site, provider = people, people.provider
    first, second = enter(site, "ann", "s1"), enter(site, "ann", "s2")
    other, unnamed = enter(site, "bob", "s3"), enter(site, "bob")
    assert send(site, provider.sign(claims(provider, sub="sub-ann", sid="s1"))) == 200
    assert (first.is_in, second.is_in, other.is_in) == (False, True, True)
    assert send(site, provider.sign(claims(provider, sid="s3"))) == 200
    assert (other.is_in, unnamed.is_in) == (False, True)
    assert send(site, provider.sign(claims(provider, sub="sub-bob", sid="s9"))) == 200  # it may be this one
    assert (unnamed.is_in, second.is_in) == (False, True)
    assert send(site, provider.sign(claims(provider, sub="sub-ann"))) == 200
    assert not second.is_in
    assert send(site, provider.sign(claims(provider, sub="sub-nobody"))) == 200
    ended = [(user, body) for _, user, body in site.events("session.end")]
    assert ended == [(name, {"by": "oidc"}) for name in ("ann", "bob", "bob", "ann")]
    site.opened.log.verify()


def test_a_token_that_is_sent_again_ends_nothing_that_began_since(people):
    old = claims(people.provider, sub="sub-ann", iat=int(time.time()) - 3600)
    browser = enter(people, "ann")
    assert send(people, people.provider.sign(old)) == 200
    assert browser.is_in


def test_sessions_with_a_key_are_not_the_providers(people):
    enter(people, "ann")
    key = people.opened.accounts.keys.new("ann").secret
    client = people.app.test_client()
    client.post("/sign-in", data={"key": key})
    assert send(people, people.provider.sign(claims(people.provider, sub="sub-ann"))) == 200
    assert client.get("/history").status_code == 200


FORGED = {
    "no event": {"events": ...},
    "another event": {"events": {"http://schemas.openid.net/event/other": {}}},
    "an event in words": {"events": EVENT},
    "an event that is a list": {"events": [EVENT]},
    "with a nonce, as an ID token": {"nonce": "n"},
    "nobody": {"sub": ...},
    "two": {"sub": ["sub-ann"]},
    "a session that is a number": {"sid": 7},
    "no jti": {"jti": ...},
    "no time": {"iat": ...},
    "a time beyond all calendars": {"iat": -1e300},
    "a time in words": {"iat": "now"},
}
OF_ID_TOKENS = {
    *("for another party", "for two, and nobody named", "no nonce", "nonce is a list", "hash of another access token"),
    "not a text",
}


@each("how", [*FORGED, *(SPOILED.keys() - OF_ID_TOKENS)])
def test_what_the_provider_did_not_say(people, how):
    provider, browser = people.provider, enter(people, "ann")
    said = claims(provider, **{"sub": "sub-ann", **FORGED.get(how, {})})
    assert send(people, provider.sign(said) if how in FORGED else SPOILED[how](provider, said)) == 400
    assert browser.is_in


def test_what_else_is_no_logout(people):
    client = people.app.test_client()
    assert client.get("/sign-in/backchannel-logout").status_code == 405
    assert client.post("/sign-in/backchannel-logout").status_code == 400


def test_guesses_are_counted(people, monkeypatch, still_throttles):
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "3")
    strict = create_app(open_gate(open_site(people.opened.site.folder))).test_client()
    told = [strict.post("/sign-in/backchannel-logout", data={"logout_token": "x"}).status_code for _ in range(6)]
    assert told[:3] == [400] * 3
    assert told[-1] == 429
