"""Containment over the whole grammar at length: other seeds than the test suite's, and the accepted share by construct.

Tables are spread over all cores.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.property.answered_statements import ANSWERED, PER_TABLE, answer_many, limit_s
from tests.property.tally import Tally, try_table
from tests.report import row

TABLES = 2 * ANSWERED // PER_TABLE
FIRST_SEED = 7_000_000


def run() -> list[dict[str, Any]]:
    return report(answer_many("grammar", try_one, FIRST_SEED, TABLES))


def try_one(seed: int) -> Tally:
    with tempfile.TemporaryDirectory() as folder:
        return try_table(seed, Path(folder), PER_TABLE)


def report(tally: Tally) -> list[dict[str, Any]]:
    """The accepted share of the statements with each construct, then the rows."""
    shares = {name: tally.accepted[name] / number for name, number in tally.written.items()}
    for name in sorted(shares, key=lambda name: (shares[name], name)):
        print(f"{name:20} {shares[name]:6.1%} of {tally.written[name]:,}")
    answered = f"{tally.answered:,} answered"
    return [
        row("grammar: statements answered", tally.answered, "", f"within {limit_s():.0f} s", target=ANSWERED,
            met=tally.answered >= ANSWERED),
        row("grammar: violations", len(tally.wrong), "of", answered, target=0, met=not tally.wrong),
        row("grammar: accepted share", tally.share, "of", f"{tally.asked:,} statements", target=0.6,
            met=tally.share >= 0.6),
    ]  # fmt: skip
