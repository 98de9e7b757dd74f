"""Audits that fail in part, or of nothing: the rest goes on, and no output can be read as clean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from querygate import demo
from querygate.custody.audit import audit as audit_steps
from querygate.custody.audit import failure_leaks
from querygate.methods.audit import coalitions, small_groups
from querygate.methods.audit.finding_check import NotSound
from querygate.methods.audit.finding_check import verify as check

CLINIC = demo.HERE / "clinic.csv"
ELEVEN = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 51"
TEN = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 50"
SMALL = "SELECT SUM(systolic) FROM clinic WHERE age = 41"


def written(path: Path, *asked: tuple[str, object]) -> Path:
    lines = [{"id": f"q{i}", "user": "r1", "sql": sql, "answer": answer} for i, (sql, answer) in enumerate(asked, 1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def file(run, tmp_path):
    log = written(tmp_path / "queries.jsonl", (TEN, 110), (ELEVEN, 115), (SMALL, 112))
    return lambda *more: run("audit", "file", log, "--source", CLINIC, *more)


# -- the check of a proof, a statement, a test that fails ------------------------------------------------------------


@pytest.fixture
def doubtful(monkeypatch):
    """The check rejects what isolates the patient of 51: a fault of the auditor, planted."""

    def rejecting(finding, *more):
        if set(finding.queries) == {"q1", "q2"}:
            raise NotSound("planted: systolic of Smith is 165")
        check(finding, *more)

    monkeypatch.setattr(coalitions, "verify", rejecting)


def test_a_finding_that_is_not_proved_says_so_and_the_rest_goes_on(file, doubtful, tmp_path):
    done = file("--format", "json", "--html", tmp_path / "report.html")
    body = json.loads(done.stdout)
    (unproved,) = body["unproved"]
    assert (unproved["queries"], unproved["users"], unproved["incident"][:2]) == (["q2", "q1"], ["r1"], "i_")
    assert [finding["queries"] for finding in body["findings"]] == [["q3"]]
    assert done.exit_code == 3
    assert "Smith" not in done.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 finding is unproved" in page
    assert unproved["incident"] in page


def test_what_is_not_proved_is_the_first_line(file, doubtful):
    done = file()
    assert done.stdout.startswith("Unproved: q2, q1 of r1. The check of this finding's proof failed (incident i_")
    assert "q3 of r1 isolates 1 record: age = 41." in done.stdout
    assert "165" not in done.stdout
    done = file("--format", "jsonl")
    assert len(done.stdout.splitlines()) == 1
    assert "Unproved: q2, q1" in done.stderr


@pytest.mark.parametrize(("module", "step"), [(audit_steps, "take_apart"), (failure_leaks, "may_fail")])
def test_a_statement_that_the_auditor_fails_on_does_not_stop_the_others(module, step, file, monkeypatch):
    real = getattr(module, step)

    def failing(sql, *more):
        if sql == SMALL:
            raise ValueError("planted: Smith")
        return real(sql, *more)

    monkeypatch.setattr(module, step, failing)
    done = file("--format", "json")
    body = json.loads(done.stdout)
    (missed,) = body["not_audited"]
    assert (missed["query"], missed["incident"][:2], body["queries_audited"]) == ("q3", "i_", 2)
    assert ["q2", "q1"] in [finding["queries"] for finding in body["findings"]]
    assert (done.exit_code, "Smith" in done.output) == (3, False)


def test_a_test_that_fails_does_not_stop_the_others(file, monkeypatch):
    def failing(*_):
        raise MemoryError

    monkeypatch.setattr(small_groups, "lay_out", failing)
    done = file("--format", "json")
    body = json.loads(done.stdout)
    assert "the test failed (incident i_" in body["left_out"][0]["reason"]
    assert (done.exit_code, body["left_out"][0]["incident"][:2]) == (3, "i_")
    assert file().stdout.startswith("The auditor failed 1 time (incident i_")


# -- nothing audited -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("SELECT nonsense(", "SELECT CORR(systolic, age) FROM clinic"), "Nothing was audited: 0 of 2 queries."),
        ((), "Nothing was audited: the log has no answered queries."),
    ],
)
def test_an_audit_of_nothing_is_not_clean(run, tmp_path, asked, said):
    log = written(tmp_path / "log.jsonl", *((sql, None) for sql in asked))
    page = tmp_path / "report.html"
    done = run("audit", "file", log, "--source", CLINIC, "--html", page)
    assert done.exit_code == 1
    assert done.stdout.startswith(said)
    assert "reveal nothing about" not in done.stdout + page.read_text(encoding="utf-8")
    assert "Nothing was audited" in page.read_text(encoding="utf-8")
    body = run("audit", "file", log, "--source", CLINIC, "--format", "json")
    assert (json.loads(body.stdout)["queries_audited"], body.exit_code) == (0, 1)
    lines = run("audit", "file", log, "--source", CLINIC, "--format", "jsonl")
    assert (lines.stdout, lines.exit_code) == ("", 1)
    assert said in lines.stderr


def test_what_was_audited_in_part_says_so(run, tmp_path):
    log = written(tmp_path / "log.jsonl", ("SELECT AVG(systolic) FROM clinic", 115), ("SELECT", None))
    done = run("audit", "file", log, "--source", CLINIC)
    assert done.exit_code == 0
    assert "The audited queries reveal nothing about any group" in done.stdout


# -- several tables --------------------------------------------------------------------------------------------------


@pytest.fixture
def two_tables(tmp_path):
    """Two tables with the same columns, whose answers together would disclose what is nobody's."""
    (tmp_path / "ward.csv").write_text("age,kappa\n" + "".join(f"{age},{age * 10}\n" for age in range(30, 50)))
    (tmp_path / "lab.csv").write_text("age,kappa\n" + "".join(f"{age},{age - 28000}\n" for age in range(30, 50)))
    asked = [(f"SELECT SUM(kappa) FROM {t} WHERE age >= {a}", v) for t, a, v in [("ward", 30, 7900), ("lab", 31, 5)]]
    return written(tmp_path / "log.jsonl", *asked)


