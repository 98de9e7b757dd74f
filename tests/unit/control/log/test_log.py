"""The log: what is written, and what comes back."""

import io
import json
import sqlite3
from datetime import timedelta
from hashlib import sha256

import numpy as np
import pytest

from querygate.control import GENESIS, Log, VerifiedChain, verify_lines

CONTRACT = ["id", "time", "user", "dataset", "version", "sql", "mode", "outcome", "code", "answer", "epsilon"]
CONTRACT += ["prev", "hash"]
SQL = "SELECT sex, AVG(sbp) FROM patients GROUP BY sex"


def intend(log, query_id, user="ann", dataset="patients"):
    log.intend(
        query_id,
        user=user,
        dataset=dataset,
        version=3,
        sql=SQL,
        mode="interval",
        canonical_hash="c" * 64,
        policy_hash="d" * 64,
    )


def answer(log, query_id, **who):
    intend(log, query_id, **who)
    log.conclude(query_id, "answered", answer={"rows": [{"n": 1}]})


def ids(queries):
    return [query["id"] for query in queries]


# -- one query -------------------------------------------------------------------------------------------


def test_an_answered_query_has_every_field_of_the_query_log(log, clock):
    intend(log, "q_1")
    clock.pass_minutes(1)
    log.conclude("q_1", "answered", answer={"rows": [{"sex": "F", "avg": {"low": 1.5, "high": 2.0}}]}, epsilon=0.1)
    [line] = log.queries()
    assert list(line) == CONTRACT
    intent, outcome = log.events()
    assert line == {
        "id": "q_1",
        "time": "2026-03-01T12:01:00.000000Z",
        "user": "ann",
        "dataset": "patients",
        "version": 3,
        "sql": SQL,
        "mode": "interval",
        "outcome": "answered",
        "code": None,
        "answer": {"rows": [{"sex": "F", "avg": {"low": 1.5, "high": 2.0}}]},
        "epsilon": 0.1,
        "prev": intent["hash"],
        "hash": outcome["hash"],
    }


def test_both_entries_of_a_query_are_chained_with_the_policy_that_ruled(log):
    answer(log, "q_1")
    intent, outcome = log.events()
    assert (intent["kind"], outcome["kind"]) == ("query.intent", "query.outcome")
    for event in (intent, outcome):
        assert (event["query_id"], event["user"], event["dataset"]) == ("q_1", "ann", "patients")
        assert event["body"]["policy_hash"] == "d" * 64
        assert event["body"]["canonical_hash"] == "c" * 64
    assert (intent["prev"], outcome["prev"]) == (GENESIS, intent["hash"])


def test_the_policy_of_an_answer_is_told_again_and_again(log):
    answer(log, "q_1")
    intend(log, "q_2")
    asked = {"user": "ann", "dataset": "patients", "version": 3, "sql": SQL, "mode": "interval", "canonical_hash": "c"}
    log.repeat("q_3", {"rows": []}, **asked, policy_hash="e" * 64)
    told = {"q_1": "d" * 64, "q_2": "d" * 64, "q_3": "e" * 64, "q_4": None}
    for _ in range(2):  # as this process remembers it, and as the log has it
        assert {query: log.policy_hash(query) for query in told} == told


def test_a_query_refused_before_admission_is_one_entry(log):
    log.conclude("q_1", "refused", code="QG101", user="ann", dataset="patients", sql="SELEC")
    [event] = log.events()
    assert event["kind"] == "query.outcome"
    [line] = log.queries()
    assert list(line) == CONTRACT
    assert (line["user"], line["sql"], line["outcome"], line["code"]) == ("ann", "SELEC", "refused", "QG101")
    assert (line["version"], line["mode"], line["answer"]) == (None, None, None)


def test_a_query_refused_after_admission_keeps_what_its_intent_said(log):
    intend(log, "q_1")
    log.conclude("q_1", "refused", code="QG305", user="mallory", sql="another", dataset="other", version=9, mode="x")
    [line] = log.queries()
    assert (line["user"], line["sql"], line["dataset"], line["version"]) == ("ann", SQL, "patients", 3)


def test_a_query_without_outcome_counts_as_failed(log):
    intend(log, "q_1")
    answer(log, "q_2")
    lines = list(log.queries())
    assert [(line["id"], line["outcome"], line["code"], line["answer"]) for line in lines] == [
        ("q_1", "failed", None, None),
        ("q_2", "answered", None, {"rows": [{"n": 1}]}),
    ]
    assert list(lines[0]) == CONTRACT
    assert lines[0]["hash"] == next(log.events())["hash"]


def test_nothing_is_answered_without_an_intent(log):
    with pytest.raises(ValueError, match="no intent"):
        log.conclude("q_1", "answered", answer={}, user="ann", sql=SQL, dataset="patients")
    with pytest.raises(ValueError, match="no intent"):
        log.conclude("q_1", "refused", code="QG101", user="ann")
    assert list(log.events()) == []


def test_a_query_begins_once_and_ends_once(log):
    answer(log, "q_1")
    with pytest.raises(sqlite3.IntegrityError):
        log.conclude("q_1", "failed")
    with pytest.raises(sqlite3.IntegrityError):
        intend(log, "q_1")
    assert log.verify().entries == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.int64(1), object()])
def test_an_answer_that_json_cannot_carry_is_not_recorded_as_something_else(log, value):
    intend(log, "q_1")
    with pytest.raises((ValueError, TypeError)):
        log.conclude("q_1", "answered", answer={"value": value})
    assert [line["outcome"] for line in log.queries()] == ["failed"]


