"""A PostgreSQL server of the tests' own: made on first use, gone when the test run ends.

It lives in a temporary folder, listens on a socket in that folder and on a free port of this machine, and lets nobody
in without a password.
"""

from __future__ import annotations

import functools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.work import HANG_S

OWNER = "owner"
MISSING = "PostgreSQL is not installed. On Debian: apt-get install postgresql (tests/install_tools.sh does it as root)."
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "password_encryption": "scram-sha-256",
    "logging_collector": "off",
}


@dataclass
class Server:
    """A server that runs. `password` is its owner's."""

    folder: Path
    port: int
    password: str
    process: subprocess.Popen[bytes] = field(repr=False)

    def halt(self) -> None:
        """As in the middle of a restart: connections are cut, and nobody is let in."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(HANG_S)

    def resume(self) -> None:
        self.process = _started(self.folder, self.port)
        assert _is_up(self)

    def url(self, user: str = OWNER, password: str | None = None, database: str = "postgres") -> str:
        """Over TCP, with the password in it."""
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(database=database), autocommit=True)

    def run(self, *statements: str | sql.Composable, database: str = "postgres") -> None:
        """Run statements as the owner."""
        with self.connect(database) as connection:
            for statement in statements:
                connection.execute(statement if isinstance(statement, sql.Composable) else statement.encode())

    def new_database(self) -> str:
        """An empty database; returns its name."""
        name = f"db_{secrets.token_hex(4)}"
        self.run(f"CREATE DATABASE {name}")
        return name

    def new_role(self) -> str:
        """A user who may sign in with the owner's password and do nothing else; returns their name."""
        name = f"role_{secrets.token_hex(4)}"
        self.run(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(name), sql.Literal(self.password)))
        return name


@functools.cache
def server() -> Server:
    """The server of this test process."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="querygate-pg-"))
    data, password_file, password = folder / "data", folder / "password", secrets.token_hex(8)
    password_file.write_text(password)
    who = _unprivileged(folder)
    _quietly(
        [
            *[programs / "initdb", "-D", data, "-U", OWNER, "-A", "scram-sha-256", f"--pwfile={password_file}"],
            *["-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"],
        ],
        folder,
        who,
    )
    with (data / "postgresql.conf").open("a") as settings:
        settings.writelines(f"{name} = {value}\n" for name, value in SETTINGS.items())
    while True:
        port = _free_port()
        running = Server(folder, port, password, _started(folder, port))
        if _is_up(running):
            return running


def _started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    words = [_programs() / "postgres", "-D", folder / "data", "-k", folder, "-h", "127.0.0.1", "-p", str(port)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(words, cwd=folder, stdout=log, stderr=log, **_unprivileged(folder))


def stop() -> None:
    """End the server, if there is one. Nothing in it is worth keeping."""
    if server.cache_info().currsize:
        running = server()
        running.process.send_signal(signal.SIGINT)  # does not wait for clients to leave
        running.process.wait(HANG_S)
        shutil.rmtree(running.folder, ignore_errors=True)
        server.cache_clear()


def _programs() -> Path:
    programs = find_programs()
    if programs is None:
        if os.geteuid() == 0:
            pytest.fail(MISSING)
        pytest.skip(MISSING + " There is no permission to install it here.")
    return programs


def find_programs() -> Path | None:
    """The folder of initdb and postgres: where Debian puts the newest, or where the PATH says."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = str(versions[-1]) if versions else shutil.which("initdb")
    return None if found is None else Path(found).resolve().parent


def _unprivileged(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: somebody else owns the folder then, and runs it."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    for path in (folder, *folder.iterdir()):
        os.chown(path, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _quietly(words: list[Any], folder: Path, who: dict[str, Any]) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=HANG_S, **who)
    assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_up(running: Server) -> bool:
    """Wait until it takes connections; False where somebody else took its port meanwhile."""
    until = time.monotonic() + HANG_S
    while time.monotonic() < until:
        if running.process.poll() is not None:
            said = (running.folder / "log").read_text()
            assert "Address already in use" in said, said
            return False
        try:
            running.connect().close()
            return True
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise AssertionError((running.folder / "log").read_text())
