"""Users and keys over HTTP: what the command line does, with the same rules and the same entries in the log."""

from __future__ import annotations

import json

import pytest

from querygate.control import Actor
from querygate.control.sign_on.identities import Identities
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.rights import ROLES
from querygate.site.account_changes import RESERVED, AccountChanges
from querygate.site.open_gate import open_gate
from querygate.web.routes import ROUTES
from querygate.web.schemas.schema_table import SCHEMAS
from tests.api.route_paths import path_of
from tests.api.shapes import misfits
from tests.each import each
from tests.empty_site import empty_site
from tests.rights_site import RightsSite

PEOPLE = {**{role: role for role in ROLES}, "second": "researcher"}


@pytest.fixture
def site(tmp_path):
    opened = open_gate(empty_site(tmp_path / "site"))
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    yield RightsSite(opened, {name: opened.accounts.keys.new(name).secret for name in ("admin", "researcher")})
    opened.log.database.close()


@pytest.fixture
def send(site):
    """Call a route by its name, and compare what comes back with the schema."""
    client = site.client()

    def sent(name, *, as_="admin", key=None, body=None, query="", **path):
        route = next(route for route in ROUTES if route.name == name)
        headers = {"Authorization": f"Bearer {key}"} if key else site.headers(as_)
        data = None if body is None else json.dumps(body)
        response = client.open(route.path.format(**path) + query, method=route.method, headers=headers, data=data)
        if response.status_code == 200:
            assert misfits(response.json, SCHEMAS[route.gives]) == []
        else:
            assert misfits(response.json, SCHEMAS["Problem"]) == []
            assert response.json["code"] in route.all_codes
        return response

    return sent


def last(site):
    *_, event = site.opened.log.events()
    return event["kind"], event["user"], event["body"]


# -- users ---------------------------------------------------------------------------------------------------------


def test_an_account_from_beginning_to_end(site, send):
    added = send("add_user", body={"name": "Zoë".replace("ë", "e"), "role": "researcher", "project": "Salt"})
    assert (added.json["name"], added.json["project"], added.json["disabled"]) == ("Zoe", "Salt", None)
    assert last(site) == ("user.add", "admin", {"name": "Zoe", "role": "researcher", "project": "Salt"})
    assert send("change_user", user="zoe", body={"role": "admin", "project": ""}).json["role"] == "admin"
    body = {"name": "Zoe", "project": None, "organisation": None, "role": "admin"}
    assert last(site) == ("user.change", "admin", body)
    for action, kind in (("disable", "user.disable"), ("enable", "user.enable"), ("remove", "user.remove")):
        assert send("act_on_user", user="zoe", action=action).status_code == 200
        assert last(site) == (kind, "admin", {"name": "Zoe"})
    assert "Zoe" not in [user["name"] for user in send("list_users").json["users"]]
    assert "Zoe" in [user["name"] for user in send("list_users", query="?removed=true").json["users"]]
    assert send("act_on_user", user="zoe", action="enable").json["code"] == "QG808"


def test_both_doors_leave_the_same_entries(site, send):
    """What the command line calls, beside what HTTP does: but for whose hand it was, the log cannot tell them apart."""
    changes, by = AccountChanges(site.opened), Actor("admin")
    pairs = []
    changes.add_user("tom", "researcher", "Salt", by=by)
    pairs.append(last(site))
    send("add_user", body={"name": "tim", "role": "researcher", "project": "Salt"})
    pairs.append(last(site))
    changes.new_key("tom", "2030-01-01", ["ask"], by=by)
    pairs.append(last(site))
    send("new_key", body={"user": "tim", "expires": "2030-01-01", "scopes": ["ask"]})
    pairs.append(last(site))
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert first[:2] == second[:2]
        assert {**first[2], "name": "", "id": ""} == {**second[2], "name": "", "id": ""}


