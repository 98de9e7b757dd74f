"""Single sign-on with a real provider: who comes in, with what, and everything that must not work."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import time
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from querygate.control import Actor, Grantee
from querygate.control.sign_on.identities import Identities
from querygate.site.account_changes import RESERVED
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.console.session_door import COOKIE
from querygate.web.routes import API
from querygate.web.sign_on.provider import AGAIN_S, Provider
from tests.each import each
from tests.empty_site import empty_site
from tests.oidc_provider import CLIENT, OidcProvider, make_key, running
from tests.sign_on_site import make_sign_on_site

ADMIN = Actor("dora")


@pytest.fixture(scope="module")
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


def users(site):
    return {user.name: (user.role, user.source) for user in site.opened.accounts.list_users()}


def grants(site, source="oidc"):
    return sorted(
        (one.name, one.dataset, one.modes) for one in site.opened.grants.list_grants() if one.source == source
    )


def identities(site):
    return Identities(site.opened.log, site.opened.grants, RESERVED)


# -- who comes in ----------------------------------------------------------------------------------------------------


def test_the_first_sign_in_makes_an_account_from_groups(site, provider):
    provider.add("ann", "researchers", "extra", "canteen")
    browser = site.browser()
    came = browser.sign_in("ann", "/history?q=x")
    assert (came.status_code, came.headers["Location"]) == (303, "/history?q=x")
    assert browser.is_in
    assert "ann" in browser.client.get("/").text
    assert users(site) == {"ann": ("researcher", "oidc")}
    every = ("interval", "laplace", "extract")
    assert grants(site) == [("ann", "clinic", ("interval",)), ("ann", "other", every)]
    begun = {"issuer": provider.issuer, "subject": "sub-ann"}
    assert site.events("user.add") == [("user.add", "oidc", {"name": "ann", "role": "researcher", **begun})]
    assert site.events("session.begin") == [("session.begin", "ann", begun)]
    assert [user for _, user, _ in site.events("grant.add")] == ["oidc", "oidc"]
    assert site.browser().sign_in("ann").status_code == 303
    assert len(site.events("user.add", "grant.add", "grant.revoke")) == 3  # nothing has changed
    assert site.opened.log.verify() is not None


def test_the_browser_is_sent_off_with_a_challenge_a_state_and_a_nonce(site, provider):
    provider.add("ann", "researchers")
    browser = site.browser()
    asked = {name: value[0] for name, value in parse_qs(urlsplit(browser.depart()).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert asked["response_type"] == "code"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    cookie = browser.client.get_cookie("querygate_sign_in", path="/sign-in")
    assert cookie.http_only
    assert cookie.same_site == "Lax"
    again = parse_qs(urlsplit(browser.depart()).query)
    assert again["state"][0] != asked["state"]
    kept = str([tuple(row) for row in site.opened.log.database.rows("SELECT * FROM sign_in_attempt")])
    for word in (cookie.value, asked["state"], asked["nonce"]):
        assert word not in kept


def test_what_groups_bring_is_renewed_and_what_people_gave_is_not_touched(site, provider):
    ann = provider.add("ann", "researchers", "extra")
    site.browser().sign_in("ann")
    by_hand = site.opened.grants.add(Grantee("user", "ann"), "survey", by=ADMIN)
    ann.groups = ["reviewers", "extra"]
    site.browser().sign_in("ann")
    assert users(site) == {"ann": ("reviewer", "oidc")}
    assert [dataset for _, dataset, _ in grants(site)] == ["clinic", "other"]
    ann.groups = ["reviewers"]
    site.browser().sign_in("ann")
    assert grants(site) == []
    assert [one[1] for one in grants(site, "hand")][-1] == by_hand.dataset
    changed = [body for kind, _, body in site.events("user.change")]
    assert changed == [{"name": "ann", "role": "reviewer"}]
    assert len(site.events("grant.revoke")) == 2


def test_whoever_has_lost_their_groups_has_lost_everything_that_came_from_them(site, provider):
    ann = provider.add("ann", "researchers")
    before = site.browser()
    before.sign_in("ann")
    device = begin_device(site)
    decide(before, device["user_code"])
    key = redeem(site, device).json["key"]
    assert own_keys(site, key).status_code == 200
    ann.groups = []
    refused = site.browser().sign_in("ann")
    assert (refused.status_code, "any more" in refused.text) == (403, True)
    assert not before.is_in
    assert own_keys(site, key).json["code"] == "QG301"
    assert grants(site) == []
    [(_, user, body)] = site.events("login.refused")
    assert (user, body["subject"], body["code"]) == (None, "sub-ann", "QG321")
    assert len(site.events("key.revoke")) == 1


@each("groups", [(), ("canteen",), ("extra",), ("Researchers",), ("researchers ",)])
def test_nobody_gets_an_account_without_a_role(site, provider, groups):
    provider.add("ann", *groups)
    browser = site.browser()
    refused = browser.sign_in("ann")
    assert refused.status_code == 403
    assert "None of your groups" in refused.text
    assert not browser.is_in
    assert users(site) == {}
    assert grants(site) == []


@each("close", ["disable_user", "remove_user"])
def test_a_closed_account_stays_closed(site, provider, close):
    name = close.partition("_")[0]
    provider.add(name, "researchers")
    before = site.browser()
    before.sign_in(name)
    getattr(site.opened.accounts, close)(name)
    assert not before.is_in
    after = site.browser()
    assert after.sign_in(name).status_code == 403
    assert not after.is_in


# -- whose account it is ---------------------------------------------------------------------------------------------


@each("name", ["carl", "Carl", "CARL"])
def test_an_account_that_people_made_is_not_taken_over_by_its_name(site, provider, name):
    if "carl" not in users(site):
        site.opened.accounts.add_user("carl", "custodian")
    provider.add(name, "researchers", subject="stranger")
    browser = site.browser()
    refused = browser.sign_in(name)
    assert refused.status_code == 403
    assert "another account with your name" in refused.text
    assert not browser.is_in
    assert users(site) == {"carl": ("custodian", "hand")}


def test_an_admin_links_an_account_and_its_role_stays(site, provider):
    site.opened.accounts.add_user("carl", "custodian")
    provider.add("carl", "researchers")
    site.browser().sign_in("carl")
    *_, (_, _, told) = site.events("login.refused")
    identities(site).link("CARL", told["issuer"], told["subject"], by=ADMIN)
    browser = site.browser()
    assert browser.sign_in("carl").status_code == 303
    assert users(site) == {"carl": ("custodian", "hand")}
    assert grants(site) == [("carl", "clinic", ("interval",))]
    provider.people["carl"].groups = []
    assert site.browser().sign_in("carl").status_code == 303  # people made it, and people say who has it
    assert grants(site) == []
    identities(site).unlink("carl", by=ADMIN)
    assert not browser.is_in
    assert site.browser().sign_in("carl").status_code == 403
    assert [kind for kind, *_ in site.events("user.link", "user.unlink")] == ["user.link", "user.unlink"]


def test_the_subject_decides_and_not_the_name(site, provider):
    """A name that the provider gives to somebody else later opens nothing here; a new name of the same person does."""
    provider.add("ann", "researchers", subject="1")
    site.browser().sign_in("ann")
    provider.add("ann", "researchers", subject="2")
    assert site.browser().sign_in("ann").status_code == 403
    provider.add("ann.smith", "researchers", subject="1")
    assert site.browser().sign_in("ann.smith").status_code == 303
    assert list(users(site)) == ["ann"]
    [link] = identities(site).list_identities()
    assert (link.user, link.subject) == ("ann", "1")


@each("name", ["local", "OIDC", "upgrade", "a b", "", "ä", "x" * 65, "../x", "a\nb", "<b>"])
def test_names_that_nobody_is_given(site, provider, name):
    provider.add(name, "researchers", subject="odd")
    assert site.browser().sign_in(name).status_code == 403
    assert users(site) == {}


def test_roles_from_groups_are_changed_there(site, provider):
    provider.add("ann", "researchers")
    site.browser().sign_in("ann")
    with pytest.raises(Exception, match="groups at the provider"):
        site.opened.accounts.change_user("ann", role="custodian")
    site.opened.accounts.change_user("ann", project="Salt")
    identities(site).unlink("ann", by=ADMIN)
    assert site.opened.accounts.change_user("ann", role="auditor").role == "auditor"


# -- what the provider says ------------------------------------------------------------------------------------------


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


# -- browsers and other sites ----------------------------------------------------------------------------------------


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
    key = made.opened.accounts.new_key(made.opened.accounts.add_user("carl", "custodian").name).secret
    assert "Secure" in made.app.test_client().post("/sign-in", data={"key": key}).headers["Set-Cookie"]


# -- out -------------------------------------------------------------------------------------------------------------


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
        page.text.split("; url=")[1].split('"')[0].replace("&amp;", "&"), allow_redirects=False, timeout=9
    )
    assert there.headers["Location"] == "http://127.0.0.1/sign-in"
    other = site.app.test_client()
    other.set_cookie(COOKIE, token)
    assert other.get("/history").status_code == 303
    assert [user for _, user, _ in site.events("session.end")] == ["ann"]


# -- without a provider ----------------------------------------------------------------------------------------------


def test_without_the_provider_keys_work_and_pages_do_not_wait(tmp_path, site, provider):
    key = site.opened.accounts.new_key(site.opened.accounts.add_user("carl", "custodian").name).secret
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


# -- on record -------------------------------------------------------------------------------------------------------


def test_no_code_and_no_token_is_in_any_log(site, provider, caplog):
    caplog.set_level(logging.DEBUG, "querygate")
    provider.add("ann", "researchers")
    told = []
    provider.spoil = lambda claims, access: told.append(access) or told.append(provider.sign(claims)) or told[-1]
    browser = site.browser()
    away = browser.depart()
    cookie = browser.client.get_cookie("querygate_sign_in", path="/sign-in").value
    back = browser.sign_in_there(away, "ann")
    assert browser.arrive(back).status_code == 303
    told += [cookie, *parse_qs(urlsplit(back).query)["code"], *parse_qs(urlsplit(away).query)["state"]]
    kept = "\n".join(map(str, site.opened.log.database.rows("SELECT body FROM log")))
    kept += "".join(str(event) for event in site.opened.log.events())
    for word in told:
        assert word not in kept
        assert word not in "\n".join(record.getMessage() for record in caplog.records if "querygate" in record.name)


def test_failures_are_on_record_and_throttled_as_for_keys(tmp_path, provider, monkeypatch):
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "3")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    provider.add("ann", "researchers")
    key = made.opened.accounts.new_key(made.opened.accounts.add_user("carl", "custodian").name).secret
    assert own_keys(made, key).status_code == 200
    for _ in range(20):
        assert made.app.test_client().get("/sign-in/callback?code=x&state=y").status_code == 401  # nothing was tried
    provider.spoil = lambda claims, access: "x"
    statuses = [made.browser().sign_in("ann").status_code for _ in range(6)]
    assert statuses[:3] == [401] * 3
    assert statuses[-1] == 429
    provider.spoil = None
    assert made.browser().sign_in("ann").status_code == 429
    assert own_keys(made, key).status_code == 200
    made.app.extensions["querygate"][0].record.turn(end=True)
    told = [body for _, _, body in made.events("login.failed")]
    assert sum(body["failed"] for body in told) >= 23
    assert sum(body["throttled"] for body in told) >= 2


# -- programs that are let in ----------------------------------------------------------------------------------------


def begin_device(site, **body):
    return site.app.test_client().post(f"{API}/device", json=body).json


def redeem(site, device):
    return site.app.test_client().post(f"{API}/device/token", json={"device_code": device["device_code"]})


def own_keys(site, key):
    return site.app.test_client().get(f"{API}/keys/own", headers={"Authorization": f"Bearer {key}"})


def decide(browser, code, decision="yes"):
    return browser.client.post("/device", data={"proof": browser.proof(), "code": code, "decision": decision})


@pytest.fixture
def ann(site, provider):
    provider.add("ann", "researchers")
    browser = site.browser()
    browser.sign_in("ann")
    return browser


def test_a_program_is_let_in_once_with_a_key_that_ends(site, ann):
    device = begin_device(site, scopes=["ask"])
    assert redeem(site, device).json == {"state": "authorization_pending"}
    assert redeem(site, device).json == {"state": "slow_down"}
    page = ann.client.get(f"/device?code={device['user_code'].lower().replace('-', ' ')}")
    assert device["user_code"] in page.text
    assert "127.0.0.1" in page.text
    assert "The program is in." in decide(ann, device["user_code"]).text
    given = redeem(site, device).json
    assert (given["state"], given["user"]) == ("approved", "ann")
    [listed] = own_keys(site, given["key"]).json["keys"]
    assert (listed["scopes"], listed["source"], listed["expires"]) == (["ask"], "oidc", given["expires"])
    assert redeem(site, device).json["code"] == "QG323"  # once
    [(_, user, body)] = site.events("key.new")
    assert (user, body["source"], body["scopes"]) == ("ann", "oidc", ["ask"])
    assert given["key"].split("_")[2] not in str(list(site.opened.log.events()))


def test_a_program_that_is_refused_gets_nothing(site, ann):
    device = begin_device(site)
    assert "was not let in" in decide(ann, device["user_code"], "no").text
    assert redeem(site, device).json["code"] == "QG323"
    assert decide(ann, device["user_code"]).status_code == 410


def test_only_whom_the_provider_vouches_for_lets_programs_in(site, ann):
    device = begin_device(site)
    key = site.opened.accounts.new_key(site.opened.accounts.add_user("carl", "custodian").name).secret
    by_key = site.browser()
    assert by_key.client.post("/sign-in", data={"key": key}).status_code == 303
    assert by_key.client.get("/device").status_code == 403
    proof = by_key.proof("/history")
    sent = by_key.client.post("/device", data={"proof": proof, "code": device["user_code"], "decision": "yes"})
    assert sent.status_code == 403
    assert site.browser().client.get("/device").status_code == 303
    assert ann.client.post("/device", data={"code": device["user_code"], "decision": "yes"}).status_code == 400
    assert redeem(site, device).json["state"] == "authorization_pending"


def test_codes_are_not_guessed(tmp_path, provider, monkeypatch):
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "5")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    provider.add("ann", "researchers")
    ann = made.browser()
    ann.sign_in("ann")
    device = begin_device(made)
    statuses = [ann.client.get("/device?code=BBBB-BBBB").status_code for _ in range(8)]
    assert statuses == [410] * 5 + [429] * 3
    assert ann.client.get(f"/device?code={device['user_code']}").status_code == 429


@each("secret", ["", "x", "a" * 64, "\x00", "ä" * 40])
def test_secrets_that_no_program_has(site, secret):
    assert redeem(site, {"device_code": secret}).json["code"] == "QG323"


def test_many_programs_from_one_address_wait(tmp_path, provider, monkeypatch):
    monkeypatch.setenv("QUERYGATE_SIGN_INS_PER_MINUTE", "5")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    told = [made.app.test_client().post(f"{API}/device", json={}).status_code for _ in range(8)]
    assert told == [200] * 5 + [429] * 3
    assert made.app.test_client().get("/sign-in/provider").status_code == 429
    assert made.events("login.failed")[0][2]["throttled"] == 1


def test_whoever_is_refused_again_and_again_does_not_fill_the_log(site, provider):
    provider.add("ann", "canteen")
    for _ in range(8):
        assert site.browser().sign_in("ann").status_code == 403
    assert len(site.events("login.refused")) <= 4


def test_a_gate_without_single_sign_on_says_so(tmp_path):
    client = create_app(open_gate(empty_site(tmp_path / "site"))).test_client()
    assert client.post(f"{API}/device", json={}).json["code"] == "QG322"
    assert client.post(f"{API}/device/token", json={"device_code": "x"}).json["code"] == "QG322"
    assert client.get("/sign-in/provider").status_code == 404
    assert "Sign in with" not in client.get("/sign-in").text
    assert open_site(tmp_path / "site").settings["single_sign_on"] == ""
