"""report --again: the report on a version, made once more from what is kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib

import pytest

from tests.api.small_site import write_inputs


@pytest.fixture
def publish(run, clinic, tmp_path):
    policy, source = write_inputs(tmp_path)
    return lambda *more: run("publish", "--policy", policy, "--source", source, *more)


def facts(text):
    """All but how long the sweep took, which no two runs have in common."""
    body = json.loads(text)
    return {**body, "sweep": {**body["sweep"], "points": [], "seconds": 0}}


@pytest.mark.usefixtures("alternatives")
def test_a_report_is_made_again_as_it_was(run, clinic, publish):
    """With the edits that would help, and their lines to paste."""
    assert publish("--report", "full").exit_code == 0
    folder = clinic / "vault/clinic/reports/v00002"
    before = (folder / "report.json").read_text()
    usable = json.loads(before)["usable"]
    assert usable["edits"]
    for edit in usable["edits"]:
        assert edit["after"]["share"] > edit["before"]["share"] == usable["standing"]["share"]
        assert tomllib.loads(edit["toml"])
        assert edit["toml"].splitlines()[0] in (folder / "report.html").read_text()
    shutil.rmtree(folder)
    assert run("report", "clinic").exit_code == 2
    again = run("report", "clinic", "--again")
    assert again.exit_code == 0, again.stderr
    assert (folder / "report.html").exists()
    assert facts((folder / "report.json").read_text()) == facts(before)


def test_a_version_that_was_published_without_a_report_gets_one(run, clinic, publish):
    assert run("report", "clinic", 1).exit_code == 2
    assert run("report", "clinic", 1, "--again").exit_code == 0
    assert json.loads(run("report", "clinic", 1, "--format", "json").stdout)["version"] == 1


def test_what_cannot_be_made_again_is_said(run, clinic, publish):
    publish()
    run("retire", "clinic", 1)
    refused = run("report", "clinic", 1, "--again")
    assert refused.exit_code == 2
    assert "The store has no version 1 of clinic." in refused.stderr
    (clinic / "vault/clinic/reports/v00002.json").unlink()  # as a version of an earlier QueryGate
    refused = run("report", "clinic", "--again")
    assert refused.exit_code == 2
    assert "what was measured when version 2 of clinic was published" in refused.stderr
    assert run("report", "nowhere", "--again").exit_code == 2


def test_a_version_on_trial_is_open_for_those_who_measure_it(clinic):
    """It is asked and read at once, and an engine opens a file under one configuration only. In a process of its own,
    since engines are shared among these tests."""
    (file,) = (clinic / "store/clinic").glob("*.duckdb")
    found = subprocess.run([sys.executable, "-c", BOTH, str(file)], capture_output=True, text=True)
    assert found.stdout == "True\n", found.stderr


BOTH = """
import sys
from pathlib import Path
from querygate_adapters.store.held_release import HeldRelease
from querygate_adapters.vault.written_store import WrittenStore
on_trial = HeldRelease(Path(sys.argv[1]))
print(WrittenStore(Path(sys.argv[1])).catalog() == on_trial.catalog)
"""
