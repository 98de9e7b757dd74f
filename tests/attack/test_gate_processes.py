"""Several processes serve one site: killed one after the other under load, nothing that was answered is lost."""

from __future__ import annotations

import http.client
import itertools
import os
import signal
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from querygate.core.answer_bodies import AnswerBody
from tests.api.small_site import SmallSite, make_small_site
from tests.running_server import Served, ask, is_running, served
from tests.work import HANG_S, wait_until

CLIENTS, ANSWERS, KILLS = 4, 120, 6
SQL = "SELECT sex, COUNT(*), AVG(sbp) FROM clinic WHERE age BETWEEN {} AND {} GROUP BY sex"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    made = make_small_site(tmp_path_factory.mktemp("processes"))
    made.opened.log.database.close()
    return made


def test_killed_in_turn_nothing_that_was_answered_is_lost(site: SmallSite) -> None:
    given: list[AnswerBody] = []
    numbers = itertools.count()
    over = threading.Event()

    def client(running: Served) -> None:
        connection = running.connect()
        while not over.is_set():
            number = next(numbers) % 900  # some are asked again
            try:
                body = ask(connection, site.keys["ann"], "clinic", SQL.format(30 + number % 30, 60 + number // 30))
            except (OSError, http.client.HTTPException):  # the process that had it was killed
                connection.close()
                connection = running.connect()
                continue
            assert body is not None
            given.append(body)
        connection.close()

    with served(site.folder, "--store-only", processes=2, requests_per_minute=0) as running:
        clients = [threading.Thread(target=client, args=(running,)) for _ in range(CLIENTS)]
        for thread in clients:
            thread.start()
        for kill in range(1, KILLS + 1):
            wait_until(lambda kill=kill: len(given) >= kill * ANSWERS // KILLS)
            wait_until(lambda: len(running.gates()) == 2)
            os.kill(running.gates()[0], signal.SIGKILL)
        wait_until(lambda: len(running.gates()) == 2)  # started again, each time
        over.set()
        for thread in clients:
            thread.join(HANG_S)
        running.process.terminate()
        assert running.process.wait(HANG_S) == 0
    site.opened.log.verify()
    places: dict[str, dict[str, int]] = {}
    for event in site.opened.log.events():
        places.setdefault(str(event["query_id"]), {})[event["kind"]] = event["seq"]
    assert len({body["query_id"] for body in given}) == len(given) >= ANSWERS
    for body in given:
        assert site.opened.log.answer(body["query_id"]) == ("ann", body)
        assert places[body["query_id"]]["query.intent"] < places[body["query_id"]]["query.outcome"]
    site.opened.log.database.close()


def test_they_end_with_their_parent_however_it_ends(site: SmallSite) -> None:
    with served(site.folder, "--store-only", processes=3) as running:
        gates = running.gates()
        assert len(gates) == 3
        running.process.kill()
        wait_until(lambda: not any(map(is_running, gates)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_all_of_them_stop_when_told(site: SmallSite, number: signal.Signals) -> None:
    with served(site.folder, "--store-only", processes=2) as running:
        gates = running.gates()
        running.process.send_signal(number)
        assert running.process.wait(HANG_S) == 0
        assert not any(map(is_running, gates))
        assert running.process.stdout is not None
        rest = running.process.stdout.read()
        assert "Stopped." in rest
        assert "Traceback" not in rest


def sockets_of(gate: int) -> int:
    return sum("socket:" in os.readlink(one) for one in Path(f"/proc/{gate}/fd").iterdir())


def test_the_parent_has_opened_nothing_and_its_children_share_connections(site: SmallSite) -> None:
    """Neither SQLite nor DuckDB survives a fork. Whichever child accepts a connection, all have as many."""
    with served(site.folder, "--store-only", processes=2) as running, ExitStack() as stack:
        opened = {os.readlink(one) for one in Path(f"/proc/{running.process.pid}/fd").iterdir()}
        assert not [name for name in opened if name.startswith(str(site.folder)) and "db" in Path(name).suffix]
        before = [sockets_of(gate) for gate in running.gates()]
        for number in range(12):
            connection = stack.enter_context(closing(running.connect()))
            assert ask(connection, site.keys["ann"], "clinic", SQL.format(30 + number, 60)) is not None
        after = [sockets_of(gate) for gate in running.gates()]
        assert [now - then for now, then in zip(after, before, strict=True)] == [6, 6]
