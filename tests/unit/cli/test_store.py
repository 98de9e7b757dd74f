"""From a hospital's PostgreSQL to a gate that reads from another: publish, store copy, query, doctor."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir

import pytest

from querygate.site.settings import Settings
from tests.api.small_site import POLICY, csv_text
from tests.postgres import Server

SQL = "SELECT sex, COUNT(*), AVG(sbp) FROM clinic GROUP BY sex ORDER BY sex"


def new_hospital(postgres: Server) -> str:
    """The location of a database with the clinic's table."""
    name = postgres.new_database()
    with postgres.connect(name) as connection:
        connection.execute("CREATE TABLE clinic (mrn text, age integer, sex char(1), sbp numeric(5, 1))")
        with connection.cursor().copy("COPY clinic FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(csv_text())
    return postgres.url(database=name)


@pytest.fixture
def hospital(postgres: Server) -> str:
    return new_hospital(postgres)


@pytest.fixture(scope="module")
def from_postgresql(run, postgres, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    with chdir(folder):
        (folder / "clinic.toml").write_text(POLICY)
        run("init")
        words = ("publish", "--policy", "clinic.toml", "--source", f"{new_hospital(postgres)}#clinic")
        assert run(*words).exit_code == 0
    return folder


@pytest.fixture
def site(from_postgresql, tmp_path):
    shutil.copytree(from_postgresql, tmp_path, dirs_exist_ok=True)
    return tmp_path / "site"


def rows(run, **more):
    return json.loads(run("query", "--dataset", "clinic", "--format", "json", SQL, **more).stdout)["rows"]


def test_a_table_of_postgresql_publishes_as_a_csv_does(run, site, tmp_path):
    from_postgres = rows(run)
    (tmp_path / "clinic.csv").write_text(csv_text())
    assert run("publish", "--policy", "clinic.toml", "--source", "clinic.csv").exit_code == 0

    assert rows(run) == from_postgres
    assert [row["_group"]["count"]["low"] for row in from_postgres] == [20, 20]


def test_no_secret_is_put_on_record(run, site, hospital, postgres):
    run("store", "copy", "--to", hospital)

    assert postgres.password not in run("log", "export").stdout
    assert [
        path for path in site.rglob("*") if path.is_file() and postgres.password.encode() in path.read_bytes()
    ] == []


def test_a_site_is_copied_and_served_from_there(run, site, hospital):
    here = rows(run)
    done = run("store", "copy", "--to", hospital, "--format", "json")
    assert json.loads(done.stdout) == [{"dataset": "clinic", "copied": [1], "served": 1}]
    there = {"QUERYGATE_STORE": hospital}
    (site / "store" / "clinic" / "v00001.duckdb").rename(site / "v00001.duckdb")  # the gate has no such file

    assert rows(run, env=there) == here
    assert run("versions", "clinic", "--format", "jsonl", env=there).stdout.count("true") == 1


def test_a_change_on_a_served_site_says_how_to_bring_it_there(run, site, hospital, tmp_path):
    run("store", "copy", "--to", hospital)
    (tmp_path / "clinic.csv").write_text(csv_text(30))
    there = {"QUERYGATE_STORE": hospital}
    words = ("publish", "--policy", "clinic.toml", "--source", "clinic.csv", "--on-overlap", "retire")
    published = run(*words, env=there)
    assert "querygate store copy" in published.stderr
    assert len(rows(run, env=there)) == 2
    assert "version 1, 40 rows" in run("doctor", env=there).stdout
    run("store", "copy", "clinic", "--to", hospital)

    assert "version 2, 30 rows" in run("doctor", env=there).stdout


def test_doctor_shows_the_server_and_not_the_way_in(run, site, hospital, postgres):
    run("store", "copy", "--to", hospital)
    well = run("doctor", env={"QUERYGATE_STORE": hospital})
    assert well.exit_code == 0
    assert f"postgresql://127.0.0.1:{postgres.port}/" in well.stdout
    assert postgres.password not in well.output
    gone = run("doctor", env={"QUERYGATE_STORE": "postgresql://gate:SECRET@127.0.0.1:1/study"})

    assert gone.exit_code == 1
    assert "store: The store cannot be read." in gone.stdout
    assert "SECRET" not in gone.output


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("", ""),
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgres://u@h:5432/d#s", "postgresql://h:5432/d"),
        ("postgresql://u:SECRET@h/d?password=SECRET&sslmode=require#s", "postgresql://h/d"),
        ("postgresql://u:SECRET@/d?host=/run/postgresql", "postgresql:///d"),
        ("postgresql://u:a/SECRET@h/d", "postgresql://..."),
        ("postgresql://u:a@SECRET@h/d", "postgresql://..."),
        ("postgresql://u:a?SECRET@h/d", "postgresql://..."),
        ("postgresql://u:a#SECRET@h/d", "postgresql://..."),
        ("postgresql://h/d?password=a@SECRET", "postgresql://..."),
        ("u:SECRET", "postgresql://..."),
    ],
)
def test_what_is_shown_of_a_location(location, shown):
    assert Settings({"store": location}).shown("store") == shown


@pytest.mark.parametrize(
    "words",
    [("--to", "SECRET"), ("--to", "postgresql://u:SECRET@127.0.0.1:1/d"), ("none", "--to", "postgresql://h/d")],
)
def test_a_copy_that_cannot_be(run, site, words):
    done = run("store", "copy", *words)

    assert done.exit_code == 2
    assert "QG804" in done.stderr
    assert "SECRET" not in done.output


def test_nothing_to_copy(run, hospital):
    run("init")

    assert run("store", "copy", "--to", hospital).stdout == "No dataset is published yet.\n"
