"""Statements written for another database, in words that DuckDB reads: TOP, backticks, TO_CHAR.

A dialect is tried only where the text has a mark of it: many words mean one thing here and another there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import Dialect
from sqlglot.errors import SqlglotError

from querygate.core.errors import Refusal
from querygate.sql.parse import check_size

_MARKS = {
    "mysql": r"`|\bDATE_FORMAT\s*\(|\bWITH\s+ROLLUP\b",
    "tsql": r"\bTOP\s+\(?\d|\[\w+\]|\b(?:COUNT_BIG|ISNULL|DATEPART|DATENAME|IIF|LEN|STDEVP?|VARP)\s*\(",
    "bigquery": r"\b(?:FORMAT_DATE|SAFE_DIVIDE|COUNTIF|APPROX_QUANTILES)\s*\(",
    "postgres": r"\bTO_CHAR\s*\(",
    "oracle": r"\b(?:DECODE|NVL2?)\s*\(",
}
_MOST_NESTED = 30


def rewritten(sql: str) -> Iterator[str]:
    """The statement as DuckDB would have it, read as each database whose marks it bears."""
    for name, mark in _MARKS.items():
        if not re.search(mark, sql, re.IGNORECASE):
            continue
        dialect = Dialect.get_or_raise(name)
        try:
            tokens = dialect.tokenize(sql)
            check_size(tokens, _MOST_NESTED)
            trees = dialect.parser().parse(tokens, sql)
            if len(trees) == 1 and trees[0] is not None:
                yield trees[0].sql(dialect="duckdb")
        except (SqlglotError, Refusal, RecursionError, ValueError, TypeError, AttributeError, LookupError):
            continue  # texts that are no SQL of that database
