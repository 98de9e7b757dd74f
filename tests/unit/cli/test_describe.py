"""describe: the schema, the tables that can be joined, the policy and examples, on a terminal and for a program."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from tests.unit.custody.publish.tables import PEOPLE, REFERENCES, VISITS, write_all


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    source = write_all(folder)
    (folder / "t.toml").write_text(PEOPLE.but(title="A clinic", **REFERENCES, **VISITS))
    with chdir(folder):
        run("init")
        return folder / "site", run("publish", "--policy", str(folder / "t.toml"), "--source", str(source))


@pytest.fixture
def published(made, tmp_path: Path):
    site, done = made
    shutil.copytree(site, tmp_path / "site")
    return done


def test_a_publication_tells_of_its_tables(published):
    assert published.exit_code == 0, published.output
    assert "Records with rows in other tables\n  visits  39\n" in published.stdout
    assert "Tables that can be joined\n  regions  " in published.stdout


def test_for_a_person(run, published):
    shown = run("describe", "t").stdout

    assert shown.startswith("t (A clinic), version 1: 60 records, k = 5\n\nColumns\n")
    assert "  region       category  quasi-identifier  E, N, S, W\n" in shown
    assert "\nTable regions, 4 rows, joined on code, usually with region\n  code     key\n" in shown
    assert "  density  number\n" in shown
    assert "SELECT regions.name, COUNT(*) FROM t JOIN regions ON t.region = regions.code" in shown


def test_for_a_program(run, published):
    told = json.loads(run("describe", "t", "--format", "json").stdout)

    assert [column["name"] for column in told["tables"][0]["columns"]] == ["name", "country", "people", "density"]


def test_a_dataset_that_is_not_there(run, published):
    done = run("describe", "nothing")

    assert done.exit_code == 1
    assert "QG303" in done.stderr
