"""Sessions of browsers: whose they are, and everything that ends one."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest

from querygate.control import Accounts, Database
from querygate.control.sessions import IDLE, LASTS, Sessions


class Clock:
    def __init__(self):
        self.moment = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self):
        return self.moment


@pytest.fixture
def made(tmp_path):
    clock = Clock()
    database = Database(tmp_path / "control.db")
    accounts = Accounts(database, clock, secrets.token_bytes)
    accounts.add_user("carl", "custodian")
    accounts.add_user("ann", "researcher")
    yield clock, database, accounts, Sessions(database, clock, secrets.token_bytes)
    database.close()


def test_a_session_is_its_keys_owner(made):
    _, database, accounts, sessions = made
    token = sessions.begin(accounts.keys.new("ann").id)
    found = sessions.find(token)
    assert (found.principal.name, found.principal.role) == ("ann", "researcher")
    assert sessions.find("") is sessions.find("x" * 64) is sessions.find("\ud800") is None
    kept = [value for row in database.rows("SELECT * FROM session") for value in tuple(row)]
    assert token not in kept


def test_signing_out_ends_one_session(made):
    _, _, accounts, sessions = made
    key = accounts.keys.new("ann").id
    here, there = sessions.begin(key), sessions.begin(key)
    sessions.end(here)
    sessions.end("no such token")
    assert sessions.find(here) is None
    assert sessions.find(there) is not None


@pytest.mark.parametrize(
    "close",
    [
        lambda accounts, key: accounts.keys.revoke(key),
        lambda accounts, key: accounts.disable_user("ann"),
        lambda accounts, key: accounts.remove_user("ann"),
    ],
    ids=["revoked", "disabled", "removed"],
)
def test_a_session_ends_with_its_key(made, close):
    _, _, accounts, sessions = made
    key = accounts.keys.new("ann").id
    token = sessions.begin(key)
    close(accounts, key)
    assert sessions.find(token) is None


def test_another_role_is_seen_at_once(made):
    _, _, accounts, sessions = made
    token = sessions.begin(accounts.keys.new("ann").id)
    accounts.change_user("ann", role="custodian")
    assert sessions.find(token).principal.may("oversee")


def test_a_session_ends_by_itself(made):
    clock, database, accounts, sessions = made
    token = sessions.begin(accounts.keys.new("ann").id)
    clock.moment += IDLE
    assert sessions.find(token) is None
    token, began = sessions.begin(accounts.keys.new("ann").id), clock.moment
    while clock.moment < began + LASTS - timedelta(minutes=30):
        clock.moment += timedelta(minutes=30)
        assert (sessions.find(token) is not None) == (clock.moment < began + LASTS)
    clock.moment += timedelta(minutes=30)
    assert sessions.find(token) is None
    sessions.begin(accounts.keys.new("ann").id)
    assert len(database.rows("SELECT * FROM session")) == 1  # those that ended are swept


def test_a_session_does_not_come_back_with_the_account(made):
    _, _, accounts, sessions = made
    key = accounts.keys.new("ann")
    tokens = sessions.begin(key.id), sessions.begin_by_sign_on("ann")
    other = sessions.begin_by_sign_on("carl")
    accounts.disable_user("Ann")
    accounts.enable_user("ann")
    assert [sessions.find(token) for token in tokens] == [None, None]
    assert sessions.find(other) is not None
    assert accounts.keys.authenticate(key.secret).name == "ann"
