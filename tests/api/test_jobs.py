"""A gate that holds no raw rows and a worker that pulls: both as processes, as a site runs them."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from querygate.cli.serve import CUSTODY
from querygate.client import Client
from querygate.client.requests_and_replies import API, Call, Patience, deliver, read_object
from querygate.control import SqliteBudgets
from querygate.site.open_gate import now
from tests.running_server import free_port, is_running
from tests.served_site import Door, ServedSite, make_served_site, serving, working
from tests.work import HANG_S, wait_until

MODE, QUICK = {"mode": "laplace"}, Patience(())
COUNT = "SELECT COUNT(*) AS n FROM patients WHERE age > 50"
WISH = {"dataset": "patients", "purpose": "to see", "columns": ["age", "sex"]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> ServedSite:
    return make_served_site(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def unserved(tmp_path_factory: pytest.TempPathFactory) -> ServedSite:
    """One that nobody serves yet: a folder is served once at a time."""
    return make_served_site(tmp_path_factory.mktemp("unserved"))


@pytest.fixture(scope="module")
def watch(site: ServedSite) -> Path:
    return site.folder.parent / "watched"


@pytest.fixture(scope="module")
def door(site: ServedSite, watch: Path) -> Iterator[Door]:
    with serving(site, watch=watch) as door:
        yield door


def spent(site: ServedSite) -> float:
    ledger = SqliteBudgets(site.opened.log.database, now)
    return sum(one.epsilon for one in ledger.spent("patients") if one.scope.kind == "dataset")


def test_one_command_gives_noisy_answers_prices_and_budgets(site: ServedSite, door: Door) -> None:
    before = spent(site)
    sql = f"SELECT COUNT(*) AS n FROM patients WHERE age > {round(before * 10) + 3}"
    answer = door.answer("ann", sql)
    assert (answer["mode"], answer["budget"]["spent"]) == ("laplace", 0.1)
    assert spent(site) == pytest.approx(before + 0.1)
    assert site.opened.log.answer(answer["query_id"]) == ("ann", answer)
    line = site.opened.log.query(answer["query_id"])
    assert line is not None
    assert (line["outcome"], line["epsilon"], line["sql"]) == ("answered", 0.1, sql)
    assert door.answer("bob", sql)["rows"] == answer["rows"]
    checked = door.call(
        "ann", "POST", "/api/v1/query/check", {"dataset": "patients", "sql": COUNT, "options": {"mode": "laplace"}}
    )
    assert (checked[0], checked[1]["cost"]["epsilon"]) == (200, 0.1)
    assert door.call("ann", "GET", "/api/v1/budget?dataset=patients")[1]["limits"]["dataset"] == 100.0
    assert "spent" in door.call("carl", "GET", "/api/v1/budget?dataset=patients")[1]


@pytest.mark.parametrize(("options", "code"), [({"epsilon": 7.0}, "QG306"), ({}, "QG203")])
def test_what_is_refused_is_refused_as_before_and_on_record(
    site: ServedSite, door: Door, options: dict[str, Any], code: str
) -> None:
    sql = COUNT if options else "SELECT COUNT(*) FROM patients WHERE nobody = 1"
    assert door.answer("ann", sql, **options)["code"] == code
    line = list(site.opened.log.queries(dataset="patients"))[-1]
    assert (line["outcome"], line["code"], line["user"]) == ("refused", code, "ann")


def drawn(site: ServedSite) -> int:
    return site.opened.log.database.rows("SELECT count(*) FROM job WHERE kind = 'extract.risk_page'")[0][0]


def test_an_extract_is_previewed_built_shown_and_released(site: ServedSite, door: Door) -> None:
    ident = door.call("ann", "POST", "/api/v1/exports", WISH)[1]["id"]
    path = f"/api/v1/exports/{ident}"
    door.call("ann", "POST", f"{path}/submit", {})
    door.call("carl", "POST", f"{path}/take", {})
    status, shown = door.call("carl", "GET", f"{path}?preview=true")
    if status == 202:
        door.outcome("carl", shown["job"])
        status, shown = door.call("carl", "GET", f"{path}?preview=true")
    assert (status, shown["preview"]["k"] >= 5) == (200, True)
    wait_until(lambda: drawn(site))  # before anybody asked for the risk report
    assert drawn(site) == 1
    assert door.call("carl", "POST", f"{path}/approve", {})[1]["state"] == "approved"
    status, job = door.call("carl", "POST", f"{path}/build", {})
    assert (status, job["state"]) == (202, "queued")
    ended = door.outcome("carl", job["job"])
    assert (ended["state"], ended["request"]) == ("done", ident), ended
    assert "result" not in ended
    assert door.call("carl", "GET", path)[1]["state"] == "built"
    for page in ("report.html", "risk/report.html"):
        status, told = door.call("dora", "GET", f"{path}/{page}")
        if status == 202:
            door.outcome("dora", told["job"])
            status, told = door.call("dora", "GET", f"{path}/{page}")
        assert (status, "<html" in told) == (200, True)
    assert drawn(site) == 2  # that of what was built, and no third one to be read
    assert door.call("dora", "GET", f"{path}/risk")[0] == 200
    status, released = door.call("dora", "POST", f"{path}/release", {})
    if status == 202:
        door.outcome("dora", released["job"])
    assert door.call("ann", "GET", path)[1]["state"] == "released"
    assert door.call("ann", "GET", f"{path}/extract.zip")[0] == 200


def test_an_audit_over_http(door: Door) -> None:
    for sql in ("SELECT COUNT(*) FROM patients WHERE age > 40", "SELECT COUNT(*) FROM patients WHERE age > 41"):
        body = {"dataset": "patients", "sql": sql}
        assert door.call("ann", "POST", "/api/v1/query", body)[0] == 200
    status, found = door.call("carl", "POST", "/api/v1/audit/run", {"dataset": "patients"})
    if status == 202:
        assert door.outcome("carl", found["job"])["state"] == "done"
        found = door.call("carl", "GET", "/api/v1/audit/findings?dataset=patients")[1]
    assert (found["by"], found["queries"] >= 2) == ("carl", True)


def test_the_process_that_listens_has_touched_no_vault(site: ServedSite, door: Door, watch: Path) -> None:
    """After all of the above, which needed one."""
    test_one_command_gives_noisy_answers_prices_and_budgets(site, door)
    vault, seen = str(site.opened.site.vault), [line.split("\t") for line in watch.read_text().splitlines()]
    by = {who: [(event, what) for one, event, what in seen if one == who] for who in ("serve", "work")}
    assert [what for _, what in by["serve"] if what.startswith(vault)] == []
    assert [what for event, what in by["serve"] if event == "import" and what.startswith(CUSTODY)] == []
    assert any(event == "import" and what.startswith(CUSTODY) for event, what in by["work"])
    links = [os.readlink(path) for path in Path(f"/proc/{door.process.pid}/fd").iterdir() if path.exists()]
    assert [link for link in links if link.startswith(vault)] == []


def test_nobody_else_sees_a_job(site: ServedSite, door: Door) -> None:
    job = put_by_hand(site, "ann")
    nobody = door.call("ann", "GET", "/api/v1/jobs/j_00000000000000000000000000")
    assert (nobody[0], nobody[1]["code"]) == (404, "QG316")
    for name in ("bob", "carl"):
        for method, tail in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
            assert door.call(name, method, f"/api/v1/jobs/{job}{tail}") == nobody
    assert door.call("ann", "GET", f"/api/v1/jobs/{job}")[0] == 200


def test_a_job_is_followed_to_its_end(site: ServedSite, door: Door) -> None:
    status, told = door.call("ann", "GET", f"/api/v1/jobs/{put_by_hand(site, 'ann')}/events")
    assert status == 200
    assert told.count("event: job") >= 1
    assert '"state": "done"' in told.split("event: job")[-1]


def put_by_hand(site: ServedSite, user: str) -> str:
    from querygate.site.job_exchange import JobExchange

    exchange = JobExchange(site.opened)
    version = site.opened.store.current("patients").catalog.version
    body = {"version": version, "role": "researcher", "project": "", "at": time.time()}
    return exchange._jobs.put("noise.budget", dataset="patients", user=user, body=body).id


def test_a_worker_that_was_killed_is_started_again_and_ends_with_its_parent(unserved: ServedSite) -> None:
    """However that ends; and there is one at a time."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with serving(unserved) as door:
            assert "rows" in door.answer("ann", COUNT)
            if number == signal.SIGKILL:
                [child] = worker_pids(door.process.pid)
                os.kill(child, signal.SIGKILL)
                asked = "SELECT COUNT(*) FROM patients WHERE age > 77"
                assert door.answer("ann", asked)["budget"]["spent"] == 0.1
            children = worker_pids(door.process.pid)
            assert len(children) == 1
            door.process.send_signal(number)
            door.process.wait(HANG_S)
            wait_until(lambda children=children: not any(map(is_running, children)))


