"""`querygate serve --pg-port` in processes of its own: one takes PostgreSQL clients, and is replaced if it dies."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psycopg
import pytest

from querygate.cli.serve import listen_for_wire
from querygate.core.errors import ConfigError
from querygate.site.open_gate import open_gate
from tests.running_server import free_port, served
from tests.wire.wire_site import WireSite, make_site, publish_survey
from tests.work import HANG_S


def count(site: WireSite) -> object:
    with site.connect() as connection:
        return connection.execute("SELECT COUNT(*) FROM survey").fetchall()


def count_again(site: WireSite) -> object:
    """Whoever was killed is started again in a moment."""
    until = time.monotonic() + HANG_S
    while True:
        try:
            return count(site)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_a_gate_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    opened = open_gate(make_site(tmp_path))
    keys, port = publish_survey(opened, tmp_path), free_port()
    with served(opened.site.folder, "--pg-port", str(port), "--store-only", processes=2) as server:
        assert f"PostgreSQL clients connect to port {port}." in server.said
        site = WireSite(opened, port, keys)
        before = count(site)
        for gate in server.gates():
            os.kill(gate, signal.SIGKILL)
            assert count_again(site) == before


def test_a_certificate_that_cannot_be_read_is_told_before_anything_is_served(tmp_path: Path) -> None:
    site = make_site(tmp_path, "pg_certificate = '/nowhere.crt'")
    with pytest.raises(ConfigError, match="pg_certificate"):
        listen_for_wire("127.0.0.1", site.settings, free_port())
    assert listen_for_wire("127.0.0.1", site.settings, 0) == []
