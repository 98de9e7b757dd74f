"""A question to the site in a folder waits for no library that it does not use."""

from __future__ import annotations

import subprocess
import sys

SLOW = ("httpx", "scipy.special", "scipy.stats", "flask", "pandas", "matplotlib", "pyarrow")


def test_asking_loads_neither_http_nor_special_functions() -> None:
    code = f"import sys, querygate.cli.query; print([name for name in {SLOW!r} if name in sys.modules])"

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "[]"
