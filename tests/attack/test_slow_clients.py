"""Clients that hold on to what they get: half-sent requests, answers that nobody reads, and one who asks for all.

Against a real server on this machine. What is measured is that others are answered, not how fast.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from tests.api.small_site import make_small_site
from tests.work import HANG_S

LIMITS = {
    "QUERYGATE_MAX_CONNECTIONS": "100",
    "QUERYGATE_REQUEST_READ_S": "3",
    "QUERYGATE_IDLE_S": "5",
    "QUERYGATE_PROCESSES": "1",
    "QUERYGATE_THREADS": "4",
    "QUERYGATE_CONCURRENT_REQUESTS": "2",
    "QUERYGATE_REQUESTS_PER_MINUTE": "0",
}
HALF = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: Bearer qg_"


@contextmanager
def serving(folder):
    words = [sys.executable, "-m", "querygate", "--site", str(folder), "serve", "--port", "0", "--store-only"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **LIMITS}) as process:
        try:
            for line in process.stdout:
                if " is at " in line:
                    yield line.split(" is at ")[1].split()[0]
                    break
            else:
                raise AssertionError("it did not start")
        finally:
            process.terminate()
            process.wait(HANG_S)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = make_small_site(tmp_path_factory.mktemp("slow"))
    made.opened.log.database.close()
    return made


@pytest.fixture(scope="module")
def address(site):
    with serving(site.folder) as found:
        yield found


def ask(site, address, name="ann", sql="SELECT COUNT(*) FROM clinic"):
    body = json.dumps({"dataset": "clinic", "sql": sql}).encode()
    headers = {**site.headers(name), "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{address}/api/v1/query", body, headers), timeout=HANG_S
        ) as got:
            return got.status, dict(got.headers), json.load(got)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), json.load(error)


def connect(address):
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=HANG_S)


def test_half_sent_requests_are_cut_off_and_block_nobody(site, address):
    """More of them than there may be connections: somebody else is answered all the same."""
    assert ask(site, address)[0] == 200
    with ExitStack() as stack:
        slow = []
        for _ in range(130):
            slow.append(stack.enter_context(connect(address)))
            slow[-1].sendall(HALF)
        began = time.monotonic()
        assert ask(site, address)[0] == 200
        print(f"answered beside 130 half-sent requests after {time.monotonic() - began:.2f} s")
        for one in slow:
            one.settimeout(HANG_S)
            assert cut_off(one)
        print(f"all cut off after {time.monotonic() - began:.2f} s")
        assert ask(site, address)[0] == 200


def test_a_request_that_drips_is_cut_off(address):
    """A byte now and then keeps the connection alive, and does not make the request end any later."""
    with connect(address) as dripping:
        dripping.settimeout(HANG_S)
        began = time.monotonic()
        with pytest.raises(OSError):  # noqa: PT012
            while time.monotonic() - began < HANG_S:
                dripping.sendall(b"G")
                time.sleep(0.2)
        assert time.monotonic() - began < HANG_S


def test_who_sends_nothing_is_cut_off(address):
    with connect(address) as silent:
        silent.settimeout(HANG_S)
        assert cut_off(silent)


def test_one_user_at_once(site, address):
    """Of many questions at once of one user some are told to wait; another user is answered."""
    with ThreadPoolExecutor(12) as pool:
        many = [
            pool.submit(ask, site, address, "ann", f"SELECT COUNT(*) FROM clinic WHERE age > {n}") for n in range(60)
        ]
        other = ask(site, address, "bob")
        answers = [one.result() for one in many]
    assert other[0] == 200
    assert {status for status, _, _ in answers} <= {200, 429}
    for status, headers, body in answers:
        if status == 429:
            assert (body["code"], int(headers["Retry-After"]) >= 1) == ("QG318", True)


def cut_off(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
