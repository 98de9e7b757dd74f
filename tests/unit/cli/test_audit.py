"""The classic, end to end: 10 patients aged 40 to 50 with a mean of 110, 11 aged 40 to 51 with one of 115.

`audit file` of a log with exact answers discloses 165; the site's own log, whose answers are ranges, has the attempt.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from querygate import demo
from tests.numbers_in import numbers

TEN = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 50"
ELEVEN = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 51"
CLINIC = demo.HERE / "clinic.csv"

APART = "age BETWEEN 40 AND 51, without age BETWEEN 40 AND 50"
"""The one person in the words of the two statements."""


@pytest.fixture
def log(tmp_path):
    asked = [
        {"id": "q1", "user": "r1", "time": "2026-03-02T09:14:00Z", "sql": TEN, "answer": 110},
        {"id": "q2", "user": "r1", "time": "2026-03-02T09:16:30Z", "sql": ELEVEN, "answer": 115},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in asked))
    return path


@pytest.fixture
def file(run, log):
    return lambda *more: run("audit", "file", log, "--source", CLINIC, *more)


@pytest.fixture(scope="module")
def asked(run, tmp_path_factory):
    """The clinic, published; somebody has asked the two questions through the gate."""
    words = ("publish", "--policy", demo.HERE / "clinic.toml", "--source", CLINIC, "--report", "none")
    with chdir(tmp_path_factory.mktemp("asked")):
        run("init")
        assert run(*words).exit_code == 0
        run("user", "add", "ann", "--role", "researcher")
        for sql in (TEN, ELEVEN):
            assert run("query", "--dataset", "clinic", "--as", "ann", sql).exit_code == 0
        return Path("site").absolute()


@pytest.fixture
def site(run, asked, tmp_path):
    shutil.copytree(asked, tmp_path / "site")
    return lambda *more: run("audit", "run", "--dataset", "clinic", *more)


@pytest.mark.parametrize("sql", ["", None, "  "])
def test_a_line_with_an_empty_statement_is_one_that_could_not_be_audited(file, log, sql):
    log.write_text(log.read_text() + json.dumps({"user": "r1", "sql": sql}) + "\n")
    done = file("--format", "json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["queries"], report["queries_audited"], len(report["findings"])) == (3, 2, 1)
    assert [one["query"] for one in report["not_audited"]] == ["line 3"]


def words(page):
    """The text of a page, without marks."""
    return " ".join(html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def notes(run):
    exported = run("log", "export").stdout
    return [event for event in map(json.loads, exported.splitlines()) if event["kind"].startswith("audit.")]


# -- a log with exact answers ------------------------------------------------------------------------------------------


def test_the_classic_in_a_table(file):
    done = file()
    assert done.exit_code == 0, done.output
    heading, _, line = done.stdout.splitlines()[:3]
    assert heading.split() == ["case", "severity", "kinds", "users", "queries", "findings", "records", "where"]
    assert re.fullmatch(r"c_\w{10}  disclosed  differencing  r1     q1, q2   1         1        age = 51", line)
    assert "q2, q1 of r1 isolate 1 record: age = 51. 11*115 - 10*110 = 165: systolic." in done.stdout
    assert "Signs of intent: a single user; asked within 3 minutes." in done.stdout
    assert done.stdout.endswith("2 queries; 0 could not be audited; 0 tests were left out.\n")


def test_the_classic_in_json(file):
    body = json.loads(file("--format", "json").stdout)
    (finding,), (case,) = body["findings"], body["cases"]
    assert (finding["kind"], finding["severity"]) == ("differencing", "disclosed")
    assert (set(finding["queries"]), finding["users"]) == ({"q1", "q2"}, ["r1"])
    assert finding["isolates"] == {"records": 1, "where": "age = 51"}
    assert finding["inferred"] == [
        {"column": "systolic", "low": 165, "high": 165, "from": "11*115 - 10*110", "exact": 165}
    ]
    lines = [(one["query"], one["times"], one["records"], one["answer"]) for one in finding["combination"]]
    assert sorted(lines) == [("q1", "-1", 10, "10*110"), ("q2", "1", 11, "11*115")]
    assert (case["severity"], case["records"], case["findings"]) == ("disclosed", 1, [finding["id"]])
    assert finding["case"] == case["id"]
    assert body["severities"] == {"disclosed": 1, "exposed": 0, "attempt": 0, "notice": 0}
    assert body == json.loads(file("--format", "json").stdout)


def test_findings_line_by_line(file):
    (line,) = file("--format", "jsonl").stdout.splitlines()
    assert json.loads(line)["explanation"].startswith("q2, q1 of r1 isolate")
    (row,) = csv.DictReader(io.StringIO(file("--format", "csv").stdout))
    assert (row["severity"], json.loads(row["isolates"])["where"]) == ("disclosed", "age = 51")


def test_the_classic_on_a_page(file, tmp_path):
    done = file("--html", tmp_path / "report.html")
    assert done.stderr == f"Wrote {tmp_path / 'report.html'}.\n"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = words(page)
    assert "+1 × q2: 11*115 systolic, 11 records" in text
    assert "−1 × q1: 10*110 systolic, 10 records" in text
    assert "= 165 systolic" in text
    assert "1 record: age = 51" in text
    assert "Exact answers would have revealed 165 ." in text
    assert "The given answers reveal 165 exactly." in text
    assert "does not certify anonymity" in text
    assert not re.findall(r"<script|<link|<img|https?://|@import|url\(", page)
    assert (tmp_path / "report.html").stat().st_mode & 0o077 == 0


def test_a_page_is_never_written_over(file, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    done = file("--html", path)
    assert (done.exit_code, path.read_text()) == (2, "mine")
    assert "already exists" in done.stderr


def test_values_of_a_foreign_log_can_be_masked(file, tmp_path):
    for form in ("table", "json", "jsonl", "csv"):
        done = file("--mask", "--format", form, "--html", tmp_path / f"{form}.html")
        assert not re.findall(r"\b(?:165|110|115)\b", done.stdout)
        assert "age BETWEEN 40 AND 51, without age BETWEEN 40 AND 50" in done.stdout
        assert not re.findall(r"\b(?:165|115)\b", words((tmp_path / f"{form}.html").read_text(encoding="utf-8")))


def test_that_nobody_of_a_group_has_a_secret_is_not_told_without_values(run, log):
    asked = "SELECT COUNT(*) FROM clinic WHERE age BETWEEN 40 AND 50 AND systolic > 150"
    log.write_text(json.dumps({"id": "q1", "user": "r1", "sql": asked, "answer": 0}) + "\n")
    words = ("audit", "file", log, "--source", CLINIC, "--secret", "systolic")
    shown = run(*words)
    assert "notice" in shown.stdout
    assert "None of the selected records have: systolic > 150." in shown.stdout
    masked = run(*words, "--mask", "--html", "masked.html", "--format", "json")
    assert "None of the selected records" not in Path("masked.html").read_text(encoding="utf-8")
    assert json.loads(masked.stdout)["findings"] == []


def test_without_answers_the_data_tell_what_they_would_have_been(run, log, tmp_path):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps({**line, "answer": None}) + "\n" for line in lines))
    done = run("audit", "file", log, "--source", CLINIC, "--html", tmp_path / "r.html")
    assert "Exact answers would have revealed 165: systolic." in done.stdout
    assert "systolic: unknown; the log contains no answers." in done.stdout
    assert "what was disclosed is unknown" in words((tmp_path / "r.html").read_text(encoding="utf-8"))


# -- the site's own log ------------------------------------------------------------------------------------------------


def test_the_gate_disclosed_nothing(site):
    body = json.loads(site("--format", "json").stdout)
    (finding,) = body["findings"]
    assert (finding["kind"], finding["severity"], finding["users"]) == ("differencing", "attempt", ["ann"])
    assert finding["isolates"] == {"records": 1, "where": APART}
    assert finding["inferred"] == [{"column": "systolic", "from": None, "low": None, "high": None, "hidden": True}]
    assert [one["answer"] for one in finding["combination"]] == [None, None]
    assert body["severities"]["disclosed"] == body["severities"]["exposed"] == 0
    assert "165" not in numbers(site().stdout)
    assert "systolic: hidden; use --reveal to see it." in site().stdout


def test_a_custodian_who_asks_sees_both_sides_and_is_in_the_log(site, run, tmp_path):
    site()
    body = json.loads(site("--reveal", "--format", "json", "--html", tmp_path / "report.html").stdout)
    (inferred,) = body["findings"][0]["inferred"]
    assert (inferred["low"], inferred["high"], inferred["exact"]) == (80, 200, 165)  # all of the public domain
    text = words((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Exact answers would have revealed 165 ." in text
    assert "The given answers leave the range 80 .. 200 ." in text
    runs = [event["body"] for event in notes(run) if event["kind"] == "audit.run"]
    assert [one["revealed"] for one in runs] == [False, True]


def test_findings_are_put_on_record_without_values_and_once(site, run):
    for _ in range(3):
        site("--reveal")
    (kept,) = [event for event in notes(run) if event["kind"] == "audit.findings"]
    assert kept["body"]["findings"][0]["isolates"]["where"] == APART
    assert "165" not in numbers(json.dumps(kept["body"]["findings"]))
    assert [event["body"]["findings"] for event in notes(run) if event["kind"] == "audit.run"] == [1, 1, 1]
    assert run("log", "verify").exit_code == 0
    run("query", "--dataset", "clinic", "--as", "ann", "SELECT SUM(systolic) FROM clinic WHERE age > 41")
    site()
    assert len([event for event in notes(run) if event["kind"] == "audit.findings"]) == 2


def test_colluders_of_one_project_are_found_in_its_view(site, run):
    run("user", "add", "bob", "--role", "researcher", "--project", "BP 2026")
    run("user", "change", "ann", "--project", "BP 2026")
    run("query", "--dataset", "clinic", "--as", "bob", "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 41 AND 51")
    body = json.loads(site("--format", "json").stdout)
    assert body["views"]["project BP 2026"] == ["ann", "bob"]
    (together,) = [
        finding
        for finding in body["findings"]
        if finding["isolates"]["where"] == "age BETWEEN 40 AND 51, without age BETWEEN 41 AND 51"
    ]
    assert (together["view"], together["kind"], set(together["users"])) == (
        "project BP 2026",
        "collusion",
        {"ann", "bob"},
    )
    named = json.loads(site("--together", "pair=ann,bob", "--format", "json").stdout)
    assert {"pair", "project BP 2026", "ann", "bob", "everybody"} == set(named["views"])


def test_queries_to_a_version_without_raw_records_are_not_passed_over(site, tmp_path):
    for path in (tmp_path / "site" / "vault" / "clinic").glob("v00001*"):
        path.rename(tmp_path / path.name)
    body = json.loads(site("--format", "json").stdout)
    assert (body["queries"], body["findings"]) == (2, [])
    assert {one["reason"] for one in body["not_audited"]} == {"The vault does not have the raw records of version 1."}


def test_a_masked_page_of_the_site(site, tmp_path):
    site("--html", tmp_path / "report.html")
    text = words((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Values of people are hidden." in text
    assert "165" not in numbers(text)
    assert "= hidden systolic" in text
