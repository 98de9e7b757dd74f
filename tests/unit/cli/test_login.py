"""The command line at a gate with single sign-on: a real gate, a real provider, and a person who lets it in."""

from __future__ import annotations

import re
import threading

import pytest
from click.testing import CliRunner
from werkzeug.serving import make_server

from querygate.cli import main
from querygate.client import device_login
from tests.empty_site import empty_site
from tests.oidc_provider import OidcProvider, running
from tests.sign_on_site import make_sign_on_site
from tests.work import HANG_S, wait_until


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The gate on a port of its own."""
    with running(OidcProvider()) as provider:
        site = make_sign_on_site(empty_site(tmp_path_factory.mktemp("login") / "site"), provider)
        provider.add("ann", "researchers")
        server = make_server("127.0.0.1", 0, site.app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield site, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        server.server_close()
        thread.join(HANG_S)


def run(*words, env=None):
    return CliRunner().invoke(main, list(words), prog_name="querygate", env=env)


def decide_when_asked(site, decision):
    """What the person does, once the program waits."""
    browser = site.browser()
    browser.sign_in("ann")
    rows = wait_until(lambda: site.opened.log.database.rows("SELECT code FROM device_code WHERE state = 'waiting'"))
    data = {"proof": browser.proof(), "code": rows[0]["code"], "decision": decision}
    assert browser.client.post("/device", data=data).status_code == 200


@pytest.fixture
def decided(served, monkeypatch):
    monkeypatch.setattr(device_login, "MOST_INTERVAL_S", 0.05)
    monkeypatch.setattr(device_login, "SLOWER_S", 0.0)

    def begin(decision):
        person = threading.Thread(target=decide_when_asked, args=(served[0], decision))
        person.start()
        return person

    return begin


def test_login_gets_a_key_and_logout_gives_it_up(served, decided, tmp_path):
    _, url = served
    person = decided("yes")
    done = run("login", "--url", url, "--scope", "ask", "--out", str(tmp_path / "gate.key"))
    person.join()
    assert done.exit_code == 0, done.output
    assert re.search(r"Open http://127.0.0.1/device and type the code [A-Z]{4}-[A-Z]{4}\n", done.stderr)
    assert "You are ann." in done.stderr
    key = (tmp_path / "gate.key").read_text().strip()
    assert key.startswith("qg_")
    assert key not in done.output
    assert (tmp_path / "gate.key").stat().st_mode & 0o077 == 0
    gone = run("logout", "--url", url, "--key-file", str(tmp_path / "gate.key"))
    assert gone.stdout == f"Revoked key {key.split('_')[1]} of ann.\n"
    again = run("logout", "--url", url, env={"QUERYGATE_KEY": key})
    assert (again.exit_code, again.stderr.split()[0]) == (1, "QG301")


def test_a_program_that_is_refused_says_so(served, decided):
    person = decided("no")
    done = run("login", "--url", served[1])
    person.join()
    assert (done.exit_code, done.stdout) == (1, "")
    assert "QG323" in done.stderr


def test_addresses_that_no_key_is_sent_to(tmp_path):
    for url in ("http://gate.example.org", "gate.example.org", "ftp://127.0.0.1"):
        done = run("login", "--url", url)
        assert (done.exit_code, done.stderr.split()[0]) == (2, "QG805")
    done = run("login", "--url", "http://127.0.0.1:9")
    assert (done.exit_code, done.stderr.split()[0]) == (2, "QG804")


def test_links_of_accounts(served):
    site, _ = served
    at = ["--site", str(site.opened.site.folder)]
    assert run("user", "add", "carl", "--role", "custodian", *at).exit_code == 0
    link = ("user", "link", "carl", "--issuer", "https://login.example.org", "--subject")
    assert run(*link, "7", *at).stdout == "Linked carl.\n"
    assert run(*link, "8", *at).stderr.startswith("QG806")
    assert run(*link[:2], "nobody", *link[3:], "9", *at).stderr.startswith("QG808")
    assert "carl" in run("user", "links", *at).stdout
    assert run("user", "unlink", "carl", *at).stdout == "Unlinked carl.\n"
    assert run("user", "unlink", "carl", *at).stderr.startswith("QG808")
    assert "single sign-on" in run("doctor", *at).stdout
