"""A statement whose divisors may be zero, with NULL in place of what would then have no result."""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import Refusal
from querygate.sql.parse import parse
from querygate.sql.restatement import plain_wording


def with_nullif(sql: str) -> str | None:
    """Every divisor d as NULLIF(d, 0); None where all are so already."""
    try:
        tree = parse(sql)
    except Refusal:
        return None
    bare = [node for node in tree.find_all(exp.Div, exp.IntDiv, exp.Mod) if _may_vanish(node.expression.unnest())]
    for node in bare:
        divisor = node.expression.unnest()
        node.set("expression", exp.Nullif(this=divisor.copy(), expression=exp.Literal.number(0)))
    return plain_wording(tree) if bare else None


def _may_vanish(divisor: exp.Expr) -> bool:
    return not isinstance(divisor, (exp.Nullif, exp.Literal))
