"""The code in the guides works: each example is run, and does what its page says."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from querygate import demo
from querygate.cli import main
from querygate.core.errors import ConfigError
from querygate.core.registry import Registry
from querygate.core.types import Principal, Request
from querygate.custody.policy import load_policy
from querygate.custody.publish.publish import publish
from querygate.gate.answer import answer
from querygate.site.open_gate import OpenSite
from querygate.stats import registry
from querygate_adapters.vault.version_writer import DuckDBVersionWriter
from tests.docs.pages import DOCS, blocks
from tests.unit.stats.enumerate_reference import extremes, small_cases

QUESTIONS = (
    "SELECT COUNT(*), AVG(systolic), MIN(bmi), MAX(bmi) FROM survey",
    "SELECT sex, education, COUNT(*), SUM(diastolic) FROM survey WHERE age > 33 OR smoked GROUP BY sex, education",
    "SELECT smoked, COUNT(bmi) FROM survey WHERE NOT bmi < 22.5 AND ethnicity <> 'white' GROUP BY smoked",
)


def example(page: str, name: str, **more: Any) -> dict[str, Any]:
    """Run the Python block of that name and return what it defines."""
    [block] = [
        block for block in blocks(DOCS / "how-to" / page) if block.language == "python" and block.words == (name,)
    ]
    defined: dict[str, Any] = {"__name__": f"example_{name}", **more}
    exec(compile(block.text, str(block), "exec"), defined)
    return defined


def test_midrange_is_sound_and_sharp(monkeypatch: pytest.MonkeyPatch) -> None:
    statistics: Registry[registry.Statistic] = Registry("statistic")
    monkeypatch.setattr(registry, "STATISTICS", statistics)
    example("add-a-statistic.md", "midrange")
    midrange = statistics.get("midrange")
    for cells, every in small_cases()[:200]:
        truth = extremes(lambda data: (min(data) + max(data)) / 2 if data else None, every)
        found = midrange.range(cells)
        if truth is None:
            assert found.is_null
        else:
            assert (found.low, found.high, found.may_be_null) == truth
            assert found.sharp


def test_a_release_of_parquet_files_answers_as_duckdb_does(classes_site: OpenSite, tmp_path: Path) -> None:
    database = duckdb.connect()
    database.execute(f"ATTACH '{classes_site.site.store}/survey/v00001.duckdb' AS version (READ_ONLY)")
    for table in ("cells", "set_value", "value_text"):
        database.execute(f"COPY version.{table} TO '{tmp_path}/{table}.parquet' (FORMAT parquet)")
    body = database.execute("SELECT body FROM version.catalog").fetchall()[0][0]
    (tmp_path / "catalog.json").write_text(body, encoding="utf-8")
    release = example("add-an-engine.md", "parquet")["ParquetRelease"](tmp_path)
    other = replace(classes_site.gate, store=SimpleNamespace(current=lambda dataset: release))
    for sql in QUESTIONS:
        request = Request(Principal("tester", "researcher"), "survey", sql)
        assert answer(request, other).groups == answer(request, classes_site.gate).groups


def test_json_lines_publish_as_csv_does(tmp_path: Path) -> None:
    source = example("add-a-source.md", "jsonl")["JsonLines"]
    lines = list(csv.DictReader((demo.HERE / "clinic.csv").read_text(encoding="utf-8").splitlines()))
    path = tmp_path / "clinic.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = publish(
        load_policy(demo.HERE / "clinic.toml"),
        source(str(path)),
        DuckDBVersionWriter(tmp_path / "store", tmp_path / "vault"),
        now=lambda: "",
        clock_s=lambda: 0.0,
    )
    assert (report.rows, report.measured.k) == (11, 5)
    path.write_text('{"patient": "Smith, HIV+"}\n{"patient": ', encoding="utf-8")
    with pytest.raises(ConfigError) as refused, source(str(path)).reading():
        list(source(str(path)).batches(["patient"]))
    assert "Smith" not in refused.value.detail


def test_the_refusal_can_be_made() -> None:
    refusal = example("add-a-refusal.md", "refusal")["refusal"]
    assert refusal.to_dict()["code"] == "QG210"


def test_an_exported_log_is_checked_without_the_product(
    demo_site: OpenSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exported = CliRunner().invoke(main, ["--site", str(demo_site.site.folder), "log", "export", "--out", "log.jsonl"])
    assert exported.exit_code == 0
    head = example("read-the-log.md", "chain")["head"]
    assert head == demo_site.log.verify().head
    assert head in capsys.readouterr().out
    log = Path("log.jsonl")
    log.write_text(log.read_text(encoding="utf-8").replace('"survey"', '"surveys"', 1), encoding="utf-8")
    with pytest.raises(AssertionError):
        example("read-the-log.md", "chain")
