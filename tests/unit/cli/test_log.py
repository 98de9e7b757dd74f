"""log list, verify and export."""

from __future__ import annotations

import ast
import json
import stat

import pytest

from querygate.control import verify_lines
from querygate.control.alerts import KIND as ALERT
from querygate.control.log.archive_rotation import DISCARDED, ROTATED
from querygate.control.log.entry_kinds import KINDS
from querygate.control.log.query_entries import INTENT, OUTCOME
from querygate.custody.use_cases.audits.inline_auditor import NOTE as INLINE
from querygate.gate.dry_run import DRY_RUN
from querygate.site.audit_notes import FOUND, RUN
from tests.places import ROOT


@pytest.fixture
def logged(run, clinic):
    """A site of which the log can be changed: two queries by local, one of them refused."""
    run("query", "--dataset", "clinic", "SELECT COUNT(*) FROM clinic")
    run("query", "--dataset", "clinic", "SELECT *\nFROM clinic -- " + "x" * 200)
    return run


def test_the_list_is_the_query_log(logged):
    lines = [json.loads(line) for line in logged("log", "list", "--format", "jsonl").stdout.splitlines()]
    assert [(line["user"], line["outcome"], line["code"]) for line in lines] == [
        ("local", "answered", None),
        ("local", "refused", "QG201"),
    ]
    assert lines[0]["answer"]["rows"]


def test_the_list_can_be_narrowed(logged):
    assert len(json.loads(logged("log", "list", "--limit", 1, "--format", "json").stdout)) == 1
    assert logged("log", "list", "--user", "ann").stdout == "There are no matching queries.\n"
    assert logged("log", "list", "--since", "2999-01-01").stdout == "There are no matching queries.\n"
    assert "refused" in logged("log", "list", "--since", "2020-01-01T00:00+02:00", "--dataset", "clinic").stdout


def test_a_table_keeps_a_statement_to_one_line(logged):
    lines = logged("log", "list").stdout.splitlines()
    assert len(lines) == 4
    assert lines[3].endswith("…")


def test_the_chain_is_verified_here_and_as_a_file(logged, tmp_path):
    out = tmp_path / "log.jsonl"
    assert logged("log", "export", "--out", out).exit_code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    here = logged("log", "verify")
    assert here.exit_code == 0
    head = here.stdout.splitlines()[1]
    assert logged("log", "verify", out).stdout == here.stdout
    assert logged("log", "verify", out, "--known", head).exit_code == 0
    with out.open() as lines:
        verified = verify_lines(lines)
    assert f"{verified.entries}:{verified.head}" == head


def test_an_altered_file_is_found(logged, tmp_path):
    text = logged("log", "export").stdout
    altered = tmp_path / "altered.jsonl"
    altered.write_text(text.replace("COUNT(*)", "COUNT(1)"))
    done = logged("log", "verify", altered)
    assert done.exit_code == 1
    assert done.stdout == "The log is broken at entry 2: it was altered.\n"
    found = json.loads(logged("log", "verify", altered, "--format", "json").stdout)
    assert (found["verified"], found["entry"]) == (False, 2)


def test_a_log_that_was_cut_off_shows_against_a_known_head(logged, tmp_path):
    lines = logged("log", "export").stdout.splitlines(keepends=True)
    head = logged("log", "verify").stdout.splitlines()[1]
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(lines[:-1]))
    assert logged("log", "verify", cut).exit_code == 0
    assert logged("log", "verify", cut, "--known", head).exit_code == 1


def test_a_file_without_its_beginning_says_that_it_needs_a_signature(logged, tmp_path):
    lines = logged("log", "export").stdout.splitlines(keepends=True)
    rest = tmp_path / "rest.jsonl"
    rest.write_text("".join(lines[2:]))
    done = logged("log", "verify", rest)
    assert done.exit_code == 1
    assert "rest.jsonl begins at entry 3" in done.stdout
    assert "--signature" in done.stdout
    for text in ("", "[1]", "{", '{"seq":true,'):
        rest.write_text(text)
        assert logged("log", "verify", rest).exit_code == (0 if not text else 1)


def test_an_export_replaces_nothing(logged, tmp_path):
    out = tmp_path / "there.jsonl"
    out.write_text("mine")
    assert logged("log", "export", "--out", out).exit_code == 2
    assert out.read_text() == "mine"
    assert logged("log", "export", "--out", tmp_path / "no" / "folder").exit_code == 2


# -- evidence --------------------------------------------------------------------------------------------


