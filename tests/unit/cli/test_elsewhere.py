"""The command line at a gate elsewhere prints what it prints at a site; and files of queries are run and compared."""

from __future__ import annotations

import json
import re

import pytest

from querygate.cli.research.query_file import read_queries
from querygate.core.errors import ConfigError
from querygate.web import create_app
from tests.each import each
from tests.http_gate import http_gate

SQL = "SELECT sex, AVG(sbp) FROM clinic GROUP BY sex"
FILE = f"-- Table 2\n-- name: by_sex\n{SQL};\n\n-- name: rows-of-people\n-- dataset: clinic\nSELECT * FROM clinic"


@pytest.fixture(scope="module")
def address(small):
    with http_gate(create_app(small.opened)) as url:
        yield url


@pytest.fixture
def there(run, address, small):
    """Run a command at the gate elsewhere, as Ann."""
    key = {"QUERYGATE_KEY": small.keys["ann"]}
    return lambda *words, **more: run("--url", address, *words, env=key, **more)


@pytest.fixture
def here(run, small):
    key = {"QUERYGATE_KEY": small.keys["ann"]}
    return lambda *words, **more: run("--site", small.folder, *words, env=key, **more)


def plain(done):
    """What was printed, without ids and times."""
    return done.exit_code, re.sub(r"q_[0-9A-Z]{26}|[\d.]+ ms|\"elapsed_ms\": [\d.]+", "...", done.output)


COMMANDS = [
    ("query", "--dataset", "clinic", SQL),
    ("query", "--dataset", "clinic", "--format", "csv", SQL),
    ("query", "--dataset", "clinic", "--format", "json", SQL),
    ("query", "--dataset", "clinic", "--format", "jsonl", SQL),
    ("query", "--dataset", "clinic", "--explain", SQL.replace("GROUP", "WHERE age < 47 GROUP")),
    ("query", "--dataset", "clinic", "--check", SQL),
    ("query", "--dataset", "clinic", "SELECT * FROM clinic"),
    ("query", "--dataset", "nothing", SQL),
    ("datasets",),
    ("describe", "clinic"),
    ("describe", "clinic", "--format", "json"),
    ("describe", "nothing"),
    ("saved",),
    ("cite", "q_00000000000000000000000000"),
]


@each("words", COMMANDS)
def test_there_as_here(there, here, words):
    assert plain(there(*words)) == plain(here(*words))


def test_history_names_the_answer(there):
    asked = there("query", "--dataset", "clinic", "SELECT COUNT(*) FROM clinic")
    last = there("history", "--limit", "1").stdout.splitlines()[-1]
    assert re.search(r"q_\w{26}", last)[0] in asked.stdout
    assert there("history", "--limit", "1", "--format", "csv").stdout.startswith("time,answer,dataset,outcome,sql")
    assert len(json.loads(there("history", "--limit", "1", "--format", "json").stdout)) == 1


def test_what_does_not_go_elsewhere(there, run, address, small, tmp_path):
    done = there("publish", "--policy", "x", "--source", "y")
    assert (done.exit_code, "leave out --url" in done.stderr) == (2, True)
    assert "leave out --as" in there("query", "--as", "bob", "--dataset", "clinic", SQL).stderr
    assert run("--url", address, "datasets").stderr.startswith("QG301")
    assert run("--url", "http://gate.example.org", "datasets").stderr.startswith("QG805")
    (tmp_path / "gate.key").write_text(small.keys["ann"])
    assert run("--url", address, "datasets", "--key-file", tmp_path / "gate.key").exit_code == 0


