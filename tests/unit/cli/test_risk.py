"""querygate risk: what it prints and writes, what it refuses, and that nothing of a record is in any of it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import click
import pytest

from querygate.cli.shared.shared_options import new_folder
from querygate.custody.risk_report.risk_report import FORMAT
from tests.unit.custody.risk_report import small as ward


@pytest.fixture(autouse=True)
def without_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than all the rest; one test draws them."""
    if request.node.name != "test_files_and_figures":
        monkeypatch.setattr("querygate.custody.risk_report.risk_charts.can_draw", lambda: False)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return ward.write(tmp_path)


@pytest.fixture
def words(files: dict[str, Path]) -> list[Any]:
    """What every call here begins with."""
    return ["risk", "--source", files["source"], "--policy", files["policy"]]


def test_files_and_figures(run: Any, words: list[Any], files: dict[str, Path], tmp_path: Path) -> None:
    """Pictures included; neither names nor values of people are in any file."""
    register = ["--population", files["register"], "--count", "people", "--disease", "illness=scurvy"]
    done = run(*words, *register, "--released", files["release"], "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "Safe Harbor" in done.stdout
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert set(written) == {"report.json", "report.html", "sizes.png", "curve.png", "thresholds.png", "drivers.png"}
    body = json.loads(written["report.json"])
    assert (body["format"], body["dataset"], body["after"]) == (FORMAT, "ward", "release")
    page = written["report.html"].decode()
    assert page.count("<img") == 4
    assert "<script" not in page
    for secret in ("Quintilla", "scurvy", "37203", "37212"):
        assert secret not in written["report.json"].decode() + done.output
        assert secret not in page


def test_a_program_reads_json(run: Any, words: list[Any]) -> None:
    done = run(*words, "--format", "json")
    body = json.loads(done.stdout)
    assert body["after"] == "policy"
    assert [line["measure"] for line in body["verdict"]][:2] == ["prosecutor_greatest", "prosecutor_average"]


def test_names_that_look_like_markup_are_text(run: Any, files: dict[str, Path], tmp_path: Path) -> None:
    for name in ("policy", "source"):
        text = files[name].read_text().replace("sex", "<i>sex")
        files[name].write_text(text.replace("columns.<i>sex", "columns.'<i>sex'"))
    done = run("risk", "--source", files["source"], "--policy", files["policy"], "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "report.html").read_text()
    assert "&lt;i&gt;sex" in page
    assert "<i>" not in page


REFUSED: dict[str, tuple[list[str], str, str]] = {
    "unknown column": (["--source", "other.csv"], "QG801", "age"),
    "empty source": (["--source", "empty.csv"], "QG802", "no records"),
    "no source": (["--source", "none.csv"], "QG802", "does not exist"),
    "unreadable source": (["--source", "broken.parquet"], "QG802", "cannot be read"),
    "no population": (["--population", "none.csv"], "QG802", "does not exist"),
    "strange population": (["--population", "strange.csv"], "QG802", "none of the policy's quasi-identifiers"),
    "population of words": (["--population", "words.csv"], "QG802", "do not have its type"),
    "no such count": (["--population", "register.csv", "--count", "persons"], "QG802", "no column persons"),
    "count of words": (["--population", "words.csv", "--count", "name"], "QG802", "do not have its type"),
    "count of a kind": (["--population", "register.csv", "--count", "sex"], "QG802", "not a number of people"),
    "nobody": (["--population", "nobody.csv", "--count", "people"], "QG802", "contains nobody"),
    "count of nothing": (["--count", "people"], "QG801", "none is named"),
    "strange release": (["--released", "strange.csv"], "QG802", "does not name: shoe"),
    "release of nothing": (["--released", "told.csv"], "QG802", "none of the policy's quasi-identifiers"),
    "release of words": (["--released", "wrong.csv"], "QG802", "cannot be read as its type"),
    "longer release": (["--released", "longer.csv"], "QG802", "more records than the source"),
    "empty release": (["--released", "empty.csv"], "QG802", "no records"),
    "empty folder": (["--released", "folder"], "QG802", "does not contain an extract"),
    "disease alone": (["--disease", "illness=flu"], "QG801", "none is named"),
    "same disease alone": (["--same-disease"], "QG801", "none is named"),
    "unknown disease": (["--population", "register.csv", "--disease", "illness=gout"], "QG802", "no record has this"),
    "disease of a column": (["--population", "register.csv", "--disease", "age=30"], "QG801", "not a sensitive column"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, run: Any, files: dict[str, Path], tmp_path: Path) -> None:
    """With a code, without a value, and with nothing written."""
    texts = {
        "other.csv": "name,sex\nQuintilla,F\n",
        "empty.csv": ward.SOURCE.splitlines()[0],
        "broken.parquet": "Quintilla",
        "strange.csv": "shoe\n44\n",
        "words.csv": "name,age,sex\nQuintilla,old,F\n",
        "nobody.csv": "age,people\n30,0\n",
        "told.csv": "illness\nflu\n",
        "wrong.csv": "age_low,age_high\nQuintilla,30\n",
        "longer.csv": ward.RELEASE + ward.RELEASE.partition("\n")[2],
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    options, code, says = REFUSED[case]
    source = [] if "--source" in options else ["--source", files["source"]]
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run("risk", *source, "--policy", files["policy"], *options, "--out", "out")
    assert done.exit_code == 2, done.output
    assert code in done.stderr
    assert says in done.stderr
    assert not {"Quintilla", "scurvy", "37203"} & set(done.output.replace(",", " ").split())
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "options",
    [
        ["risk"],
        ["risk", "--source", "source.csv"],
        ["risk", "--dataset", "ward", "--source", "source.csv"],
        ["risk", "--source", "source.csv", "--policy", "policy.toml", "--disease", "illness"],
        ["risk", "--source", "source.csv", "--policy", "policy.toml", "--disease", "a=b", "--same-disease"],
        ["risk", "--source", "source.csv", "--policy", "policy.toml", "--out", "policy.toml"],
    ],
)
def test_usage(options: list[str], run: Any, files: dict[str, Path]) -> None:
    assert run(*options).exit_code == 2
    assert files["policy"].read_text() == ward.POLICY


def test_what_the_policy_cannot_make_is_said(run: Any, files: dict[str, Path]) -> None:
    files["policy"].write_text(ward.POLICY.replace("k = 3", "k = 7"))
    done = run("risk", "--source", files["source"], "--policy", files["policy"])
    assert done.exit_code == 1
    assert "QG803" in done.stderr
    assert "--released" in done.stderr


def test_identifiers_in_a_release_are_pointed_out(run: Any, words: list[Any], files: dict[str, Path]) -> None:
    head, *rows = files["release"].read_text().splitlines()
    named = [f"name,{head}", *(f"Quintilla{i},{row}" for i, row in enumerate(rows))]
    files["release"].write_text("\n".join(named))
    done = run(*words, "--released", files["release"])
    assert "columns that the policy never publishes: name" in done.stdout
    assert "Quintilla" not in done.output


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "half").write_text("x")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(click.UsageError, match="No space left on device"):
        write()
    assert list(tmp_path.iterdir()) == []