@each("name", ["local", "Upgrade", "OIDC", "", "a b", "ä", "x" * 65, "researcher", "Researcher", "a\x00b"])
def test_names_that_nobody_is_given(site, send, name):
    before = len(list(site.opened.log.events()))
    assert send("add_user", body={"name": name, "role": "researcher"}).json["code"] == "QG806"
    assert len(list(site.opened.log.events())) == before


@each(
    "body",
    [
        {"name": "x"},
        {"role": "researcher"},
        {"name": 1, "role": "researcher"},
        {"name": "x", "role": None},
        {"name": "x", "role": "researcher", "key": "y"},
        {"name": "\ud800", "role": "researcher"},
        [],
        "x",
    ],
)
def test_bodies_that_are_not_accepted(send, body):
    assert send("add_user", body=body).json["code"] == "QG306"


@each("route", [route for route in ROUTES if "accounts" in route.who])
def test_an_unknown_parameter_is_named(site, route):
    given = site.client().open(path_of(route) + "?sinec=1", method=route.method, headers=site.headers("admin"))
    assert (given.status_code, given.json["code"]) == (400, "QG306")
    assert given.json["detail"].startswith("sinec:")


def test_the_last_custodian_stays(site, send):
    for action in ("disable", "remove"):
        refused = send("act_on_user", user="custodian", action=action)
        assert (refused.status_code, refused.json["code"]) == (409, "QG809")
    at_console = AccountChanges(site.opened)
    with pytest.raises(ConfigError, match="the last custodian"):
        at_console.change_user("custodian", role="admin", project=None, organisation=None, by=Actor("local"))
    assert send("change_user", user="custodian", body={}).json["code"] == "QG306"


def test_nobody_changes_their_own_role(site, send):
    refused = send("change_user", user="Admin", body={"role": "custodian"})
    assert (refused.status_code, refused.json["code"]) == (403, "QG302")
    assert send("change_user", user="admin", body={"role": "admin", "project": "Salt"}).json["project"] == "Salt"


@each("role", ROLES)
def test_an_admin_lets_nobody_in_alone_who_sees_or_releases_what_others_have(site, send, role):
    """An account of theirs, or a key of somebody else's: each way to a role with more needs a second person."""
    accounts, is_trusted = site.opened.accounts, role in ("reviewer", "custodian", "auditor")
    name = f"new-{role}"
    assert bool(send("add_user", body={"name": name, "role": role}).json["disabled"]) == is_trusted
    carl = accounts.keys.new("custodian").secret
    assert send("new_key", body={"user": name}).status_code == (403 if is_trusted else 200)
    assert send("act_on_user", user=name, action="enable").status_code == (403 if is_trusted else 200)
    key = send("new_key", key=carl if is_trusted else None, body={"user": name}).json["key"]
    assert (send("list_own_keys", key=key).status_code == 401) == is_trusted
    assert send("act_on_user", key=carl, user=name, action="enable").status_code == 200
    assert send("list_own_keys", key=key).status_code == 200
    again = (
        send("new_key", body={"user": name}),
        send("rotate_key", key_id=key.split("_")[1], body={"overlap_hours": 1}),
    )
    assert {one.status_code for one in again} == ({403} if is_trusted else {200})
    assert send("rotate_own_key", key=key).status_code == 200
    accounts.add_user(f"old-{role}", "researcher")
    before = accounts.keys.new(f"old-{role}").secret
    send("change_user", user=f"old-{role}", body={"role": role})
    accounts.enable_user(f"old-{role}")
    assert (send("list_own_keys", key=before).status_code == 401) == is_trusted


@each("role", ["reviewer", "custodian", "auditor"])
def test_an_admin_comes_to_no_trusted_account_by_way_of_another_role(site, send, role):
    site.opened.accounts.add_user(name := f"tess-{role}", role)
    for away in {"researcher", "admin", "auditor"} - {role}:
        refused = send("change_user", user=name.upper(), body={"role": away})
        assert (refused.status_code, refused.json["code"]) == (403, "QG302")
    assert send("change_user", user=name, body={"role": role, "project": "Salt"}).json["disabled"] is None
    send("act_on_user", user=name, action="disable")
    assert send("new_key", body={"user": name}).status_code == 403


