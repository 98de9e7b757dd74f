"""The whole accepted corpus from every engine, on a store of classes and on one of views: answers are the same bytes.
And all tests of engines for those that are too slow for `make test`.

Cells of random tables are in `engines`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests import postgres, spark
from tests.adapters.engines import ENGINES, EVERYTHING
from tests.adapters.test_same_answers import SAMPLES, STORES, answered_otherwise, published_study
from tests.report import row


def run() -> list[dict[str, Any]]:
    told = [_suite()]
    try:
        for store in STORES:
            with tempfile.TemporaryDirectory() as folder:
                study = published_study(store, Path(folder))
                for engine in ENGINES[1:]:
                    wrong, answered = answered_otherwise(study, engine, SAMPLES)
                    print("\n".join(f"{engine.name}, {store}: {where}" for where in wrong))
                    name = f"conformance: {engine.name}, {store}: statements answered otherwise"
                    against = f"{len(SAMPLES)}, {answered} of which are answered"
                    told.append(row(name, len(wrong), "of", against, target=0, met=not wrong and answered > 0))
    finally:
        postgres.stop()
        spark.stop()
    return told


def _suite() -> dict[str, Any]:
    """Without the exceptions that `make test` makes."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/adapters", "-m", "spark"]
    done = subprocess.run(words, env=os.environ | {EVERYTHING: "1"}, check=False)
    return row("conformance: suite of engines, exit code", done.returncode, "", target=0, met=done.returncode == 0)
