"""user and key: accounts, keys shown once, and everything on record without a secret."""

from __future__ import annotations

import json

import pytest

from querygate.cli.shared.actor import os_user
from querygate.core.errors import NotPermitted
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.own_keys import key_file

BY = {"os_user": os_user()}


def test_a_key_opens_until_it_is_revoked(run, tmp_path):
    run("init")
    assert "Added ann (researcher)." in run("user", "add", "ann", "--role", "researcher").stdout
    made = json.loads(run("key", "new", "ann", "--format", "json").stdout)
    accounts = open_gate(open_site(tmp_path / "site")).accounts
    assert accounts.keys.authenticate(made["key"]).name == "ann"
    assert run("key", "revoke", made["id"]).stdout == f"Revoked key {made['id']} of ann.\n"
    with pytest.raises(NotPermitted):
        accounts.keys.authenticate(made["key"])


def test_an_admin_at_the_shell_needs_a_custodian_for_a_custodian(run, tmp_path):
    run("init")
    for name, role in (("adam", "admin"), ("carl", "custodian")):
        run("user", "add", name, "--role", role)
    adam, carl = (("--key-file", str(key_file(tmp_path / "site", name))) for name in ("adam", "carl"))
    assert "stays closed until a custodian opens it" in run("user", "add", "eve", "--role", "custodian", *adam).stdout
    for words in (["user", "enable", "eve"], ["key", "new", "carl"]):
        refused = run(*words, *adam)
        assert (refused.exit_code, "QG302" in refused.output) == (1, True)
    linked = ("user", "link", "carl", "--issuer", "https://login.example.org", "--subject", "1")
    assert "QG302" in run(*linked, *adam).output
    assert "Reopened" in run("user", "enable", "eve", *carl).stdout
    assert "Linked" in run(*linked).stdout  # at the console, where the files are


def test_the_key_stands_alone_on_the_first_line(run):
    run("init")
    run("user", "add", "ann", "--role", "custodian")
    lines = run("key", "new", "ann").stdout.splitlines()
    assert lines[0].startswith("qg_")
    assert "not be shown again" in lines[-1]


def test_no_secret_leaves_by_any_other_way(run, tmp_path):
    run("init")
    run("user", "add", "ann", "--role", "researcher")
    secret = json.loads(run("key", "new", "ann", "--format", "json").stdout)["key"].rpartition("_")[2]
    said = ""
    for words in (["user", "list"], ["key", "list"], ["log", "list"], ["log", "export"], ["doctor"]):
        said += run(*words).output
    for form in ("json", "jsonl", "csv"):
        said += run("key", "list", "--format", form).output
    assert "ann" in said
    assert secret not in said
    mistaken = run("key", "revoke", f"qg_aaaaaaaa_{secret}")
    assert mistaken.exit_code == 2
    assert secret not in mistaken.output


def test_what_is_changed_is_on_record(run, tmp_path):
    run("init")
    run("user", "add", "ann", "--role", "researcher")
    key = json.loads(run("key", "new", "ann", "--format", "json").stdout)["id"]
    run("key", "revoke", key)
    run("user", "disable", "ann")
    run("user", "enable", "ann")
    events = list(open_gate(open_site(tmp_path / "site")).log.events())
    assert [event["kind"] for event in events] == ["user.add", "key.new", "key.revoke", "user.disable", "user.enable"]
    assert {event["user"] for event in events} == {"local"}
    assert events[0]["body"] == {"name": "ann", "role": "researcher", **BY}


def test_lists_show_what_is_closed(run):
    run("init")
    assert run("user", "list").stdout == "There are no users yet.\n"
    assert run("key", "list").stdout == "There are no keys yet.\n"
    run("user", "add", "ann", "--role", "researcher")
    run("user", "disable", "ann")
    (user,) = json.loads(run("user", "list", "--format", "json").stdout)
    assert user["disabled"] is not None


def test_a_change_of_nothing_is_no_success(run, tmp_path):
    run("init")
    run("user", "add", "ann", "--role", "researcher")
    done = run("user", "change", "ann")
    assert done.exit_code == 2
    assert "Nothing to change: give --role, --project or --organisation." in done.stderr
    assert [event["kind"] for event in open_gate(open_site(tmp_path / "site")).log.events()] == ["user.add"]