def test_a_new_trusted_role_ends_every_way_into_the_account(site, send):
    """Whoever promotes somebody does not know who holds what of their account."""
    opened, console = site.opened, Actor("local", "root")
    planted = send("new_key", body={"user": "second"}).json
    Identities(opened.log, opened.grants, RESERVED).link("second", "https://login", "mallory", by=Actor("admin"))
    changes = AccountChanges(opened)
    changes.change_user("second", role="admin", project=None, organisation=None, by=console)
    assert send("list_own_keys", key=planted["key"]).status_code == 200
    changes.change_user("second", role="custodian", project=None, organisation=None, by=console)
    assert Identities(opened.log, opened.grants, RESERVED).list_identities() == ()
    *_, revoked, unlinked = ((event["kind"], event["user"], event["body"]) for event in opened.log.events())
    assert revoked == ("key.revoke", "local", {"id": planted["id"], "name": "second", "os_user": "root"})
    assert unlinked == ("user.unlink", "local", {"name": "second", "os_user": "root"})
    assert send("list_own_keys", key=planted["key"]).status_code == 401
    made = changes.new_key("second", by=console)
    assert send("list_own_keys", key=made.secret).status_code == 200


def test_a_custodian_makes_keys_for_others_of_a_trusted_role_only(site, send):
    wide, narrow = (site.opened.accounts.keys.new("custodian", scopes=scopes).secret for scopes in ((), ("admin",)))
    assert send("new_key", key=wide, body={"user": "reviewer"}).status_code == 200
    for key, user in ((wide, "researcher"), (wide, "admin"), (wide, "Custodian"), (narrow, "reviewer")):
        assert send("new_key", key=key, body={"user": user}).json["code"] == "QG302"


def test_a_key_is_not_made_for_whoever_is_promoted_meanwhile(site, monkeypatch):
    """The promotion comes between the request for a key and the key."""
    changes, accounts = AccountChanges(site.opened), site.opened.accounts
    make = accounts.keys.proofs.make

    def promoted(user, key):
        accounts.change_user("second", role="custodian")
        return make(user, key)

    monkeypatch.setattr(accounts.keys.proofs, "make", promoted)
    with pytest.raises(NotPermitted):
        changes.new_key("second", by=Actor("admin"))
    assert [key for key in accounts.keys.all() if key.user == "second"] == []


def test_a_custodian_suspends_and_removes_nobody(site, send):
    site.opened.accounts.add_user("zoe", "researcher")
    key = site.opened.accounts.keys.new("custodian").secret
    for action in ("disable", "enable"):
        assert send("act_on_user", key=key, user="zoe", action=action).status_code == 200
    assert send("act_on_user", key=key, user="zoe", action="remove").json["code"] == "QG302"
    assert send("act_on_user", as_="researcher", user="zoe", action="disable").json["code"] == "QG302"


def test_whoever_is_not_there_is_called_so(send):
    refused = send("act_on_user", user="nobody", action="disable")
    assert (refused.status_code, refused.json["title"]) == (404, "No such user, key or grant")
    assert send("new_key", body={"user": "nobody"}).status_code == 404
    assert send("revoke_key", key_id="aaaaaaaa").status_code == 404
    assert send("rotate_key", key_id="qg_whole_key").status_code == 404


# -- keys ----------------------------------------------------------------------------------------------------------


