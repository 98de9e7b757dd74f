"""encryption: released extracts are unreadable without the key, and the key can be changed at any time."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from querygate.core.errors import ConfigError
from querygate.site.encryption_key import KEYS, add_key, keep_one_key, open_seal, read_key
from querygate.site.extract_requests.extract_package import ExtractFiles
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.empty_site import empty_site

PLANTED = "Zoë O'Hara 内,1931-04-05,hiv\n" * 40
FIRST, SECOND = "1" * 64, "2" * 64


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("OUTER_KEY", FIRST)
    monkeypatch.setenv("NEW_KEY", SECOND)
    return empty_site(tmp_path / "site").folder


def name_key(site, where):
    lines = [line for line in (site / "querygate.toml").read_text().splitlines() if "encryption_key =" not in line]
    (site / "querygate.toml").write_text("\n".join([*lines, f'encryption_key = "{where}"', ""]))
    return open_site(site)


def files_of(site):
    return ExtractFiles(site.vault, site.extracts, lambda: open_seal(site, make=True))


def release(site, name):
    files = files_of(site)
    (site.vault / "_extracts").mkdir(exist_ok=True)
    (files.stage(name, None) / "data.csv").write_text(PLANTED)
    manifest = files.keep(name, {"dataset": "p"})
    files.release(name, manifest)
    files.sweep(name, None)  # what was built lies in the vault, which is raw data anyway
    return manifest


def raw_bytes(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def read(site, name, manifest):
    return files_of(site).read(name, manifest, "data.csv", released=True).decode()


def test_what_is_released_cannot_be_read_from_the_disk(site, run):
    old = release(open_site(site), "x_old")
    named = name_key(site, "env:OUTER_KEY")
    new = release(named, "x_new")
    assert read(named, "x_new", new) == PLANTED
    assert read(named, "x_old", old) == PLANTED  # from before
    checked = json.loads(run("--site", site, "doctor", "--format", "json").stdout)["checks"]
    told = next(check["detail"] for check in checked if check["name"] == "encryption")
    assert told == "1 released extract is not encrypted."
    done = run("--site", site, "encryption", "apply")
    assert (done.exit_code, "Encrypted 1 released extract." in done.stdout) == (0, True)
    assert run("--site", site, "encryption", "apply").stdout.startswith("Encrypted 0")
    assert read(named, "x_old", old) == PLANTED
    for secret in ("Zoë", "hiv", "1931-04-05", "data.csv", "manifest", FIRST):
        assert secret.encode() not in raw_bytes(site / "extracts") + (site / KEYS).read_bytes()
    assert FIRST.encode() not in raw_bytes(site)
    assert run("--site", site, "backup", site.parent / "copy").exit_code == 0
    assert raw_bytes(site.parent / "copy" / "extracts") == raw_bytes(site / "extracts")
    assert read(open_site(site.parent / "copy"), "x_new", new) == PLANTED


def test_without_the_key_or_with_another_it_is_said_so(site, monkeypatch, run):
    manifest = release(name_key(site, "env:OUTER_KEY"), "x_1")
    for where, value, said in (
        ("env:OUTER_KEY", SECOND, "not the one"),
        ("env:OUTER_KEY", "", "missing or too short"),
        ("env:OUTER_KEY", "short", "missing or too short"),
        ("", FIRST, "names no key"),
        ("nonsense", FIRST, "is not valid"),
        ("file:/nowhere/key", FIRST, "cannot be read"),
        ("command:false", FIRST, "cannot be read"),
    ):
        monkeypatch.setenv("OUTER_KEY", value)
        wrong = name_key(site, where)
        with pytest.raises(ConfigError, match=said) as refusal:
            read(wrong, "x_1", manifest)
        assert refusal.value.code == "QG805"
        assert not any(key in refusal.value.detail + refusal.value.remedy for key in (FIRST, SECOND))
    assert run("--site", site, "doctor").exit_code == 1
    assert run("--site", site, "encryption", "apply").exit_code == 2


def test_a_key_comes_from_a_file_or_a_program(tmp_path):
    key = tmp_path / "key"
    key.write_text(f"{FIRST}\n")
    key.chmod(0o644)
    with pytest.raises(ConfigError, match="open to other users"):
        read_key(f"file:{key}")
    key.chmod(0o600)
    assert read_key(f"file:{key}") == read_key(f"command:cat {key}") == FIRST.encode()


def test_a_key_is_changed_in_two_steps(site, run):
    manifest = release(name_key(site, "env:OUTER_KEY"), "x_1")
    assert run("--site", site, "encryption", "rotate").exit_code == 2
    assert run("--site", site, "encryption", "rotate", "--to", "env:NEW_KEY").exit_code == 0
    for where in ("env:OUTER_KEY", "env:NEW_KEY"):
        assert read(name_key(site, where), "x_1", manifest) == PLANTED
    done = run("--site", site, "encryption", "rotate", "--finish")
    assert "1 other key is no longer good." in done.stdout
    assert read(open_site(site), "x_1", manifest) == PLANTED
    with pytest.raises(ConfigError, match="not the one"):
        read(name_key(site, "env:OUTER_KEY"), "x_1", manifest)
    log = open_gate(open_site(site)).log
    steps = [event["body"]["step"] for event in log.events() if event["kind"] == "encryption.rotate"]
    assert steps == ["add", "finish"]
    assert not any(key in line.decode() for line in log.lines() for key in (FIRST, SECOND))


def killed(event, act):
    """Do it in a process that gets SIGKILL when the interpreter is about to do that."""
    child = os.fork()
    if child == 0:
        sys.addaudithook(lambda name, args: os.kill(os.getpid(), signal.SIGKILL) if name == event else None)
        act()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("event", ["open", "os.rename"])
def test_killed_at_any_step_one_key_is_good_for_all(site, event):
    named = name_key(site, "env:OUTER_KEY")
    manifests = {name: release(named, name) for name in ("x_1", "x_2")}

    def check():
        for name, manifest in manifests.items():
            assert read(open_site(site), name, manifest) == PLANTED

    killed(event, lambda: add_key(named, "env:NEW_KEY"))
    check()
    add_key(named, "env:NEW_KEY")
    named = name_key(site, "env:NEW_KEY")
    killed(event, lambda: keep_one_key(named))
    check()
    assert keep_one_key(named) == 1
    check()
