"""Names of datasets, tables and columns in statements: in double quotes where SQL would not read them as names."""

from __future__ import annotations

import re

from sqlglot import exp

_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def needs_quotes(name: str) -> bool:
    return not _PLAIN.fullmatch(name) or name.lower() in RESERVED


def in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def name_text(name: str) -> str:
    """
    >>> name_text("age"), name_text("blood pressure"), name_text("Order")
    ('age', '"blood pressure"', '"Order"')
    """
    return in_quotes(name) if needs_quotes(name) else name


def name_node(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=needs_quotes(name))


def column_node(name: str) -> exp.Column:
    return exp.Column(this=name_node(name))


def table_node(name: str) -> exp.Table:
    return exp.Table(this=name_node(name))


RESERVED = frozenset(
    {
        "all", "alter", "analyse", "analyze", "and", "anti", "any", "array", "as", "asc", "asof",
        "asymmetric", "at", "authorization", "between", "binary", "both", "by", "case", "cast", "check",
        "collate", "collation", "column", "concurrently", "constraint", "create", "cross", "current_date",
        "current_time", "current_timestamp", "current_user", "default", "deferrable", "desc", "describe",
        "distinct", "do", "drop", "else", "end", "except", "false", "fetch", "for", "force", "foreign",
        "freeze", "from", "full", "glob", "grant", "group", "having", "ilike", "in", "initially", "inner",
        "insert", "install", "intersect", "into", "is", "isnull", "join", "lambda", "lateral", "leading",
        "left", "like", "limit", "localtime", "localtimestamp", "map", "natural", "not", "notnull", "null",
        "offset", "on", "only", "or", "order", "outer", "overlaps", "pivot", "pivot_longer", "pivot_wider",
        "placing", "positional", "primary", "qualify", "references", "returning", "revoke", "right",
        "rollback", "select", "semi", "session_user", "show", "similar", "some", "summarize", "symmetric",
        "table", "tablesample", "then", "to", "trailing", "true", "union", "unique", "unpack", "unpivot",
        "user", "using", "values", "variadic", "verbose", "when", "where", "window", "with",
    }
)  # fmt: skip
"""Words that the database or the parser does not read as a name everywhere."""
