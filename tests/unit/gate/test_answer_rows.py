"""Groups as an answer shows them."""

from __future__ import annotations

import pytest

from querygate.core.ports import Limits
from querygate.core.types import Range
from querygate.gate.answer_rows import make_groups
from querygate.gate.plan_cells import RangedGroup
from querygate.sql import understand
from tests.sql.study import CATALOG, NATIVE


@pytest.mark.parametrize(
    ("asked", "counted", "shown"),
    [
        ("COUNT(*)", Range(5, 9), (5, 9)),
        ("COUNT(*)", Range(2, 15), (3, 12)),
        ("COUNT(*)", Range.exact(7), (7, 7)),
        ("COUNT(*) FILTER (WHERE age > 30)", Range(4, 5), (3, 12)),
        ("COUNT(sbp)", Range(4, 5), (3, 12)),
    ],
)
def test_records_in_a_group_are_never_told_wider_than_the_count_beside_them(
    asked: str, counted: Range, shown: tuple[int, int]
) -> None:
    plan = understand(f"SELECT sex, {asked} FROM patients GROUP BY sex", CATALOG, NATIVE, Limits())
    ranged = RangedGroup(("F",), (0,), False, (counted,), Range(3, 12))
    (group,) = make_groups(plan, [ranged], lambda: None, wholes={})

    assert (group.count.low, group.count.high) == shown
