"""Requests as they are kept: an act, its event, its entry in the log and what is told of it, together or not at all."""

from __future__ import annotations

import json
import secrets
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from itertools import product

import pytest

from querygate.control import Database, Log, Notices, SqliteRequests
from querygate.core.errors import ExtractRefused
from querygate.core.extracts.approval_states import ACTIONS, FINAL, STATES, TABLE, Act, advance, check_seen, possible
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.types import Principal
from tests.work import HANG_S

ANN, CARL, DORA = Principal("ann", "researcher"), Principal("carl", "custodian"), Principal("dora", "reviewer")
ANN_TOO = Principal("ann", "custodian")
WISH = ExtractSpec.of({"dataset": "clinic", "purpose": "to know", "models": ["cox: Surv(t, s) ~ age"], "k": 20})

# The shortest way into each state.
WAYS = {
    "draft": [],
    "submitted": [(ANN, "submit")],
    "in_review": [(ANN, "submit"), (CARL, "take")],
    "returned": [(ANN, "submit"), (CARL, "take"), (CARL, "return")],
    "rejected": [(ANN, "submit"), (CARL, "take"), (CARL, "reject")],
    "withdrawn": [(ANN, "withdraw")],
    "approved": [(ANN, "submit"), (CARL, "take"), (CARL, "approve")],
}
WAYS["built"] = [*WAYS["approved"], (CARL, "build")]
WAYS["released"] = [*WAYS["built"], (CARL, "release")]
WAYS["expired"] = [*WAYS["released"], (None, "expire")]
WAYS["revoked"] = [*WAYS["released"], (CARL, "revoke")]


@pytest.fixture
def requests(database, log):
    return SqliteRequests(database, log, secrets.token_bytes, channels=("webhook",))


def do(requests, request_id, by, action, **more):
    """One act, as a use-case does it."""
    given = {"build": {"manifest": "ab", "summary": {"k": 5}}, "release": {"expires": "2026-03-31"}}.get(action, {})

    def after(asked):
        return replace(advance(check_seen(by, asked), action, by, **more), **given)

    return requests.change(request_id, Act(action, by), after)


def bring(requests, state, clock):
    """A new request, in this state."""
    asked = requests.create(WISH, Act("request", ANN))
    for by, action in WAYS[state]:
        if by is None:
            clock.pass_minutes(60 * 24 * 40)
            [asked] = requests.expire_due()
        else:
            asked = do(requests, asked.id, by, action)
    assert asked.state == state
    return asked


def everything(database):
    tables = ("export_request", "export_event", "export_outbox", "log")
    return [list(map(tuple, database.rows(f"SELECT * FROM {table}"))) for table in tables]


def test_a_request_is_kept_as_it_was_made(requests, database, log):
    asked = requests.create(WISH, Act("request", ANN, details={"wish": WISH.to_dict()}))
    assert asked.id.startswith("x_")
    assert requests.find(asked.id) == asked
    assert asked.spec == WISH
    assert requests.create(WISH, Act("request", CARL)).number == asked.number + 1
    [event] = requests.events(asked.id)
    assert (event.number, event.user, event.action, event.before, event.after) == (1, "ann", "request", None, "draft")
    first = next(log.events())
    assert (first["kind"], first["user"], first["dataset"]) == ("export.request", "ann", "clinic")
    assert first["body"]["id"] == asked.id
    assert ExtractSpec.of(first["body"]["wish"]) == WISH


def test_lists_are_of_whom_and_of_what_was_asked_for(requests):
    first, second = requests.create(WISH, Act("request", ANN)), requests.create(WISH, Act("request", CARL))
    do(requests, first.id, ANN, "submit")
    assert [asked.id for asked in requests.listed()] == [second.id, first.id]
    assert [asked.id for asked in requests.listed(requester="ANN")] == [first.id]
    assert [asked.id for asked in requests.listed(state="draft")] == [second.id]
    assert requests.listed(requester="ann", state="draft") == []


