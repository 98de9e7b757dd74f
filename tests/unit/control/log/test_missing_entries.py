"""An old control database is brought up to date from a later log, with what was spent; or is not changed at all."""

from __future__ import annotations

import json
import secrets
import shutil
from pathlib import Path

import pytest

from querygate.control import Accounts, ChainBroken, Database, Log, SqliteBudgets
from querygate.control.budgets.ledger_evidence import compare
from querygate.control.grants import Actor, Grantee, Grants
from querygate.control.log.missing_entries import catch_up
from querygate.core.budget_types import Cost, Scope
from tests.unit.control.conftest import HandClock

EVERYBODY = Scope("dataset", "p", "p", 2.0)
ANN = Scope("user", "ann", "p", 1.0)


class Two:
    """A log that went on, and a copy of it from before."""

    def __init__(self, log: Log, clock: HandClock, to: Path) -> None:
        self.clock, self.log = clock, log
        self.accounts = Accounts(log.database, clock, secrets.token_bytes)
        self.ledger = SqliteBudgets(log.database, clock, log=log, patience_s=0.0)
        for user in ("ann", "bob"):
            self.accounts.add_user(user, "researcher")
        self.key = self.accounts.keys.new("ann")
        self.ledger.reserve("q_1", "key 1", [EVERYBODY, ANN], Cost(0.1))
        log.database.close()
        self.old = Log(Database(Path(shutil.copy(log.database.path, to))), clock)
        self.ledger.reserve("q_2", "key 2", [EVERYBODY, ANN], Cost(0.25))
        log.note("key.revoke", user="local", body={"id": self.key.id, "name": "ann"})
        log.note("user.disable", user="local", body={"name": "bob"})
        log.note("publish", user="local", dataset="内科 \u2028", body={"version": 2, "share": 1e-17, "n": 2**53 + 1})
        self.ledger.reserve("q_3", "key 3", [EVERYBODY], Cost(0.1))
        self.lines = list(log.lines())

    def old_ledger(self) -> SqliteBudgets:
        return SqliteBudgets(self.old.database, self.clock, log=self.old, patience_s=0.0)


@pytest.fixture
def two(log: Log, clock: HandClock, tmp_path: Path) -> Two:
    return Two(log, clock, tmp_path / "old.db")


def test_nothing_that_was_spent_is_forgotten(two: Two) -> None:
    assert two.old_ledger().left([EVERYBODY]) == pytest.approx([1.9])
    done = catch_up(two.old, two.lines, ledger=True)
    assert (done.entries, done.spends, dict(done.undone)) == (5, 2, {"publish": 1})
    assert two.old.verify() == two.log.verify()
    assert two.old_ledger().spent("p") == two.ledger.spent("p")
    assert compare(two.old, two.old_ledger(), shared=False).wrong == ()
    assert catch_up(two.old, two.lines, ledger=True).entries == 0  # again does nothing


def test_keys_that_were_revoked_stay_revoked_and_accounts_closed(two: Two) -> None:
    catch_up(two.old, two.lines, ledger=True)
    accounts = Accounts(two.old.database, two.clock, secrets.token_bytes)
    assert [key.revoked is not None for key in accounts.keys.all()] == [True]
    assert {user.name: user.disabled is not None for user in accounts.list_users()} == {"ann": False, "bob": True}


def test_a_log_may_begin_where_the_old_one_ends(two: Two) -> None:
    assert catch_up(two.old, two.lines[1:], ledger=True).entries == 5


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda lines: lines[2:], "entry 2: the later log does not have it"),
        (lambda lines: [*lines[:2], lines[3]], "entry 3: the later log does not have it"),
        (lambda lines: [*lines[:2], lines[2].replace(b"local", b"laura"), *lines[3:]], "entry 3: it was altered"),
        (lambda lines: [lines[0].replace(b'"hash":"', b'"hash":"f', 1), *lines[1:]], "entry 1"),
        (lambda lines: [b"not a line", *lines], "not an entry"),
        (lambda lines: [b"{}", *lines], "not an entry"),
        (lambda lines: [*lines[:3], b"\xff\xfe", *lines[3:]], "not an entry"),
    ],
)
def test_what_does_not_continue_the_log_changes_nothing(two: Two, edit, said: str) -> None:
    before = two.old.verify()
    with pytest.raises(ChainBroken, match=said):
        catch_up(two.old, edit(two.lines), ledger=True)
    assert two.old.verify() == before
    assert two.old_ledger().left([EVERYBODY]) == pytest.approx([1.9])


def test_a_ledger_elsewhere_is_left_alone(two: Two) -> None:
    assert catch_up(two.old, two.lines, ledger=False).spends == 2
    assert two.old_ledger().left([EVERYBODY]) == pytest.approx([1.9])


def test_an_empty_log_is_filled_from_its_beginning(two: Two, tmp_path: Path) -> None:
    new = Log(Database(tmp_path / "new.db"), two.clock)
    catch_up(new, two.lines, ledger=True)
    assert new.verify() == two.log.verify()
    assert json.loads(next(new.lines()))["seq"] == 1


def test_grants_that_were_revoked_stay_revoked(log: Log, clock: HandClock, tmp_path: Path) -> None:
    Accounts(log.database, clock, secrets.token_bytes).add_user("ann", "researcher")
    grants = Grants(log, secrets.token_bytes)
    granted = [grants.add(Grantee("user", "ann"), name, by=Actor("local")) for name in ("p", "q")]
    log.database.close()
    old = Log(Database(Path(shutil.copy(log.database.path, tmp_path / "old.db"))), clock)
    grants.revoke(granted[0].id, by=Actor("local"))
    catch_up(old, log.lines(), ledger=True)
    assert [grant.dataset for grant in Grants(old, secrets.token_bytes).list_grants()] == ["q"]
