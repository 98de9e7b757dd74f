"""init, publish, datasets, versions, rollback: from an empty folder to two versions."""

from __future__ import annotations

import csv
import io
import json

import pytest

from querygate.site.layout import open_site


def test_a_site_from_nothing_to_a_second_version_and_back(run, inputs, tmp_path):
    policy, source = inputs
    assert run("init").exit_code == 0
    site = open_site(tmp_path / "site")
    assert site.vault.stat().st_mode & 0o777 == 0o700
    assert run("datasets").output == "No dataset is published yet.\n"
    first = run("publish", "--policy", policy, "--source", source)
    assert first.exit_code == 0
    assert first.stdout.startswith("Published clinic, version 1, in ")
    assert "reading the source\n" in first.stderr
    second = json.loads(run("publish", "--policy", policy, "--source", source, "--format", "json").stdout)
    assert (second["version"], second["rows"]) == (2, 40)
    listed = json.loads(run("versions", "clinic", "--format", "json").stdout)
    assert [(v["version"], v["served"], v["rows"], v["user"]) for v in listed] == [
        (1, False, 40, "local"),
        (2, True, 40, "local"),
    ]
    assert run("rollback", "clinic", 1).output == "clinic: version 1 is served now (before: 2).\n"
    assert json.loads(run("datasets", "--format", "json").stdout)[0]["version"] == 1


def test_a_site_in_the_folder_one_is_in_is_told_by_its_name(run, tmp_path, monkeypatch):
    (tmp_path / "clinic").mkdir()
    monkeypatch.chdir(tmp_path / "clinic")
    assert run("init", ".").output.splitlines()[0] == f"Created a site in {tmp_path}/clinic."


def test_the_report_tells_what_was_measured(run, inputs):
    policy, source = inputs
    run("init")
    text = run("publish", "--policy", policy, "--source", source).stdout
    for words in (
        "rows      40",
        "classes",
        "cells",
        "k         5 (measured)",
        "l = ",
        "t = ",
        "Mean width",
        "Mean share",
    ):
        assert words in text
    assert "MRN" not in text


def test_warnings_of_the_policy_are_shown(run, inputs):
    policy, source = inputs
    policy.write_text(policy.read_text() + "guard = 0\n")
    run("init")
    text = run("publish", "--policy", policy, "--source", source).stdout
    assert "Warnings\n  columns.sbp.guard: 0 is off" in text


@pytest.mark.parametrize("how", ["argument", "before", "after", "environment"])
def test_the_site_is_named_in_four_ways(run, tmp_path, how):
    folder = tmp_path / "deep" / "place"
    done = {
        "argument": lambda: run("init", folder),
        "before": lambda: run("--site", folder, "init"),
        "after": lambda: run("init", "--site", folder),
        "environment": lambda: run("init", env={"QUERYGATE_SITE": str(folder)}),
    }[how]()
    assert done.exit_code == 0
    assert (folder / "querygate.toml").is_file()


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "table"])
def test_lists_come_in_every_format(at, form):
    text = at("datasets", "--format", form).stdout
    read = {
        "json": lambda: json.loads(text),
        "jsonl": lambda: [json.loads(line) for line in text.splitlines()],
        "csv": lambda: list(csv.DictReader(io.StringIO(text))),
        "table": lambda: [dict(zip(text.splitlines()[0].split(), text.splitlines()[2].split(), strict=False))],
    }[form]
    (found,) = read()
    assert found["dataset"] == "clinic"
    assert int(found["rows"]) == 40


def test_versions_are_listed_even_where_the_served_one_is_gone(run, inputs, tmp_path):
    policy, source = inputs
    run("init")
    run("publish", "--policy", policy, "--source", source)
    (tmp_path / "site/store/clinic/current").write_text("7")
    listed = json.loads(run("versions", "clinic", "--format", "json").stdout)
    assert [(v["version"], v["served"]) for v in listed] == [(1, False)]
    assert run("rollback", "clinic", 1).exit_code == 0
    assert json.loads(run("versions", "clinic", "--format", "json").stdout)[0]["served"] is True
