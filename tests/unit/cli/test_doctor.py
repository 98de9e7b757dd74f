"""doctor: all green, or what to do."""

from __future__ import annotations

import json
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from querygate.control import Database, Log
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.site.settings import SETTINGS


@pytest.fixture
def site(clinic):
    return clinic


def failing(run):
    """Names of the checks that do not pass; the exit code agrees."""
    done = run("doctor", "--format", "json")
    body = json.loads(done.stdout)
    bad = [check for check in body["checks"] if not check["ok"]]
    assert done.exit_code == (1 if bad else 0)
    assert body["ok"] is (not bad)
    assert all(check["remedy"] for check in bad)
    return [check["name"] for check in bad]


def test_a_new_site_is_all_green(run, site):
    done = run("doctor")
    assert done.exit_code == 0
    assert done.stdout.endswith("All checks passed.\n")
    assert "dataset clinic: version 1, 40 rows, k = 5" in done.stdout


def test_marks_that_do_not_leave_the_machine_are_named(run, site):
    assert "on this machine only" in run("doctor").stdout
    (site / "querygate.toml").write_text('anchor_mail_command = "mail -s head"\n')
    assert "on this machine only" not in run("doctor").stdout


def test_settings_come_with_their_origin(run, site):
    (site / "querygate.toml").write_text("port = 9000\n")
    body = json.loads(run("doctor", "--format", "json", env={"QUERYGATE_HOST": "0.0.0.0"}).stdout)
    origins = {row["setting"]: (row["value"], row["from"]) for row in body["settings"]}
    assert set(origins) == {setting.name for setting in SETTINGS}
    assert origins["port"] == (9000, "file")
    assert origins["host"] == ("0.0.0.0", "environment")
    assert origins["threads"] == (8, "default")
    assert set(body["versions"]) >= {"python", "querygate", "duckdb", "sqlglot", "numpy"}


def test_no_site(run):
    assert failing(run) == ["site"]
    assert "querygate init" in run("doctor").stdout


def test_settings_that_are_wrong(run, site):
    (site / "querygate.toml").write_text("port = 'x'")
    assert failing(run) == ["site"]


def test_a_folder_open_to_others(run, site):
    (site / "vault").chmod(0o755)
    (site / "control.db").chmod(0o644)
    assert failing(run) == ["permissions of vault", "permissions of control.db"]
    assert f"chmod -R go= {site.name}/vault" in run("doctor").stdout


@pytest.mark.parametrize("file", ["vault/clinic/v00001.duckdb", "store/clinic/v00001.duckdb", "store/clinic/current"])
def test_a_file_open_to_others_in_a_closed_folder(run, site, file):
    (site / file).chmod(0o644)
    assert failing(run) == [f"permissions of {file.partition('/')[0]}"]


def test_a_site_right_after_init_is_well(run):
    run("init")
    assert failing(run) == []


def test_a_version_that_does_not_open(run, site):
    (site / "store/clinic/v00001.duckdb").write_bytes(b"nothing")
    assert failing(run) == ["dataset clinic", "digests of clinic"]


def test_a_store_that_is_gone(run, site):
    (site / "store").rename(site / "elsewhere")
    assert failing(run) == ["store", "files of clinic"]


def test_a_control_database_that_is_gone_or_broken(run, site):
    (site / "control.db").write_bytes(b"this is not a database" * 100)
    assert failing(run) == ["control"]
    (site / "control.db").unlink()
    assert failing(run) == ["control"]
    assert not (site / "control.db").exists()


def test_a_log_that_was_altered(run, site):
    connection = sqlite3.connect(site / "control.db")
    connection.execute("DROP TRIGGER log_no_update")
    connection.execute("UPDATE log SET user = 'eve'")
    connection.commit()
    connection.close()
    assert failing(run) == ["log"]


def test_a_clock_that_is_behind(run, site):
    later = datetime.now(UTC) + timedelta(days=2)
    Log(Database(site / "control.db"), lambda: later).note("test", user=None)
    assert failing(run) == ["clock"]
    run("user", "list")
    assert failing(run) == ["clock"]
    assert json.loads(run("log", "accept-clock", "--format", "json").stdout) == {"accepted": True}
    assert failing(run) == []
    assert run("log", "accept-clock").stdout == "The clock is not behind the log.\n"
    assert (
        len([event for event in Log(Database(site / "control.db"), datetime.now).events() if "clock" in event["kind"]])
        == 1
    )


def test_a_version_that_nobody_published(run, site):
    shutil.copy(site / "store/clinic/v00001.duckdb", site / "store/clinic/v00002.duckdb")
    shutil.copy(site / "vault/clinic/v00001.duckdb", site / "vault/clinic/v00002.duckdb")
    assert failing(run) == ["digests of clinic"]
    assert "no entry for the publication of version 2" in run("doctor").stdout
    shutil.rmtree(site / "vault")  # a machine that only serves has no publications on record
    assert "digests of clinic" not in failing(run)


def test_a_key_that_an_admin_made_for_a_custodian_before_it_took_two_people(run, site):
    for name, role in (("carl", "custodian"), ("cora", "custodian"), ("adam", "admin"), ("rita", "researcher")):
        assert run("user", "add", name, "--role", role).exit_code == 0
    opened = open_gate(open_site(site))
    planted = {}
    for maker, owner in (("adam", "carl"), ("adam", "rita"), ("cora", "carl"), ("carl", "carl"), ("local", "carl")):
        note = partial(_noted, opened.log, maker)
        planted[maker, owner] = opened.accounts.keys.new(owner, note=note)
    bad = planted["adam", "carl"].id
    assert failing(run) == [f"key {bad}"]
    assert "custodian carl has a key that the admin adam made" in run("doctor").stdout
    assert run("key", "rotate", bad, "--overlap", "0").exit_code == 0
    assert failing(run) == []


def _noted(log, maker, connection, key):
    log.append(connection, "key.new", None, maker, None, {"id": key.id, "name": key.user})


def test_other_formats_list_the_checks(run, site):
    assert run("doctor", "--format", "csv").stdout.splitlines()[0] == "name,ok,detail,remedy"
    assert all(json.loads(line)["ok"] for line in run("doctor", "--format", "jsonl").stdout.splitlines())


def test_a_gate_without_the_log_goes_by_what_is_told_beside_its_files(run, site):
    def digests():
        checks = json.loads(run("--site", "gate", "doctor", "--format", "json").stdout)["checks"]
        return next((check["ok"], check["detail"]) for check in checks if check["name"] == "digests of clinic")

    run("--site", "gate", "init")
    assert run("sync", "--to", "gate/store").exit_code == 0
    assert digests() == (True, "1 version unchanged")
    with open("gate/store/clinic/v00001.duckdb", "ab") as stream:
        stream.write(b"x")
    assert digests()[0] is False
