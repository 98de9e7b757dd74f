"""R, where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.work import HANG_S

SOURCES = Path(__file__).parents[2] / "clients" / "r"
NEEDED = "for (name in c('httr2', 'jsonlite', 'vctrs')) stopifnot(requireNamespace(name, quietly = TRUE))"


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", NEEDED], capture_output=True, timeout=HANG_S).returncode == 0


needs_r = pytest.mark.skipif(not has_r(), reason="R and its packages are not installed: see tests/install_tools.sh")


def run(*words: str, folder: Path, **environment: str) -> str:
    """What a program prints, errors included."""
    told = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **environment}
    done = subprocess.run(
        words, cwd=folder, env=told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