@pytest.mark.parametrize("state", STATES)
def test_every_act_in_every_state_by_everybody(requests, database, log, clock, state):
    """What the table has moves the request and is on record; all else leaves every table as it was."""
    asked = bring(requests, state, clock)
    moves = 0
    for by, action in product((ANN, Principal("bob", "researcher"), CARL, DORA, ANN_TOO), ACTIONS):
        before = everything(database)
        if action not in possible(asked, by):
            with pytest.raises(ExtractRefused):
                do(requests, asked.id, by, action)
            assert everything(database) == before
            continue
        moved = do(requests, asked.id, by, action)
        moves += 1
        assert moved.state == requests.find(asked.id).state == TABLE[state, action].next
        last = list(log.events())[-1]
        assert (last["kind"], last["user"]) == (f"export.{action}", by.name)
        assert last["body"] == {"id": asked.id, "from": state, "to": moved.state, "via": "console"}
        assert requests.events(asked.id)[-1].action == action
        asked = bring(requests, state, clock)
    assert bool(moves) == (state not in FINAL)
    assert log.verify().entries == len(list(log.events()))


def test_what_is_raised_leaves_no_trace(requests, database):
    asked = requests.create(WISH, Act("request", ANN))
    before = everything(database)
    with pytest.raises(ExtractRefused) as refused:
        requests.change("x_0", Act("submit", ANN), lambda found: check_seen(ANN, found))
    assert refused.value.code == "QG603"
    with pytest.raises(ValueError):
        requests.change(asked.id, Act("submit", ANN, details={"x": float("nan")}), lambda found: found)
    assert everything(database) == before


# -- two at once ----------------------------------------------------------------------------------------------------


def at_once(*acts):
    """Run all together; which came through, and the codes of the others."""
    barrier, done, codes = threading.Barrier(len(acts)), [], []

    def run(number, act):
        barrier.wait()
        try:
            act()
            done.append(number)
        except ExtractRefused as refused:
            codes.append(refused.code)

    threads = [threading.Thread(target=run, args=one) for one in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done, codes


def test_of_two_reviewers_one_decides(requests, log, clock):
    for _ in range(10):
        asked = bring(requests, "in_review", clock)
        done, codes = at_once(
            lambda ident=asked.id: do(requests, ident, CARL, "approve"),
            lambda ident=asked.id: do(requests, ident, DORA, "reject"),
        )
        assert (len(done), codes) == (1, ["QG601"])
        assert requests.find(asked.id).state == ("approved", "rejected")[done[0]]
        assert [event.action for event in requests.events(asked.id)][-1] == ("approve", "reject")[done[0]]
    assert log.verify().entries == len(list(log.events()))


def test_the_same_person_is_not_two_reviewers_however_fast_they_are(requests, clock):
    asked = bring(requests, "in_review", clock)
    done, codes = at_once(*[lambda: do(requests, asked.id, CARL, "approve", reviewers=2)] * 6)
    assert (len(done), codes) == (1, ["QG602"] * 5)
    assert requests.find(asked.id).approvals == ("carl",)
    assert do(requests, asked.id, DORA, "approve", reviewers=2).state == "approved"


PROCESS = """
import secrets, sys
from datetime import UTC, datetime
from pathlib import Path
from querygate.control import Database, Log, SqliteRequests
from querygate.core.extracts.approval_states import Act, advance, check_seen
from querygate.core.errors import ExtractRefused
from querygate.core.types import Principal

database = Database(Path(sys.argv[1]))
requests = SqliteRequests(database, Log(database, lambda: datetime.now(UTC)), secrets.token_bytes)
by = Principal(sys.argv[2], "custodian")
for ident in sys.argv[4:]:
    try:
        requests.change(ident, Act(sys.argv[3], by), lambda asked: advance(check_seen(by, asked), sys.argv[3], by))
        print(ident)
    except ExtractRefused as refused:
        assert refused.code == "QG601", refused.code
"""


def test_of_two_processes_one_decides(requests, path, log, clock):
    idents = [bring(requests, "in_review", clock).id for _ in range(30)]
    acts = {"carl": "approve", "dora": "reject"}
    running = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(path), *act, *idents], stdout=subprocess.PIPE, text=True)
        for act in acts.items()
    ]
    won = [process.communicate(timeout=HANG_S)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert sorted(won[0] + won[1]) == sorted(idents)
    for ident in idents:
        assert requests.find(ident).state == ("approved" if ident in won[0] else "rejected")
    assert log.verify().entries == len(list(log.events()))


# -- time -----------------------------------------------------------------------------------------------------------


def test_time_is_nobody_and_is_on_record_once(requests, database, log, clock):
    asked = bring(requests, "released", clock)
    assert requests.expire_due() == []
    clock.pass_minutes(60 * 24 * 30)
    done, codes = at_once(*[requests.expire_due] * 4)
    assert (len(done), codes) == (4, [])
    assert requests.find(asked.id).state == "expired"
    entries = [event for event in log.events() if event["kind"] == "export.expire"]
    assert [(entry["user"], entry["body"]["from"], entry["body"]["to"]) for entry in entries] == [
        (None, "released", "expired")
    ]


def test_an_act_after_its_time_is_too_late_before_anybody_has_looked(requests, clock):
    asked = bring(requests, "released", clock)
    clock.pass_minutes(60 * 24 * 30)
    with pytest.raises(ExtractRefused) as refused:
        do(requests, asked.id, ANN, "fetch")
    assert refused.value.code == "QG606"
    with pytest.raises(ExtractRefused) as refused:
        do(requests, asked.id, CARL, "revoke")
    assert refused.value.code == "QG601"


# -- what the database itself refuses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE export_request SET state = 'released', expires = '2030', manifest = 'x'",
        "UPDATE export_request SET state = 'approved'",
        "UPDATE export_request SET requester = 'dora'",
        "UPDATE export_request SET id = 'x_0'",
        "DELETE FROM export_request",
        "INSERT OR REPLACE INTO export_request SELECT * FROM export_request",
        "INSERT INTO export_request (id, requester, dataset, state, wish, created, changed, approvals) "
        "VALUES ('x_0', 'a', 'd', 'approved', '{}', '', '', '[]')",
        "UPDATE export_event SET user = 'dora'",
        "DELETE FROM export_event",
        "INSERT OR REPLACE INTO export_event SELECT * FROM export_event",
        "INSERT INTO export_event SELECT request, number + 7, time, user, action, before, after, comment "
        "FROM export_event WHERE number = 1",
    ],
)
def test_the_tables_hold_against_a_mistaken_process(requests, database, clock, statement):
    bring(requests, "submitted", clock)
    with pytest.raises(sqlite3.IntegrityError), database.writing() as connection:
        connection.execute(statement)


