"""Noisy answers over the wire: paid for once, when a portal is executed; waited for, and called off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from querygate.control import SqliteBudgets
from querygate.core.jobs import ENDED
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Worker
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite, now
from querygate.site.open_jobs import GateWithJobs, with_jobs
from querygate.web import listen
from querygate.wire import open_wire
from tests.unit.custody.noise.site_with_noise import noisy_site
from tests.waiting_clock import WaitingClock, hasty_jobs
from tests.wire.raw_client import RawClient, fields, packet
from tests.wire.wire_site import WireSite
from tests.work import wait_until

PEOPLE = ("ann", "bob", "cleo", "dan", "eve")
EACH, OF_ONE_USER = 0.1, 0.35
LAPLACE = "-c querygate.mode=laplace"


HARDLY_S = 0.3


@contextmanager
def served_noise(opened: OpenSite, keys: dict[str, str], joined: GateWithJobs) -> Iterator[WireSite]:
    """The site at a gate with jobs. No worker works unless a test says so."""
    listening = listen("127.0.0.1", 0)
    with open_wire(joined.opened, listening, joined.exchange):
        yield WireSite(opened, listening[0].getsockname()[1], keys)
    for one in listening:
        one.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireSite]:
    opened = noisy_site(tmp_path_factory.mktemp("noise"), each=EACH, total=5.0, user=OF_ONE_USER).opened
    for name in PEOPLE:
        opened.accounts.add_user(name, "researcher")
    keys = {name: opened.accounts.keys.new(name).secret for name in PEOPLE}
    with served_noise(opened, keys, with_jobs(opened)) as served:
        yield served


@pytest.fixture(scope="module")
def clock() -> WaitingClock:
    return WaitingClock()


@pytest.fixture(scope="module")
def hasty(site: WireSite, clock: WaitingClock) -> Iterator[WireSite]:
    """The same site by a gate that hardly waits."""
    with served_noise(site.opened, site.keys, hasty_jobs(site.opened, HARDLY_S, clock)) as served:
        yield served


@contextmanager
def worker(site: WireSite) -> Iterator[None]:
    over, exchange = threading.Event(), JobExchange(site.opened)
    made = Worker(exchange, JobHandlers(site.opened).table(), threads=1, lease_s=30, poll_s=0.005)
    thread = threading.Thread(target=made.run, args=(over.is_set,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def spent(site: WireSite, user: str) -> float:
    """Of that user's budget, rounded: sums of tenths are not tenths."""
    found = SqliteBudgets(site.opened.log.database, now).spent("patients")
    return round(sum(one.epsilon for one in found if one.scope.kind == "user" and one.scope.name == user), 6)


def jobs(site: WireSite, user: str) -> list[str]:
    """The states of their noisy answers, newest first."""
    found = JobExchange(site.opened).latest(100)
    return [job.state for job in found if job.kind == "noise.answer" and job.user == user]


def count(age: int) -> str:
    return f"SELECT COUNT(*) AS n FROM patients WHERE age > {age}"


def test_a_noisy_answer_is_that_of_the_log_and_costs_what_was_said(site: WireSite) -> None:
    with worker(site), site.connect("ann") as connection:
        connection.execute("SET querygate.mode = 'laplace'")
        row = connection.execute(count(30)).fetchone()
        connection.execute("SET querygate.interval = 'columns'")
        assert spent(site, "ann") == EACH
        again = connection.execute(count(30)).fetchone()  # the same question has the same noise, and is free
    body = list(site.opened.log.queries(user="ann", limit=10))[-1]
    found = site.opened.log.answer(str(body["id"]))
    assert found is not None
    cell = found[1]["rows"][0]["n"]
    assert row == (cell["value"],)
    assert again == (cell["value"], *cell["interval95"])
    assert spent(site, "ann") == EACH


