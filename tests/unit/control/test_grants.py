"""Grants: to whom, of what, until when; and what an older site is left with."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from querygate.control import Accounts, Actor, Database, Grantee, Grants, Log
from querygate.control import database as database_module
from querygate.control.grants import read_until
from querygate.control.schema import MIGRATIONS, RIGHTS
from querygate.core.errors import ConfigError
from tests.each import each

ALL = frozenset({"interval", "laplace", "extract"})
BY = Actor("carl", "root")


class Site:
    def __init__(self, path):
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.database = Database(path)
        self.log = Log(self.database, lambda: self.now)
        self.grants = Grants(self.log, lambda size: bytes([len(list(self.log.events())) % 251]) * size)
        self.accounts = Accounts(self.database, lambda: self.now, bytes)


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path / "control.db")
    made.accounts.add_user("ann", "researcher", "Salt", "Uni A")
    made.accounts.add_user("bob", "researcher")
    yield made
    made.database.close()


@each(
    "to, to_ann, to_bob",
    [
        (Grantee("user", "ann"), ALL, frozenset()),
        (Grantee("user", "ANN"), ALL, frozenset()),
        (Grantee("project", "salt"), ALL, frozenset()),
        (Grantee("organisation", "Uni A"), ALL, frozenset()),
        (Grantee("project", "Uni A"), frozenset(), frozenset()),
        (Grantee("everyone"), ALL, ALL),
    ],
)
def test_to_whom(site, to, to_ann, to_bob):
    given = site.grants.add(to, "clinic", by=BY)
    assert (site.grants.modes("ann", "clinic"), site.grants.modes("bob", "clinic")) == (to_ann, to_bob)
    assert site.grants.modes("Ann", "clinic") == to_ann  # accounts are the same whatever their letters
    assert site.grants.modes("ann", "other") == frozenset()
    site.grants.revoke(given.id, by=BY)
    assert site.grants.modes("ann", "clinic") == frozenset()


def test_nobody_has_anything_by_default_nor_without_an_account(site):
    assert site.grants.modes("ann", "clinic") == frozenset()
    site.grants.add(Grantee("project", "Salt"), "clinic", by=BY)
    assert site.grants.modes("nobody", "clinic") == frozenset()


def test_modes_add_up_and_each_has_its_own_end(site):
    site.grants.add(Grantee("user", "ann"), "clinic", ["interval"], by=BY)
    site.grants.add(Grantee("project", "Salt"), "clinic", ["extract"], read_until("2026-03-01"), by=BY)
    assert site.grants.modes("ann", "clinic") == {"interval", "extract"}
    site.now += timedelta(hours=23, minutes=59)
    assert site.grants.modes("ann", "clinic") == {"interval", "extract"}
    site.now += timedelta(minutes=1)
    assert site.grants.modes("ann", "clinic") == {"interval"}


def test_a_change_of_project_takes_the_grant_along(site):
    site.grants.add(Grantee("project", "Salt"), "clinic", by=BY)
    site.accounts.change_user("ann", project="Sugar")
    assert site.grants.modes("ann", "clinic") == frozenset()
    site.accounts.change_user("bob", project="SALT")
    assert site.grants.modes("bob", "clinic") == ALL


@each(
    "dataset",
    ["Clinic", "clinic ", "cl\u0131nic", "\uff43linic", "clinic\0", "*", "", "%", "clinic' OR '1'='1", "\ud800"],
)
def test_names_of_datasets_are_taken_to_the_letter(site, dataset):
    site.grants.add(Grantee("user", "ann"), "clinic", by=BY)
    assert site.grants.modes("ann", dataset) == frozenset()


@each(
    "to, dataset, modes, until",
    [
        (Grantee("user", "nobody"), "clinic", (), None),
        (Grantee("user", ""), "clinic", (), None),
        (Grantee("project", ""), "clinic", (), None),
        (Grantee("project", "a;b"), "clinic", (), None),
        (Grantee("everyone"), "Clinic", (), None),
        (Grantee("everyone"), "cl\u0131nic", (), None),
        (Grantee("everyone"), "", (), None),
        (Grantee("everyone"), "clinic", ("exact",), None),
        (Grantee("everyone"), "clinic", (), datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_what_cannot_be_granted(site, to, dataset, modes, until):
    with pytest.raises(ConfigError) as refused:
        site.grants.add(to, dataset, modes, until, by=BY)
    assert refused.value.code == ("QG808" if to.kind == "user" else "QG806")
    assert refused.value.remedy
    assert site.grants.list_grants() == ()


@each("text", ["", "tomorrow", "2026-02-30", "99999-01-01", "2026-13-01"])
def test_what_is_no_date(text):
    with pytest.raises(ConfigError):
        read_until(text)


def test_each_change_is_on_record_with_the_account_of_the_operating_system(site):
    given = site.grants.add(Grantee("user", "ann"), "clinic", ["interval"], read_until("2026-12-31"), by=BY)
    site.grants.add(Grantee("everyone"), "*", by=Actor("dora"))
    for _ in range(2):
        assert site.grants.revoke(given.id, by=BY).revoked == "2026-03-01T00:00:00.000000Z"
    events = list(site.log.events())
    assert [(event["kind"], event["user"], event["dataset"]) for event in events] == [
        ("grant.add", "carl", "clinic"),
        ("grant.add", "dora", None),
        ("grant.revoke", "carl", "clinic"),
    ]
    assert [event["body"].get("os_user") for event in events] == ["root", None, "root"]
    assert events[0]["body"]["until"] == "2027-01-01T00:00:00.000000Z"
    assert [grant.by for grant in site.grants.list_grants()] == ["dora"]
    assert len(site.grants.list_grants(revoked=True)) == 2
    with pytest.raises(ConfigError):
        site.grants.revoke("g_nothing", by=BY)


def test_everybody_of_an_older_site_keeps_what_they_had_and_newcomers_get_nothing(tmp_path, monkeypatch):
    before = MIGRATIONS[: MIGRATIONS.index(RIGHTS)]
    path = tmp_path / "control.db"
    monkeypatch.setattr(database_module, "MIGRATIONS", before)
    Database(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, role, removed in (("ann", "researcher", None), ("dora", "admin", None), ("eve", "researcher", "x")):
            row = (name, role, "2026-01-01", removed)
            connection.execute("INSERT INTO users (name, role, created, removed) VALUES (?, ?, ?, ?)", row)
        connection.execute("INSERT INTO keys (id, user, hash, created) VALUES ('aaaaaaaa', 'ann', 'h', '2026-01-01')")
    monkeypatch.setattr(database_module, "MIGRATIONS", MIGRATIONS)
    site = Site(path)
    assert {user.name: user.role for user in site.accounts.list_users()} == {
        "ann": "researcher",
        "dora": "custodian",
        "eve": "researcher",
    }
    assert [(key.id, key.user, key.expires) for key in site.accounts.keys.all()] == [("aaaaaaaa", "ann", None)]
    site.accounts.add_user("new", "auditor")
    assert [site.grants.modes(name, "clinic") for name in ("ann", "dora", "eve", "new")] == [
        ALL, ALL, frozenset(), frozenset(),
    ]  # fmt: skip
    assert {(grant.by, grant.dataset) for grant in site.grants.list_grants()} == {("upgrade", "*")}
    for _ in range(2):
        site.grants.note_upgrade()
    [event] = site.log.events()
    assert (event["kind"], event["body"]["users"]) == ("grant.upgrade", ["ann", "dora"])
    with pytest.raises(sqlite3.IntegrityError), site.database.writing() as connection:
        connection.execute("INSERT INTO keys (id, user, hash, created) VALUES ('b', 'nobody', 'h', 'x')")
    site.database.close()
