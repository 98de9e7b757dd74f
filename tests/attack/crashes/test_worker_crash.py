"""A worker that is killed at any step of a noisy answer: the budget is spent once or not at all, and the answer that
stands is one. A gate that is killed loses nothing that it has put."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from querygate.control import Jobs, SqliteBudgets
from querygate.core.jobs import Job
from querygate.core.types import QueryOptions
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Worker
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, now, open_gate
from tests.api.small_site import POLICY, write_inputs
from tests.forks import Forks, forks
from tests.served_site import make_served_site

SQL = "SELECT COUNT(*) AS n FROM patients WHERE age > 50"

# Where the worker dies: before or after one of these.
STEPS = ("lease", "reserve", "read", "record", "finish")

ACT = """
import os, signal
from pathlib import Path
from querygate.control.jobs import Jobs
from querygate.core.budget_ledger import Ledger
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Worker
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.control.log.log import Log
from querygate_adapters.vault.noise_rows import VaultColumns
from querygate_adapters.vault.publication import DuckDBPublication

PLACES = {"lease": (Jobs, "lease"), "reserve": (Ledger, "reserve"), "read": (VaultColumns, "read"),
          "record": (Ledger, "record"), "finish": (Jobs, "end"),
          "switch": (DuckDBPublication, "switch"), "note": (Log, "note")}

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def act(folder, step, when):
    owner, name = PLACES[step]
    true = getattr(owner, name)

    def dying(*given, **more):
        if when == "before":
            die()
        found = true(*given, **more)
        if step != "lease" or found is not None:
            die()
        return found

    opened = open_gate(open_site(Path(folder)))
    setattr(owner, name, dying)
    Worker(JobExchange(opened), JobHandlers(opened).table(), threads=1, lease_s=1.0, poll_s=0.01).work_off()
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    _, table = write_inputs(folder)
    site = make_served_site(folder, settings=f"publish_sources = 'kept={table}'")
    site.opened.log.database.close()
    return site.folder


@pytest.fixture
def opened(template: Path, tmp_path: Path) -> OpenSite:
    return open_gate(open_site(Path(shutil.copytree(template, tmp_path / "site"))))


@pytest.fixture(scope="module")
def workers() -> Iterator[Forks]:
    with forks(ACT) as workers:
        yield workers


def put(opened: OpenSite) -> Job:
    """A question as the gate puts it: the intent first."""
    catalog = opened.store.current("patients").catalog
    intent = {"version": catalog.version, "sql": SQL, "mode": "laplace", "policy_hash": catalog.policy_hash}
    query_id = opened.gate.new_id()
    opened.log.intend(query_id, user="ann", dataset="patients", canonical_hash="x", **intent)
    body = {"query_id": query_id, "sql": SQL, "version": catalog.version, "role": "researcher", "project": ""}
    body |= {"options": asdict(QueryOptions(mode="laplace")), "intent": {**intent, "canonical_hash": "x"}}
    return jobs_of(opened).put("noise.answer", dataset="patients", user="ann", body=body)


def jobs_of(opened: OpenSite, later_s: float = 0) -> Jobs:
    return Jobs(opened.log.database, lambda: now() + timedelta(seconds=later_s), secrets.token_bytes)


def work_off(opened: OpenSite) -> int:
    """As a worker that comes once the lease has run out."""
    exchange = JobExchange(opened)
    exchange._jobs = jobs_of(opened, later_s=60)
    return Worker(exchange, JobHandlers(opened).table(), threads=1, lease_s=1.0, poll_s=0.01).work_off()


def spent(opened: OpenSite) -> int:
    ledger = SqliteBudgets(opened.log.database, now)
    return sum(one.releases for one in ledger.spent("patients") if one.scope.kind == "dataset")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_around_any_step_it_is_paid_once_and_answered_once_or_failed(
    opened: OpenSite, workers: Forks, step: str, when: str
) -> None:
    job = put(opened)
    assert workers.run(opened.site.folder, step, when) == -9
    is_paid = spent(opened)
    work_off(opened)
    ended = opened_job(opened, job)
    line = opened.log.query(job.body["query_id"])
    assert line is not None
    assert ended.has_ended
    assert spent(opened) == 1
    drawn_and_lost = (step, when) in {("reserve", "after"), ("read", "before"), ("read", "after"), ("record", "before")}
    assert is_paid == (step not in ("lease", "reserve") or (step, when) == ("reserve", "after"))
    if drawn_and_lost:  # paid, and no draw is made a second time under one payment
        assert (ended.state, line["outcome"], line["code"]) == ("failed", "failed", "QG900")
    else:
        assert (ended.state, line["outcome"], line["epsilon"]) == ("done", "answered", 0.1)
        assert ended.result is not None
        assert ended.result["answer"] == line["answer"]
    outcomes = [entry for entry in opened.log.events() if entry["kind"] == "query.outcome"]
    assert len(outcomes) == 1
    opened.log.verify()


