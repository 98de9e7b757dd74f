"""`querygate policy draft`, `omop`, `i2b2` and `fhir`: what cannot be written is said before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

COMMANDS = ("draft", "omop", "i2b2", "fhir")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("there.toml", "File exists"),
        ("dangling.toml", "File exists"),
        ("nowhere/new.toml", "No such file or directory"),
        ("there.toml/new.toml", "Not a directory"),
    ],
)
def test_what_cannot_be_written_is_said_first(command: str, out: str, reason: str, run: Any, tmp_path: Path) -> None:
    """The source, which does not exist, is not looked at."""
    (tmp_path / "there.toml").write_text("days of work")
    (tmp_path / "dangling.toml").symlink_to(tmp_path / "gone")

    done = run("policy", command, "--source", "no such source", "--out", tmp_path / out)

    assert done.exit_code == 2
    assert f"{tmp_path / out}: cannot be written: {reason}" in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling.toml", "there.toml"]
    assert (tmp_path / "there.toml").read_text() == "days of work"


@pytest.mark.parametrize(
    ("command", "table"),
    [("omop", "table `person`"), ("i2b2", "table `patient_dimension`"), ("fhir", "file Patient.parquet")],
)
def test_an_empty_folder_is_refused_and_nothing_written(command: str, table: str, run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = run("policy", command, "--source", tmp_path / "empty", "--out", tmp_path / "new.toml")

    assert (done.exit_code, "QG802" in done.output, f"There is no {table}" in done.output) == (2, True, True)
    assert not (tmp_path / "new.toml").exists()


@pytest.mark.parametrize(
    ("command", "named"), [("omop", "person"), ("i2b2", "observation_fact"), ("fhir", "MedicationRequest.parquet")]
)
def test_what_is_no_folder_is_said(command: str, named: str, run: Any, tmp_path: Path) -> None:
    one = tmp_path / "Patient.parquet"
    one.write_text("")
    for source, told in ((tmp_path / "nowhere", "There is no folder"), (one, "is one file")):
        done = run("policy", command, "--source", source, "--out", tmp_path / "new.toml")

        assert (done.exit_code, "QG802" in done.output, told in done.output) == (2, True, True)
        assert "Name a folder" in done.output
        assert named in done.output
