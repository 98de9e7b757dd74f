"""A site that is really served, by `querygate serve` in a process of its own with its children."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from querygate.core.answer_bodies import AnswerBody
from tests.work import HANG_S


@dataclass(frozen=True)
class Served:
    """The process that was started, and where it listens."""

    process: subprocess.Popen[str]
    address: str
    said: str

    def connect(self) -> http.client.HTTPConnection:
        place = urlsplit(self.address)
        return http.client.HTTPConnection(place.hostname or "", place.port, timeout=HANG_S)

    def gates(self) -> list[int]:
        """The processes that serve: those that were forked."""
        own = command_of(self.process.pid)
        return [pid for pid in children_of(self.process.pid) if command_of(pid) == own]


@contextmanager
def served(folder: Path, *options: str, code: Path | None = None, **settings: object) -> Iterator[Served]:
    """Serve a site with these settings on a free port, by another version where `code` has its sources. It is killed
    at the end if it still runs."""
    command = [sys.executable, "-m", "querygate", "serve", "--site", str(folder), "--port", "0", *options]
    told = {f"QUERYGATE_{name.upper()}": str(value) for name, value in settings.items()}
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **told}
    if code is not None:
        environment["PYTHONPATH"] = f"{code}{os.pathsep}{code / 'adapters'}"
    pipes = {"cwd": code, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:  # type: ignore[call-overload]
        said = ""
        try:
            for line in process.stdout:
                said += line
                if "QueryGate is at" in line:
                    break
            else:
                raise AssertionError(f"the server did not start: {said}")
            yield Served(process, line.split("QueryGate is at ")[1].split(" ")[0], said)
        finally:
            process.kill()


def ask(connection: http.client.HTTPConnection, key: str, dataset: str, sql: str) -> AnswerBody | None:
    """The answer; None where there was none. What goes wrong on the way is raised."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", "/api/v1/query", json.dumps({"dataset": dataset, "sql": sql}), headers)
    response = connection.getresponse()
    body = response.read()
    return json.loads(body) if response.status == http.client.OK else None


def children_of(pid: int) -> list[int]:
    """Processes whose parent this is."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:  # it has ended
                continue
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(folder.name))
    return sorted(found)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended; one that nobody has waited for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
