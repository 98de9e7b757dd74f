"""A refusal points at what it is about, as it stands in the text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from querygate.core.errors import Refusal
from querygate.sql import understand
from tests.each import each
from tests.sql.study import NATIVE
from tests.unit.sql.test_reserved_names import called


@each(
    "sql, marked",
    [
        ("SELECT age, COUNT(*) FROM t", "age"),
        ("SELECT COUNT(*),\n  t.age FROM t", "age"),
        ("SELECT sex, age FROM t GROUP BY sex", "age"),
        ('SELECT AVG(age), "sex" FROM t', '"sex"'),
        ("SELECT age FROM (SELECT age FROM t) AS u", "age"),
    ],
)
def test_a_column_alone_is_marked(sql: str, marked: str) -> None:
    with pytest.raises(Refusal) as refused:
        understand(sql, replace(called("sex"), dataset="t"), NATIVE)
    span = refused.value.span
    assert span is not None
    assert sql.split("\n")[span.line - 1][span.column - 1 :].startswith(marked)
    assert span.length == len(marked)
