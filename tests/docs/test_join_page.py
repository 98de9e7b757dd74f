"""The guide to other tables, followed: its files are written, its commands run, and do what it says."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from querygate.cli import main
from tests.docs.pages import DOCS, blocks
from tests.docs.test_commands import commands

PAGE = DOCS / "how-to" / "join-other-tables.md"


def test_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUERYGATE_SITE", raising=False)
    printed: list[str] = []
    for block in blocks(PAGE):
        if block.language in ("csv", "toml"):
            Path(block.words[0]).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            for words in commands(block.text):
                done = CliRunner().invoke(main, words)
                assert done.exit_code == 0, (words, done.output)
                printed.append(done.stdout)
    publication, description, regions, beds = printed[1:]

    assert "Records with a row in a joined table\n  laboratory  14\n" in publication
    assert "Table districts, 3 rows, joined on code, usually with district" in description
    assert "North" in regions
    assert "South" in regions
    truth = duckdb.sql(
        "SELECT COUNT(*) FROM 'patients.csv' JOIN 'districts.csv' ON district = code WHERE region = 'North'"
    )
    assert truth.fetchall() == [(9,)]
    assert "beds" in beds
