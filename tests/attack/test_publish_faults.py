"""The source goes away while it is read: the server restarts, or the cable is pulled. The version that was served is
served on, a message says what has happened, and the next publication goes on.
"""

from __future__ import annotations

import select
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources import postgres_table
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.postgres import Server
from tests.two_networks import INSIDE, Networks, inside, two_networks
from tests.unit.custody.publish.publications import ask, new_site, staged_files

ROWS = 40_000
POLICY = make_policy(
    "t",
    {"mrn": IDENTIFIER, "age": quasi("integer", (0, 100), grid=10), "ward": sensitive("category")},
    k=1000,
    person="mrn",
    republish={"on_overlap": "retire"},
)
PEOPLE = f"""CREATE TABLE people AS SELECT i || repeat('x', 500) AS mrn, i % 97 AS age, 'w' || i % 5 AS ward
    FROM generate_series(1, {ROWS}) i"""  # far more bytes than are on their way at any time


@pytest.fixture
def database(postgres: Server) -> str:
    name = postgres.new_database()
    postgres.run(PEOPLE, database=name)
    return name


@pytest.fixture
def opened(postgres: Server, database: str, tmp_path: Path) -> OpenSite:
    """A site that serves a version already, of fewer people."""
    postgres.run("CREATE TABLE few AS SELECT * FROM people LIMIT 20000", database=database)
    site = new_site(tmp_path)
    publish(site, f"{postgres.url(database=database)}#few")
    return site


def publish(opened: OpenSite, source: str) -> int:
    return publish_to(opened, POLICY.parsed(), source, user="custodian").version


def in_the_middle(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Once part of the table has been read, and the rest has not."""
    whole = postgres_table._batches

    def cut(*given: Any) -> Any:
        for number, batch in enumerate(whole(*given)):
            if number == 1:
                do()
            yield batch

    monkeypatch.setattr(postgres_table, "_batches", cut)


def is_left_as_it_was(opened: OpenSite, failed: Callable[[], object]) -> None:
    with pytest.raises(ConfigError) as told:
        failed()
    assert (told.value.code, "the connection was lost" in told.value.detail) == ("QG802", True)
    assert "try again" in told.value.remedy
    assert opened.store.versions("t") == (1,)
    assert staged_files(opened) == []
    assert counted(opened) == 20_000


def counted(opened: OpenSite) -> int:
    [found] = ask(opened, "SELECT COUNT(*) AS n FROM t")
    assert found["n"]["low"] == found["n"]["high"]
    return int(found["n"]["low"])


def test_a_server_that_restarts(
    postgres: Server, database: str, opened: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"{postgres.url(database=database)}#people"
    try:
        with monkeypatch.context() as patch:
            in_the_middle(patch, postgres.halt)
            is_left_as_it_was(opened, lambda: publish(opened, source))
        with pytest.raises(ConfigError, match="cannot be reached"):
            publish(opened, source)
        assert counted(opened) == 20_000
    finally:
        postgres.resume()
    assert publish(opened, source) == 2
    assert counted(opened) == ROWS


def test_a_cable_that_is_pulled(
    postgres: Server, database: str, opened: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody says that the connection is gone: the kernel has to ask."""
    with two_networks() as networks:
        if networks is None:
            pytest.skip("Network namespaces are not permitted here.")
        with forwarding(networks, postgres.port) as port:
            url = postgres.url(database=database).replace(f"127.0.0.1:{postgres.port}", f"{INSIDE}:{port}")
            source = f"{url}?keepalives_idle=1&keepalives_interval=1&keepalives_count=2&tcp_user_timeout=3000#people"
            with monkeypatch.context() as patch, inside(networks.gate):
                in_the_middle(patch, lambda: pull_cable(networks))
                is_left_as_it_was(opened, lambda: publish(opened, source))
    assert publish(opened, f"{postgres.url(database=database)}#people") == 2  # by another cable
    assert counted(opened) == ROWS


def pull_cable(networks: Networks) -> None:
    subprocess.run(["ip", "-n", networks.vault, "link", "set", "q0", "down"], check=True)


@contextmanager
def forwarding(networks: Networks, port: int) -> Iterator[int]:
    """A port of the other machine behind which the server is."""
    with inside(networks.vault):
        listener = socket.create_server((INSIDE, 0))
    over = threading.Event()

    def serve() -> None:
        listener.settimeout(0.1)
        while not over.is_set():
            try:
                threading.Thread(target=_pass_on, args=(listener.accept()[0], port), daemon=True).start()
            except TimeoutError:
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        over.set()
        thread.join()
        listener.close()


def _pass_on(client: socket.socket, port: int) -> None:
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        ends = {client: server, server: client}
        while True:
            for end in select.select(list(ends), [], [])[0]:
                try:
                    told = end.recv(1 << 16)
                    if not told:
                        return
                    ends[end].sendall(told)
                except OSError:
                    return
