"""backup, restore, migrate: a site comes back as it was, and what was spent since is not forgotten."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile

import pytest

from querygate.custody.use_cases.open_custody import with_vault
from querygate.site.folder_lock import present
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from tests.places import DATA
from tests.unit.custody.noise.site_with_noise import NoisySite, noisy_site
from tests.work import HANG_S

COUNT = "SELECT COUNT(*) AS n FROM patients WHERE age > {}"


@pytest.fixture(scope="module")
def noisy_folder(tmp_path_factory):
    """A site with one spend of 0.5 by ann, to be copied."""
    folder = tmp_path_factory.mktemp("spent")
    made = noisy_site(folder, each=0.5, total=4.0, user=2.0)
    made.opened.accounts.add_user("ann", "researcher")
    made.ask(COUNT.format(30))
    made.opened.log.database.close()
    return folder / "site"


@pytest.fixture
def site(noisy_folder, tmp_path):
    return shutil.copytree(noisy_folder, tmp_path / "site")


@pytest.fixture
def ask(site):
    """Spend another half as ann; the files are let go of before anybody exchanges them."""

    def asked(age: int) -> None:
        opened = with_vault(open_gate(open_site(site)))
        NoisySite(opened, None).ask(COUNT.format(age))
        opened.log.database.close()

    return asked


@pytest.fixture
def told(run):
    def ran(*words):
        done = run(*words, "--format", "json")
        assert done.exit_code == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    return ran


@pytest.fixture
def left(told):
    return lambda: told("budget", "show", "--dataset", "patients")["left"]["dataset"]


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def names(folder):
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in files if not name.startswith("control.db-")}


def test_spends_removed_by_hand_are_named(site, run):
    connection = sqlite3.connect(site / "control.db", isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    for table in ("charge", "noisy_answer", "reservation"):
        connection.execute(f"DELETE FROM {table}")
    connection.close()
    verified = run("log", "verify")
    assert verified.exit_code == 1
    assert "The ledger of privacy budgets does not match the log:" in verified.stdout
    assert re.search(r"the reservation of q_\w+ for dataset patients is in the log \(entry \d+\)", verified.stdout)
    checked = json.loads(run("doctor", "--format", "json").stdout)
    assert [check["name"] for check in checked["checks"] if not check["ok"]] == ["ledger"]
    refused = run("query", "--dataset", "patients", "--mode", "laplace", COUNT.format(40))
    assert (refused.exit_code, "QG402" in refused.stderr) == (1, True)
    done = run("budget", "rebuild")
    assert (done.exit_code, "Rebuilt the ledger from the log: 1 spend." in done.stdout) == (0, True)
    assert "as the log says" in run("budget", "rebuild").stdout
    assert run("query", "--dataset", "patients", "--mode", "laplace", COUNT.format(40)).exit_code == 0
    assert json.loads(run("doctor", "--format", "json").stdout)["ok"]


def test_a_ledger_is_not_rebuilt_from_a_broken_log(site, run):
    connection = sqlite3.connect(site / "control.db", isolation_level=None)
    connection.execute("DROP TRIGGER log_no_update")
    connection.execute("UPDATE log SET user = 'x' WHERE seq = 2")
    connection.close()
    done = run("budget", "rebuild")
    assert (done.exit_code, "QG807" in done.stderr) == (2, True)


def test_a_mark_that_is_gone_or_put_back_is_remarked_upon(site, ask, run):
    def remarks():
        checked = json.loads(run("doctor", "--format", "json").stdout)["checks"]
        verified = run("log", "verify", "--format", "json")
        assert verified.exit_code == 0
        return {check["name"]: check["ok"] for check in checked}["mark"], "mark" in json.loads(verified.stdout)

    mark = site / "head.mark"
    old = mark.read_bytes()
    ask(40)
    run("log", "anchor")
    assert remarks() == (True, False)
    mark.write_bytes(old)
    assert remarks() == (False, True)
    mark.unlink()
    assert remarks() == (False, True)
    assert run("log", "anchor").exit_code == 2  # a timer does not hide it
    assert remarks() == (False, True)
    run("log", "anchor", "--anew")
    assert remarks() == (True, False)


def test_a_log_that_ends_before_its_mark_is_not_verified(site, run):
    mark = site / "head.mark"
    said = json.loads(mark.read_text())
    mark.write_text(json.dumps({**said, "entries": 10_000}))
    verified = run("log", "verify")
    assert (verified.exit_code, "older than the log's mark" in verified.stdout) == (1, True)


# -- backups -----------------------------------------------------------------------------------------------------


def test_a_backup_is_a_site_without_its_vault(site, told, tmp_path):
    made = told("backup", "copy")
    assert made["files"] >= 5
    assert not any(name.startswith("vault/") for name in names(tmp_path / "copy"))
    assert "head.mark" not in names(tmp_path / "copy")
    assert told("--site", "copy", "log", "verify")["entries"] == made["entries"]
    assert told("log", "list", "--kind", "site")[-1]["body"] == {"vault": False}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "copy").rglob("*"))


def test_a_vault_is_copied_where_it_is_asked_for(site, told, tmp_path):
    told("backup", "copy.tar.gz", "--vault")
    with tarfile.open(tmp_path / "copy.tar.gz") as archive:
        assert any(name.startswith("backup/vault/patients/") for name in archive.getnames())
    assert (tmp_path / "copy.tar.gz").stat().st_mode & 0o077 == 0


def test_nothing_is_overwritten(site, run, tmp_path):
    (tmp_path / "copy").mkdir()
    assert run("backup", "copy").exit_code == 2


@pytest.mark.parametrize("damage", ["changed", "lost", "added", "manifest", "not a backup"])
def test_a_backup_that_is_not_whole_is_not_restored(site, told, run, tmp_path, damage):
    told("backup", "copy")
    copy = tmp_path / "copy"
    store = next(copy.glob("store/patients/v*.duckdb"))
    if damage == "changed":
        store.write_bytes(store.read_bytes()[:-1] + b"x")
    elif damage == "lost":
        store.unlink()
    elif damage == "added":
        (copy / "store" / "more").write_text("x")
    elif damage == "manifest":
        (copy / "backup.json").write_text("{}")
    else:
        (copy / "backup.json").unlink()
    before = names(site)
    done = run("restore", "copy")
    assert (done.exit_code, "QG804" in done.stderr) == (2, True)
    assert names(site) >= before


# -- restoring -----------------------------------------------------------------------------------------------------


def test_restoring_over_a_site_adds_its_later_entries_and_spends(site, ask, told, left):
    told("backup", "copy.tar")
    ask(40)
    assert left() == 3.0
    done = told("restore", "copy.tar")
    assert (done["spends"], done["written_off"]) == (1, [])
    assert left() == 3.0
    assert told("doctor")["ok"]
    assert told("log", "verify")["spends"] == 2
    assert done["kept"].startswith("site.before-")


def test_a_drill_verifies_and_changes_nothing(site, ask, told, run, left):
    told("backup", "copy")
    ask(40)
    before = told("log", "verify")
    with present(site):  # while it is served
        assert told("restore", "copy", "--check")["spends"] == 1
        assert run("restore", "copy").exit_code == 2
    assert told("log", "verify") == before


def test_a_copied_back_database_neither_serves_nor_spends_until_the_log_is_added(site, ask, told, run, left, tmp_path):
    told("backup", "copy")
    ask(40)
    assert run("log", "export", "--out", "log.jsonl").exit_code == 0
    for name in ("control.db", "control.db-wal", "control.db-shm"):
        (site / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy" / "control.db", site / "control.db")
    done = run("budget", "show", "--dataset", "patients")
    assert (done.exit_code, "QG807" in done.stderr) == (2, True), done.stderr
    command = [sys.executable, "-m", "querygate", "serve", "--port", "0", "--no-worker"]
    served = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S, env=environment())
    assert (served.returncode, "QG807" in served.stderr) == (2, True), served.stderr
    assert run("doctor").exit_code == 1
    done = told("restore", "--log", "log.jsonl")
    assert done["spends"] == 1
    assert left() == 3.0
    assert told("doctor")["ok"]


def test_without_a_later_log_somebody_must_say_what_to_write_off(site, ask, told, run, left, tmp_path):
    told("backup", "copy")
    ask(40)
    for name in ("control.db", "control.db-wal", "control.db-shm"):
        (site / name).unlink(missing_ok=True)
    done = run("restore", "copy")
    assert (done.exit_code, "--write-off" in done.stderr) == (2, True)
    assert told("restore", "copy", "--write-off", "all")["written_off"] == [
        {"kind": "dataset", "name": "patients", "dataset": "patients", "epsilon": 3.5}
    ]
    assert left() == 0.0
    assert run("query", "--dataset", "patients", "--mode", "laplace", COUNT.format(50)).exit_code == 1
    assert told("doctor")["ok"]
    noted = told("log", "list", "--kind", "site.restore")[-1]["body"]
    assert noted["written_off"][0]["epsilon"] == 3.5
    assert noted["marked"]["entries"] > noted["backup"]["entries"]


def test_a_stated_amount_is_written_off_of_every_limit(site, ask, told, left, tmp_path):
    told("backup", "copy")
    shutil.rmtree(site)
    done = told("restore", "copy", "--write-off", "1")
    assert {one["kind"]: one["epsilon"] for one in done["written_off"]} == {"dataset": 1.0, "user": 1.0}
    assert (site / "head.mark").exists()


def test_nothing_written_off_is_a_decision_too(site, told, left):
    told("backup", "copy")
    shutil.rmtree(site)
    told("restore", "copy", "--write-off", "0")
    assert told("doctor")["ok"]


def test_a_log_of_another_site_is_not_taken(site, told, run, small, tmp_path):
    told("backup", "copy")
    shutil.rmtree(site)
    run("--site", small.folder, "log", "export", "--out", "other.jsonl")
    done = run("restore", "copy", "--log", "other.jsonl")
    assert done.exit_code == 2
    assert not site.exists()


def test_what_was_spent_here_is_not_in_a_copy_that_went_its_own_way(site, ask, told, run, left, tmp_path):
    twin = shutil.copytree(site, tmp_path / "twin")
    for name in ("bea", "cem", "dov", "eva", "fay"):  # its log becomes longer than that of the site
        assert run("--site", twin, "user", "add", name, "--role", "researcher").exit_code == 0
    assert run("--site", twin, "backup", "copy").exit_code == 0
    ask(40)
    assert told("log", "verify")["entries"] < told("--site", twin, "log", "verify")["entries"]
    for words in ([], ["--check"]):
        done = run("restore", "copy", *words)
        assert (done.exit_code, "--write-off" in done.stderr) == (2, True), done.stderr
    assert left() == 3.0
    assert told("restore", "copy", "--write-off", "0.5")["written_off"]
    assert left() == 3.0


def test_a_site_that_ends_before_the_backup_lacks_nothing(site, ask, told, left, tmp_path):
    before = shutil.copytree(site, tmp_path / "before")
    ask(40)
    told("backup", "copy")
    shutil.rmtree(site)
    before.rename(site)
    assert told("restore", "copy")["written_off"] == []
    assert left() == 3.0


def test_a_backup_of_another_site_takes_the_place_of_none_with_budgets(site, run, small, left):
    assert run("--site", small.folder, "backup", "other").exit_code == 0
    done = run("restore", "other")
    assert (done.exit_code, "another site" in done.stderr) == (2, True), done.stderr
    assert left() == 3.5


def test_a_vault_that_the_backup_has_not_stays(site, told, run):
    told("backup", "copy")
    told("restore", "copy")
    assert next((site / "vault").glob("patients/v*.duckdb"))
    assert run("query", "--dataset", "patients", "--mode", "laplace", COUNT.format(30)).exit_code == 0


@pytest.mark.parametrize("words", [[], ["--check"], ["--check", "--write-off", "all"], ["--write-off", "-1"]])
def test_restore_says_what_it_needs(site, run, words):
    assert run("restore", *words).exit_code == 2


# -- another version ----------------------------------------------------------------------------------------------


def test_a_site_of_the_first_release_is_migrated_after_a_backup(tmp_path, told, run):
    with tarfile.open(DATA / "kept_site.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    before = (tmp_path / "site" / "control.db").read_bytes()
    done = told("migrate", "--backup", "old")
    assert done["migrated"]
    assert told("log", "list", "--kind", "budget")[0]["kind"] == "budget.opening"
    assert told("log", "verify")["verified"]
    assert not told("migrate")["migrated"]
    # the way back: the backup is the old site
    kept = tmp_path / "old" / "control.db"
    assert kept.read_bytes()[60:64] == before[60:64]  # SQLite's user_version
    done = told("restore", "old")
    assert done["undone"] == {}
    assert run("datasets").exit_code == 0
