"""Values of expressions in rows of a block, beside rows without any."""

from __future__ import annotations

import numpy as np

from querygate.bounds.expression_values import evaluate
from querygate.bounds.membership import Membership
from querygate.core.block import ALL_NULLS, NO_NULLS, Block, NumberColumn
from querygate.core.expression import Call, Constant, Ref


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
