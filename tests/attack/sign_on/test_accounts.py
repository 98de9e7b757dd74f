"""Single sign-on with a real provider: who comes in, with what, and whose account it is."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from querygate.control import Grantee
from tests.attack.sign_on.steps import ADMIN, begin_device, decide, grants, identities, own_keys, redeem, users
from tests.each import each


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
    assert (refused.status_code, "any longer" in refused.text) == (403, True)
    assert not before.is_in
    assert own_keys(site, key).json["code"] == "QG301"
    assert grants(site) == []
    [(_, user, body)] = site.events("login.refused")
    assert (user, body["subject"], body["code"]) == (None, "sub-ann", "QG321")
    assert len(site.events("key.revoke")) == 1


def test_whoever_is_promoted_by_their_groups_brings_no_key_that_others_made(site, provider):
    ann = provider.add("ann", "researchers")
    before = site.browser()
    before.sign_in("ann")
    planted = site.opened.accounts.keys.new("ann")
    ann.groups = ["reviewers"]
    after = site.browser()
    after.sign_in("ann")
    assert (after.is_in, before.is_in) == (True, False)
    assert own_keys(site, planted.secret).json["code"] == "QG301"
    assert site.events("key.revoke") == [("key.revoke", "oidc", {"id": planted.id, "name": "ann"})]
    site.browser().sign_in("ann")
    assert after.is_in  # nothing has changed since


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
    with pytest.raises(Exception, match="groups at the single sign-on provider"):
        site.opened.accounts.change_user("ann", role="custodian")
    site.opened.accounts.change_user("ann", project="Salt")
    identities(site).unlink("ann", by=ADMIN)
    assert site.opened.accounts.change_user("ann", role="auditor").role == "auditor"
