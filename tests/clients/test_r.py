"""The R package, checked as R checks packages: code, documentation and its own tests."""

from __future__ import annotations

import re
from pathlib import Path

from querygate.client.answer import Range
from tests.clients.r_program import SOURCES, needs_r, run

pytestmark = needs_r


def test_r_finds_nothing_wrong_with_the_package(tmp_path: Path) -> None:
    run("R", "CMD", "build", str(SOURCES), folder=tmp_path)
    package = next(tmp_path.glob("querygate_*.tar.gz"))
    told = run("R", "CMD", "check", "--no-manual", package.name, folder=tmp_path)
    for name in ("answers", "ranges"):
        assert re.search(rf"Running .{name}\.R", told), told
    assert re.search(r"Status: (OK|1 NOTE)", told), told  # a note where R cannot ask for the time


RANGES = [
    Range(127.41237, 131.88811, 129.64183),
    Range(962, 962, 962),
    Range(30.5, 30.5),
    Range(5, 100000, 50),
    Range(24.5009071, 24.5009074, 24.5009072),
    Range(30.499999999999996, 30.500000000000004, 30.5),
    Range(-8e-28, 5130.2, 17.123456, may_be_null=True),
    Range(-0.333333333, 0.666666666, 0.1),
    Range(1.5, 1234567.25, 99999.5),
    Range(-1e300, 1e300 / 3),
    Range(0.0012345678, 0.0012445678, 0.00123999),
]


def test_r_and_python_show_the_same_digits(tmp_path: Path) -> None:
    run("R", "CMD", "INSTALL", f"--library={tmp_path}", str(SOURCES), folder=tmp_path)
    lines = ["library(querygate)"]
    for one in RANGES:
        estimate = "NA" if one.estimate is None else repr(one.estimate)
        may_be_null = str(one.may_be_null).upper()
        found = f"qg_range({one.low!r}, {one.high!r}, {estimate}, may_be_null = {may_be_null})"
        lines.append(f'cat(format({found}), "\\n", sep = "")')
    (tmp_path / "digits.R").write_text("\n".join(lines))
    told = run("Rscript", "digits.R", folder=tmp_path, R_LIBS=str(tmp_path))
    assert told.splitlines() == [str(one) for one in RANGES]