def test_a_description_is_free_and_a_portal_is_paid_once(site: WireSite) -> None:
    described = packet(b"P", f"s\0{count(31)}\0".encode() + b"\0\0") + packet(b"D", b"Ss\0")
    bound = packet(b"B", b"p\0s\0\0\0\0\0\0\0") + packet(b"D", b"Pp\0")
    executed = packet(b"E", b"p\0\0\0\0\0")
    with worker(site), RawClient(site.port) as client:
        client.sign_in("bob", site.keys["bob"])
        client.send(packet(b"Q", b"SET querygate.mode = 'laplace'; SET querygate.epsilon = '0.05'\0"))
        client.until(b"Z")
        client.send(described + bound + packet(b"S"))
        assert [kind for kind, _ in client.until(b"Z")] == [b"1", b"t", b"T", b"2", b"T", b"Z"]
        assert (spent(site, "bob"), jobs(site, "bob")) == (0, [])
        client.send(bound + executed + executed + packet(b"S"))
        told = client.until(b"Z")
        assert [body for kind, body in told if kind == b"C"] == [b"SELECT 1\0", b"SELECT 0\0"]
        assert (spent(site, "bob"), jobs(site, "bob")) == (0.05, ["done"])


def test_a_description_that_finds_no_worker_asks_nothing(hasty: WireSite) -> None:
    with hasty.connect("cleo", options=LAPLACE) as connection, pytest.raises(psycopg.Error, match="QG314"):
        connection.execute("SELECT COUNT(*) FROM patients WHERE age > %s", (40,))
    assert (spent(hasty, "cleo"), jobs(hasty, "cleo")) == (0, [])


def test_when_the_budget_is_spent_it_is_said_and_ranges_go_on(site: WireSite) -> None:
    with worker(site), site.connect("cleo", options=LAPLACE) as connection:
        for age in range(50, 53):
            connection.execute(count(age))
        with pytest.raises(psycopg.Error, match="QG401") as told:
            connection.execute(count(60))
        assert told.value.sqlstate == "53400"
        connection.execute("RESET querygate.mode; SET querygate.mode = 'interval'")
        assert connection.execute(count(60)).fetchall()
    assert spent(site, "cleo") == round(3 * EACH, 6)


def test_an_answer_that_takes_long_is_waited_for(hasty: WireSite, clock: WaitingClock) -> None:
    found: list[object] = []
    began_s = clock()

    def ask() -> None:
        with hasty.connect("dan", options=LAPLACE) as connection:
            found.append(connection.execute(count(70)).fetchone())

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(lambda: jobs(hasty, "dan") and clock() > began_s + HARDLY_S / 2)  # as long as this gate waits
    with worker(hasty):
        asking.join()
    assert (len(found), jobs(hasty, "dan"), spent(hasty, "dan")) == (1, ["done"], EACH)


def test_whoever_cancels_while_waiting_pays_nothing(hasty: WireSite) -> None:
    with hasty.connect("eve", options=LAPLACE) as connection:

        def call_off() -> None:
            wait_until(lambda: jobs(hasty, "eve"))
            connection.cancel_safe()

        calling = threading.Thread(target=call_off)
        calling.start()
        with pytest.raises(psycopg.errors.QueryCanceled, match="QG315"):
            connection.execute(count(80))
        calling.join()
    with worker(hasty):
        wait_until(lambda: set(jobs(hasty, "eve")) <= ENDED)
    assert (jobs(hasty, "eve"), spent(hasty, "eve")) == (["cancelled"], 0)


def test_a_revoked_key_gets_no_answer_that_it_waits_for(hasty: WireSite) -> None:
    key = hasty.opened.accounts.keys.new("eve")
    with RawClient(hasty.port) as client:
        client.sign_in("eve", key.secret)
        client.send(packet(b"Q", f"SET querygate.mode = 'laplace'; {count(85)}\0".encode()))
        wait_until(lambda: jobs(hasty, "eve")[:1] == ["queued"])
        hasty.opened.accounts.keys.revoke(key.id)  # nobody works, so it is still waiting
        told = [(kind, body) for kind, body in client.until_end() if kind == b"E"]
    assert [fields(body)["M"][:5] for _, body in told] == ["QG301"]
