"""What reading a statement takes is free again at once, and not only when Python looks for circles of objects."""

from __future__ import annotations

import gc

from querygate.sql import understand
from tests.sql.study import NATIVE
from tests.unit.core.test_margin_choice import CATALOG

FEW = 60
"""Objects in circles after a statement; those of its trees alone were twice as many."""


def test_the_trees_of_a_statement_are_not_left_to_the_collector() -> None:
    sql = "SELECT sex, AVG(sbp) FROM t WHERE age BETWEEN {} AND 60 GROUP BY sex"
    understand(sql.format(20), CATALOG, NATIVE)
    gc.collect()
    gc.disable()
    try:
        understand(sql.format(21), CATALOG, NATIVE)
        left = gc.collect()
    finally:
        gc.enable()

    assert left < FEW
