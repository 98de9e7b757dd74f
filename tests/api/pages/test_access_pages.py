"""Who may come in and ask, in the console: users, keys and grants; and the page for whoever runs the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape

import pytest

from querygate.site.admin_overview import shown_settings
from querygate.site.settings import SETTINGS, Settings
from querygate.web.console import access_pages, audit_pages, publish_pages, site_pages, today_and_log_pages
from querygate.web.console.page_session import PageRoute
from tests.api.console_site import ConsoleSite
from tests.each import each

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def zoe(site: ConsoleSite) -> Iterator[str]:
    """A user whom an admin has added in the console, with a name of their own for each test."""
    number = sum(user.name.startswith("zoe") for user in site.opened.accounts.list_users())
    name = f"zoe{number}"
    made = site["dora"].post(
        "/access/users", part=False, name=name, role="researcher", project="Heart 2026", datasets="clinic"
    )
    assert made.headers["Location"] == f"/access/users/{name}", made.text
    yield name
    site.opened.accounts.remove_user(name)


def key_of(site: ConsoleSite, name: str, **form: str) -> str:
    page = site["dora"].post(f"/access/users/{name}/keys", part=False, **form)
    assert page.headers["Cache-Control"] == "no-store"
    found = re.search(r"qg_\w+", page.text)
    assert found, page.text
    return found[0]


def test_a_user_is_added_gets_a_key_and_asks(site: ConsoleSite, zoe: str) -> None:
    key = key_of(site, zoe, expires="2999-01-01")
    headers = {"Authorization": f"Bearer {key}"}
    client = site.app.test_client()
    assert client.get("/api/v1/datasets/clinic", headers=headers).status_code == 200
    page = site["dora"].get(f"/access/users/{zoe}").text
    assert key not in page  # it is shown once
    assert key.split("_")[1] in page
    assert "2999-01-02 00:00" in page  # the day is the last on which it opens
    assert "clinic" in page
    asked = site["dora"].post(f"/access/users/{zoe}/keys/{key.split('_')[1]}/revoke", part=False)
    assert "Revoke the key" in asked.text
    assert client.get("/api/v1/datasets", headers=headers).status_code == 200
    site["dora"].post(f"/access/users/{zoe}/keys/{key.split('_')[1]}/revoke", part=False, sure="yes")
    assert client.get("/api/v1/datasets", headers=headers).status_code == 401
    said = [event["user"] for event in site.opened.log.events() if event["kind"] in ("key.new", "key.revoke")][-2:]
    assert said == ["dora", "dora"]


def test_an_account_is_closed_opened_and_removed_with_two_clicks(site: ConsoleSite, zoe: str) -> None:
    path = f"/access/users/{zoe}"
    for name in ("dora", "carl"):  # whoever gives access may take it away for a while
        assert "Suspend" in site[name].post(f"{path}/disable", part=False).text
        assert site.opened.accounts.find_user(zoe).disabled is None
        assert site[name].post(f"{path}/disable", part=False, sure="yes").status_code == 303
        assert site.opened.accounts.find_user(zoe).disabled is not None
        site[name].post(f"{path}/enable", part=False)
        assert site.opened.accounts.find_user(zoe).disabled is None
    assert "stay in the log" in site["dora"].post(f"{path}/remove", part=False).text
    assert site["dora"].get(path).status_code == 200


def test_the_last_custodian_stays(site: ConsoleSite) -> None:
    for act in ("disable", "remove"):
        page = site["dora"].post(f"/access/users/carl/{act}", part=False, sure="yes")
        assert "last custodian" in unescape(page.text)
    assert site["carl"].get("/today").status_code == 200


def test_a_grant_is_given_and_taken_back(site: ConsoleSite) -> None:
    given = site["carl"].post(
        "/access/grants", part=False, to="project", name="heart", dataset="clinic", modes="interval", until="2999-01-01"
    )
    assert given.status_code == 303
    [grant] = [one for one in site.opened.grants.list_grants() if one.name == "heart"]
    assert (grant.whose, grant.modes, grant.by) == ("project", ("interval",), "carl")
    path = f"/access/grants/{grant.id}/revoke"
    assert "Revoke this grant?" in site["dora"].post(path, part=False).text
    assert any(one.name == "heart" for one in site.opened.grants.list_grants())
    assert site["dora"].post(path, part=False, sure="yes").status_code == 303
    assert not any(one.name == "heart" for one in site.opened.grants.list_grants())


@each(
    "path, form",
    [
        ("/access/grants", {"to": "user", "name": "nobody", "dataset": "clinic"}),
        ("/access/grants", {"to": "user", "name": "ann", "dataset": "../x"}),
        ("/access/grants", {"to": "user", "name": "ann", "dataset": "clinic", "until": "yesterday"}),
        ("/access/grants", {"to": "user", "name": "ann", "dataset": "clinic", "modes": "raw"}),
        ("/access/grants/g_nothing/revoke", {"sure": "yes"}),
        ("/access/users", {"name": SCRIPT, "role": "researcher"}),
        ("/access/users", {"name": "x", "role": "console"}),
        ("/access/users", {"name": "ann", "role": "researcher"}),
        ("/access/users/ann/keys", {"scopes": "everything"}),
        ("/access/users/ann/keys", {"expires": "1999-01-01"}),
        ("/access/users/nobody/change", {"role": "admin"}),
        ("/access/users/ann/keys/nothing/revoke", {"sure": "yes"}),
    ],
)
def test_what_cannot_be_done_is_refused_and_told(site: ConsoleSite, path: str, form: dict[str, str]) -> None:
    before = len(site.opened.accounts.keys.all()), len(site.opened.grants.list_grants(revoked=True))
    page = site["dora"].post(path, part=False, **form)
    assert 400 <= page.status_code < 500, page.text
    assert "refusal" in page.text
    assert SCRIPT not in page.text
    after = len(site.opened.accounts.keys.all()), len(site.opened.grants.list_grants(revoked=True))
    assert before == after


@each("name", ["ann", "rita", "olaf"])
def test_access_is_for_those_who_give_it(site: ConsoleSite, name: str) -> None:
    for page in ("/access", "/access/users/ann", "/site"):
        assert site[name].get(page).status_code == 403
    for path in ("users", "users/ann/keys", "users/ann/remove", "users/ann/disable", "users/ann/change", "grants"):
        refused = site[name].post(f"/access/{path}", part=False, sure="yes", name="x", role="custodian")
        assert refused.status_code == 403


def test_custodians_manage_no_accounts(site: ConsoleSite) -> None:
    page = site["carl"].get("/access").text
    assert "Add a user" not in page
    assert "Give a grant" in page
    for path, form in (("users", {"name": "x", "role": "custodian"}), ("users/ann/keys", {}), ("users/ann/remove", {})):
        assert site["carl"].post(f"/access/{path}", part=False, sure="yes", **form).status_code == 403


def test_names_are_shown_as_text(site: ConsoleSite, zoe: str) -> None:
    for path in ("/access", f"/access/users/{zoe}"):
        assert SCRIPT not in site["dora"].get(path).text
    assert site["dora"].get(f"/access/users/{SCRIPT}").status_code in (400, 404)


def test_the_site_page_tells_how_it_is(site: ConsoleSite) -> None:
    for name in ("carl", "dora"):
        page = site[name].get("/site").text
        for setting in SETTINGS:
            assert f"<code>{setting.name}</code>" in page
        for part in ("Health", "Storage", "No jobs waiting", "none logged"):
            assert part in page
        assert site.small.keys["ann"] not in page


def test_settings_that_may_be_secret_are_left_out(site: ConsoleSite) -> None:
    hidden = {name.name: name.default for name in SETTINGS} | {
        "store": "postgresql://gate:sesame@db/x",
        "siem": "https://siem.example/sesame",
        "anchor_webhook": "https://hooks.example/sesame",
        "anchor_mail_command": "mail --password sesame",
    }
    origin = dict.fromkeys(hidden, "file")
    opened = replace(site.opened, site=replace(site.opened.site, settings=Settings(hidden, origin)))
    told = {one.name: str(one.value) for one in shown_settings(opened)}
    assert not [name for name, value in told.items() if "sesame" in value]
    assert told["anchor_mail_command"] == "mail …"


ROOMS = (access_pages, audit_pages, today_and_log_pages, publish_pages, site_pages)
ROUTES = [route for room in ROOMS for route in room.PAGES]


def address_of(rule: str) -> str:
    """An address that a rule is for: of several words the first, and 1 for whatever else it takes."""
    return re.sub(r"<[^>]+>", "1", re.sub(r"<any\((\w+)[^>]*>", r"\1", rule))


@each("route", [route for route in ROUTES if route.method == "POST"])
def test_a_form_of_another_site_changes_nothing(site: ConsoleSite, route: PageRoute) -> None:
    name = "dora" if "accounts" in route.rights else "carl"
    before = site.kinds()
    for proof in ("", "0" * 64):
        sent = site[name].client.post(address_of(route.rule), data={"proof": proof, "sure": "yes"})
        assert (sent.status_code, "QG306" in sent.text) == (400, True)
    cross = {"Sec-Fetch-Site": "cross-site"}
    data = {"proof": site[name].proof, "sure": "yes"}
    assert site[name].client.post(address_of(route.rule), data=data, headers=cross).status_code == 400
    assert site.kinds() == before


@each("route", ROUTES)
def test_whoever_is_not_signed_in_is_sent_to_sign_in(site: ConsoleSite, route: PageRoute) -> None:
    response = site.app.test_client().open(address_of(route.rule), method=route.method)
    assert (response.status_code, response.headers["Location"].startswith("/sign-in?next=")) == (303, True)
    assert route.rights  # none of them is for everybody


def test_a_page_offers_what_one_may_do_and_nothing_else(site: ConsoleSite) -> None:
    chosen, keys = '<select id="role"', "/keys"
    of_ann, of_rita, of_dora = (site["dora"].get(f"/access/users/{name}").text for name in ("ann", "rita", "dora"))
    assert chosen in of_ann
    assert chosen not in of_rita
    assert "An admin cannot change it" in of_rita
    assert chosen not in of_dora
    assert "You cannot change your own role" in of_dora
    assert f'action="/access/users/rita{keys}"' not in of_rita
    custodian = {name: site["carl"].get(f"/access/users/{name}").text for name in ("rita", "carl")}
    assert f'action="/access/users/rita{keys}"' in custodian["rita"]
    assert f'action="/access/users/carl{keys}"' not in custodian["carl"]  # nobody prolongs their own access
