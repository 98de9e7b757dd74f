"""The guide to PostgreSQL clients shows what they print, against a running gate with the demo study.

QUERYGATE_RECORD=1 writes what they print into the page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from querygate.site.open_gate import OpenSite
from querygate.web import listen
from querygate.wire import open_wire
from tests.docs.pages import DOCS, Block, blocks
from tests.work import HANG_S

PAGE = DOCS / "how-to" / "connect-with-psql-r-jdbc.md"
SHOWN = [block for block in blocks(PAGE) if block.words in (("psql",), ("wire",))]
NEEDS = {"sh": "psql", "python": sys.executable, "r": "Rscript"}


@pytest.fixture(scope="module")
def door(ann: OpenSite) -> Iterator[tuple[int, str]]:
    """The port, and a key of ann's."""
    key = ann.accounts.keys.new("ann").secret
    listening = listen("127.0.0.1", 0)
    with open_wire(ann, listening):
        yield listening[0].getsockname()[1], key
    for one in listening:
        one.close()


def printed(block: Block, port: int, key: str) -> str:
    """What it prints, both to people and of errors."""
    given = {"python": f"port, key = {port}, {key!r}\n", "r": f"port <- {port}L; key <- '{key}'\n", "sh": ""}
    text = given[block.language] + block.text.replace(" -p 5433 ", f" -p {port} ")
    command = {"sh": ["bash", "-c"], "python": [sys.executable, "-c"], "r": ["Rscript", "--vanilla", "-e"]}[
        block.language
    ]
    environment = {**os.environ, "PGPASSWORD": key, "PSQLRC": "/dev/null", "PGCLIENTENCODING": "UTF8"}
    done = subprocess.run([*command, text], capture_output=True, text=True, env=environment, timeout=HANG_S)
    said = done.stderr + done.stdout
    said = re.sub(r"Query q_\w+", "Query q_01...", said)
    return "\n".join(line.rstrip() for line in said.strip("\n").splitlines()) + "\n"


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_the_page_shows_what_is_printed(block: Block, door: tuple[int, str]) -> None:
    if shutil.which(NEEDS[block.language]) is None:
        pytest.skip(f"{NEEDS[block.language]} is not installed")
    assert block.output is not None
    said = printed(block, *door)
    if os.environ.get("QUERYGATE_RECORD"):
        PAGE.write_text(
            PAGE.read_text().replace(
                f"{block.text}```\n\n```text\n{block.output.text}```", f"{block.text}```\n\n```text\n{said}```"
            )
        )
    assert said == block.output.text
