"""Hostile messages over PostgreSQL's protocol for some minutes: cut, oversized, reordered, of wrong lengths, nonsense.

None leads to a fault, the gate answers in between, and its process does not grow. Meanwhile hundreds of connections are
idle, and answer at the end; some senders are slow, and are let go. SOAK_LIMIT_S is the time in seconds, SOAK_SEED makes
it other messages.
"""

from __future__ import annotations

import os
import random
import socket
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.report import row
from tests.soak.bodies import memory_mb
from tests.wire.hostile_messages import hostile_messages
from tests.wire.raw_client import RawClient, packet, startup
from tests.wire.wire_site import WireSite, wire_site

LIMIT_S = float(os.environ.get("SOAK_LIMIT_S", "600"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
WARM = 500
GROWTH_MB = 100.0
ASKED_EVERY = 200
IDLE = 500
SETTINGS = f"""requests_per_minute = 0
login_failures_per_minute = 100000
request_read_s = 20
pg_connections_per_user = {IDLE + 10}
"""


def run() -> list[dict[str, Any]]:
    rng, tried = random.Random(SEED), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, wire_site(Path(folder), SETTINGS) as site:
        idle, slow = [_signed_in(site) for _ in range(IDLE)], _slow(site)
        began, warm_mb = time.monotonic(), memory_mb(os.getpid())
        while time.monotonic() - began < LIMIT_S:
            (_after_sign_in if rng.random() < 0.7 else _first_packet)(site, rng, tried)
            tried["connections"] += 1
            if tried["connections"] == WARM:
                warm_mb = memory_mb(os.getpid())
            if tried["connections"] % ASKED_EVERY == 0:
                with site.connect() as connection:
                    assert connection.execute("SELECT COUNT(*) FROM survey").fetchall()
                tried["answers"] += 1
                if _is_gone(slow):
                    tried["slow"] += 1
                    slow = _slow(site)
        for client in idle:
            client.send(packet(b"Q", b"SELECT COUNT(*) FROM survey\0"))
            tried["idle"] += client.until(b"Z")[-2][1] == b"SELECT 1\0"
            client.socket.close()
        grown = memory_mb(os.getpid()) - warm_mb
    return [
        row("wire: connections", tried["connections"], "connections", met=tried["answers"] > 0),
        row("wire: faults", tried["faults"], "faults", met=not tried["faults"]),
        row("wire: idle connections that answer", tried["idle"], "connections", target=IDLE, met=tried["idle"] == IDLE),
        row("wire: slow senders let go", tried["slow"], "connections", met=tried["slow"] > 0),
        row("wire: growth", round(grown, 1), "MB", target=GROWTH_MB, met=grown < GROWTH_MB),
    ]


def _signed_in(site: WireSite) -> RawClient:
    client = RawClient(site.port)
    client.sign_in("ann", site.keys["ann"])
    return client


def _slow(site: WireSite) -> RawClient:
    """Somebody who begins a message and never ends it."""
    client = _signed_in(site)
    client.send(b"Q\0\0")
    client.socket.setblocking(False)
    return client


def _is_gone(client: RawClient) -> bool:
    try:
        return client.socket.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _after_sign_in(site: WireSite, rng: random.Random, tried: Counter[str]) -> None:
    with _signed_in(site) as client:
        with suppress(OSError):
            for data in hostile_messages(rng, rng.randint(1, 4)):
                client.send(data)
            client.socket.shutdown(socket.SHUT_WR)
        tried["faults"] += any(b"QG900" in body for _, body in client.until_end())


def _first_packet(site: WireSite, rng: random.Random, tried: Counter[str]) -> None:
    whole = bytearray(startup("ann", application_name=rng.choice(("", "é", "x" * 9000))))
    for _ in range(rng.randint(0, 5)):
        whole[rng.randrange(len(whole))] = rng.randrange(256)
    with RawClient(site.port) as client, suppress(OSError):
        client.send(bytes(whole[: rng.randint(1, len(whole))]) + rng.randbytes(rng.choice((0, 0, 50))))
        client.socket.shutdown(socket.SHUT_WR)
        tried["faults"] += any(b"QG900" in body for _, body in client.until_end())
