"""Every way of ending: exit codes, what stands on standard error, and what never does."""

from __future__ import annotations

import importlib
import json
import os

import pytest

from querygate.core.errors import CODES
from querygate_adapters.store.duckdb_store import DuckDBStore


def test_a_refusal_shows_where_and_what_to_do(at):
    done = at("query", "--dataset", "clinic", "SELECT sex,\n  AVG(spb)\nFROM clinic GROUP BY sex")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "QG203 Unknown column",
        "clinic has no column with this name.",
        "    AVG(spb)",
        "        ^^^",
        "Did you mean sbp? The columns are: age, sex, sbp.",
        "Try: SELECT sex, AVG(sbp) FROM clinic GROUP BY sex",
    ]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_for_a_program_the_problem_is_on_standard_output(at, form):
    done = at("query", "--dataset", "clinic", "SELECT * FROM clinic", "--format", form)
    body = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (1, "")
    assert (body["code"], body["title"]) == ("QG201", CODES["QG201"].title)
    assert body["suggestion"]
    assert len(done.stdout.splitlines()) == 1 or form == "json"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["query", "--dataset", "clinic", "SELECT COUNT(* FROM clinic"], "QG101"),
        (
            ["query", "--dataset", "clinic", "SELECT COUNT(*) FROM clinic WHERE age IN (" + "1," * 20_000 + "1)"],
            "QG102",
        ),
        (["query", "--dataset", "nothing", "SELECT COUNT(*) FROM nothing"], "QG303"),
        (["query", "--dataset", "clinic", "--as", "nobody", "SELECT COUNT(*) FROM clinic"], "QG808"),
        (["versions", "nothing"], "QG303"),
        (["rollback", "clinic", "9"], "QG804"),
        (["publish", "--policy", "no.toml", "--source", "no.csv"], "QG801"),
        (["user", "add", "ann", "--role", "researcher"], "QG806"),
        (["user", "add", "no spaces", "--role", "researcher"], "QG806"),
        (["user", "add", "Local", "--role", "researcher"], "QG806"),
        (["user", "disable", "nobody"], "QG808"),
        (["key", "new", "nobody"], "QG808"),
        (["key", "revoke", "aaaaaaaa"], "QG808"),
        (["init"], "QG804"),
        (["serve", "--host", "203.0.113.1"], "QG804"),
    ],
)
def test_every_error_ends_with_the_exit_code_of_its_table(at, words, code):
    done = at(*words)
    assert done.exit_code == CODES[code].exit
    assert f"{code} {CODES[code].title}\n" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda policy, source: policy.write_text("k = 5"), "QG801"),
        (lambda policy, source: policy.write_text(policy.read_text().replace("k = 5", "k = 41")), "QG803"),
        (lambda policy, source: source.unlink(), "QG802"),
        (lambda policy, source: source.write_text(source.read_text().replace(",30,", ",secret!,")), "QG802"),
    ],
)
def test_a_publication_that_fails_says_why_and_quotes_nothing(run, inputs, spoil, code):
    policy, source = inputs
    run("init")
    spoil(policy, source)
    done = run("publish", "--policy", policy, "--source", source)
    assert done.exit_code == CODES[code].exit
    assert f"{code} {CODES[code].title}\n" in done.stderr
    assert "secret" not in done.output
    assert run("datasets").stdout == "No dataset is published yet.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["query", "SELECT 1"],
        ["publish"],
        ["datasets", "--format", "xml"],
        ["serve", "--port", "99999"],
        ["rollback", "clinic", "first"],
        ["log", "list", "--since", "yesterday"],
        ["log", "verify", "--known", "12"],
        ["log", "verify", "missing.jsonl"],
        ["user", "add", "eve", "--role", "king"],
        ["query", "--dataset", "clinic", "\udcff"],
    ],
)
def test_wrong_usage_is_exit_code_2(at, words):
    done = at(*words)
    assert done.exit_code == 2
    assert "Usage: querygate" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("words", [["datasets"], ["log", "list"], ["user", "list"], ["key", "list"], ["serve"]])
def test_a_folder_that_is_no_site_is_said_to_be_none(run, words):
    done = run(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("QG804 The site is not ready\nsite is not a site.\n")


@pytest.mark.parametrize(("line", "where"), [("port = 'eighty'", "port"), ("prot = 80", "prot"), ("port = ", "TOML")])
def test_settings_that_are_wrong_are_named(run, tmp_path, line, where):
    run("init")
    (tmp_path / "site/querygate.toml").write_text(line)
    done = run("datasets")
    assert done.exit_code == 2
    assert done.stderr.startswith("QG805 ")
    assert where in done.stderr


@pytest.mark.parametrize("words", [["doctor"], ["user", "list"], ["serve", "--store-only"]])
def test_a_folder_of_another_user_is_said_to_be_one(run, tmp_path, words):
    """As where a service was set up with the wrong user: which file it is, and what to do."""
    (tmp_path / "querygate.toml").write_text("")
    (tmp_path / "querygate.toml").chmod(0)
    was = os.geteuid()
    importlib.import_module(f"querygate.cli.{words[0]}")  # a lazy command: nobody may not read root's interpreter
    if was == 0:
        os.seteuid(65_534)
    try:
        done = run(*words, "--site", str(tmp_path))
    finally:
        os.seteuid(was)
    assert (done.exit_code, done.stderr.splitlines()[0]) == (2, "QG804 The site is not ready")
    assert "querygate.toml cannot be opened: permission denied." in done.stderr


def test_what_is_unexpected_is_a_fault_without_a_trace(run, inputs, caplog, monkeypatch):
    """Python's words, which quote a value, stay behind."""
    policy, source = inputs
    run("init")
    run("publish", "--policy", policy, "--source", source)
    monkeypatch.setattr(DuckDBStore, "current", lambda store, dataset: int("Smith, 51, HIV+"))
    done = run("query", "--dataset", "clinic", "SELECT COUNT(*) FROM clinic")
    assert done.exit_code == 3
    assert done.stderr.splitlines()[0] == "QG900 Internal error"
    listed = run("datasets")
    assert listed.exit_code == 3
    assert "(incident i_" in listed.stderr
    for text in (done.output, listed.output, caplog.text):
        assert "Smith" not in text
        assert "Traceback" not in text
    assert "at " in caplog.text
    debugged = run("--debug", "datasets")
    assert type(debugged.exception).__name__ == "ValueError"


def test_a_closed_account_cannot_be_asked_for(run, inputs, tmp_path):
    policy, source = inputs
    run("init")
    run("publish", "--policy", policy, "--source", source)
    run("user", "add", "eve", "--role", "researcher")
    run("user", "disable", "eve")
    done = run("query", "--dataset", "clinic", "--as", "eve", "SELECT COUNT(*) FROM clinic")
    assert (done.exit_code, done.stderr[:5]) == (1, "QG302")
    run("user", "enable", "eve")
    assert run("query", "--dataset", "clinic", "--as", "eve", "SELECT COUNT(*) FROM clinic").exit_code == 0


def test_serving_from_the_store_alone_is_refused_where_vault_code_is_loaded(at):
    """This process has published, so it must not serve as one that never could."""
    done = at("serve", "--store-only")
    assert done.exit_code == 2
    assert "querygate_adapters.vault.staging_tables" in done.stderr
