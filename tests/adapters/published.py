"""A published table in the hands of an engine."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from querygate.core.ports import Limits, PublishedVersion
from querygate.site.open_gate import OpenSite
from tests.adapters.engines import Engine
from tests.adapters.reference import Reference
from tests.policies import AGE, ILLNESS, make_policy, public, quasi
from tests.work import HANG_S

MEMORY_MB = 1024
PATIENT = Limits(timeout_s=HANG_S)
"""For tests that are not about limits: a busy machine is no fault of an engine."""

ROWS = 30_000
POLICY = make_policy(
    "t",
    {
        "age": AGE,
        "ward": quasi("category"),
        "disease": ILLNESS,
        "dose": public("number"),
        "record": public("integer"),
    },
)
NAMES = ("age", "ward", "disease", "dose", "record")


def heavy_columns() -> dict[str, list[Any]]:
    """Thirty thousand cells: a public number keeps every record apart. Enough to be stopped in the middle."""
    rng = random.Random(5)
    return {
        "age": [rng.randrange(100) for _ in range(ROWS)],
        "ward": [rng.choice("abcd") for _ in range(ROWS)],
        "disease": [rng.choice(["flu", "gout", None]) for _ in range(ROWS)],
        "dose": [rng.choice([None, 0.5, 1.5, 2.0]) for _ in range(ROWS)],
        "record": list(range(ROWS)),
    }


@dataclass(frozen=True)
class Published:
    """A site with one table, and the engine that opens its store."""

    engine: Engine
    opened: OpenSite

    def open(self, memory_mb: int = MEMORY_MB) -> PublishedVersion:
        """The release, opened anew, with nothing read yet."""
        return self.engine.gate(self.opened, memory_mb).store.current("t")

    def reference(self, folder: Path) -> Reference:
        """From a copy of the file: the engine holds the original with a configuration of its own."""
        release = self.open()
        copy = folder / "copy.duckdb"
        shutil.copy(self.opened.site.store / "t" / f"v{release.catalog.version:05d}.duckdb", copy)
        return Reference(copy, release.catalog)
