"""The command line as a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.work import HANG_S


@pytest.fixture
def process(small):
    def started(*words, **more):
        command = [sys.executable, "-m", "querygate", "--site", str(small.folder), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, **more)

    return started


def test_it_answers_and_exits(process):
    done = process("query", "--dataset", "clinic", "SELECT COUNT(*) FROM clinic", "--format", "csv")
    assert done.returncode == 0
    assert (
        done.stdout.splitlines()[0]
        == "count_low,count_high,count_estimate,count_may_be_null,group_certain,group_count_low,group_count_high"
    )
    assert done.stderr == ""


def test_a_refusal_is_exit_code_1(process):
    done = process("query", "--dataset", "clinic", "-", input="SELECT * FROM clinic")
    assert done.returncode == 1
    assert done.stderr.startswith("QG201 ")


def test_a_reader_that_leaves_early_is_no_fault(small):
    script = f"{sys.executable} -m querygate log export --site {small.folder} | head -c 10"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=HANG_S)
    assert len(done.stdout) == 10
    assert "QG900" not in done.stderr
    assert "Traceback" not in done.stderr


def test_only_publishing_loads_code_that_can_open_a_vault(small):
    program = (
        "import sys, querygate.cli; from querygate.cli.serve import loaded_custody, serve; print(loaded_custody())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG_S)
    assert done.stdout.strip() == "[]"
