"""The real server process: it answers over HTTP, speaks problem+json to the end, and stops when told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from querygate.cli.serve import CUSTODY
from querygate.custody.use_cases.publish_version import publish_to
from querygate.web.app import HEADERS
from tests.api.small_site import POLICY, csv_text, make_small_site
from tests.work import HANG_S

SQL = "SELECT sex, AVG(sbp) FROM clinic GROUP BY sex"


@contextmanager
def serving(folder, *options):
    """A server on a free port; gives its process and address."""
    command = [sys.executable, "-m", "querygate", "serve", "--site", str(folder), "--port", "0", *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        said = ""
        try:
            for line in process.stdout:
                said += line
                if "QueryGate is at" in line:
                    break
            else:
                pytest.fail(f"the server did not start: {said}")
            yield process, said, line.split("QueryGate is at ")[1].split(" ")[0]
        finally:
            process.kill()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make_small_site(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def server(site):
    with serving(site.folder) as (_, _, address):
        yield address


def fetch(request):
    """Status, headers and JSON of a response, refused or not."""
    try:
        with urllib.request.urlopen(request, timeout=HANG_S) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, json.load(error)


def question(site, address, body):
    return urllib.request.Request(f"{address}/api/v1/query", body, site.headers("ann"))


def talk(address, data):
    """What the server says to raw bytes."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=HANG_S) as connection:
        connection.sendall(data)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    return head.decode(), json.loads(body)


@pytest.mark.parametrize(("number", "options"), [(signal.SIGTERM, ["--store-only"]), (signal.SIGINT, [])])
def test_it_answers_and_stops_when_told(site, number, options):
    with serving(site.folder, *options) as (process, said, address):
        status, headers, body = fetch(question(site, address, json.dumps({"dataset": "clinic", "sql": SQL}).encode()))
        assert (status, len(body["rows"])) == (200, 2)
        assert "Server" not in headers
        assert ("No code that can open a vault" in said) == bool(options)
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(HANG_S) == 0
        assert "Stopped." in rest
        assert "Traceback" not in said + rest
        assert site.keys["ann"] not in said + rest


def test_what_was_asked_over_http_is_on_record(site, server):
    body = fetch(question(site, server, json.dumps({"dataset": "clinic", "sql": SQL}).encode()))[2]
    assert site.opened.log.answer(body["query_id"]) == ("ann", body)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"GARBAGE\r\n\r\n", 400, "QG306"),
        (b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n", 413, "QG308"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "QG306"),
        (b"GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404, "QG307"),
    ],
)
def test_even_what_never_reaches_the_application_is_a_problem(server, data, status, code):
    head, body = talk(server, data)
    assert head.split(" ")[1] == str(status)
    assert "application/problem+json" in head
    assert "waitress" not in head.lower()
    assert (body["code"], body["status"]) == (code, status)
    assert all(f"{name}: {value}" in head for name, value in HEADERS.items())


def test_an_oversized_request_is_refused(site, server):
    sql = "SELECT COUNT(*) FROM clinic WHERE age IN (" + "1," * 500_000 + "1)"
    status, _, body = fetch(question(site, server, json.dumps({"dataset": "clinic", "sql": sql}).encode()))
    assert (status, body["code"]) == (413, "QG308")


def test_a_port_that_is_taken_is_a_coded_error(site, server):
    port = server.rpartition(":")[2]
    command = [sys.executable, "-m", "querygate", "serve", "--site", str(site.folder), "--port", port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 2
    assert done.stderr.startswith("QG804 ")
    assert "Traceback" not in done.stderr


def test_nothing_behind_the_http_door_can_open_a_vault(site):
    """In a process of its own, serve a request and look at what was loaded on the way."""
    program = f"""
import sys
from pathlib import Path
from querygate.site.open_gate import open_gate
from querygate.site.layout import open_site
from querygate.web import create_app, serve
client = create_app(open_gate(open_site(Path({str(site.folder)!r})))).test_client()
headers = {{"Authorization": "Bearer {site.keys["ann"]}"}}
answered = client.post("/api/v1/query", headers=headers, json={{"dataset": "clinic", "sql": "{SQL}"}})
print(answered.status_code, [name for name in sys.modules if name.startswith({CUSTODY!r})])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG_S)
    assert done.stdout.strip() == "200 []"


def test_it_serves_where_no_vault_is(tmp_path):
    """A site whose vault was left on another machine."""
    small = make_small_site(tmp_path)
    for path in sorted(small.opened.site.vault.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    small.opened.site.vault.rmdir()
    with serving(small.folder, "--store-only") as (_, said, address):
        assert "contains a vault" not in said
        body = fetch(question(small, address, json.dumps({"dataset": "clinic", "sql": SQL}).encode()))[2]
        assert len(body["rows"]) == 2
        assert fetch(f"{address}/readyz")[0] == 200


def test_a_lost_file_keeps_no_other_dataset_from_being_served(tmp_path):
    small = make_small_site(tmp_path)
    (tmp_path / "other.csv").write_text(csv_text())
    publish_to(small.opened, POLICY.but(dataset="other").parsed(), str(tmp_path / "other.csv"), user="local")
    (small.opened.site.store / "clinic" / "v00001.duckdb").unlink()
    with serving(small.folder) as (_, said, address):
        assert "QG804" in said
        assert "Version 1 of clinic" in said
        sql = SQL.replace("clinic", "other")
        assert fetch(question(small, address, json.dumps({"dataset": "other", "sql": sql}).encode()))[0] == 200
        status, _, body = fetch(question(small, address, json.dumps({"dataset": "clinic", "sql": SQL}).encode()))
        assert (status, body["code"]) == (503, "QG804")
