"""Random statements mean what they mean in DuckDB: 50 other seeds for each test of that kind, 45,000 texts in all."""

from __future__ import annotations

from typing import Any

from tests.report import row
from tests.unit.sql import test_meaning

SEEDS = range(1_000, 1_050)
CHECKS = (
    test_meaning.test_conditions_bind_and_compare_as_in_duckdb,
    test_meaning.test_conditions_with_a_word_amiss,
    test_meaning.test_numbers_are_compared_as_in_duckdb,
    test_meaning.test_names_positions_and_order_mean_what_they_mean_in_duckdb,
    test_meaning.test_statements_with_a_word_amiss,
)


def run() -> list[dict[str, Any]]:
    wrong = []
    for check in CHECKS:
        for seed in SEEDS:
            try:
                check(seed)
            except AssertionError as failure:
                wrong.append(f"{check.__name__}, seed {seed}: {failure}")
    print("\n".join(wrong[:20]))
    tried = f"{len(CHECKS) * len(SEEDS)} seeds"
    return [row("meaning: seeds with a difference", len(wrong), "of", tried, target=0, met=not wrong)]
