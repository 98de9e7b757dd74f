"""Sign-ins on record: no code and no token, and failures as for keys."""

from __future__ import annotations

import logging
from urllib.parse import parse_qs, urlsplit

from tests.attack.sign_on.steps import own_keys
from tests.empty_site import empty_site
from tests.sign_on_site import make_sign_on_site


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


def test_failures_are_on_record_and_throttled_as_for_keys(tmp_path, provider, monkeypatch, still_throttles):
    monkeypatch.setenv("QUERYGATE_LOGIN_FAILURES_PER_MINUTE", "3")
    made = make_sign_on_site(empty_site(tmp_path / "site"), provider)
    provider.add("ann", "researchers")
    key = made.opened.accounts.keys.new(made.opened.accounts.add_user("carl", "custodian").name).secret
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