def test_a_signed_export_is_checked_by_whoever_has_the_public_key(logged, tmp_path):
    out, key = tmp_path / "log.jsonl", tmp_path / "public.pem"
    assert logged("log", "export", "--out", out, "--sign").exit_code == 0
    key.write_text(logged("log", "key").stdout)
    signature = tmp_path / "log.jsonl.sig"
    checked = ("log", "verify", out, "--signature", signature, "--key", key)
    done = logged(*checked)
    assert done.exit_code == 0
    assert "were signed at" in done.stdout
    whole = out.read_bytes()
    out.write_bytes(whole[: whole[:-1].rindex(b"\n") + 1])  # the last entry is gone
    assert logged("log", "verify", out).exit_code == 0
    assert logged(*checked).exit_code == 1
    out.write_bytes(whole)
    signature.write_bytes(signature.read_bytes().replace(b'"first":1', b'"first":2'))
    done = logged(*checked, "--format", "json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verified"] is False


def test_a_signature_needs_files(logged, tmp_path):
    assert logged("log", "export", "--sign").exit_code == 2
    (tmp_path / "x.sig").write_text("")
    assert logged("log", "verify", "--signature", tmp_path / "x.sig").exit_code == 2


def test_there_is_nothing_old_to_archive_or_discard(logged):
    assert logged("log", "rotate", "--keep", 1).stdout == "No entry is old enough.\n"
    assert logged("log", "discard", "--keep", 1).stdout == "No archive is old enough.\n"
    assert logged("log", "rotate").exit_code == 2


# -- who looked ------------------------------------------------------------------------------------------


def test_reading_is_on_record_with_what_was_asked_and_not_what_was_seen(logged):
    logged("log", "list", "--user", "local", "--dataset", "clinic", "--limit", 5)
    logged("log", "verify")
    last = json.loads(logged("log", "export").stdout.splitlines()[-2])
    assert (last["kind"], last["user"], last["dataset"]) == ("log.read", "local", "clinic")
    assert last["body"] == {"user": "local", "limit": 5}


def test_an_export_ends_with_the_entry_that_tells_of_it(logged):
    assert json.loads(logged("log", "export").stdout.splitlines()[-1])["kind"] == "log.export"


def test_entries_of_every_kind_can_be_listed(logged):
    logged("user", "add", "ann", "--role", "researcher")
    queries = logged("log", "list")
    assert "Only queries are listed." in queries.stderr
    every = [
        json.loads(line) for line in logged("log", "list", "--kind", "all", "--format", "jsonl").stdout.splitlines()
    ]
    kinds = {entry["kind"] for entry in every}
    assert {"publish", "user.add", "query.intent", "query.outcome", "log.read"} <= kinds
    assert [entry["seq"] for entry in every] == list(range(1, len(every) + 1))
    users = [
        json.loads(line) for line in logged("log", "list", "--kind", "user", "--format", "jsonl").stdout.splitlines()
    ]
    assert {entry["kind"].partition(".")[0] for entry in users} == {"user"}
    table = logged("log", "list", "--kind", "all", "--limit", "3").stdout.splitlines()
    assert table[0].split() == ["seq", "time", "kind", "user", "dataset", "query_id", "body"]
    assert len(table) == 5
    assert "no matching entries of kind person.deleted" in logged("log", "list", "--kind", "person.deleted").stdout


def test_a_kind_that_there_is_not_is_refused_with_those_there_are(logged):
    done = logged("log", "list", "--kind", "nosuch")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("QG806")
    assert "query, dry_run, answer, model, twin, source, publish" in " ".join(done.stderr.split())
    *_, last = logged("log", "list", "--kind", "all", "--format", "jsonl").stdout.splitlines()
    assert "nosuch" not in last  # nobody has read anything


def test_every_kind_of_entry_is_known_and_documented():
    """What the code puts on record, by the text of every call that does."""
    noted = set()
    for path in (ROOT / "querygate").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            is_entry = called == "append" and len(node.args) == len(
                ("connection", "kind", "id", "user", "dataset", "body")
            )
            if called in ("note", "_noted", "note_reading") or is_entry:
                noted |= {one.value for one in node.args if isinstance(getattr(one, "value", None), str)}
    assert noted >= {"publish", "user.disable", "log.read", "answer.read", "vault.erase", "grant.add", "user.link"}
    named = {INTENT, OUTCOME, DRY_RUN, ROTATED, DISCARDED, ALERT, INLINE, RUN, FOUND}
    assert noted | named <= set(KINDS)
    page = (ROOT / "docs" / "how-to" / "read-the-log.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []
