"""The loop of a worker over a real control database: lanes, leases, stopping, cancelling; verdicts before answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import DisclosureRefused, NotPermitted
from querygate.core.jobs import Job, JobKind
from querygate.core.progress import Progress
from querygate.core.types import Principal, Request
from querygate.custody.use_cases.audits.inline_auditor import NOTE
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Handler, Worker
from querygate.gate.answer import ask
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.open_jobs import with_jobs
from tests.audited_site import AND_ONE_MORE, FORTIES, make_audited_site, notes_of
from tests.empty_site import empty_site
from tests.work import HANG_S, wait_until


@pytest.fixture
def opened(tmp_path: Path) -> OpenSite:
    return open_gate(empty_site(tmp_path / "site"))


@contextmanager
def running(
    exchange: JobExchange, handlers: Mapping[JobKind, Handler], grace_s: float = HANG_S
) -> Iterator[Callable[[], bool]]:
    """A worker in a thread; gives what stops it and tells whether it did so cleanly."""
    over, ended = threading.Event(), []
    worker = Worker(exchange, handlers, threads=2, lease_s=0.2, poll_s=0.005)
    thread = threading.Thread(target=lambda: ended.append(worker.run(over.is_set, grace_s=grace_s)))
    thread.start()

    def stop() -> bool:
        over.set()
        thread.join(HANG_S)
        return bool(ended and ended[0])

    try:
        yield stop
    finally:
        stop()


def put(exchange: JobExchange, kind: JobKind, number: int = 0) -> str:
    return exchange._jobs.put(kind, dataset="d", user="ann", body={"n": number}).id


def state(exchange: JobExchange, job_id: str) -> Job:
    found = exchange.find(job_id)
    assert found is not None
    return found


def test_a_job_that_takes_too_long_is_stopped_at_its_next_step(opened: OpenSite) -> None:
    exchange = JobExchange(opened)

    def step(job: Job, progress: Progress) -> dict[str, int]:
        progress("one more step")
        return {"n": 1}

    ids = [put(exchange, kind) for kind in ("publish.draft", "noise.check")]
    handlers: Mapping[JobKind, Handler] = {"publish.draft": step, "noise.check": step}
    assert Worker(exchange, handlers, threads=1, lease_s=5.0, poll_s=0.01, long_s=-1.0).work_off() == 2
    draft, quick = (state(exchange, one) for one in ids)
    assert (draft.state, draft.result["code"] if draft.result else None) == ("failed", "QG305")
    assert "job_minutes" in str(draft.result)
    assert quick.state == "done"


def test_a_job_that_hangs_ends_its_worker_and_after_three_of_them_the_job(opened: OpenSite) -> None:
    """Nothing can stop a thread that waits for a silent server. Its lane would be taken for good, its lease renewed."""
    exchange, over = JobExchange(opened), threading.Event()
    exchange._lease_s = 0.05

    def hang(job: Job, progress: Progress) -> dict[str, int]:
        over.wait(HANG_S)
        return {}

    handlers: Mapping[JobKind, Handler] = {"publish.draft": hang, "noise.check": quick}
    stuck, answered = put(exchange, "publish.draft"), put(exchange, "noise.check")
    for attempt in (1, 2, 3):
        worker = Worker(exchange, handlers, threads=1, lease_s=0.2, poll_s=0.005, long_s=0.02)
        assert not worker.run(lambda: False)
        assert state(exchange, stuck).attempt == attempt
        wait_until(lambda: exchange._jobs.is_over(state(exchange, stuck)))
    assert exchange.lease("w", ("publish.draft",)) is None
    assert (state(exchange, stuck).state, state(exchange, answered).state) == ("failed", "done")
    over.set()


def test_a_long_job_keeps_nobody_waiting_and_tells_how_far_it_is(opened: OpenSite) -> None:
    exchange, go_on = JobExchange(opened), threading.Event()

    def long(job: Job, progress: Progress) -> Mapping[str, Any]:
        progress("measuring", 0.25)
        assert go_on.wait(HANG_S)
        return {"n": 1}

    with running(exchange, {"audit.run": lambda job, progress: {}, "extract.preview": long, "noise.check": quick}):
        slow = put(exchange, "extract.preview")
        wait_until(lambda: state(exchange, slow).progress == "measuring")
        lease = state(exchange, slow).lease
        answers = [put(exchange, "noise.check", number) for number in range(5)]
        wait_until(lambda: all(state(exchange, one).state == "done" for one in answers))
        assert (state(exchange, slow).state, state(exchange, slow).fraction) == ("leased", 0.25)
        wait_until(lambda: str(state(exchange, slow).lease) > str(lease))  # it is renewed as long as the job takes
        go_on.set()
        wait_until(lambda: state(exchange, slow).state == "done")
    assert state(exchange, slow).attempt == 1


def quick(job: Job, progress: Progress) -> Mapping[str, Any]:
    return {"n": job.body["n"]}


def test_what_fails_says_why_without_words_of_an_engine(opened: OpenSite) -> None:
    def refuse(job: Job, progress: Progress) -> Mapping[str, Any]:
        if job.body["n"]:
            raise ValueError("Smith, 51, HIV+")
        raise NotPermitted("QG305", "Too slow.", "Ask for less.")

    exchange = JobExchange(opened)
    with running(exchange, {"noise.check": refuse}):
        told = [put(exchange, "noise.check", number) for number in (0, 1)]
        wait_until(lambda: all(state(exchange, one).has_ended for one in told))
    first, second = (state(exchange, one) for one in told)
    assert first.result == {"code": "QG305", "detail": "Too slow.", "remedy": "Ask for less."}
    assert second.result is not None
    assert (second.state, second.result["code"], "Smith" in str(second.result)) == ("failed", "QG900", False)


def endless(job: Job, progress: Progress) -> Mapping[str, Any]:
    while True:
        progress("going on")
        time.sleep(0.005)


def test_a_worker_that_is_stopped_gives_long_jobs_back_and_finishes_short_ones(opened: OpenSite) -> None:
    exchange, begun = JobExchange(opened), threading.Event()

    def short(job: Job, progress: Progress) -> Mapping[str, Any]:
        begun.set()
        time.sleep(0.1)
        return {}

    with running(exchange, {"extract.build": endless, "noise.check": short}) as stop:
        long_one, short_one = put(exchange, "extract.build"), put(exchange, "noise.check")
        wait_until(lambda: state(exchange, long_one).state == "leased")
        assert begun.wait(HANG_S)
        assert stop()
    given_back = state(exchange, long_one)
    assert (given_back.state, given_back.attempt, state(exchange, short_one).state) == ("queued", 0, "done")


def test_one_that_does_not_stop_has_its_job_taken_from_it(opened: OpenSite) -> None:
    exchange, go_on = JobExchange(opened), threading.Event()

    def deaf(job: Job, progress: Progress) -> Mapping[str, Any]:
        go_on.wait(HANG_S)
        return {"late": True}

    with running(exchange, {"extract.preview": deaf}, grace_s=0.05) as stop:
        one = put(exchange, "extract.preview")
        wait_until(lambda: state(exchange, one).state == "leased")
        assert not stop()
        assert state(exchange, one).state == "queued"
        go_on.set()
        time.sleep(0.1)
    assert (state(exchange, one).state, state(exchange, one).result) == ("queued", None)


def test_a_job_that_is_cancelled_stops_at_its_next_step(opened: OpenSite) -> None:
    exchange = JobExchange(opened)
    with running(exchange, {"extract.preview": endless}):
        one, other = put(exchange, "extract.preview"), put(exchange, "extract.preview", 1)
        wait_until(lambda: state(exchange, one).state == "leased")
        exchange.cancel(other)
        assert state(exchange, other).state == "cancelled"
        exchange.cancel(one)
        wait_until(lambda: state(exchange, one).has_ended)
    ended = state(exchange, one)
    assert ended.result is not None
    assert (ended.state, ended.result["code"]) == ("cancelled", "QG315")


def test_a_worker_refuses_for_its_gate_what_could_single_people_out(tmp_path: Path) -> None:
    site = make_audited_site(tmp_path, "refuse").site
    opened = open_gate(site)
    gate = with_jobs(opened).opened.gate

    def asked(user: str, sql: str) -> Any:
        return ask(Request(Principal(user, "researcher"), "clinic", sql), gate)

    with running(JobExchange(opened), JobHandlers(opened).table()):
        assert asked("ann", FORTIES)["rows"]
        with pytest.raises(DisclosureRefused):
            asked("bob", AND_ONE_MORE)
        assert asked("eve", AND_ONE_MORE)["rows"]
        assert asked("ann", FORTIES)["rows"]
    assert notes_of(opened, NOTE)[0]["refused"]
