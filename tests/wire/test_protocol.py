"""Messages that no proper client sends, clients that are slow, and many that are idle: the gate goes on."""

from __future__ import annotations

import random
import select
import socket
import struct
import threading
import time
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from querygate.site.open_gate import open_gate
from querygate.web import listen
from querygate.wire import CancelMail, open_wire
from querygate.wire.cancel_relay import SESSIONS
from querygate.wire.catalog import catalog_engine
from querygate.wire.server import MOST_SIGNING_IN
from tests.wire.hostile_messages import hostile_messages
from tests.wire.raw_client import RawClient, fields, packet, startup
from tests.wire.wire_site import WireSite, make_site, publish_survey, served, wire_site
from tests.work import HANG_S

IDLE = 120
"""`make soak ONLY=wire` keeps 500."""


def ask(site: WireSite) -> None:
    with site.connect() as connection:
        assert connection.execute("SELECT COUNT(*) FROM survey").fetchall()


def test_hostile_messages_end_a_connection_or_are_refused(site: WireSite) -> None:
    rng = random.Random(3)
    for data in hostile_messages(rng, 150):
        with RawClient(site.port) as client:
            client.sign_in("ann", site.keys["ann"])
            client.send(data)
            client.socket.shutdown(socket.SHUT_WR)
            answered = list(client.until_end())
            assert all(b"Traceback" not in body and b"QG900" not in body for _, body in answered)
    ask(site)


def test_hostile_first_packets_end_a_connection(site: WireSite) -> None:
    rng = random.Random(4)
    for _ in range(100):
        whole = bytearray(startup("ann"))
        for _ in range(rng.randint(1, 6)):
            whole[rng.randrange(len(whole))] = rng.randrange(256)
        with RawClient(site.port) as client:
            client.send(bytes(whole[: rng.randint(1, len(whole))]))
            client.socket.shutdown(socket.SHUT_WR)
            assert b"Z" not in [kind for kind, _ in client.until_end()]
    ask(site)


def test_an_oversized_message_is_refused_before_it_is_read(site: WireSite) -> None:
    with RawClient(site.port) as client:
        client.sign_in("ann", site.keys["ann"])
        client.send(b"Q" + struct.pack("!I", 2**31 - 1))
        (kind, body), *more = client.until_end()
    assert (kind, fields(body)["S"], fields(body)["M"][:5], more) == (b"E", "FATAL", "QG308", [])


def test_after_an_error_everything_is_skipped_until_sync(site: WireSite) -> None:
    parse = packet(b"P", b"\0SELECT age FROM survey\0\0\0")
    rest = packet(b"B", b"\0\0\0\0\0\0\0\0") + packet(b"D", b"P\0") + packet(b"E", b"\0\0\0\0\0")
    with RawClient(site.port) as client:
        client.sign_in("ann", site.keys["ann"])
        client.send(parse + rest + packet(b"S") + packet(b"Q", b"SELECT COUNT(*) FROM survey\0"))
        first, second = client.until(b"Z"), client.until(b"Z")
    assert [kind for kind, _ in first] == [b"1", b"2", b"E", b"Z"]
    assert [kind for kind, _ in second] == [b"T", b"D", b"C", b"Z"]


def test_a_failed_transaction_hears_only_its_end(site: WireSite) -> None:
    with site.connect() as connection:
        connection.execute("BEGIN")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("SELECT age FROM survey")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT COUNT(*) FROM survey")
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT COUNT(*) FROM survey").fetchall()


def test_a_statement_is_cancelled(site: WireSite) -> None:
    """Many columns and groups take long; whoever else knows the number and not the secret stops nothing."""
    columns = ", ".join(f"STDDEV_SAMP(weight + {i}), MEDIAN(sbp + {i})" for i in range(40))
    with site.connect() as connection:
        pid = connection.pgconn.backend_pid
        with RawClient(site.port) as stranger:
            stranger.send(struct.pack("!IIII", 16, 80877102, pid, 12345))
        timer = threading.Timer(0.3, connection.cancel_safe)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled, match="QG315"):
            connection.execute(f"SELECT age, sex, {columns} FROM survey GROUP BY age, sex")
        timer.join()
        assert connection.execute("SELECT COUNT(*) FROM survey").fetchall()


