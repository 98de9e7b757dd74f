"""q, r, Q, R and their maxima, also where the register omits people."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.methods.same_disease import explain_instance, instance_risk

CLASSES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50)), max_size=12)


def test_three_of_three_and_three_of_six() -> None:
    found = instance_risk(np.array([3, 3]), np.array([3, 6]))
    assert found.instance().tolist() == [1.0, 0.5]
    assert found.match().tolist() == [1 / 3, 1 / 6]
    assert (found.average_instance, found.average_match) == (0.75, 0.25)
    assert (found.greatest_instance, found.greatest_match) == (1.0, 1 / 3)
    assert (found.records, found.classes, found.incomplete) == (6, 2, 0)


@given(CLASSES)
def test_the_figures_are_those_of_their_definition(classes: list[tuple[int, int]]) -> None:
    found = instance_risk(
        np.array([n for n, _ in classes], dtype=np.int64), np.array([m for _, m in classes], np.int64)
    )
    kept = [(n, Fraction(1, max(n, m)), Fraction(n, max(n, m))) for n, m in classes if n]
    total = sum(n for n, _, _ in kept) or 1
    assert found.average_match == pytest.approx(float(sum(n * q for n, q, _ in kept) / total))
    assert found.average_instance == pytest.approx(float(sum(n * r for n, _, r in kept) / total))
    assert found.greatest_match == pytest.approx(float(max((q for _, q, _ in kept), default=0)))
    assert found.greatest_instance == pytest.approx(float(max((r for _, _, r in kept), default=0)))
    assert found.unmatched == sum(n for n, m in classes if m == 0)
    assert found.short == sum(n for n, m in classes if 0 < m < n)
    assert found.match().shape == found.instance().shape == (found.classes,)


@given(CLASSES.filter(bool), st.integers(0, 11), st.integers(1, 30))
def test_more_people_never_raise_a_risk_and_more_records_never_lower_it(
    classes: list[tuple[int, int]], which: int, more: int
) -> None:
    records, people = (np.array(side, dtype=np.int64) for side in zip(*classes, strict=True))
    which %= records.size
    before = instance_risk(records, people)
    wider = people.copy()
    wider[which] += more
    after = instance_risk(records, wider)
    assert after.average_instance <= before.average_instance + 1e-12
    assert after.average_match <= before.average_match + 1e-12
    assert after.greatest_instance <= before.greatest_instance
    fuller = records.copy()
    fuller[which] += more
    assert instance_risk(fuller, people).greatest_instance >= before.greatest_instance


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 50)), min_size=2, max_size=8))
def test_classes_taken_together_have_no_greater_average(classes: list[tuple[int, int]]) -> None:
    """With a complete register: the inequality of Cauchy and Schwarz, on which the taking back of splits rests."""
    records = np.array([n for n, _ in classes], dtype=np.int64)
    people = records + np.array([m for _, m in classes], dtype=np.int64)
    together = np.append(records[2:], records[:2].sum()), np.append(people[2:], people[:2].sum())
    apart, merged = instance_risk(records, people), instance_risk(*together)
    assert merged.average_instance <= apart.average_instance + 1e-12
    assert merged.greatest_instance <= apart.greatest_instance
    assert merged.average_instance >= records.sum() / people.sum() - 1e-12


def test_a_register_that_leaves_people_out_is_told() -> None:
    found = instance_risk(np.array([2, 3, 1]), np.array([0, 2, 10]))
    assert found.instance().tolist() == [1.0, 1.0, 0.1]
    assert found.match().tolist() == [0.5, pytest.approx(1 / 3), 0.1]
    assert (found.unmatched, found.short) == (2, 3)
    assert "omits people" in explain_instance(found)
    assert json.loads(json.dumps(found.to_dict()))["class_people"] == [0, 2, 10]


def test_a_file_without_a_record_risks_nothing() -> None:
    found = instance_risk(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (found.greatest_instance, found.average_instance, found.classes) == (0.0, 0.0, 0)
    assert "no record" in explain_instance(found)


@pytest.mark.parametrize(("records", "people"), [([1, 2], [3]), ([-1], [3]), ([1], [-3])])
def test_what_is_no_count_is_refused(records: list[int], people: list[int]) -> None:
    with pytest.raises(ValueError, match="number"):
        instance_risk(np.array(records), np.array(people))
