"""Range diversity and shares by value: what a class spans, worked by hand, and guards beside the independent check."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise import Alpha, Leaves, Names, Ranks, Sensitive, partition_check, range_check

TREE = [("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "gut", "*"), ("colitis", "gut", "*")]


def test_the_share_of_hiv_in_the_class_of_the_tutorial() -> None:
    """Gkoulalas-Divanis & Loukides 2012: four of six have HIV, so three distinct values still tell it with 0.67."""
    one_class = Sensitive("disease", np.zeros(3, dtype=np.int64), np.arange(3), np.array([4, 1, 1]), 3)
    row = np.zeros(1, dtype=np.int64)

    def holds(*each: float) -> bool:
        return bool(Alpha(one_class, 0.7, np.array(each)).classes(row, row, 1)[0])

    assert holds(0.67, 0.7, 0.7)
    assert not holds(0.66, 0.7, 0.7)
    assert not holds(0.7, 0.7, 0.1)
    assert round(partition_check.largest_share(np.zeros(6, int), np.array([0, 0, 0, 0, 1, 2]), among=[0]), 2) == 0.67
    assert partition_check.largest_share(np.zeros(6, int), np.array([0, 0, 0, 0, 1, 2]), among=[1, 2]) == 1 / 6
    assert partition_check.largest_share(np.zeros(6, int), np.array([0, 0, 0, 0, 1, 2]), among=[9]) == 0


@pytest.mark.parametrize(
    ("held", "names", "order", "tree"),
    [
        ({"flu"}, 0, 0, 0),
        ({"flu", "asthma"}, 0.5, 1 / 3, 0.5),
        ({"flu", "ulcer"}, 0.5, 2 / 3, 1),
        ({"flu", "colitis"}, 0.5, 1, 1),
        ({"flu", "asthma", "ulcer", "colitis"}, 1, 1, 1),
        (set(), 0, 0, 0),
    ],
)
def test_what_a_class_spans(held: set[str], names: float, order: float, tree: float) -> None:
    texts = [row[0] for row in TREE]
    row = np.array([[text in held for text in texts]])
    classes = np.zeros(max(1, len(held)), dtype=np.int64)
    values = sorted(held) or [None]
    levels = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))
    leaves = Leaves(levels, (np.full(4, 0.25), np.full(4, 0.5), np.ones(4)))
    for scale, span, expected in (
        (Names(4), range_check.of_names(4), names),
        (Ranks(np.arange(4), 3), range_check.of_order(texts), order),
        (leaves, range_check.of_tree(TREE), tree),
    ):
        assert scale.spans(row)[0] == pytest.approx(expected)
        assert range_check.narrowest_range(classes, values, span) == pytest.approx(expected)


def test_a_missing_value_adds_nothing_and_values_outside_an_order_neither() -> None:
    classes = np.array([1, 1, 1, 2, 2, 2])
    span = range_check.of_order(("mild", "medium", "severe"))
    assert range_check.narrowest_range(classes, ["mild", "medium", None, "mild", "severe", "rare"], span) == 0.5
    assert range_check.narrowest_range(classes, ["mild", None, "rare", "mild", "severe", None], span) == 0.0
