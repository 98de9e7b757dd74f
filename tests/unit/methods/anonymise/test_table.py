"""A table that makes no sense is refused before any work is done."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.anonymise import Attribute, Table
from querygate.methods.anonymise.division.node_cells import argsort_packed

CODES = np.array([0, 1, 1])
EDGES = np.array([0.0, 1.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, "positive"),
        ({"weight": 0.0}, "positive"),
        ({"span": -1.0}, "not negative"),
        ({"size": 1, "lower": EDGES[:1], "upper": EDGES[:1]}, "codes run"),
        ({"codes": np.array([-2, 0, 1])}, "codes run"),
        ({"lower": None}, "has lower and upper"),
        ({"ordered": False}, "has lower and upper"),
        ({"upper": EDGES[:1]}, "one finite edge"),
        ({"upper": EDGES[::-1]}, "rising"),
        ({"upper": np.array([1.0, np.inf])}, "finite"),
        ({"cuts": (0,)}, "cuts are codes"),
        ({"cuts": (2,)}, "cuts are codes"),
    ],
)
def test_attributes_are_checked(change, message):
    good = {"codes": CODES, "size": 2, "ordered": True, "span": 2.0, "lower": EDGES, "upper": EDGES + 1}
    assert Attribute("age", **good).size == 2
    with pytest.raises(ValueError, match=message):
        Attribute("age", **(good | change))


def test_tables_are_checked():
    sex = Attribute.nominal("sex", CODES, 2)
    assert Table((sex,), np.array([1, 2, 3])).records == 6
    assert Table((), np.array([4])).records == 4
    with pytest.raises(ValueError, match="one code per combination"):
        Table((sex,), np.array([1, 2]))
    with pytest.raises(ValueError, match="at least one record"):
        Table((sex,), np.array([1, 0, 2]))


@pytest.mark.parametrize("scale", [1, 1 << 58])
def test_sorting_is_stable_for_small_and_for_huge_keys(scale):
    key = np.array([3, 1, 3, 0, 1]) * scale
    order, ordered = argsort_packed(key)
    assert order.tolist() == [3, 1, 4, 0, 2]
    assert ordered.tolist() == sorted(key.tolist())
