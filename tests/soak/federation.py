"""2,000 random tables split over two to four gates: is the truth on all records in every pooled range?"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from pathlib import Path
from typing import Any

from querygate.custody.publish import method_choice
from tests.property.answered_statements import processes
from tests.property.federation_cases import try_split
from tests.property.tally import Tally
from tests.report import row

SPLITS = 2_000
STATEMENTS = 4


def run() -> list[dict[str, Any]]:
    tally, splits = Tally(), 0
    first = 1_000_000 * (1 + int(os.environ.get("SOAK_SEED", "0")))
    with multiprocessing.get_context("fork").Pool(processes(), with_one_method) as pool:
        for found in pool.imap_unordered(try_one, range(first, first + 2 * SPLITS)):
            tally.add(found)
            splits += bool(found.answered)
            if splits % 100 == 0:
                print(
                    f"federation: {splits:,} splits, {tally.figures:,} figures, wrong: {len(tally.wrong)}", flush=True
                )
            if splits >= SPLITS:
                pool.terminate()
                break
    print("\n".join(tally.wrong[:20]))
    print(f"refused: {dict(tally.refused)}")
    asked, figures = f"{tally.answered:,} statements", f"{tally.figures:,} figures"
    return [
        row("federation: splits answered", splits, "", asked, target=SPLITS, met=splits >= SPLITS),
        row("federation: ranges without the truth", len(tally.wrong), "of", figures, target=0, met=not tally.wrong),
    ]


def with_one_method() -> None:
    """As with large tables: to compare methods takes a fifth of the time, and is not what is tried here."""
    method_choice.COMPARED_ROWS = 0


def try_one(seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        return try_split(seed, Path(folder), STATEMENTS)
