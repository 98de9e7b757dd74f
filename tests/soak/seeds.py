"""Every random case of the tests that try only some of them each time."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from tests.places import ROOT
from tests.report import row
from tests.seeds import EVERY


def run() -> list[dict[str, Any]]:
    files = [file for file in sorted((ROOT / "tests").rglob("test_*.py")) if "tests.seeds" in file.read_text("utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count()), *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, EVERY: "1"}, check=False)
    return [row("seeds: files with all their cases", len(files), "", target=0, met=done.returncode == 0)]
