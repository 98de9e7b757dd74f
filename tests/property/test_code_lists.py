"""A published table with lists of codes answers case counts with ranges that hold the truth, whatever is asked.

`make soak ONLY=codes` asks many more, of eight times as many patients.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.property.code_cases import CLAIMS_SETTINGS, SETTINGS, TESTS, try_claims, try_small

QUERIES = 25
PATIENTS = 400


@pytest.mark.parametrize("setting", SETTINGS)
def test_case_counts_hold_the_truth(setting: str, tmp_path: Path) -> None:
    tried = try_small(setting, tmp_path, QUERIES)

    assert tried.wrong == []
    assert tried.exact > 0


@pytest.mark.parametrize("setting", CLAIMS_SETTINGS)
def test_case_counts_of_claims_hold_the_truth(setting: str, tmp_path: Path) -> None:
    tried = try_claims(setting, tmp_path, QUERIES, patients=PATIENTS)

    assert tried.wrong == []
    assert min(tried.tests[test] for test in TESTS) >= QUERIES / 10
