"""Every engine against the reference at length: other seeds than the test suite's, many more of them."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from tests.adapters.engines import ENGINES
from tests.adapters.test_conformance import check_release
from tests.property.random_cases import make_case
from tests.report import row

TABLES = 500
FIRST_SEED = 3_000_000
SLOW = 20
"""Of so many tables an engine that is slow to answer gets one."""

LIMIT_S = 1_800


def run() -> list[dict[str, Any]]:
    began = time.monotonic()
    tried, wrong = 0, []
    for seed in range(FIRST_SEED, FIRST_SEED + TABLES):
        if time.monotonic() - began > LIMIT_S:
            break
        with tempfile.TemporaryDirectory() as folder:
            case = make_case(seed, Path(folder))
            for engine in ENGINES if case is not None else ():
                if engine.slow and seed % SLOW:
                    continue
                tried += 1
                try:
                    check_release(engine, seed, case, Path(folder))
                except AssertionError as error:
                    wrong.append(f"{engine.name}, seed {seed}: {error}")
    print("\n".join(wrong[:20]))
    return [row("engines: tables answered otherwise", len(wrong), "of", f"{tried:,}", target=0, met=not wrong)]
