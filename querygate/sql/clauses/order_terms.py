"""What a term of ORDER BY may call: an item of the select list, by its position or its name."""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import folded
from querygate.sql.parse import span_of


def read_position(node: exp.Literal, most: int) -> int:
    if node.is_string or not str(node.this).isdigit() or not 1 <= int(node.this) <= most:
        raise UnsupportedSQL(
            "QG214",
            f"A position must be between 1 and {most}.",
            "Use the name of the column.",
            span=span_of(node),
        )
    return int(node.this)


def items_named(tree: exp.Select, node: exp.Column) -> list[int]:
    """Items of this name: those that were given it, else columns that have it."""
    wanted = folded(node.name)
    named = [
        i for i, item in enumerate(tree.expressions) if isinstance(item, exp.Alias) and folded(item.alias) == wanted
    ]
    given = [i for i in named if not tree.expressions[i].meta.get("own")]
    return given or named[:1]
