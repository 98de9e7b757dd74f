"""SQL in the documentation is what it says it is: accepted, or refused with that code; and prints what is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import Refusal
from querygate.site.open_gate import OpenSite
from querygate.sql import understand
from tests.docs.pages import DOCS, Block, all_pages, blocks


def is_plain(block: Block) -> bool:
    """The README shows SQL without a mark: it is to be accepted by the demo dataset that it names."""
    return block.page.name == "README.md" and not block.words


def is_by_classes(block: Block) -> bool:
    return block.words[1:] == ("by-classes",)


def dataset_of(block: Block) -> str:
    return block.words[0] if block.words else re.findall(r"FROM (\w+)", block.text)[0]


# Pages made by the program itself are checked where they are made.
WRITTEN = [page for page in all_pages() if DOCS / "reference" not in page.parents or page.name == "sql.md"]
STATEMENTS = [block for page in WRITTEN for block in blocks(page) if block.language == "sql"]
ACCEPTED = [block for block in STATEMENTS if len(block.words) == 1 or is_by_classes(block) or is_plain(block)]
REFUSED = [block for block in STATEMENTS if len(block.words) == 3]
SHOWN = [block for block in ACCEPTED if block.output is not None and block.output.language == "text"]


def texts(block: Block) -> list[str]:
    return [part.strip() for part in block.text.split(";") if part.strip()]


def test_every_statement_says_what_it_is() -> None:
    unmarked = [str(block) for block in STATEMENTS if block not in ACCEPTED and block not in REFUSED]
    assert not unmarked
    assert ACCEPTED
    assert REFUSED


@pytest.mark.parametrize("block", ACCEPTED, ids=str)
def test_accepted(block: Block, demo_site: OpenSite, classes_site: OpenSite) -> None:
    opened = classes_site if is_by_classes(block) else demo_site
    catalog = opened.store.current(dataset_of(block)).catalog
    for sql in texts(block):
        assert understand(sql, catalog, opened.gate.native, opened.gate.limits).outputs


@pytest.mark.parametrize("block", REFUSED, ids=str)
def test_refused(block: Block, demo_site: OpenSite) -> None:
    dataset, word, code = block.words
    assert word == "refused"
    for sql in texts(block):
        with pytest.raises(Refusal) as refusal:
            understand(sql, demo_site.store.current(dataset).catalog, demo_site.gate.native, demo_site.gate.limits)
        assert refusal.value.code == code, sql


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_prints_what_is_shown(block: Block, demo_site: OpenSite, classes_site: OpenSite) -> None:
    assert block.output is not None
    opened = classes_site if is_by_classes(block) else demo_site
    assert printed(opened.site.folder, dataset_of(block), block.text) == block.output.text


def printed(site: Path, dataset: str, sql: str) -> str:
    """What `querygate query` prints, without the last line: it tells an id and a time."""
    result = CliRunner().invoke(main, ["--site", str(site), "query", "--dataset", dataset, "-"], input=sql)
    assert result.exit_code == 0, result.output
    return re.sub(r"\n\n[a-z]\w*, version \d+; q_\w+; [\d.]+ ms\n$", "\n", result.stdout)
