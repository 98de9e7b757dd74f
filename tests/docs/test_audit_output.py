"""The guide to audits shows what the program prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from querygate.cli import main
from tests.docs.pages import DOCS, blocks

PRESSURES = {40: 108, 41: 112, 42: 110, 43: 109, 44: 111, 45: 110, 46: 107, 47: 113, 48: 110, 50: 110, 51: 165}


def test_the_classic_is_printed_as_the_page_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = blocks(DOCS / "how-to" / "audit-a-log.md")
    log = next(block.text for block in page if block.language == "json")
    shown = next(block.text for block in page if block.language == "text")
    command = next(block.text for block in page if block.language == "sh")
    monkeypatch.chdir(tmp_path)
    Path("queries.jsonl").write_text(log, encoding="utf-8")
    people = "".join(f"{age},{sbp}\n" for age, sbp in PRESSURES.items())
    Path("patients.csv").write_text(f"age,sbp\n{people}", encoding="utf-8")
    done = CliRunner().invoke(main, command.split()[1:], prog_name="querygate")
    assert done.stdout.strip() == shown.strip()
