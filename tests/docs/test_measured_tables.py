"""Tables that docs/measured.py writes are what the benchmarks say, as far as a test can wait for them."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.bench import codes, itemsets, sequences
from tests.docs.pages import DOCS
from tests.report import row


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_measured", DOCS / "measured.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


measured = load()
MEASURED_BY_CLOCK = {"seconds", "CPU seconds", "peak memory, MB"}


def named(name: str) -> Any:
    return next(table for table in measured.TABLES if table.name == name)


def found(name: str) -> list[list[str]]:
    """The lines of a table on its page, without heading and without figures that differ from run to run."""
    table = named(name)
    text = (DOCS / table.page).read_text(encoding="utf-8").partition(f"<!-- measured: {name} -->")[2]
    lines = [line for line in text.partition(measured.END)[0].splitlines() if line.startswith("|")]
    assert lines[0] == measured.written(table.heading)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert len(cells) == len(table.lines) or (table.may_be_short and 0 < len(cells) < len(table.lines))
    return [stable(table, line) for line in cells]


def stable(table: Any, cells: list[str]) -> list[str]:
    return [cell for name, cell in zip(table.heading, cells, strict=True) if name not in MEASURED_BY_CLOCK]


def check(name: str, rows: list[dict[str, Any]], lines: int) -> None:
    """As many lines of the table as these rows make are on the page."""
    table = named(name)
    made = []
    for line in table.lines:
        try:
            made.append(stable(table, line(measured.Rows(rows))))
        except KeyError:
            continue
    assert len(made) == lines
    assert [cells for cells in made if cells not in found(name)] == []


def test_sequences() -> None:
    rows = [*sequences.against("Woodmouse", sequences.woodmouse()), *sequences.against("Opuntia", sequences.opuntia())]
    check("sequences", rows, 2)


CODES = [
    ("codes, whole sets, sample 1", 1, "literal"),
    ("codes, whole sets, sample 2", 2, "literal"),
    ("codes, what is left, sample 1", 1, "residue"),
]


@pytest.mark.parametrize(("name", "sample", "promise"), CODES[:1])
def test_codes(name: str, sample: int, promise: str) -> None:
    study, rows = codes.synpuf(sample), []
    quick = [setting for setting in codes.settings(promise) if setting.k == 5 and setting.groups == "categories"]
    for setting in (replace(setting, sample=sample) for setting in quick):
        items, seconds = codes.anonymise(study, setting)
        rows += [*codes.figures(study, str(setting), items, seconds), *codes.still_found(study, setting, items)]
    check(name, rows, len(quick))


def test_itemsets() -> None:
    rows = []
    for m in (2, 3):
        made = itemsets.measure(9_835, m)
        name = f"{itemsets.K}^{m} on groceries, 9,835 records"
        rows += [row(f"{name}: time", made["seconds"], "CPU s"), row(f"{name}: peak memory", made["memory"], "MB")]
        rows.append(row(f"{name}: loss", made["loss"], "%", f"{made['items']:.0f} items published"))
    check("itemsets", rows, 2)


@pytest.mark.parametrize("table", measured.TABLES, ids=lambda table: table.name)
def test_every_table_is_on_its_page_and_stays_without_rows(table: Any) -> None:
    assert found(table.name)
    assert not table.write(measured.Rows([]))


def test_a_table_is_written_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = named("honest")
    rows = [row(f"honest: refused, view of {line[0]}", 9.996, "%") for line in found("honest")]
    page = tmp_path / table.page
    page.parent.mkdir()
    page.write_text((DOCS / table.page).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(measured, "DOCS", tmp_path)
    assert table.write(measured.Rows(rows))
    changed = (DOCS / table.page).read_text(encoding="utf-8")
    for view, share in found("honest"):
        changed = changed.replace(f"| {view} | {share} |", f"| {view} | 10.00 % |")
    assert page.read_text(encoding="utf-8") == changed
