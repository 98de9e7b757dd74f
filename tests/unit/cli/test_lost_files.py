"""A version file that is gone: its dataset says so and what to do, the others go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import chdir

import pytest

from querygate.cli.serve import check_served
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.web.app import create_app
from tests.api.small_site import POLICY, csv_text
from tests.empty_site import empty_site
from tests.work import HANG_S

COUNT = "SELECT COUNT(*) FROM clinic"


@pytest.fixture(scope="module")
def made(run, published, tmp_path_factory):
    """A site with a second dataset; the served version of the first has lost its file."""
    folder = tmp_path_factory.mktemp("two")
    shutil.copytree(published, folder / "site")
    (folder / "other.toml").write_text(POLICY.but(dataset="other"))
    (folder / "other.csv").write_text(csv_text())
    with chdir(folder):
        assert run("publish", "--policy", "other.toml", "--source", "other.csv").exit_code == 0
    (folder / "site/store/clinic/v00001.duckdb").unlink()
    return folder


@pytest.fixture
def two(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "site"


def checks(run):
    return {one["name"]: one for one in json.loads(run("doctor", "--format", "json").stdout)["checks"] if not one["ok"]}


@pytest.mark.parametrize("words", [("query", COUNT, "--dataset", "clinic"), ("describe", "clinic")])
def test_its_dataset_is_refused_with_what_to_do(run, two, words):
    done = run(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("QG804 ")
    assert "querygate doctor" in done.stderr


def test_a_file_that_is_damaged_is_refused_alike(run, two):
    (two / "store/clinic/v00001.duckdb").write_bytes(b"Smith, 51, HIV+")
    done = run("query", COUNT, "--dataset", "clinic")
    assert done.stderr.startswith("QG804 ")
    assert "Smith" not in done.output


def test_the_other_dataset_is_listed_and_answers(run, two):
    done = run("datasets", "--format", "json")
    assert (done.exit_code, [line["dataset"] for line in json.loads(done.stdout)]) == (0, ["other"])
    assert "clinic" in done.stderr
    assert run("query", COUNT.replace("clinic", "other"), "--dataset", "other").exit_code == 0


def test_the_server_starts_for_the_other_and_says_which_it_cannot_serve(two, capsys):
    opened = open_gate(open_site(two))
    check_served(opened)
    assert "clinic" in capsys.readouterr().err
    opened.accounts.add_user("ann", "researcher")
    headers = {"Authorization": f"Bearer {opened.accounts.keys.new('ann').secret}"}
    client = create_app(opened).test_client()
    listed = client.get("/api/v1/datasets", headers=headers)
    assert [line["dataset"] for line in listed.json["datasets"]] == ["other"]
    asked = client.post("/api/v1/query", json={"dataset": "clinic", "sql": COUNT}, headers=headers)
    assert (asked.status_code, asked.json["code"]) == (503, "QG804")


def test_versions_are_listed_from_the_log(run, two):
    [line] = json.loads(run("versions", "clinic", "--format", "json").stdout)
    assert (line["version"], line["state"], line["served"], line["rows"]) == (1, "lost", False, 40)
    shutil.rmtree(two / "store/clinic")
    assert json.loads(run("versions", "clinic", "--format", "json").stdout) == [line]
    assert run("retire", "clinic", 1).exit_code == 0
    assert [line["state"] for line in json.loads(run("versions", "clinic", "--format", "json").stdout)] == ["retired"]
    assert run("versions", "nowhere").stderr.startswith("QG303 ")


@pytest.mark.parametrize("lost", ["store/clinic/v00001.duckdb", "store/clinic"])
def test_what_doctor_says_of_a_lost_version_is_possible(run, clinic, lost):
    path = clinic / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert "querygate retire clinic 1" in checks(run)["files of clinic"]["remedy"]
    assert run("retire", "clinic", 1).exit_code == 0
    assert checks(run) == {}


def test_doctor_names_raw_rows_that_are_gone(run, clinic, tmp_path):
    (tmp_path / "clinic.toml").write_text(POLICY)
    (tmp_path / "clinic.csv").write_text(csv_text())
    (clinic / "vault/clinic/v00001.duckdb").unlink()
    found = checks(run)
    assert list(found) == ["files of clinic"]
    assert "version 1" in found["files of clinic"]["detail"]
    for words in (("withdraw", "clinic"), ("retire", "clinic", 1)):
        assert f"querygate {' '.join(map(str, words))}" in found["files of clinic"]["remedy"]
        assert run(*words).exit_code == 0
    done = run("publish", "--policy", "clinic.toml", "--source", "clinic.csv", "--reinstate")
    assert done.exit_code == 0
    assert checks(run) == {}


@pytest.mark.parametrize("empty", [True, False])
def test_doctor_does_not_miss_raw_rows_where_no_vault_is(run, clinic, empty):
    shutil.rmtree(clinic / "vault")
    if empty:
        (clinic / "vault").mkdir(mode=0o700)
    assert checks(run) == {}


CLOSED = """
import sys
from pathlib import Path
from querygate.cli.serve import check_files
from querygate.core.errors import ConfigError
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
folder = Path(sys.argv[1])
for name in ("store", "control.db"):
    before = (folder / name).stat().st_mode
    (folder / name).chmod(0o000 if name == "store" else 0o400)
    try:
        check_files(open_gate(open_site(folder)))
    except ConfigError as told:
        print(told.code, told.detail)
    (folder / name).chmod(before)
"""


def test_what_cannot_be_written_or_read_is_told_before_anything_is_served(tmp_path):
    """In a process of its own: where that is root's, without the right to open everything."""
    site = empty_site(tmp_path / "site")
    site.store.mkdir(exist_ok=True)
    words = [sys.executable, "-c", CLOSED, str(site.folder)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may open everything")
        words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANG_S)
    written = "QG804 The folder of the site cannot be written, so nothing could be logged."
    assert done.stdout.splitlines() == ["QG804 The folder store/ cannot be read.", written], done.stderr