def test_each_table_of_a_log_is_audited_by_itself(run, two_tables, tmp_path):
    sources = ("--source", f"ward={tmp_path / 'ward.csv'}", "--source", f"lab={tmp_path / 'lab.csv'}")
    done = run("audit", "file", two_tables, *sources, "--format", "json")
    body = json.loads(done.stdout)
    assert (body["queries"], body["queries_audited"], body["findings"], done.exit_code) == (2, 2, [], 0)
    more = written(
        two_tables, ("SELECT SUM(kappa) FROM lab", 1), ("SELECT SUM(kappa) FROM Hospital.LAB WHERE age > 30", 2)
    )
    (finding,) = json.loads(run("audit", "file", more, *sources, "--format", "json").stdout)["findings"]
    assert (finding["isolates"]["where"], "table" in finding) == ("age = 30", False)


def test_one_source_is_the_table_it_is_called_after(run, two_tables, tmp_path):
    done = run("audit", "file", two_tables, "--source", tmp_path / "ward.csv")
    assert "2 queries; 1 could not be audited" in done.stdout
    assert "q2: There is no data of lab: add --source lab=FILE." in done.stdout
    (tmp_path / "ward.csv").rename(tmp_path / "data.csv")
    body = json.loads(run("audit", "file", two_tables, "--source", tmp_path / "data.csv", "--format", "json").stdout)
    assert (body["queries_audited"], body["findings"]) == (2, [])


def test_two_sources_need_names(run, two_tables, tmp_path):
    done = run("audit", "file", two_tables, "--source", tmp_path / "ward.csv", "--source", tmp_path / "lab.csv")
    assert (done.exit_code, "without the name of its table" in done.stderr) == (2, True)


# -- the site's own log, exported ------------------------------------------------------------------------------------


def test_what_log_export_writes_is_audited(run, tmp_path):
    run("init")
    assert run("publish", "--policy", demo.HERE / "clinic.toml", "--source", CLINIC, "--report", "none").exit_code == 0
    run("user", "add", "ann", "--role", "researcher")
    for sql in (TEN, ELEVEN, "SELECT * FROM clinic"):
        run("query", "--dataset", "clinic", "--as", "ann", sql)
    assert run("log", "export", "--out", tmp_path / "log.jsonl").exit_code == 0
    done = run("audit", "file", tmp_path / "log.jsonl", "--source", CLINIC, "--format", "json")
    body = json.loads(done.stdout)
    (finding,) = body["findings"]
    assert (body["queries"], done.exit_code, finding["version"], finding["users"]) == (2, 0, 1, ["ann"])
    assert (finding["severity"], finding["isolates"]) == ("attempt", {"records": 1, "where": "age = 51"})


def test_lines_of_one_id_are_statements_of_their_own(run, tmp_path):
    lines = [{"id": "q", "user": "r", "sql": sql, "answer": v} for sql, v in (("SELECT\u2028", None), (TEN, 110))]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    body = json.loads(run("audit", "file", log, "--source", CLINIC, "--format", "json").stdout)
    assert (body["queries"], body["queries_audited"], body["not_audited"][0]["query"]) == (2, 1, "q")