def test_a_database_of_before_gets_the_tables(path, clock, monkeypatch):
    from querygate.control.schema import MIGRATIONS

    monkeypatch.setattr("querygate.control.database.MIGRATIONS", MIGRATIONS[:-1])
    Database(path).close()
    monkeypatch.undo()
    database = Database(path)
    requests = SqliteRequests(database, Log(database, clock), secrets.token_bytes)
    assert requests.create(WISH, Act("request", ANN)).state == "draft"
    database.close()


# -- what is told -----------------------------------------------------------------------------------------------------


def test_what_is_told_is_which_and_where_it_stands_and_nothing_of_it(requests, database, clock):
    asked = bring(requests, "released", clock)
    notices = Notices(database)
    waiting = notices.waiting("webhook")
    assert [one.alert["state"] for one in waiting] == ["submitted", "approved", "released"]
    assert waiting[0].alert == {
        "id": f"{asked.id}-2",
        "request": asked.id,
        "dataset": "clinic",
        "state": "submitted",
        "time": asked.created,
    }
    assert "to know" not in json.dumps([dict(one.alert) for one in waiting])
    notices.failed(waiting[0])
    notices.arrived(waiting[1])
    assert [(one.alert["state"], one.tries) for one in notices.waiting("webhook")] == [
        ("submitted", 1),
        ("released", 0),
    ]
    assert notices.waiting("mail") == []


def test_a_first_of_two_approvals_is_not_a_decision(requests, database, clock):
    asked = bring(requests, "in_review", clock)
    do(requests, asked.id, CARL, "approve", reviewers=2)
    assert [one.alert["state"] for one in Notices(database).waiting("webhook")] == ["submitted"]
