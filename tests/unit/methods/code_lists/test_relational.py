"""Codes within relational classes: each class is checked on its own, by listing itemsets."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.relational import CodesInClasses, codes_in_classes
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.bench.itemsets import balanced, groceries
from tests.seeds import seeds
from tests.unit.methods.code_lists.test_km import random_case, rare


def check(baskets: Baskets, before: np.ndarray, made: CodesInClasses, k: int, m: int) -> None:
    """Classes are unions of the earlier ones, of k records each, and k^m-anonymous within."""
    published = made.codes.published.lists()
    assert np.bincount(made.labels).min() >= k
    assert len({(a, b) for a, b in zip(before.tolist(), made.labels.tolist(), strict=True)}) == np.unique(before).size
    for label in np.unique(made.labels):
        assert rare([published[i] for i in np.flatnonzero(made.labels == label)], k, m) == []
    for codes, record in zip(baskets.lists(), published, strict=True):
        groups = [set(made.codes.groups[item]) for item in record]
        assert all(sum(code in group for group in groups) == 1 for code in codes)
        assert all(group & set(codes) for group in groups)


@pytest.mark.parametrize("seed", seeds(20))
def test_random_records(seed: int) -> None:
    baskets, levels, _ = random_case(seed)
    labels = np.arange(60) // 6
    for centres in (None, np.arange(10.0).reshape(-1, 1)):
        made = codes_in_classes(baskets, labels, levels, 3, 2, centres)
        check(baskets, labels, made, 3, 2)


def test_groceries() -> None:
    """Two hundred classes; less loss where classes may be merged for it."""
    baskets, levels = groceries()
    few = Baskets(baskets.starts[:2001], baskets.members[: baskets.starts[2000]], baskets.size)
    labels = np.arange(2000) // 10
    made = codes_in_classes(few, labels, levels, 5, 2)
    check(few, labels, made, 5, 2)
    assert made.merged == 0
    bounded = codes_in_classes(few, labels, levels, 5, 2, most_loss=0.5)
    check(few, labels, bounded, 5, 2)
    assert bounded.merged > 0
    assert bounded.codes.loss < made.codes.loss


def test_a_class_with_few_records_that_have_codes_is_merged_with_the_nearest() -> None:
    baskets = Baskets.of([[0], [0], [1], [], [1], [1]], 2)
    labels, centres = np.array([0, 0, 1, 1, 2, 2]), np.array([[0.0], [1.0], [9.0]])
    made = codes_in_classes(baskets, labels, balanced(2), 2, 1, centres)
    assert (made.labels.tolist(), made.merged) == ([0, 0, 0, 0, 1, 1], 1)
    check(baskets, labels, made, 2, 1)


def test_a_code_of_every_record_stays() -> None:
    made = codes_in_classes(Baskets.of([[0], [0], [0, 1], [0, 2]], 3), np.array([0, 0, 1, 1]), balanced(3, 2), 2, 2)
    assert (0,) in made.codes.groups


def test_refusals() -> None:
    baskets, levels = Baskets.of([[0], [1], [], []], 2), balanced(2)
    with pytest.raises(Unprotectable, match="1 class has fewer than k = 2"):
        codes_in_classes(baskets, np.array([0, 0, 0, 1]), levels, 2, 1)
    with pytest.raises(Unprotectable, match="fewer than k = 3"):
        codes_in_classes(baskets, np.zeros(4, dtype=np.int64), levels, 3, 1)
    with pytest.raises(ValueError, match="one label for each record"):
        codes_in_classes(baskets, np.zeros(3, dtype=np.int64), levels, 1, 1)
    with pytest.raises(ValueError, match="m is at least 1"):
        codes_in_classes(baskets, np.zeros(4, dtype=np.int64), levels, 2, 0)
    with pytest.raises(ValueError, match="one row of centres"):
        codes_in_classes(baskets, np.array([0, 0, 1, 1]), levels, 2, 1, np.zeros((1, 1)))
