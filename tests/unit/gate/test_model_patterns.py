"""Levels that a condition leaves out are none, and nobody is hidden in them."""

from __future__ import annotations

from querygate.core.types import Catalog, Column
from querygate.gate.models.model_patterns import _may_be
from querygate.sql import understand
from tests.each import each
from tests.sql.study import NATIVE

CATALOG = Catalog(
    "study", 1, "", 5, 100,
    (
        Column("sex", 0, "quasi-identifier", "category", True, values=("d", "it's", "m", "w")),
        Column("age", 1, "quasi-identifier", "integer", False, 0, 99),
    ),
)  # fmt: skip


@each(
    "where, levels",
    [
        ("sex IN ('m', 'w')", "mw"),
        ("sex IN ('m', 'w') AND age > 30", "mw"),
        ("sex <> 'd' AND sex <> 'it''s'", "mw"),
        ("NOT (sex = 'd' OR sex = 'it''s')", "mw"),
        ("sex IN ('m', 'w') OR age > 30", "dmw"),
        ("age > 30", "dmw"),
        ("sex IS NOT NULL", "dmw"),
        ("COALESCE(sex, 'd') = 'd'", "d"),
    ],
)
def test_a_level_that_the_condition_leaves_out_is_none(where: str, levels: str) -> None:
    plan = understand(f"SELECT sex, COUNT(*) FROM study WHERE {where} GROUP BY 1", CATALOG, NATIVE)
    selected = plan.measures[0].where
    assert "".join(level for level in "dmw" if _may_be(plan.keys[0], level, selected)) == levels
