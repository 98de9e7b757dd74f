"""What a provider says is believed only if it holds: signatures, claims, groups, changed keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

from querygate.web.sign_on.provider import AGAIN_S, Provider
from tests.attack.sign_on.steps import grants, users
from tests.each import each
from tests.oidc_provider import CLIENT, OidcProvider, make_key


def _encoded(value):
    return (
        base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).decode().rstrip("=")
    )


def _with_secret(provider, claims, secret):
    """A token signed with HS256, by whatever passes as the secret."""
    head = f"{_encoded({'alg': 'HS256', 'kid': str(provider.keys[-1].kid)})}.{_encoded(claims)}"
    return f"{head}.{_encoded(hmac.digest(secret, head.encode(), hashlib.sha256))}"


def _by_a_stranger(provider, claims):
    stranger = OidcProvider()
    stranger.keys = [make_key(str(provider.keys[-1].kid))]
    return stranger.sign(claims)


SPOILED = {
    "another audience": lambda p, c: p.sign(c | {"aud": "another"}),
    "another audience first": lambda p, c: p.sign(c | {"aud": ["another"]}),
    "for another party": lambda p, c: p.sign(c | {"aud": [CLIENT, "another"], "azp": "another"}),
    "for two, and nobody named": lambda p, c: p.sign(c | {"aud": [CLIENT, "another"]}),
    "no audience": lambda p, c: p.sign({k: v for k, v in c.items() if k != "aud"}),
    "another issuer": lambda p, c: p.sign(c | {"iss": p.issuer + "/"}),
    "no issuer": lambda p, c: p.sign({k: v for k, v in c.items() if k != "iss"}),
    "expired": lambda p, c: p.sign(c | {"exp": int(time.time()) - 3600}),
    "never expires": lambda p, c: p.sign({k: v for k, v in c.items() if k != "exp"}),
    "expires in words": lambda p, c: p.sign(c | {"exp": "tomorrow"}),
    "not yet": lambda p, c: p.sign(c | {"nbf": int(time.time()) + 3600}),
    "issued in the future": lambda p, c: p.sign(c | {"iat": int(time.time()) + 3600}),
    "another nonce": lambda p, c: p.sign(c | {"nonce": "an older one"}),
    "no nonce": lambda p, c: p.sign({k: v for k, v in c.items() if k != "nonce"}),
    "nonce is a list": lambda p, c: p.sign(c | {"nonce": [c["nonce"]]}),
    "hash of another access token": lambda p, c: p.sign(c | {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}),
    "no signature": lambda p, c: f"{_encoded({'alg': 'none'})}.{_encoded(c)}.",
    "none, with a kid": lambda p, c: f"{_encoded({'alg': 'none', 'kid': str(p.keys[-1].kid)})}.{_encoded(c)}.",
    "the public key as the secret": lambda p, c: _with_secret(p, c, p.keys[-1].as_pem(private=False)),
    "an empty secret": lambda p, c: _with_secret(p, c, b""),
    "by somebody else": _by_a_stranger,
    "changed afterwards": lambda p, c: ".".join(
        [(parts := p.sign(c).split("."))[0], _encoded(c | {"sub": "sub-carl"}), parts[2]]
    ),
    "its own key in the header": lambda p, c: _own_key(p, c),
    "no subject": lambda p, c: p.sign({k: v for k, v in c.items() if k != "sub"}),
    "empty subject": lambda p, c: p.sign(c | {"sub": ""}),
    "subject is a number": lambda p, c: p.sign(c | {"sub": 7}),
    "half a character": lambda p, c: p.sign(c | {"sub": "\ud800"}),
    "a long subject": lambda p, c: p.sign(c | {"sub": "x" * 256}),
    "an unprintable subject": lambda p, c: p.sign(c | {"sub": "a\x00b"}),
    "nothing": lambda p, c: "",
    "nonsense": lambda p, c: "a.b.c",
    "not a text": lambda p, c: {"a": 1},
    "too long": lambda p, c: p.sign(c | {"pad": "x" * 70_000}),
}


def _own_key(provider, claims):
    stranger = make_key("mine")
    made = OidcProvider()
    made.keys = [stranger]
    return made.sign(claims, {"jwk": stranger.as_dict(private=False)})


@each("how", SPOILED)
def test_what_does_not_hold_is_not_believed(site, provider, how):
    provider.add("ann", "researchers")
    provider.spoil = lambda claims, access: SPOILED[how](provider, claims)
    browser = site.browser()
    refused = browser.sign_in("ann")
    assert refused.status_code == 401, refused.text
    assert "The sign-in was not completed." in refused.text
    assert not browser.is_in
    assert users(site) == {}


def test_what_holds_is_believed(site, provider):
    """The same way with honest tokens, so that the test before proves something."""
    provider.add("ann", "researchers")
    skewed = {"exp": int(time.time()) - 5, "nbf": int(time.time()) + 30}
    for more in ({}, {"aud": [CLIENT]}, {"aud": [CLIENT, "x"], "azp": CLIENT}, skewed):
        provider.spoil = lambda claims, access, more=more: provider.sign(claims | more)
        assert site.browser().sign_in("ann").status_code == 303, more


@each("groups", [None, "researchers", {"a": 1}, [1, None, "researchers", ["x"]], ["x"] * 20_000])
def test_groups_of_any_shape(site, provider, groups):
    provider.add("ann")
    provider.spoil = lambda claims, access: provider.sign(claims | {"groups": groups})
    told = site.browser().sign_in("ann").status_code
    assert told == (303 if "researchers" in str(groups) else 403 if len(str(groups)) < 9000 else told)


def test_groups_that_the_provider_keeps_back_take_nothing_away(site, provider):
    """Entra ID names a place for the groups of people who have too many of them."""
    provider.add("ann", "researchers")
    site.browser().sign_in("ann")
    provider.spoil = lambda claims, access: provider.sign(claims | {"groups": [], "_claim_names": {"groups": "src1"}})
    assert "more groups" in site.browser().sign_in("ann").text
    assert len(grants(site)) == 1


def test_the_provider_changes_its_keys(site, provider):
    provider.add("ann", "researchers")
    clock = [0.0]
    door = site.app.extensions["querygate.sign_on"].there
    door.provider = Provider(door.sign_on, lambda: clock[0])
    assert site.browser().sign_in("ann").status_code == 303
    provider.keys.append(make_key("second"))
    assert site.browser().sign_in("ann").status_code == 401  # asked for a moment ago
    clock[0] += AGAIN_S + 1
    assert site.browser().sign_in("ann").status_code == 303
    provider.spoil = lambda claims, access: _old(provider, claims)
    clock[0] += AGAIN_S + 1
    assert site.browser().sign_in("ann").status_code == 401  # the old one is not published any more


def _old(provider, claims):
    before = OidcProvider()
    before.keys = provider.keys[:1]
    return before.sign(claims)
