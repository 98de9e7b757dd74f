"""Values of expressions in rows of a block, beside rows without any."""

from __future__ import annotations

import numpy as np

from querygate.bounds.expression_values import evaluate
from querygate.bounds.membership import Membership
from querygate.core.block import ALL_NULLS, NO_NULLS, Block, NumberColumn
from querygate.core.expression import Call, Choice, Constant, Ref
from querygate.core.predicate import compare
from querygate.core.valueset import ValueSet


def test_a_row_without_values_has_none_though_an_interval_is_split() -> None:
    """A column that occurs twice is split into parts; a part of no value is none, and not the least whole number."""
    int64 = np.iinfo(np.int64)
    low, high = np.array([1, int64.max]), np.array([9, int64.min])
    column = NumberColumn(low, high, np.array([NO_NULLS, ALL_NULLS], dtype=np.int8))
    block = Block(np.array([3, 2]), {"a": column})
    smaller = Call("least", (Constant(2, "integer"), Ref("a", "integer")), "integer")
    box = evaluate(Call("greatest", (Ref("a", "integer"), smaller), "integer"), Membership(block, lambda: None))
    assert (box.low[0], box.high[0]) == (1, 9)
    assert box.low[1] > box.high[1]


def test_a_branch_whose_value_is_missing_gives_none() -> None:
    """CASE WHEN x BETWEEN 5 AND 20 THEN ABS(a) ELSE 3 END where `a` is NULL for certain: three, or NULL."""
    int64 = np.iinfo(np.int64)
    some = NumberColumn(np.array([0]), np.array([9]), np.array([NO_NULLS], dtype=np.int8))
    none = NumberColumn(np.array([int64.max]), np.array([int64.min]), np.array([ALL_NULLS], dtype=np.int8))
    block = Block(np.array([3]), {"x": some, "a": none})
    value = Call("abs", (Ref("a", "integer"),), "integer")
    branch = (compare("x", ValueSet.between("integer", 5, 20)), value)
    box = evaluate(Choice((branch,), Constant(3, "integer"), "integer"), Membership(block, lambda: None))
    assert (box.low[0], box.high[0]) == (3, 3)
