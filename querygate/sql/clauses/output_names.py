"""What the columns of an answer are called: an item without a name, and a name that comes twice."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from querygate.core.plan import Output
from querygate.sql.aggregates import is_aggregate, read_aggregate

RESERVED = "_group"
"""The name under which an answer's row tells its group's count range."""


def unnamed(node: exp.Expr) -> str:
    """What an item without a name is called: count, avg_age, else its function."""
    if isinstance(node, exp.Column):
        return str(node.name)
    inner = node.this if isinstance(node, (exp.Filter, exp.WithinGroup)) else node
    if not is_aggregate(inner):
        return "value"
    asked = read_aggregate(node)
    arguments = asked.arguments if asked else ()
    first = arguments[0].unnest() if arguments else None
    called = asked.name if asked else "value"
    return f"{called}_{first.name}" if isinstance(first, exp.Column) else called


def named_once(output: Output, before: list[Output]) -> Output:
    """Answers are keyed by name, so a name comes once; a second gets a number."""
    taken = {other.name for other in before}
    name, number = output.name, 2
    while name in taken or name == RESERVED:
        name, number = f"{output.name}_{number}", number + 1
    return replace(output, name=name)
