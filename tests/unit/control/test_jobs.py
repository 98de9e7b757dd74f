"""Jobs: leased by one worker at a time, taken over when it dies, ended once, and never changed after that."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from datetime import timedelta
from typing import Any

import pytest

from querygate.control import Database, Jobs
from querygate.control.jobs import MOST_ATTEMPTS
from querygate.core.errors import BudgetExhausted, ExtractRefused, Fault, NotPermitted, QueryGateError
from querygate.core.jobs import KINDS, LONG, QUICK, Job, problem_body, read_problem

LEASE_S = 30.0


@pytest.fixture
def jobs(database: Database, clock: Any) -> Jobs:
    return Jobs(database, clock, secrets.token_bytes)


def put(jobs: Jobs, number: int = 0, **more: Any) -> Job:
    return jobs.put("noise.answer", dataset="zoë", user="ann", body={"sql": "SELECT '\u2603'", "n": number}, **more)


def anyone(job: Job) -> bool:
    return True


def test_every_kind_is_quick_or_long() -> None:
    assert sorted((*QUICK, *LONG)) == sorted(KINDS)


def test_the_oldest_first_and_each_to_one_worker(jobs: Jobs) -> None:
    first, second = put(jobs), put(jobs, 1)
    assert jobs.lease("w1", LONG, LEASE_S) is None
    taken = [jobs.lease(name, QUICK, LEASE_S) for name in ("w1", "w2", "w3")]
    assert [job.id if job else None for job in taken] == [first.id, second.id, None]
    assert taken[0] is not None
    assert (taken[0].state, taken[0].attempt, taken[0].body) == ("leased", 1, first.body)


def test_many_threads_never_get_the_same_job(jobs: Jobs) -> None:
    wanted = {put(jobs, number).id for number in range(40)}
    got: list[str] = []

    def work(name: str) -> None:
        while (job := jobs.lease(name, QUICK, LEASE_S)) is not None:
            got.append(job.id)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(wanted)


def test_who_goes_silent_loses_the_job_and_cannot_end_it_any_more(jobs: Jobs, clock: Any) -> None:
    job = put(jobs)
    jobs.lease("w1", QUICK, LEASE_S)
    clock.moment += timedelta(seconds=LEASE_S - 1)
    assert jobs.renew("w1", job.id, LEASE_S, "counting", 0.5) is not None
    clock.moment += timedelta(seconds=LEASE_S - 1)
    assert jobs.lease("w2", QUICK, LEASE_S) is None
    clock.moment += timedelta(seconds=1)
    again = jobs.lease("w2", QUICK, LEASE_S)
    assert again is not None
    assert (again.attempt, again.progress, again.fraction) == (2, "counting", 0.5)
    assert jobs.renew("w1", job.id, LEASE_S) is None
    assert jobs.end(job.id, "done", {"n": 1}, may=lambda held: held.worker == "w1") is None
    ended = jobs.end(job.id, "done", {"n": 2}, may=lambda held: held.worker == "w2")
    assert ended is not None
    assert ended.result == {"n": 2}
    assert jobs.end(job.id, "failed", None, may=anyone) is None


def test_what_belongs_to_the_end_is_done_with_it_or_neither_is(jobs: Jobs) -> None:
    job = put(jobs)

    def break_off(connection: sqlite3.Connection, job: Job) -> None:
        connection.execute("INSERT INTO watch (dataset, seq) VALUES ('zoë', 1)")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        jobs.end(job.id, "done", {}, may=anyone, then=break_off)
    found = jobs.find(job.id)
    assert found is not None
    assert found.state == "queued"


def test_a_job_that_ends_its_workers_is_not_taken_up_for_ever(jobs: Jobs, clock: Any) -> None:
    job = put(jobs)
    for _ in range(MOST_ATTEMPTS):
        assert jobs.stale() == []
        assert jobs.lease("w", QUICK, LEASE_S) is not None
        clock.moment += timedelta(seconds=LEASE_S + 1)
    assert jobs.lease("w", QUICK, LEASE_S) is None
    assert [one.id for one in jobs.stale()] == [job.id]


def test_what_was_given_back_is_as_new(jobs: Jobs) -> None:
    job = put(jobs)
    jobs.lease("w1", QUICK, LEASE_S)
    jobs.give_back("w2", job.id)
    assert jobs.lease("w2", QUICK, LEASE_S) is None
    jobs.give_back("w1", job.id)
    again = jobs.lease("w2", QUICK, LEASE_S)
    assert again is not None
    assert again.attempt == 1


def test_what_is_cancelled_is_not_taken_up_and_who_works_on_it_is_told(jobs: Jobs) -> None:
    first, second = put(jobs), put(jobs, 1)
    jobs.lease("w1", QUICK, LEASE_S)
    jobs.cancel(first.id)
    jobs.cancel(second.id)
    assert jobs.lease("w2", QUICK, LEASE_S) is None
    told = jobs.renew("w1", first.id, LEASE_S)
    assert told is not None
    assert told.is_cancelling
    assert [one.id for one in jobs.stale()] == [second.id]


def test_the_same_question_of_the_same_person_shares_a_job_while_it_is_fresh(jobs: Jobs, clock: Any) -> None:
    first = put(jobs, shared_s=60)
    assert put(jobs, shared_s=60).id == first.id
    assert put(jobs).id != first.id
    assert put(jobs, 1, shared_s=60).id != first.id
    assert jobs.put(first.kind, dataset="zoë", user="bob", body=first.body, shared_s=60).user == "bob"
    done = put(jobs, 2, shared_s=60)
    jobs.end(done.id, "done", {}, may=anyone)
    assert put(jobs, 2, shared_s=60).id == done.id
    clock.moment += timedelta(seconds=61)
    assert put(jobs, 2, shared_s=60).id != done.id
    failed = put(jobs, 3, shared_s=60)
    jobs.end(failed.id, "failed", {}, may=anyone)
    assert put(jobs, 3, shared_s=60).id != failed.id


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE job SET result = '{}'",
        "UPDATE job SET state = 'queued', finished = NULL",
        "INSERT OR REPLACE INTO job SELECT * FROM job",
        "INSERT INTO job (id, kind, dataset, user, key, body, state, created, finished) "
        "VALUES ('j', 'k', 'd', 'u', 'k', '{}', 'done', '', '')",
    ],
)
def test_what_has_ended_never_changes(jobs: Jobs, database: Database, statement: str) -> None:
    job = put(jobs)
    jobs.end(job.id, "done", {"n": 1}, may=anyone)
    with pytest.raises(sqlite3.DatabaseError), database.writing() as connection:
        connection.execute(statement)
    found = jobs.find(job.id)
    assert found is not None
    assert found.result == {"n": 1}


def test_what_has_not_ended_is_kept_and_what_ended_long_ago_is_forgotten(
    jobs: Jobs, database: Database, clock: Any
) -> None:
    open_one, ended = put(jobs), put(jobs, 1)
    with pytest.raises(sqlite3.DatabaseError), database.writing() as connection:
        connection.execute("DELETE FROM job WHERE id = ?", (open_one.id,))
    with pytest.raises(sqlite3.DatabaseError), database.writing() as connection:
        connection.execute("UPDATE job SET user = 'eve' WHERE id = ?", (open_one.id,))
    jobs.end(ended.id, "done", {}, may=anyone)
    assert jobs.sweep(60, 60) == 0
    clock.moment += timedelta(seconds=61)
    assert jobs.sweep(60, 60) == 1
    assert (jobs.find(ended.id), jobs.waiting()) == (None, (1, open_one.created))


@pytest.mark.parametrize(
    "problem",
    [
        NotPermitted("QG305", "Too slow.", "Ask for less.", suggestion="SELECT 1"),
        BudgetExhausted("QG401", "Spent.", ""),
        ExtractRefused("QG605", "Zoë", "x"),
        Fault("i_1"),
    ],
)
def test_a_problem_travels(problem: QueryGateError) -> None:
    again = read_problem(problem_body(problem))
    assert (type(again), again.to_dict()) == (type(problem), problem.to_dict())


def test_a_problem_of_a_newer_version_is_a_fault() -> None:
    assert read_problem({"code": "XY1"}).code == "QG900"


def test_what_is_common_is_done_once_whoever_asks(jobs: Jobs) -> None:
    asked: dict[str, Any] = {"dataset": "zoë", "body": {"request": "x_1"}, "shared_s": 60}
    assert jobs.last("extract.preview", "zoë", "ann", {"request": "x_1"}) is None
    first = jobs.put("extract.preview", user="ann", **asked)
    assert jobs.put("extract.preview", user="bob", **asked).id == first.id
    jobs.end(first.id, "failed", {}, may=anyone)
    found = jobs.last("extract.preview", "zoë", "carl", {"request": "x_1"})
    assert found is not None
    assert (found.id, found.state) == (first.id, "failed")
    assert jobs.last("extract.preview", "zoë", "carl", {"request": "x_2"}) is None