def test_without_a_worker_a_question_waits_as_a_job_and_can_be_cancelled(tmp_path: Path) -> None:
    site = make_served_site(tmp_path)
    doors = {
        "QUERYGATE_PROCESSES": "2",
        "QUERYGATE_PG_PORT": str(free_port()),
        "QUERYGATE_METRICS_PORT": str(free_port()),
    }
    watch = tmp_path / "watched"
    with serving(site, "--no-worker", watch=watch, QUERYGATE_QUERY_TIMEOUT_S="2", **doors) as door:
        before = spent(site)
        status, job = door.ask("ann", COUNT)
        assert (status, set(job)) == (202, {"job", "status", "events", "state"})
        other = door.ask("ann", "SELECT COUNT(*) FROM patients WHERE age > 60")[1]
        assert door.call("ann", "GET", "/api/v1/budget?dataset=patients")[1]["code"] == "QG314"
        cancelled = door.call("ann", "DELETE", other["status"])[1]
        assert (cancelled["state"], cancelled["problem"]["code"]) == ("cancelled", "QG315")
        assert spent(site) == before
        gate = Client(door.address, site.keys["bob"], patience=Patience(job_s=HANG_S))
        question = {"dataset": "patients", "sql": "SELECT COUNT(*) FROM patients WHERE age > 70", "options": MODE}
        sent_twice = [gate.carry(deliver(Call("POST", f"{API}/query", question, key="one"), QUICK)) for _ in "ab"]
        (waiting,) = {read_object(reply)["job"] for reply in sent_twice}
        with working(site.folder):
            ended = door.outcome("ann", job["job"])
            awaited = gate.job(waiting)
        gate.close()
        assert awaited.policy_hash == site.opened.store.current("patients").catalog.policy_hash
        assert site.opened.log.answer(awaited.id) == ("bob", awaited.body)
        answer = ended["result"]
        assert (ended["state"], answer["budget"]["spent"]) == ("done", 0.1)
        assert site.opened.log.answer(answer["query_id"]) == ("ann", answer)
        assert spent(site) == pytest.approx(before + 0.2)
        assert door.call("ann", "DELETE", job["status"])[1]["state"] == "done"
    touched = watch.read_text()  # by every process of the gate, at all its doors; the worker is none of them
    assert str(site.opened.site.store) in touched
    assert str(site.opened.site.vault) + "/" not in touched
    assert "querygate.custody" not in touched
    outcomes = [(line["outcome"], line["code"]) for line in site.opened.log.queries(dataset="patients")]
    assert sorted(outcomes, key=str) == [("answered", None), ("answered", None), ("failed", "QG315")]


def test_with_the_store_alone_there_are_no_jobs(unserved: ServedSite, tmp_path: Path) -> None:
    with serving(unserved, "--store-only", watch=tmp_path / "watched") as door:
        assert worker_pids(door.process.pid) == []
        assert door.ask("ann", COUNT)[1]["code"] == "QG310"
        assert door.call("ann", "GET", "/api/v1/jobs/j_00000000000000000000000000")[0] == 404
    assert str(unserved.opened.site.vault) + "/" not in (tmp_path / "watched").read_text()
    connection = sqlite3.connect(unserved.opened.site.control)
    assert connection.execute("SELECT count(*) FROM job WHERE finished IS NULL").fetchone() == (0,)
    connection.close()


def worker_pids(parent: int) -> list[int]:
    """Children of a process that work rather than serve, by what the kernel says."""
    text = "".join(path.read_text() for path in Path(f"/proc/{parent}/task").glob("*/children"))
    return [int(word) for word in text.split() if b"\0work\0" in Path(f"/proc/{word}/cmdline").read_bytes()]
