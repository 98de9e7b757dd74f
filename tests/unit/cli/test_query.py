"""query: answers in every format, dry runs, and in whose name."""

from __future__ import annotations

import csv
import io
import json

import pytest

MEANS = "SELECT sex, AVG(sbp), COUNT(*) FROM clinic GROUP BY sex"


@pytest.fixture
def query(at):
    return lambda *words, **more: at("query", "--dataset", "clinic", *words, **more)


def test_a_table_for_people(query):
    lines = query(MEANS).stdout.splitlines()
    assert lines[0].split() == ["sex", "avg_sbp", "count", "records", "in", "group"]
    assert lines[2].startswith("F ")
    assert " .. " in lines[2]
    assert lines[-1].startswith("clinic, version 1; q_")


def test_json_is_the_answer_of_the_contract(query):
    body = json.loads(query(MEANS, "--format", "json").stdout)
    assert [row["sex"] for row in body["rows"]] == ["F", "M"]
    assert body["rows"][0]["avg_sbp"]["low"] <= body["rows"][0]["avg_sbp"]["high"]


def test_json_lines_are_groups(query):
    groups = [json.loads(line) for line in query(MEANS, "--format", "jsonl").stdout.splitlines()]
    assert [group["sex"] for group in groups] == ["F", "M"]


def test_csv_has_both_ends(query):
    rows = list(csv.DictReader(io.StringIO(query(MEANS, "--format", "csv").stdout)))
    assert float(rows[0]["avg_sbp_low"]) <= float(rows[0]["avg_sbp_high"])


def test_the_statement_may_come_from_standard_input(query):
    assert json.loads(query("-", "--format", "json", input=MEANS).stdout)["dataset"] == "clinic"


def test_the_console_asks_as_local(query, small):
    body = json.loads(query(MEANS, "--format", "json").stdout)
    assert small.opened.log.answer(body["query_id"])[0] == "local"


def test_somebody_else_can_be_asked_for(query, small):
    body = json.loads(query(MEANS, "--as", "ANN", "--format", "json").stdout)
    assert small.opened.log.answer(body["query_id"])[0] == "ann"


def test_a_dry_run_is_no_query_and_on_record(query, small):
    before = small.opened.log.verify().entries
    assert "groups    at most 2" in query(MEANS, "--check").stdout
    verdict = json.loads(query(MEANS, "--check", "--format", "json").stdout)
    assert (verdict["accepted"], verdict["cost"]) == (True, {"epsilon": 0})
    assert query("SELECT * FROM clinic", "--check").exit_code == 1
    assert small.opened.log.verify().entries == before + 3


def test_notes_are_shown(query):
    text = query("SELECT sex, COUNT(*) FROM clinic GROUP BY sex ORDER BY 2 LIMIT 1").stdout
    assert "do not decide which groups are the first 1" in text
