"""The study of extracts, on its smallest case: what it makes has the shape that was promised."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench import extracts
from tests.bench.extracts import Case

CASE = Case("colon", 20, "linear")


def test_one_case_from_data_to_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extracts, "REPEATS", 2)
    outcomes = extracts.measure(CASE)
    assert set(outcomes) == set(extracts.WAYS)
    assert outcomes["improved"].compared.repetitions == 2
    assert outcomes["mdav"].compared.repetitions == 1
    assert outcomes["improved"].compared.outside <= outcomes["tfrp"].compared.outside
    assert all(outcome.privacy > 5 for outcome in outcomes.values())
    line = next(line for line in extracts.tables({CASE: outcomes}).splitlines() if line.startswith("| colon"))
    assert line.startswith(f"| colon | 20 | {extracts.cell(outcomes['improved'])} |")


def test_a_k_anonymous_extract_has_classes_of_k() -> None:
    made = extracts.extract(CASE, "k-anonymous", 0)
    original = extracts.original(CASE)
    np.testing.assert_array_equal(made["nodes"], original["nodes"])
    rest = np.column_stack([values for name, values in made.items() if name != "nodes"])
    assert np.unique(rest, axis=0, return_counts=True)[1].min() >= 20
