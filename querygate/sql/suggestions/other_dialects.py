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

_QUOTED = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")""")
_SAS = (
    (r"\b(?:calculated)\s+", ""),
    (r"\bis\s+(not\s+)?missing\b", r"IS \1NULL"),
    (r"\bnmiss\s*\(\s*([^()]*?)\s*\)", r"(COUNT(*) - COUNT(\1))"),
    (r"\bn\s*\(", "COUNT("),
    (r"\bstd\s*\(", "STDDEV_SAMP("),
    (r"\bint\s*\(", "TRUNC("),
    *((rf"(?<=[\w)'\"\s])\s+{word}\s+", f" {sign} ") for word, sign in
      (("eq", "="), ("ne", "<>"), ("ge", ">="), ("le", "<="), ("gt", ">"), ("lt", "<"))),
)  # fmt: skip
"""Words of SAS PROC SQL, and what they are in SQL."""


def rewritten(sql: str) -> Iterator[str]:
    """The statement as DuckDB would have it, read as each database whose marks it bears."""
    plain = _without_sas(sql)
    if plain != sql:
        yield plain
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


def _without_sas(sql: str) -> str:
    """The statement without words of SAS, outside of texts and quoted names."""
    parts = _QUOTED.split(sql)
    for i in range(0, len(parts), 2):
        for word, plain in _SAS:
            parts[i] = re.sub(word, plain, parts[i], flags=re.IGNORECASE)
    return "".join(parts)
