"""LIMIT, OFFSET and FETCH: a whole number, and no more than the database takes."""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.sql.parse import span_of


def read_count(tree: exp.Select, clause: str) -> int | None:
    """The whole number after LIMIT or OFFSET."""
    found = tree.args.get(clause)
    if found is None:
        return None
    node = found.args.get("count") if isinstance(found, exp.Fetch) else found.expression
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        raise UnsupportedSQL(
            "QG207",
            f"{clause.upper()} needs a whole number.",
            f"Write, for example, {clause.upper()} 10.",
            span=span_of(found),
        )
    if int(node.this) >= 2**63:
        raise UnsupportedSQL(
            "QG207", f"{clause.upper()} is out of range.", "Remove it to see all groups.", span=span_of(found)
        )
    return int(node.this)
