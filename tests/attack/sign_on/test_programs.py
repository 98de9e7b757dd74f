"""Programs are let in by whom the provider vouches for, once, with a key that ends."""

from __future__ import annotations

import pytest

from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web import create_app
from querygate.web.routes import API
from tests.attack.sign_on.steps import begin_device, decide, own_keys, redeem
from tests.each import each
from tests.empty_site import empty_site
from tests.sign_on_site import make_sign_on_site


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
    assert "The program is authorised." in decide(ann, device["user_code"]).text
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
    assert "was denied" in decide(ann, device["user_code"], "no").text
    assert redeem(site, device).json["code"] == "QG323"
    assert decide(ann, device["user_code"]).status_code == 410


def test_only_whom_the_provider_vouches_for_lets_programs_in(site, ann):
    device = begin_device(site)
    key = site.opened.accounts.keys.new(site.opened.accounts.add_user("carl", "custodian").name).secret
    by_key = site.browser()
    assert by_key.client.post("/sign-in", data={"key": key}).status_code == 303
    assert by_key.client.get("/device").status_code == 403
    proof = by_key.proof("/history")
    sent = by_key.client.post("/device", data={"proof": proof, "code": device["user_code"], "decision": "yes"})
    assert sent.status_code == 403
    assert site.browser().client.get("/device").status_code == 303
    assert ann.client.post("/device", data={"code": device["user_code"], "decision": "yes"}).status_code == 400
    assert redeem(site, device).json["state"] == "authorization_pending"


def test_codes_are_not_guessed(tmp_path, provider, monkeypatch, still_throttles):
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


def test_many_programs_from_one_address_wait(tmp_path, provider, monkeypatch, still_throttles):
    monkeypatch.setenv("QUERYGATE_SIGN_INS_PER_MINUTE", "5")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    told = [made.app.test_client().post(f"{API}/device", json={}).status_code for _ in range(8)]
    assert told == [200] * 5 + [429] * 3
    assert made.app.test_client().get("/sign-in/provider").status_code == 429
    assert made.events("login.failed")[0][2]["throttled"] == 1


def test_whoever_is_refused_again_and_again_does_not_fill_the_log(site, provider, still_throttles):
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
