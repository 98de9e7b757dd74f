"""Containment over views at length: other tables and statements than the test suite's, spread over all cores."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.property.answered_statements import ANSWERED, PER_TABLE, answer_many, limit_s
from tests.property.tally import Tally
from tests.property.view_cases import try_views
from tests.report import row

TABLES = 3 * ANSWERED // PER_TABLE
FIRST_SEED = 4_000_000


def run() -> list[dict[str, Any]]:
    tally = answer_many("views", try_one, FIRST_SEED, TABLES)
    return [
        row("views: statements answered", tally.answered, "", f"within {limit_s():.0f} s", target=ANSWERED,
            met=tally.answered >= ANSWERED),
        row("views: ranges without the truth", len(tally.wrong), "of", f"{tally.answered:,} answered", target=0,
            met=not tally.wrong),
    ]  # fmt: skip


def try_one(seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        return try_views(seed, Path(folder), PER_TABLE)
