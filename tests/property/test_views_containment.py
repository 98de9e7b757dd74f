"""The truth is inside every range that a gate gives from views, over the whole grammar.

Random tables are published as margins by hand: from certified views, and from any division of the records at all.
`make soak ONLY=views_containment` has 10,000 statements.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.property.tally import Tally
from tests.property.view_cases import try_views

PARTS = 2
ANSWERED = 16
PER_TABLE = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_truth_is_inside_every_range(part: int, tmp_path: Path) -> None:
    tally, seed = Tally(), 1_000 * part
    while tally.answered < ANSWERED:
        tally.add(try_views(seed, tmp_path / str(seed), min(PER_TABLE, ANSWERED - tally.answered)))
        seed += 1
    print(f"{tally.answered} of {tally.asked} answered, refused: {dict(tally.refused)}")

    assert not tally.wrong, "\n".join(tally.wrong[:5])
    assert tally.share >= 0.5
