"""audit watch, as it is run and printed; and what serve says about a policy that the site cannot keep."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.audited_site import AND_ONE_MORE, FORTIES, ask, make_audited_site
from tests.webhook import receiving
from tests.work import HANG_S


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    opened = make_audited_site(tmp_path_factory.mktemp("watch"), "alert")
    (opened.site.folder / "querygate.toml").write_text("")
    opened.log.database.close()
    return opened.site.folder


@pytest.fixture
def site(made, tmp_path) -> OpenSite:
    """A site where ann has asked the classic."""
    opened = open_gate(open_site(Path(shutil.copytree(made, tmp_path / "site"))))
    ask(opened, "ann", FORTIES)
    ask(opened, "ann", AND_ONE_MORE)
    return opened


def test_it_prints_what_it_finds_once(run, site):
    done = run("audit", "watch", "--dataset", "clinic", "--once")
    assert done.exit_code == 0
    first, last = done.stdout.splitlines()
    assert "of ann differs by too few from q_" in first
    assert "1 record. View: ann; clinic, version 1; a_" in first
    assert last == "New queries: 2. Alerts: 1."
    assert run("audit", "watch", "--dataset", "clinic", "--once").stdout == "New queries: 0. Alerts: 0.\n"


def test_in_every_form(run, site):
    [line] = run("audit", "watch", "--dataset", "clinic", "--once", "--format", "jsonl").stdout.splitlines()
    assert json.loads(line)["rule"] == "pair"
    ask(site, "ann", "SELECT COUNT(*) FROM clinic WHERE age < 33")
    found = run("audit", "watch", "--dataset", "clinic", "--once", "--format", "csv").stdout
    [row] = csv.DictReader(io.StringIO(found))
    assert (row["rule"], row["records"], row["user"]) == ("small", "3", "ann")


def test_it_posts_and_keeps_what_does_not_arrive(run, site):
    with receiving() as receiver:
        receiver.status = 503
        words = ("audit", "watch", "--dataset", "clinic", "--once", "--webhook", receiver.url)
        failed = run(*words)
        assert failed.exit_code == 1
        assert failed.stderr == "webhook: the webhook answered 503. Still to be sent: 1.\n"
        receiver.status = 200
        assert run(*words).exit_code == 0
        assert [one["user"] for one in receiver.received] == ["ann"]


def test_what_is_wrong_is_said_at_once(run, site):
    assert "QG805" in run("audit", "watch", "--dataset", "clinic", "--once", "--webhook", "file:///x").stderr
    assert "QG303" in run("audit", "watch", "--dataset", "other", "--once").stderr
    assert run("audit", "watch", "--dataset", "clinic", "--once", "--email-command", "mail 'x").exit_code == 2


def test_serve_says_what_the_site_cannot_keep(run, tmp_path):
    make_audited_site(tmp_path, "refuse")
    both = run("serve", "--store-only", "--port", 0)
    assert both.exit_code == 2
    assert "--store-only excludes one" in both.stderr
    (tmp_path / "site" / "querygate.toml").write_text("")
    command = [sys.executable, "-m", "querygate", "serve", "--port", "0", "--site", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)  # without vault code in it
    assert done.returncode == 2
    assert "QG805" in done.stderr
    assert "audit watch" in done.stderr


def test_a_query_at_the_console_is_judged_too(run, tmp_path):
    make_audited_site(tmp_path, "refuse")
    assert run("query", "--dataset", "clinic", "--as", "ann", FORTIES).exit_code == 0
    done = run("query", "--dataset", "clinic", "--as", "bob", AND_ONE_MORE)
    assert done.exit_code == 1
    assert "QG501" in done.stderr