def test_what_was_recorded_before_the_crash_is_what_is_answered_after_it(opened: OpenSite, workers: Forks) -> None:
    job = put(opened)
    workers.run(opened.site.folder, "record", "after")
    stored = opened.log.database.rows("SELECT answer FROM noisy_answer")[0][0]
    work_off(opened)
    ended = opened_job(opened, job)
    assert ended.result is not None
    value = ended.result["answer"]["rows"][0]["n"]["value"]
    assert str(value) in stored
    assert ended.result["answer"]["budget"]["spent"] == 0.1


def test_a_job_that_kills_its_workers_fails_in_the_end_and_its_query_with_it(opened: OpenSite, workers: Forks) -> None:
    job = put(opened)
    jobs = jobs_of(opened)
    for attempt in range(3):
        leased = jobs_of(opened, later_s=60 * attempt).lease(f"w{attempt}", ("noise.answer",), 1.0)
        assert leased is not None
    exchange = JobExchange(opened)
    exchange._jobs = jobs_of(opened, later_s=600)
    assert exchange.lease("w", ("noise.answer",)) is None
    ended = opened_job(opened, job)
    line = opened.log.query(job.body["query_id"])
    assert line is not None
    assert (ended.state, line["outcome"], spent(opened)) == ("failed", "failed", 0)
    assert jobs.stale() == []


def test_of_two_workers_with_one_job_the_later_one_is_right(opened: OpenSite) -> None:
    """The first was only slow. Both believe that the job is theirs; it is paid once, and ends once."""
    job = put(opened)
    slow, quick = JobExchange(opened), JobExchange(opened)
    handlers = JobHandlers(opened).table()
    held = slow.lease("slow", ("noise.answer",))
    assert held is not None
    result = dict(handlers["noise.answer"](held, lambda *told: None))
    quick._jobs = jobs_of(opened, later_s=60)
    again = quick.lease("quick", ("noise.answer",))
    assert again is not None
    same = dict(handlers["noise.answer"](again, lambda *told: None))
    assert same["answer"]["rows"] == result["answer"]["rows"]
    assert not finish(slow, "slow", job, result)
    assert finish(quick, "quick", job, same)
    assert finish(quick, "quick", job, same)
    assert spent(opened) == 1


@pytest.mark.parametrize(("step", "when"), [("switch", "before"), ("switch", "after"), ("note", "after")])
def test_a_publication_killed_at_any_step_is_whole_or_not_there_and_done_once(
    opened: OpenSite, workers: Forks, step: str, when: str
) -> None:
    """Before the switch nothing is served. After it the version is, and whoever takes the job up finds it on record or
    publishes once more: a version that nobody noted is none that could be relied on."""
    body = {"source": "kept", "title": "kept", "policy": str(POLICY)}
    job = jobs_of(opened).put("publish.version", dataset="", user="carl", body=body)
    assert workers.run(opened.site.folder, step, when) == -9
    assert ("clinic" in opened.store.datasets()) == ((step, when) != ("switch", "before"))
    assert work_off(opened) == 1
    ended = opened_job(opened, job)
    assert ended.state == "done", ended.result
    assert ended.result is not None
    noted = [event["body"] for event in opened.log.events_of("publish", "clinic")]
    assert [(one["job"], one["version"]) for one in noted] == [(job.id, ended.result["version"])]
    assert opened.store.current("clinic").catalog.version == ended.result["version"]
    assert not list((opened.site.store / "clinic").glob("*staged*"))


def finish(exchange: JobExchange, worker: str, job: Job, result: dict[str, Any]) -> bool:
    from querygate.core.jobs import JobOutcome

    return exchange.finish(worker, job.id, JobOutcome(result))


def opened_job(opened: OpenSite, job: Job) -> Job:
    found = jobs_of(opened).find(job.id)
    assert found is not None
    return found