def test_a_file_of_queries_is_run_and_run_again(there, here, tmp_path):
    (tmp_path / "figures.sql").write_text(FILE)
    asked = ("run", tmp_path / "figures.sql", "--dataset", "clinic", "--out")
    done = there(*asked, tmp_path / "out")
    assert done.exit_code == 1, done.output
    assert "refused QG201" in done.stdout
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    first, second = manifest["queries"]
    assert (first["sql"], first["version"], second["code"]) == (SQL, 1, "QG201")
    assert json.loads((tmp_path / "out" / "by_sex.json").read_text())["query_id"] == first["answer"]
    assert (tmp_path / "out" / "by_sex.csv").read_text().startswith("sex,avg_sbp_low")
    assert manifest["software"].startswith("QueryGate ")
    for ask in (there, here):
        again = ask(*asked, tmp_path / "out", "--check")
        assert (again.exit_code, again.stdout.count("same")) == (0, 2)
    assert there(*asked, tmp_path / "out").exit_code == 2  # nothing is overwritten
    for key, value, verdict in (
        ("version", 7, "another version"),
        ("policy_hash", "0", "another policy"),
        ("figures", "0", "different"),
    ):
        changed = {**manifest, "queries": [{**first, key: value}, second]}
        (tmp_path / "out" / "manifest.json").write_text(json.dumps(changed))
        again = there(*asked, tmp_path / "out", "--check")
        assert (again.exit_code, verdict in again.stdout) == (1, True)
    (tmp_path / "out" / "manifest.json").write_text('{"format": 1}')
    assert there(*asked, tmp_path / "out", "--check").stderr.startswith("QG806")
    assert there(*asked, tmp_path / "none", "--check").exit_code == 2


@each(
    "text",
    [
        "",
        "SELECT 1",
        "-- name: a\n",
        "-- name: a b\nSELECT 1",
        "-- name: ../a\nSELECT 1",
        "-- name: a\nSELECT 1;\n-- name: A\nSELECT 2",
    ],
)
def test_files_that_are_not_accepted(text):
    with pytest.raises(ConfigError) as wrong:
        read_queries(text, "clinic")
    assert wrong.value.code == "QG806"


def test_all_names_that_are_not_accepted_are_told_at_once():
    names = ["Table 1", "good", "../a", "\x1b[2J", "x" * 65, "Größe"]
    text = "\n".join(f"-- name: {name}\nSELECT 1;" for name in names)
    with pytest.raises(ConfigError) as wrong:
        read_queries(text, "clinic")
    told = wrong.value.detail
    assert all(f"(query {i})" in told for i in (1, 3, 4, 5, 6))
    assert '"Table 1" (query 1)' in told
    assert "good" not in told
    assert told.isprintable()
    with pytest.raises(ConfigError, match="names a, b are used more than once"):
        read_queries("\n".join(f"-- name: {name}\nSELECT 1;" for name in "aBAbc"), "clinic")


def test_an_existing_folder_is_called_a_folder(there, tmp_path):
    (tmp_path / "one.sql").write_text(f"-- name: one\n{SQL};\n")
    (tmp_path / "out").mkdir()
    done = there("run", tmp_path / "one.sql", "--dataset", "clinic", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "folder already exists" in done.stderr


def test_queries_need_a_dataset():
    with pytest.raises(ConfigError, match="names no dataset"):
        read_queries("-- name: a\nSELECT 1", None)


def test_citations(there, here):
    there("query", "--dataset", "clinic", SQL)
    answer = json.loads(there("history", "--limit", "1", "--format", "json").stdout)[0]["id"]
    text = there("cite", answer).stdout
    assert re.fullmatch(r"Blood pressure study\. Dataset clinic, version 1, policy \w{12}, answer .*\.json\n", text)
    assert here("cite", answer).stdout.rstrip() == text.rpartition(" http")[0]
    assert there("cite", answer, "--style", "bibtex").stdout.startswith(
        f"@misc{{{answer},\n  title = {{{{Blood pressure"
    )
    assert json.loads(there("cite", answer, "--style", "csl-json").stdout)[0]["version"] == "1"


def test_dummy_rows(there, here, tmp_path):
    for ask, name in ((there, "a.csv"), (here, "b.csv"), (there, "a.parquet")):
        assert ask("twin", "clinic", "--rows", "30", "--seed", "4", "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv").read_text().startswith('"age","sex","sbp"\n')
    assert there("twin", "clinic", "--out", tmp_path / "a.csv").exit_code == 2
    assert there("twin", "clinic", "--out", tmp_path / "a.txt").exit_code == 2
    assert there("twin", "nothing", "--out", tmp_path / "c.csv").stderr.startswith("QG303")
