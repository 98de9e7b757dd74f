"""Categories of which nobody has a value: whatever is compared with them is NULL, as in DuckDB."""

from __future__ import annotations

import pytest

from querygate.core.types import Catalog, Column
from querygate.sql import understand
from tests.engine import scratch
from tests.sql.study import NATIVE
from tests.unit.sql.plan_reference import disagreements, exact_block

COLUMNS = (
    Column("a", 0, "public", "category", True),
    Column("b", 1, "sensitive", "category", True),
    Column("c", 2, "public", "category", True, values=("x", "y")),
)
BARE = Catalog("t", 1, "", 5, 3, COLUMNS)
ROWS = [{"a": None, "b": None, "c": value} for value in ("x", "y", None)]


@pytest.mark.parametrize(
    "condition",
    [
        "a = b",
        "a <> b",
        "NOT a = b",
        "a = c",
        "c <> b",
        "a <> 'x'",
        "a NOT IN ('x', 'y')",
        "(a <> b) IS NULL",
        "a IS NOT DISTINCT FROM b",
        "a IS DISTINCT FROM c",
        "UPPER(a) <> LOWER(b)",
        "a = b OR a <> b OR c = 'x'",
        "CASE WHEN a <> b THEN TRUE ELSE c = 'y' END",
    ],
)
def test_nothing_is_the_same_and_nothing_differs(condition: str) -> None:
    truth = scratch()
    truth.execute("CREATE TABLE t (a VARCHAR, b VARCHAR, c VARCHAR)")
    truth.executemany("INSERT INTO t VALUES (?, ?, ?)", [[row[name] for name in "abc"] for row in ROWS])
    for sql in (
        f"SELECT COUNT(*) FROM t WHERE {condition}",
        f"SELECT c, COUNT(*) FILTER (WHERE {condition}) FROM t GROUP BY c ORDER BY c",
    ):
        given = truth.execute(sql).fetchall()
        assert disagreements(understand(sql, BARE, NATIVE), exact_block(ROWS, BARE), given) == []