@pytest.mark.parametrize(
    "text", ["naïve 漢字 🩺", 'quote " backslash \\ ', "line\nend\r\x00\u2028", "lone \ud800 surrogate"]
)
def test_any_text_survives(log, text):
    log.conclude("q_1", "refused", code="QG303", user="ann", dataset=text, sql=text)
    [line] = log.queries()
    assert line["sql"] == text
    assert line["dataset"] == text.replace("\ud800", "?").replace("\0", "\ufffd")
    stream = io.StringIO()
    log.export(stream)
    assert stream.getvalue().isascii()
    assert verify_lines([stream.getvalue()]) == log.verify()


# -- administration --------------------------------------------------------------------------------------


def test_notes_are_events_but_not_queries(log):
    log.note("user.add", user="root", body={"name": "ann", "role": "researcher"})
    log.note("publish", user="bob", dataset="patients", body={"version": 3})
    log.note("start", user=None)
    events = list(log.events())
    assert [(event["kind"], event["user"], event["dataset"], event["body"]) for event in events] == [
        ("user.add", "root", None, {"name": "ann", "role": "researcher"}),
        ("publish", "bob", "patients", {"version": 3}),
        ("start", None, None, {}),
    ]
    assert list(log.queries()) == []


def test_a_note_cannot_pass_for_a_query(log):
    with pytest.raises(ValueError, match="not an administrative event"):
        log.note("query.outcome", user="ann", body={"outcome": "answered"})


# -- reading ---------------------------------------------------------------------------------------------


def test_queries_are_selected_by_user_dataset_and_time(log, clock):
    start = clock()
    for number, (user, dataset) in enumerate([("ann", "p"), ("bob", "p"), ("ann", "q"), ("ann", "p")], 1):
        answer(log, f"q_{number}", user=user, dataset=dataset)
        clock.pass_minutes(1)
    assert ids(log.queries()) == ["q_1", "q_2", "q_3", "q_4"]
    assert ids(log.queries(user="ann")) == ["q_1", "q_3", "q_4"]
    assert ids(log.queries(dataset="p")) == ["q_1", "q_2", "q_4"]
    assert ids(log.queries(user="ann", dataset="p")) == ["q_1", "q_4"]
    assert ids(log.queries(since=start + timedelta(minutes=2))) == ["q_3", "q_4"]
    assert ids(log.queries(user="ann' OR '1'='1")) == []


def test_a_limit_keeps_the_latest_in_order(log):
    for number in range(1, 6):
        answer(log, f"q_{number}")
    assert ids(log.queries(limit=2)) == ["q_4", "q_5"]
    assert ids(log.queries(limit=99)) == [f"q_{number}" for number in range(1, 6)]
    assert ids(log.queries(limit=0)) == []


def test_writing_goes_on_while_somebody_reads(log):
    for number in range(3):
        answer(log, f"q_{number}")
    intend(log, "q_open")
    reading = log.queries()
    first = next(reading)
    log.conclude("q_open", "answered", answer={})
    answer(log, "q_new")
    # The reader sees the log as it was when the reading began, and each query once.
    assert [first["id"], *ids(reading)] == ["q_0", "q_1", "q_2", "q_open"]


def test_an_answer_is_found_again_as_it_was_given(log):
    intend(log, "q_1")
    given = {"z": 1, "a": [1.1, 1e-300, 2**53 + 1, True, None, "x"], "m": {"b": 1, "a": 2}}
    log.conclude("q_1", "answered", answer=given)
    user, found = log.answer("q_1")
    assert (user, found) == ("ann", given)
    assert list(found) == list(given)


def test_there_is_no_answer_to_what_was_refused_open_or_never_asked(log):
    log.conclude("q_1", "refused", code="QG101", user="ann", sql="SELEC")
    intend(log, "q_2")
    assert [log.answer(query_id) for query_id in ("q_1", "q_2", "q_3")] == [None, None, None]


# -- the chain -------------------------------------------------------------------------------------------


def test_an_empty_log_is_unbroken(log):
    assert log.verify() == VerifiedChain(0, GENESIS)


def test_an_exported_log_can_be_checked_with_nothing_but_sha256(log):
    for number in range(5):
        answer(log, f"q_{number}")
    stream = io.StringIO()
    log.export(stream)
    prev = GENESIS
    for seq, line in enumerate(stream.getvalue().splitlines(), 1):
        body, sealed = line.removesuffix('"}').rsplit(',"hash":"', 1)
        assert sha256((body + "}").encode()).hexdigest() == sealed
        fields = json.loads(line)
        assert (fields["seq"], fields["prev"]) == (seq, prev)
        prev = sealed
    assert log.verify() == VerifiedChain(10, prev)


def test_the_export_holds_the_events(log):
    answer(log, "q_1")
    log.note("publish", user="bob", dataset="patients", body={"version": 4})
    stream = io.StringIO()
    log.export(stream)
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == list(log.events())


def test_a_log_that_grew_still_holds_what_was_verified_before(log):
    answer(log, "q_1")
    before = log.verify()
    answer(log, "q_2")
    assert log.verify(before) == log.verify()


def test_two_logs_over_one_database_make_one_chain(database, clock):
    one, two = Log(database, clock), Log(database, clock)
    intend(one, "q_1")
    two.conclude("q_1", "answered", answer={})
    one.note("stop", user=None)
    assert one.verify() == two.verify()
    assert two.verify().entries == 3
