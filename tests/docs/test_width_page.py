"""The guide to wide ranges prints what the program prints."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.site.open_gate import OpenSite
from tests.docs.pages import DOCS, Block, blocks
from tests.docs.test_commands import commands

SHOWN = [b for b in blocks(DOCS / "how-to" / "why-is-my-range-wide.md") if b.language == "sh" and b.output is not None]


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_the_page_shows_what_is_printed(block: Block, demo_site: OpenSite) -> None:
    (words,) = commands(block.text)
    done = CliRunner().invoke(main, ["--site", str(demo_site.site.folder), *words])
    assert done.exit_code == 0, done.output
    printed = done.stdout.split("\nsurvey, version ")[0].rstrip()
    assert block.output is not None
    assert printed == block.output.text.rstrip()
