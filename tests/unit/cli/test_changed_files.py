"""A version file that is not the one that was verified: it is not served, and doctor says which it is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import duckdb
import pytest

from querygate.control.log.archive_rotation import rotate
from querygate.control.log.signature import load_key
from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.site.layout import open_site
from querygate.site.open_gate import noted_file, open_gate
from querygate_adapters.store import duckdb_store
from querygate_adapters.store.duckdb_store import DuckDBStore
from tests.unit.cli.test_lost_files import COUNT, checks


def change(site):
    with duckdb.connect(str(site / "store/clinic/v00001.duckdb")) as database:
        database.execute("UPDATE cells SET n = n + 1, class_n = class_n + 1")


def test_the_log_has_the_digest_of_what_was_verified(clinic, run):
    file = clinic / "store/clinic/v00001.duckdb"
    (event,) = [json.loads(line) for line in run("log", "export").stdout.splitlines() if '"kind":"publish"' in line]
    assert event["body"]["file"]["bytes"] == file.stat().st_size
    assert len(event["body"]["file"]["sha256"]) == 64


def test_a_changed_file_is_not_served_and_doctor_names_it(clinic, run):
    assert run("query", COUNT, "--dataset", "clinic").exit_code == run("doctor").exit_code == 0
    change(clinic)
    done = run("query", COUNT, "--dataset", "clinic")
    assert done.exit_code == 2
    assert "not the one that was verified" in done.stderr
    assert "version 1" in checks(run)["digests of clinic"]["detail"]


def test_of_a_large_file_the_length_is_compared(clinic, monkeypatch):
    file = clinic / "store/clinic/v00001.duckdb"
    kept = FileDigest.of(file)
    wrong = DuckDBStore(clinic / "store", noted=lambda *_: replace(kept, sha256="0" * 64))
    with pytest.raises(ConfigError, match="not the one that was verified"):
        wrong.current("clinic")
    monkeypatch.setattr(duckdb_store, "READ_UP_TO", 1000)
    assert wrong.current("clinic").catalog.version == 1
    shorter = DuckDBStore(clinic / "store", noted=lambda *_: replace(kept, bytes=kept.bytes - 1))
    with pytest.raises(ConfigError, match="not the one that was verified"):
        shorter.current("clinic")


@pytest.mark.parametrize("changed", [False, True])
def test_a_version_without_a_digest_is_served_as_it_is(clinic, run, changed):
    """As one of a site from before digests were kept, or on a machine that only serves."""
    (clinic / "control.db").unlink()
    for beside in clinic.glob("control.db-*"):
        beside.unlink()
    assert run("init").exit_code in (0, 2)
    if changed:
        change(clinic)
    assert run("query", COUNT, "--dataset", "clinic").exit_code == 0


def test_a_changed_file_is_not_served_after_its_entry_went_into_an_archive(clinic, run):
    opened = open_gate(open_site(clinic))
    noted = noted_file(opened.log, "clinic", 1)
    assert rotate(opened.log, load_key(clinic), timedelta(0), user="carl")
    assert list(opened.log.events_of("publish", "clinic", archived=False)) == []
    assert noted_file(opened.log, "clinic", 1) == noted
    change(clinic)
    assert run("query", COUNT, "--dataset", "clinic").exit_code == 2
