"""Whatever the umask, what a site keeps is its owner's alone: files 0600, folders 0700, log.pub excepted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from querygate.custody.use_cases.publish_version import retire_version
from querygate.custody.use_cases.publish_with_report import publish_with_report
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate_adapters.vault.person_history import attach
from tests.api.small_site import POLICY, write_inputs
from tests.extract_site import ANN, WISH, CsvBuilder, release


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_all_files_of_a_site_are_closed_to_others(tmp_path: Path) -> None:
    opened = open_gate(init_site(tmp_path / "site"))
    source = str(write_inputs(tmp_path)[1])
    for _ in range(2):
        publish_with_report(opened, POLICY.parsed(), source, user="carl", kind="json")
    retire_version(opened, "clinic", 1, user="carl")
    extracts = Extracts(opened, CsvBuilder)
    release(extracts, extracts.request(ANN, WISH)["id"])

    found = {path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in (tmp_path / "site").rglob("*")}
    assert len(found) > 15
    assert {name for name, mode in found.items() if mode & 0o077} <= {Path("site/log.pub")}


def test_rows_that_do_not_fit_into_memory_stay_in_the_vault(tmp_path: Path) -> None:
    opened = open_gate(init_site(tmp_path / "site"))
    publish_with_report(opened, POLICY.parsed(), str(write_inputs(tmp_path)[1]), user="carl", kind="none")
    file = opened.site.vault / "clinic" / "v00001.duckdb"
    with attach({"vault": file}, 64) as database:
        [(where,)] = database.execute("SELECT current_setting('temp_directory')").fetchall()
    assert Path(where).parent == file.parent
