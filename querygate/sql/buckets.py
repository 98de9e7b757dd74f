"""WIDTH_BUCKET by its definition. PostgreSQL has the function and DuckDB does not, so its meaning is written out."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp, parse_one

from querygate.core.errors import UnsupportedSQL
from querygate.sql.parse import DIALECT, span_of

_DEFINITION = (
    "CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1 "
    "ELSE CAST(FLOOR((x - low) * n / (high - low)) AS BIGINT) + 1 END"
)


def write_out_buckets(tree: exp.Expr) -> None:
    """Put the definition in the place of every WIDTH_BUCKET(x, low, high, n).

    >>> tree = parse_one("SELECT WIDTH_BUCKET(age, 0, 100, 10)", dialect="duckdb")
    >>> write_out_buckets(tree)
    >>> tree.sql("duckdb")[:48]
    'SELECT (CASE WHEN (age) < (0) THEN 0 WHEN (age) '
    """
    for node in list(tree.find_all(exp.WidthBucket)):
        node.replace(exp.Paren(this=_written_out(node)))


def _written_out(node: exp.WidthBucket) -> exp.Expr:
    names = {"x": "this", "low": "min_value", "high": "max_value", "n": "num_buckets"}
    parts = {name: node.args.get(key) or exp.null() for name, key in names.items()}
    low, high, n = (_number(parts[name]) for name in ("low", "high", "n"))
    nested = node.find_ancestor(exp.WidthBucket)  # the value is written three times, so buckets of buckets would grow
    if low is None or high is None or n is None or not low < high or not 1 <= n < 2**31 or n % 1 or nested:
        raise UnsupportedSQL(
            "QG207",
            "WIDTH_BUCKET needs a value, a lower and a higher number, and the number of buckets; it cannot be nested.",
            "Write, for example, WIDTH_BUCKET(column, 0, 100, 10).",
            span=span_of(node),
        )
    body = parse_one(_DEFINITION, dialect=DIALECT)
    for place in list(body.find_all(exp.Column)):
        place.replace(exp.Paren(this=parts[place.name].copy()))
    return body


def _number(node: exp.Expr) -> Decimal | None:
    """The value of a number with its sign; None for anything else."""
    negative = isinstance(node, exp.Neg)
    literal = node.this if negative else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        value = Decimal(str(literal.this).replace("_", ""))
    except ArithmeticError:
        return None
    return -value if negative else value
