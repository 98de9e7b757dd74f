"""The guides to other tables and to events, followed: files are written, commands run, and do what is said."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from querygate.cli import main
from tests.docs.pages import DOCS, blocks
from tests.docs.test_commands import commands

NEEDS_A_HOSPITAL = ("omop", "i2b2", "fhir")


def followed(page: str) -> list[str]:
    """What the commands of a page print, one after the other, in the current folder."""
    printed: list[str] = []
    for block in blocks(DOCS / "how-to" / page):
        if block.language in ("csv", "toml") and block.words:
            Path(block.words[0]).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and not any(name in block.text for name in NEEDS_A_HOSPITAL):
            for words in commands(block.text):
                done = CliRunner().invoke(main, words)
                assert done.exit_code == 0, (words, done.output)
                printed.append(done.stdout)
    return printed


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUERYGATE_SITE", raising=False)


def test_persons_are_published_from_events() -> None:
    publication, answer = followed("publish-persons-from-events.md")[1:]

    assert "Records with rows in other tables\n  laboratory  7\n" in publication
    assert "8 exactly" in answer
    with duckdb.connect("site/vault/patients/v00001.duckdb", read_only=True) as vault:
        assert vault.execute("SELECT * EXCLUDE (row_id, age) FROM rows ORDER BY pid").fetchall() == [
            ("p01", 6.1, 2, True),
            ("p02", 5.4, 1, False),
            ("p03", 9.1, 2, True),
            ("p04", None, 0, False),
            ("p05", None, 0, False),
            ("p06", 6.0, 1, False),
            ("p07", 7.0, 1, True),
            ("p08", None, 1, False),
        ]


def test_other_tables_are_joined() -> None:
    publication, description, regions, beds = followed("join-other-tables.md")[1:]

    assert "Records with rows in other tables\n  laboratory  14\n" in publication
    assert "Table districts, 3 rows, joined on code, usually with district" in description
    assert "North" in regions
    assert "South" in regions
    truth = duckdb.sql(
        "SELECT COUNT(*) FROM 'patients.csv' JOIN 'districts.csv' ON district = code WHERE region = 'North'"
    )
    assert truth.fetchall() == [(9,)]
    assert "beds" in beds
