"""Questions over HTTP from many connections of one process, as fast as they are answered: a closed loop.

`python -m tests.http_load PORT KEY SECONDS CONNECTIONS distinct|repeated|mixed SEED` prints one line of JSON. Requests
are written and responses are read as bytes, so that whoever asks leaves the processors to who answers.
"""

from __future__ import annotations

import json
import random
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

REPEATED = 20
KEYS, MEASURES = ("sex", "ethnicity", "education"), ("systolic", "diastolic", "bmi")


def distinct_statements(seed: int) -> Iterator[str]:
    """Grouped means of the demo study, none of them twice: there are 17,577. Each hundred of seeds spells them in its
    own way, so that what one of them asked is no repetition for another."""
    whole = [(a, b, key, m) for a in range(18, 80) for b in range(a, 81) for key in KEYS for m in MEASURES]
    random.Random(seed).shuffle(whole)
    for a, b, key, measure in whole:
        yield f"SELECT {key}, AVG({measure}) FROM survey WHERE age BETWEEN {a} AND {b} GROUP BY {key}" + " " * (
            seed // 100
        )


def repeated_statements(seed: int) -> Iterator[str]:
    """The same few again and again."""
    few = [sql for _, sql in zip(range(REPEATED), distinct_statements(seed), strict=False)]
    while True:
        yield from few


def mixed_statements(seed: int) -> Iterator[str]:
    """One that is new for each that is not, without end."""
    turn = 0
    while True:
        for new, old in zip(distinct_statements(seed + turn), repeated_statements(seed), strict=False):
            yield new
            yield old
        turn += 1


KINDS = {"distinct": distinct_statements, "repeated": repeated_statements, "mixed": mixed_statements}


@dataclass(slots=True)
class Caller:
    """One connection, and the response that it waits for."""

    socket: socket.socket
    began_s: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes) -> None:
        self.received.clear()
        self.began_s = time.perf_counter()
        self.socket.sendall(request)

    def has_all(self) -> bool:
        """Read what is there; is the response whole?"""
        part = self.socket.recv(262_144)
        if not part:
            raise ConnectionError("the server closed the connection")
        self.received += part
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return False
        at = self.received.lower().find(b"content-length:", 0, head)
        length = int(self.received[at + 15 : self.received.find(b"\r\n", at)])
        return len(self.received) >= head + 4 + length

    @property
    def is_answered(self) -> bool:
        return self.received.startswith(b"HTTP/1.1 200")


def request_of(key: str, sql: str) -> bytes:
    body = json.dumps({"dataset": "survey", "sql": sql}).encode()
    head = (
        f"POST /api/v1/query HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def load(port: int, key: str, seconds: float, connections: int, kind: str, seed: int) -> dict[str, float]:
    """Ask until the time is over, or there is nothing new to ask."""
    statements, used_s = KINDS[kind](seed), time.process_time()
    waiting = selectors.DefaultSelector()
    taken_s: list[float] = []
    refused = 0
    for _ in range(connections):
        caller = Caller(socket.create_connection(("127.0.0.1", port)))
        caller.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.register(caller.socket, selectors.EVENT_READ, caller)
        caller.send(request_of(key, next(statements)))
    began_s = time.perf_counter()
    until_s, under_way = began_s + seconds, connections
    while under_way:
        for ready, _ in waiting.select():
            caller = ready.data
            if not caller.has_all():
                continue
            now_s = time.perf_counter()
            taken_s.append(now_s - caller.began_s)
            refused += not caller.is_answered
            sql = next(statements, None) if now_s < until_s else None
            if sql is None:
                under_way -= 1
                waiting.unregister(caller.socket)
                caller.socket.close()
            else:
                caller.send(request_of(key, sql))
    lasted_s = time.perf_counter() - began_s
    taken_s.sort()
    return {
        "requests": len(taken_s),
        "refused": refused,
        "per_s": len(taken_s) / lasted_s,
        "p50_ms": 1000 * taken_s[len(taken_s) // 2],
        "p99_ms": 1000 * taken_s[int(len(taken_s) * 0.99)],
        "own_ms": 1000 * (time.process_time() - used_s) / len(taken_s),
    }


if __name__ == "__main__":
    port, key, seconds, connections, kind, seed = sys.argv[1:]
    print(json.dumps(load(int(port), key, float(seconds), int(connections), kind, int(seed))))
