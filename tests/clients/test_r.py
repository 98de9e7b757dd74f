"""The R package, checked as R checks packages: code, documentation and its own tests."""

from __future__ import annotations

import re
from pathlib import Path

from tests.clients.r_program import SOURCES, needs_r, run

pytestmark = needs_r


def test_r_finds_nothing_wrong_with_the_package(tmp_path: Path) -> None:
    run("R", "CMD", "build", str(SOURCES), folder=tmp_path)
    package = next(tmp_path.glob("querygate_*.tar.gz"))
    told = run("R", "CMD", "check", "--no-manual", package.name, folder=tmp_path)
    assert re.search(r"Running .ranges\.R", told), told
    assert re.search(r"Status: (OK|1 NOTE)", told), told  # a note where R cannot ask for the time
