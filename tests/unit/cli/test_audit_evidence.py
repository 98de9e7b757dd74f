"""audit replay, audit store and audit users, as they are printed."""

from __future__ import annotations

import csv
import io
import json

import pytest


@pytest.fixture
def asked(run, clinic):
    for sql in ("SELECT COUNT(*) FROM clinic WHERE age < 50", "SELECT COUNT(*) FROM clinic WHERE age < 51", "SELEC"):
        run("query", "--dataset", "clinic", sql)
    return run


def test_a_replay_tells_its_counts(asked):
    done = asked("audit", "replay")
    assert (done.exit_code, done.stdout) == (0, "2 answers: 2 the same, 0 different.\n")
    assert asked("audit", "replay", "--since", "2999-01-01").stdout == "0 answers: 0 the same, 0 different.\n"
    assert asked("audit", "replay", "--format", "jsonl").stdout == ""


def test_a_store_report_in_every_form(asked):
    text = asked("audit", "store", "clinic").stdout
    assert "Weakest classes of sbp" in text
    assert "local" in text
    found = json.loads(asked("audit", "store", "clinic", "--version", 1, "--format", "json").stdout)
    assert (found["version"], found["k"], [one["column"] for one in found["columns"]]) == (1, 5, ["sbp"])
    assert 0 < found["read_out"]["local"] <= found["classes"]
    [row] = csv.DictReader(io.StringIO(asked("audit", "store", "clinic", "--format", "csv").stdout))
    assert row["column"] == "sbp"


def test_a_version_or_dataset_that_is_not_there(asked):
    assert "QG303" in asked("audit", "store", "clinic", "--version", 9).stderr
    assert "QG303" in asked("audit", "store", "other").stderr


def test_users_are_scored(asked):
    [one] = json.loads(asked("audit", "users", "--format", "json").stdout)
    assert (one["user"], one["level"], one["queries"], one["refusals"], one["near"]) == ("local", "low", 3, 1, 1)
    assert asked("audit", "users", "--since", "2999-01-01").stdout == "Nobody has sent a query yet.\n"
