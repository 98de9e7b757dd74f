"""What classes give away, against loops that follow the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.methods.risk import Disclosure, explain_numbers_told, explain_values_told, numbers_told, values_told
from querygate.methods.risk.attribute_disclosure import LIKELY

entries = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3)), min_size=1, max_size=60)


@given(entries)
def test_values_by_loops(records: list[tuple[int, int]]) -> None:
    classes, values = (np.array(part, dtype=np.int64) for part in zip(*records, strict=True))
    found = values_told(classes, values)
    members = [values[classes == label].tolist() for label in np.unique(classes)]
    most = [max(own.count(value) for value in own) for own in members]
    assert found.right_by_class == pytest.approx(sum(most) / len(records))
    assert found.right_overall == max(values.tolist().count(value) for value in values) / len(records)
    same = [own for own in members if len(set(own)) == 1]
    assert found.same == Disclosure(len(same), sum(map(len, same)))
    likely = [own for own, top in zip(members, most, strict=True) if top >= LIKELY * len(own)]
    assert found.likely == Disclosure(len(likely), sum(map(len, likely)))


@given(entries)
def test_a_class_never_makes_a_guesser_worse(records: list[tuple[int, int]]) -> None:
    classes, values = (np.array(part, dtype=np.int64) for part in zip(*records, strict=True))
    found = values_told(classes, values)
    assert found.gain >= -1e-12
    alone = values_told(np.zeros_like(classes), values)
    assert alone.gain == 0


@given(entries)
def test_numbers_by_loops(records: list[tuple[int, int]]) -> None:
    classes = np.array([label for label, _ in records], dtype=np.int64)
    values = np.array([np.nan if value < 0 else value for _, value in records])
    found = numbers_told(classes, values, 1.5)
    members = [values[(classes == label) & ~np.isnan(values)] for label in np.unique(classes)]
    members = [own for own in members if own.size]
    narrow = [own for own in members if np.ptp(own) < 1.5]
    assert found.narrow == Disclosure(len(narrow), sum(map(len, narrow)))
    assert found.classes == len(members)
    if members:
        errors = np.concatenate([np.abs(own - np.median(own)) for own in members])
        assert found.error_by_class == pytest.approx(errors.mean())
        assert found.error_by_class <= found.error_overall + 1e-12
    assert found.to_dict()["narrow"] == {"classes": len(narrow), "records": sum(map(len, narrow))}


def test_nobody_and_nothing_known() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert values_told(nobody, nobody).gain == 0.0
    assert numbers_told(np.zeros(3, dtype=np.int64), np.full(3, np.nan), 1.0).gain == 0.0


def test_lengths_agree() -> None:
    with pytest.raises(ValueError, match="for each record"):
        values_told(np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int64))
    with pytest.raises(ValueError, match="for each record"):
        numbers_told(np.zeros(2, dtype=np.int64), np.zeros(3), 1.0)


def test_sentences() -> None:
    classes = np.array([0, 0, 1, 1])
    values = values_told(classes, np.array([1, 1, 2, 3]))
    assert values.gain == 0.25
    assert "75.0 % of the 4 records (50.0 % without it)" in explain_values_told(values, "illness")
    assert "less than 2" in explain_numbers_told(numbers_told(classes, np.array([1.0, 2, 3, 9]), 2), "weight")
