"""Programs that wait to be let in, and browsers that are on the way: what each secret is good for, and until when."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest

from querygate.control import Accounts, Database
from querygate.control.sign_on import attempts, device_codes
from querygate.control.sign_on.attempts import Attempts, derive
from querygate.control.sign_on.device_codes import LETTERS, DeviceCodes, LetIn


class Clock:
    def __init__(self):
        self.moment = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self):
        return self.moment

    def passes(self, **time):
        self.moment += timedelta(**time)


@pytest.fixture
def made(tmp_path):
    clock, database = Clock(), Database(tmp_path / "control.db")
    Accounts(database, clock, secrets.token_bytes).add_user("ann", "researcher")
    yield clock, database
    database.close()


def test_a_browser_comes_back_once_and_in_time(made):
    clock, database = made
    waiting = Attempts(database, clock, secrets.token_bytes)
    first, second, late = (waiting.begin(f"/{number}") for number in range(3))
    assert waiting.take(first) == "/0"
    assert [waiting.take(secret) for secret in (first, "", "x", "\ud800")] == [None] * 4
    assert waiting.take(second) == "/1"
    clock.passes(minutes=10)
    assert waiting.take(late) is None
    waiting.begin("/")
    assert len(database.rows("SELECT * FROM sign_in_attempt")) == 1  # those that are late are swept
    assert len(derive(first, "verifier")) == 43  # as PKCE wants it


def test_a_flood_of_browsers_is_forgotten_oldest_first(made, monkeypatch):
    clock, database = made
    monkeypatch.setattr(attempts, "MOST", 3)
    waiting = Attempts(database, clock, secrets.token_bytes)
    begun = []
    for _ in range(5):
        clock.passes(seconds=1)
        begun.append(waiting.begin("/"))
    assert [waiting.take(secret) is not None for secret in begun] == [False, False, True, True, True]


def test_a_program_is_let_in_once(made):
    clock, database = made
    codes = DeviceCodes(database, clock, secrets.token_bytes)
    device = codes.begin(frozenset({"ask"}), "203.0.113.9")
    assert set(device.code) <= {*LETTERS, "-"}
    assert device.secret not in str([tuple(row) for row in database.rows("SELECT * FROM device_code")])
    assert codes.redeem(device.secret) == "authorization_pending"
    clock.passes(seconds=1)
    assert codes.redeem(device.secret) == "slow_down"
    clock.passes(seconds=5)
    assert codes.redeem(device.secret) == "authorization_pending"
    waiting = codes.find(f" {device.code.lower()} ")
    assert (waiting.address, waiting.scopes) == ("203.0.113.9", frozenset({"ask"}))
    assert codes.decide(device.code, "ann", is_let_in=True)
    assert not codes.decide(device.code, "ann", is_let_in=True)
    assert codes.find(device.code) is None
    assert codes.redeem(device.secret) == LetIn("ann", frozenset({"ask"}))
    assert codes.redeem(device.secret) is None


def test_a_program_that_is_refused_or_late_gets_nothing(made, monkeypatch):
    clock, database = made
    codes = DeviceCodes(database, clock, secrets.token_bytes)
    refused, late, approved_late = (codes.begin(frozenset(), "a") for _ in range(3))
    codes.decide(refused.code, "ann", is_let_in=False)
    codes.decide(approved_late.code, "ann", is_let_in=True)
    assert codes.redeem(refused.secret) is None
    clock.passes(minutes=10)
    assert codes.redeem(late.secret) is codes.redeem(approved_late.secret) is codes.find(late.code) is None
    assert not codes.decide(late.code, "ann", is_let_in=True)
    monkeypatch.setattr(device_codes, "MOST", 2)
    for _ in range(4):
        codes.begin(frozenset(), "a")
    assert len(database.rows("SELECT * FROM device_code")) == 2
