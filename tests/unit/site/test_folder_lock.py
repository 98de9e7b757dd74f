"""Who may use a folder at the same time: one gate, and nobody while it is exchanged."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import ConfigError
from querygate.site import folder_lock
from querygate.site.folder_lock import alone, only_gate, present
from tests.empty_site import empty_site


def test_two_gates_and_the_other_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_lock, "ORPHANS_S", 0.0)
    with only_gate(tmp_path, "http://127.0.0.1:8080"), present(tmp_path):
        with pytest.raises(ConfigError) as refused, only_gate(tmp_path, "http://127.0.0.1:9090"):
            pass
        with present(tmp_path), pytest.raises(ConfigError), alone(tmp_path):
            pass
    assert refused.value.code == "QG804"
    assert f"by process {os.getpid()} at http://127.0.0.1:8080" in refused.value.detail
    with only_gate(tmp_path, "http://127.0.0.1:9090"), ExitStack():
        assert (tmp_path / folder_lock.GATE).read_text() == f"process {os.getpid()} at http://127.0.0.1:9090\n"


def test_a_gate_that_was_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    heard, told = os.pipe()
    pid = os.fork()
    if not pid:
        with only_gate(tmp_path, "http://127.0.0.1:8080"):
            os.write(told, b"+")
            signal.pause()
    assert os.read(heard, 1) == b"+"
    os.kill(pid, signal.SIGKILL)  # the next one may come before it has ended
    with only_gate(tmp_path, "http://127.0.0.1:9090"):
        pass
    os.waitpid(pid, 0)
    os.close(heard)
    os.close(told)


@pytest.mark.parametrize("command", ["serve --port 0", "migrate", "log verify", "user list", "restore --write-off all"])
def test_a_folder_that_can_only_be_read(tmp_path: Path, command: str) -> None:
    site = empty_site(tmp_path / "site").folder
    before = sorted(site.rglob("*"))
    mount = ["mount", "--bind", "-o", "ro", site, site]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("To mount a folder is not permitted here.")
    try:
        done = CliRunner().invoke(main, ["--site", str(site), *command.split()])
    finally:
        subprocess.run(["umount", "--lazy", site], check=True)
    assert done.exit_code != 0
    assert "QG804" in done.output
    assert sorted(site.rglob("*")) == before
