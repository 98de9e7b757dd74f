"""A site with noisy answers, served by real processes: questions over HTTP, and a worker for what needs the vault."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.empty_site import empty_site
from tests.small_release import publish_small
from tests.work import HANG_S, wait_until

PEOPLE = {"ann": "researcher", "bob": "researcher", "carl": "custodian", "dora": "custodian"}

# Written into a folder on the path of the processes: Python reports what it opens and imports, and where that is.
WATCH = """
import os, sys
_out = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
_who = "work" if "work" in sys.orig_argv else "serve" if "serve" in sys.orig_argv else "other"

def _hook(event, args):
    if event in ("open", "import", "os.listdir", "os.scandir", "sqlite3.connect") and args:
        what = args[0]
        if isinstance(what, (str, bytes, os.PathLike)):
            os.write(_out, f"{_who}\\t{event}\\t{os.fsdecode(what)}\\n".encode(errors="replace"))

sys.addaudithook(_hook)
"""


@dataclass(frozen=True)
class ServedSite:
    """A site, the keys of its people, and nothing running yet."""

    opened: OpenSite
    keys: dict[str, str]

    @property
    def folder(self) -> Path:
        return self.opened.site.folder


@dataclass(frozen=True)
class Door:
    """A running server: its process and address."""

    process: subprocess.Popen[str]
    address: str
    keys: dict[str, str]

    def call(self, name: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON (or text) of a response, refused or not."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.keys[name]}"}
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HANG_S) as response:
                return response.status, _read(response.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _read(error.read())

    def ask(self, name: str, sql: str, **options: Any) -> tuple[int, Any]:
        body = {"dataset": "patients", "sql": sql, "options": {"mode": "laplace", **options}}
        return self.call(name, "POST", "/api/v1/query", body)

    def answer(self, name: str, sql: str, **options: Any) -> dict[str, Any]:
        """The answer or the refusal, however long it takes."""
        status, body = self.ask(name, sql, **options)
        return self.result(name, status, body)

    def result(self, name: str, status: int, body: Any) -> Any:
        """What would have been answered at once: where it was a job, its result or problem."""
        if status != 202:
            return body
        ended = self.outcome(name, body["job"])
        return ended.get("result") or ended.get("problem") or ended

    def outcome(self, name: str, job: str) -> dict[str, Any]:
        """The job, once it has ended."""

        def ended() -> dict[str, Any] | None:
            status, body = self.call(name, "GET", f"/api/v1/jobs/{job}")
            assert status == 200, body
            return None if body["finished"] is None else dict(body)

        return wait_until(ended, 0.05) or {}


def make_served_site(folder: Path, *, total: float = 100.0, settings: str = "", **policy: Any) -> ServedSite:
    """Random patients; noisy answers cost 0.1 each. Ticks and leases are short."""
    site = empty_site(folder / "site")
    with (site.folder / "querygate.toml").open("a") as stream:
        stream.write(f"\nnoise_tick_ms = 20\njob_lease_s = 1.5\n{settings}\n")
    opened = open_gate(open_site(site.folder))
    laplace = {"epsilon_per_query": 0.1, "epsilon_total": total, "epsilon_per_user": total}
    publish_small(opened, folder, answers={"modes": ["interval", "laplace"]}, laplace=laplace, **policy)
    for name, role in PEOPLE.items():
        opened.accounts.add_user(name, role)
    return ServedSite(opened, {name: opened.accounts.keys.new(name).secret for name in PEOPLE})


def started(*words: str, watch: Path | None = None, **settings: str) -> subprocess.Popen[str]:
    """A querygate process; with `watch`, what it and its children open and import is written there."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **settings}
    if watch is not None:
        place = watch.parent / "watch"
        place.mkdir(exist_ok=True)
        (place / "sitecustomize.py").write_text(WATCH)
        paths = [str(place), *filter(None, [environment.get("PYTHONPATH")])]
        environment |= {"WATCHED": str(watch), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "querygate", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


@contextmanager
def serving(site: ServedSite, *options: str, watch: Path | None = None, **settings: str) -> Iterator[Door]:
    """A server on a free port, until the block ends."""
    words = ("serve", "--site", str(site.folder), "--port", "0", *options)
    with started(*words, watch=watch, **settings) as process:
        said = ""
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said += line
                if "QueryGate is at" in line:
                    break
            else:
                raise AssertionError(f"the server did not start: {said}")
            yield Door(process, line.split("QueryGate is at ")[1].split(" ")[0], site.keys)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(HANG_S)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def working(folder: Path, *options: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A worker, until the block ends."""
    with started("work", "--site", str(folder), *options, **settings) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(HANG_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
