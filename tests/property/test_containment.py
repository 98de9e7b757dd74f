"""The most important test of the project: the truth is inside every range.

Each case publishes a random table under a random policy through the real path and asks random queries; DuckDB's
answer on the raw rows must lie in the gate's range, NULL only where the range says it may be, every true group shown
and every certain group true. `make soak ONLY=containment` has 1,000 tables.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.property.random_cases import make_case, random_query, violations

TABLES = 6
QUERIES = 14


@pytest.mark.parametrize("seed", range(TABLES))
def test_truth_is_inside_every_range(seed: int, tmp_path: Path) -> None:
    case = make_case(seed, tmp_path)
    if case is None:
        case = make_case(10_000 + seed, tmp_path / "again") or make_case(20_000 + seed, tmp_path / "last")
    assert case is not None
    rng = random.Random(seed)
    asked = [random_query(rng, case) for _ in range(QUERIES)]
    wrong = [text for sql in asked for text in violations(case, sql)]
    assert not wrong, "\n".join(wrong[:10])
