"""Order and limits over whole numbers that doubles cannot tell apart."""

from __future__ import annotations

from querygate.core.plan import Order
from querygate.core.types import Group, Range
from querygate.gate.arrange import arrange
from tests.unit.plans import category_key, make_plan


def test_neighbours_beyond_two_to_the_53_are_not_tied() -> None:
    plan = make_plan(keys=[category_key("g", ("a", "b", "c"))], orders=(Order(1, True, False),), limit=1)
    groups = tuple(
        Group((key,), (Range.exact(value),), Range.exact(3), certain=True)
        for key, value in (("a", 2**61 + 5), ("b", 2**61 + 6), ("c", 2**61 + 4))
    )
    shown, notes = arrange(groups, plan)
    assert [(group.keys, group.certain) for group in shown] == [(("b",), True)]
    assert notes == ()