def test_projects_and_organisations_are_kept_shown_and_logged(run, tmp_path):
    run("init")
    run("user", "add", "ann", "--role", "researcher", "--project", "Heart 2026", "--organisation", "Uni A")
    run("user", "add", "bob", "--role", "researcher")
    assert run("user", "change", "bob", "--project", "heart 2026").stdout == "bob: researcher, project heart 2026.\n"
    changed = json.loads(run("user", "change", "ann", "--organisation", "", "--format", "json").stdout)
    assert (changed["project"], changed["organisation"]) == ("Heart 2026", None)
    users = json.loads(run("user", "list", "--format", "json").stdout)
    assert [(user["project"], user["organisation"]) for user in users] == [("Heart 2026", None), ("heart 2026", None)]
    assert "Heart 2026" in run("user", "list").stdout
    events = list(open_gate(open_site(tmp_path / "site")).log.events())
    assert [(event["kind"], event["body"]) for event in events] == [
        ("user.add", {"name": "ann", "role": "researcher", "project": "Heart 2026", "organisation": "Uni A", **BY}),
        ("user.add", {"name": "bob", "role": "researcher", **BY}),
        ("user.change", {"name": "bob", "project": "heart 2026", "organisation": None, **BY}),
        ("user.change", {"name": "ann", "project": "Heart 2026", "organisation": None, **BY}),
    ]
    assert run("user", "change", "nobody", "--project", "x").exit_code == 2


@pytest.mark.parametrize("name", [" x", "a\nb", "x" * 65, "-x", "a;b"])
def test_names_of_projects_are_checked(run, name):
    run("init")
    done = run("user", "add", "ann", "--role", "researcher", f"--project={name}")
    assert done.exit_code == 2
    assert "QG806" in done.stderr
    assert run("user", "list").stdout == "There are no users yet.\n"


def test_a_role_is_changed_from_the_next_request_on(run, tmp_path):
    run("init")
    run("user", "add", "ann", "--role", "researcher")
    key = json.loads(run("key", "new", "ann", "--format", "json").stdout)["key"]
    accounts = open_gate(open_site(tmp_path / "site")).accounts
    assert not accounts.keys.authenticate(key).may("publish")
    assert run("user", "change", "ANN", "--role", "admin").stdout == "ann: admin, no project, no organisation.\n"
    assert accounts.keys.authenticate(key).may("accounts")
    *_, event = open_gate(open_site(tmp_path / "site")).log.events()
    assert event["body"] == {"name": "ann", "project": None, "organisation": None, "role": "admin", **BY}
    assert run("user", "change", "ann", "--role", "king").exit_code == 2


def test_a_removed_user_stays_out_and_their_name_stays_theirs(run, tmp_path):
    run("init")
    run("user", "add", "ann", "--role", "researcher", "--project", "Heart")
    key = json.loads(run("key", "new", "ann", "--format", "json").stdout)["key"]
    accounts = open_gate(open_site(tmp_path / "site")).accounts
    assert accounts.keys.authenticate(key).name == "ann"
    assert run("user", "remove", "Ann").stdout == "Removed ann. Their queries stay in the log.\n"
    with pytest.raises(NotPermitted):
        accounts.keys.authenticate(key)
    assert run("user", "list").stdout == "There are no users yet.\n"
    [listed] = json.loads(run("user", "list", "--removed", "--format", "json").stdout)
    assert (listed["name"], listed["project"]) == ("ann", "Heart")
    assert listed["removed"] is not None
    for words in (["user", "enable", "ann"], ["user", "change", "ann", "--role", "admin"], ["key", "new", "ann"]):
        assert run(*words).exit_code == 2
    again = run("user", "add", "ANN", "--role", "researcher")
    assert again.exit_code == 2
    assert "removed" in again.stderr
    *_, event = open_gate(open_site(tmp_path / "site")).log.events()
    assert (event["kind"], event["body"]) == ("user.remove", {"name": "ann", **BY})
    assert run("user", "remove", "ann").exit_code == 2


def test_the_last_custodian_stays(run):
    run("init")
    run("user", "add", "carl", "--role", "custodian")
    run("user", "add", "ann", "--role", "researcher")
    for act, *more in (["remove"], ["disable"], ["change", "--role", "researcher"]):
        done = run("user", act, "carl", *more)
        assert done.exit_code == 2
        assert "QG809" in done.stderr
        assert "last custodian" in done.stderr
    assert run("user", "disable", "ann").exit_code == 0  # no custodian
    run("user", "add", "dora", "--role", "custodian")
    run("user", "disable", "dora")
    for act in ("remove", "disable"):
        assert run("user", act, "carl").exit_code == 2  # a closed account is nobody
    run("user", "enable", "dora")
    assert run("user", "remove", "carl").exit_code == 0
    assert run("user", "remove", "dora").exit_code == 2
    assert [user["name"] for user in json.loads(run("user", "list", "--format", "json").stdout)] == ["ann", "dora"]