ENDLESS = "SELECT COUNT(*) FROM " + ", ".join(f"pg_type {name}" for name in "abcdefgh")


def test_a_statement_about_the_catalog_is_cancelled_and_not_only_out_of_time(
    site: WireSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_engine, "LONGEST_S", 100 * HANG_S)
    told: list[str] = []
    with site.connect() as connection:
        connection.execute(
            "SELECT COUNT(*) FROM pg_tables"
        )  # so that the catalog is there, and the engine is at work soon

        def ask_endless() -> None:
            with pytest.raises(psycopg.errors.QueryCanceled) as cancelled:
                connection.execute(ENDLESS)
            told.append(str(cancelled.value)[:5])

        asking = threading.Thread(target=ask_endless, daemon=True)
        asking.start()
        until = time.monotonic() + HANG_S
        while asking.is_alive() and time.monotonic() < until:  # a request that comes before the statement stops nothing
            time.sleep(0.5)
            connection.cancel_safe()
        assert told == ["QG315"]
        assert connection.execute("SELECT COUNT(*) FROM pg_tables").fetchall() == [(1,)]


def test_a_request_to_cancel_that_another_process_takes_is_passed_on(
    site: WireSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two doors of one site with a socket each stand for two processes with one socket."""
    monkeypatch.setattr(catalog_engine, "LONGEST_S", 100 * HANG_S)
    doors, mail = [listen("127.0.0.1", 0) for _ in range(2)], CancelMail(2)
    with open_wire(site.opened, doors[0], mail=mail, place=0), open_wire(site.opened, doors[1], mail=mail, place=1):
        first, second = (replace(site, port=door[0].getsockname()[1]) for door in doors)
        with RawClient(second.port) as asking:
            asking.sign_in("ann", site.keys["ann"])
            number, secret = struct.unpack("!II", asking.told[b"K"])
            assert number >= SESSIONS
            asking.send(packet(b"Q", ENDLESS.encode() + b"\0"))
            wrong, until = [(number, secret ^ 1), (SESSIONS * 9, secret)], time.monotonic() + HANG_S
            while not select.select([asking.socket], [], [], 0.5 * (not wrong))[0] and time.monotonic() < until:
                with RawClient(first.port) as other:  # one that comes before the statement stops nothing
                    other.send(struct.pack("!IIII", 16, 80877102, *(wrong.pop() if wrong else (number, secret))))
                    assert not list(other.until_end())
            assert fields(asking.until(b"Z")[0][1])["M"].startswith("QG315")
    for one in (*doors[0], *doors[1]):
        one.close()
    mail.close()


def test_connections_that_never_sign_in_keep_nobody_out(site: WireSite) -> None:
    """The oldest of them gives way."""
    silent = [RawClient(site.port) for _ in range(MOST_SIGNING_IN + 5)]
    ask(site)
    assert list(silent[0].until_end()) == []
    for client in silent:
        client.socket.close()


def test_slow_and_silent_clients_are_let_go_and_idle_ones_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERYGATE_REQUEST_READ_S", "1.0")
    opened = open_gate(make_site(tmp_path))
    keys = publish_survey(opened, tmp_path)
    with served(opened) as port:
        site = WireSite(opened, port, keys)
        silent = [RawClient(port) for _ in range(60)]
        slow = RawClient(port)
        slow.sign_in("ann", keys["ann"])
        slow.send(b"Q\0\0")
        idle = RawClient(port)
        idle.sign_in("ann", keys["ann"])
        assert [list(client.until_end()) for client in (*silent, slow)] == [[]] * 61
        idle.send(packet(b"Q", b"SELECT 1\0"))
        assert idle.until(b"Z")[1][1].endswith(b"1")
        for client in (*silent, slow, idle):
            client.socket.close()
        ask(site)


def test_many_idle_connections(tmp_path: Path) -> None:
    with wire_site(tmp_path, f"pg_connections_per_user = {IDLE + 1}") as site:
        keep_idle(site)


def test_one_user_leaves_room_for_others(tmp_path: Path) -> None:
    with wire_site(tmp_path, "pg_connections_per_user = 3") as site:
        kept = [RawClient(site.port) for _ in range(3)]
        for client in kept:
            client.sign_in("ann", site.keys["ann"])
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            ask(site)
        kept.pop().socket.close()
        while True:  # until the server has noticed
            try:
                ask(site)
                break
            except psycopg.OperationalError:
                time.sleep(0.05)
        for client in kept:
            client.socket.close()


def keep_idle(site: WireSite) -> None:
    clients = []
    for _ in range(IDLE):
        client = RawClient(site.port)
        client.sign_in("ann", site.keys["ann"])
        clients.append(client)
    ask(site)
    clients[0].send(packet(b"Q", b"SELECT COUNT(*) FROM survey\0"))
    assert clients[0].until(b"Z")[-2][1] == b"SELECT 1\0"
    for client in clients:
        client.socket.close()


def test_a_text_longer_than_any_statement_is_refused_before_it_is_read(site: WireSite) -> None:
    text = b"/* " * 60_000 + b"\0"
    with RawClient(site.port) as client:
        client.sign_in("ann", site.keys["ann"])
        client.send(packet(b"Q", text) + packet(b"P", b"\0" + text + b"\0\0") + packet(b"S"))
        answered = client.until(b"Z") + client.until(b"Z")
    assert [fields(body)["M"][:5] for kind, body in answered if kind == b"E"] == ["QG102", "QG102"]


def suspended(name: bytes, most: int = 1) -> bytes:
    """A portal of the statement `kept`, and some of its rows."""
    return packet(b"B", name + b"\0kept\0\0\0\0\0\0\0") + packet(b"E", name + b"\0" + struct.pack("!I", most))


def test_rows_that_are_not_fetched_are_kept_only_up_to_a_limit(site: WireSite) -> None:
    with RawClient(site.port) as client:
        client.sign_in("ann", site.keys["ann"])
        client.send(packet(b"P", b"kept\0SELECT a.*, b.* FROM pg_type a, pg_type b, pg_type c LIMIT 2500\0\0\0"))
        client.send(b"".join(suspended(b"p%d" % i) for i in range(12)) + packet(b"S"))
        answered = client.until(b"Z")
        assert [fields(body)["M"][:5] for kind, body in answered if kind == b"E"] == ["QG308"]
        client.send(packet(b"C", b"Pp0\0") + suspended(b"again", 0) + packet(b"S"))
        assert [body for kind, body in client.until(b"Z") if kind in b"EC"] == [b"SELECT 2500\0"]
    ask(site)


def test_a_revoked_key_gets_no_more_rows_of_a_portal(site: WireSite) -> None:
    key = site.opened.accounts.keys.new("bob")
    with RawClient(site.port) as client:
        client.sign_in("bob", key.secret)
        client.send(packet(b"P", b"kept\0SELECT typname FROM pg_type\0\0\0") + suspended(b"p") + packet(b"S"))
        assert [kind for kind, _ in client.until(b"Z")] == [b"1", b"2", b"D", b"s", b"Z"]
        site.opened.accounts.keys.revoke(key.id)
        client.send(packet(b"E", b"p\0\0\0\0\1") + packet(b"S"))
        answered = list(client.until_end())
    assert [(kind, fields(body)["M"][:5]) for kind, body in answered] == [(b"E", "QG301")]