def test_a_key_is_shown_once_and_is_in_no_log(site, send):
    issued = send("new_key", body={"user": "researcher", "expires": "2030-01-01", "scopes": ["ask"]}).json
    assert send("list_own_keys", key=issued["key"]).status_code == 200
    listed = send("list_keys", query="?user=RESEARCHER").json["keys"]
    assert issued["id"] in [key["id"] for key in listed]
    assert {key["user"] for key in listed} == {"researcher"}
    secret = issued["key"].split("_")[2]
    assert secret not in str(listed)
    assert secret not in str(list(site.opened.log.events()))
    rotated = send("rotate_key", key_id=issued["id"], body={"overlap_hours": 0}).json
    assert (rotated["scopes"], rotated["expires"]) == (["ask"], None)
    assert send("list_own_keys", key=issued["key"]).json["code"] == "QG301"
    assert send("revoke_key", key_id=rotated["id"]).json["revoked"]
    assert send("list_own_keys", key=rotated["key"]).json["code"] == "QG301"
    assert last(site) == ("key.revoke", "admin", {"id": rotated["id"], "name": "researcher"})


@each("body", [{"overlap_hours": hours} for hours in (-1, "1", True, 1e9, None, [])] + [{"x": 1}])
def test_overlaps_that_are_not_accepted(site, send, body):
    assert send("rotate_own_key", as_="researcher", body=body).json["code"] == "QG306"


@each("scopes", [["root"], "ask", [1], [["ask"]], {"ask": 1}, None])
def test_scopes_that_are_not_accepted(send, scopes):
    assert send("new_key", body={"user": "researcher", "scopes": scopes}).json["code"] == "QG306"


@each("expires", ["2020-01-01", "soon", "", "9999-99-99"])
def test_dates_that_are_not_accepted(send, expires):
    given = send("new_key", body={"user": "researcher", "expires": expires})
    assert given.status_code == 200 if expires == "" else given.json["code"] == "QG806"


def test_nobody_prolongs_or_widens_their_own_access(site, send):
    """Rotating one's own key keeps its scopes and its end, and concerns the key that is shown and no other."""
    accounts = site.opened.accounts
    changes = AccountChanges(site.opened)
    made = changes.new_key("custodian", "2030-01-01", ["ask"], by=Actor("local"))
    narrow = {"id": made.id, "key": made.secret, "expires": accounts.keys.find(made.id).expires}
    wide = accounts.keys.new("custodian")
    mine = send("rotate_own_key", key=narrow["key"]).json
    assert (mine["user"], mine["scopes"], mine["expires"]) == ("custodian", ["ask"], narrow["expires"])
    assert send("rotate_own_key", key=mine["key"], body={"expires": "2040-01-01"}).json["code"] == "QG306"
    assert send("rotate_key", key=mine["key"], key_id=wide.id).json["code"] == "QG302"
    assert last(site)[1] == "custodian"
    kept = {key["id"]: key["revoked"] for key in send("list_own_keys", key=mine["key"]).json["keys"]}
    assert kept == {narrow["id"]: None, wide.id: None, mine["id"]: None}
    assert send("revoke_own_key", key=mine["key"]).json["id"] == mine["id"]
    assert send("list_own_keys", key=mine["key"]).json["code"] == "QG301"


# -- on record, or not at all --------------------------------------------------------------------------------------


def test_no_change_is_made_that_is_not_on_record(site, monkeypatch):
    """The log cannot be written: every change of users and keys is undone with it."""
    changes, accounts, by = AccountChanges(site.opened), site.opened.accounts, Actor("admin")
    accounts.add_user("spare", "custodian")
    key = accounts.keys.all()[0].id
    before = accounts.list_users(), accounts.keys.all()

    def full(*given):
        raise OSError("no space")

    monkeypatch.setattr(site.opened.log, "append", full)
    for change in (
        lambda: changes.add_user("new", "researcher", by=by),
        lambda: changes.change_user("second", role="auditor", project=None, organisation=None, by=by),
        lambda: changes.disable_user("second", by=by),
        lambda: changes.enable_user("second", by=by),
        lambda: changes.remove_user("spare", by=by),
        lambda: changes.new_key("second", by=by),
        lambda: changes.rotate_key(key, 0, by=by),
        lambda: changes.revoke_key(key, by=by),
    ):
        with pytest.raises(OSError, match="no space"):
            change()
        assert (accounts.list_users(), accounts.keys.all()) == before
