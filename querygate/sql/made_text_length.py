"""How long the texts of a statement can become, found before any of them is made.

REPLACE inside REPLACE multiplies: a dozen of them make more text than a machine has memory for, inside one call of the
database that nothing can interrupt. So lengths are bounded from the tree alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Column, folded
from querygate.sql.parse import span_of

MOST_CHARS = 2_000
"""Of a text that a function makes; public values may be longer, and then so may what is made of them."""

_PLAIN = 64
"""What a number, a date or a name of one takes as text."""

_CASES = 3
"""Characters that one can become in another case or form: capital letters of some are three."""

Columns = Mapping[str, Column]


def check_text_lengths(tree: exp.Expr, columns: Columns) -> None:
    """Refuse texts that could grow out of proportion; QG207."""
    most = max([MOST_CHARS, *(4 * _of_column(column) for column in columns.values())])
    for node in tree.find_all(exp.Replace, exp.RegexpReplace, exp.Concat, exp.ConcatWs, exp.DPipe):
        if longest(node, columns) > most:
            raise UnsupportedSQL(
                "QG207",
                "The texts produced by this expression are too long.",
                "Nest fewer functions, or use shorter texts.",
                span=span_of(node),
            )


def longest(node: exp.Expr, columns: Columns) -> int:
    """Characters that a text can have at most. A function that is not known to add or multiply only takes away."""
    match node:
        case exp.Literal():
            return len(node.this)
        case exp.Column():
            column = columns.get(folded(node.name))
            return _PLAIN if column is None else _of_column(column)
        case exp.Replace():
            text, old, new = (_length(node.args.get(name), columns) for name in ("this", "expression", "replacement"))
            shortest = len(node.expression.this) if isinstance(node.expression, exp.Literal) else 1
            return text + text * new // max(shortest, 1) if old else text
        case exp.RegexpReplace():
            text, new = (_length(node.args.get(name), columns) for name in ("this", "replacement"))
            return text + (text + 1) * new * max(text, 1) if _refers(node) else text + (text + 1) * new
        case exp.Concat() | exp.ConcatWs() | exp.DPipe():
            return sum(_of_parts(node, columns)) * (2 if isinstance(node, exp.ConcatWs) else 1)
        case exp.Upper() | exp.Lower() | exp.Anonymous() | exp.Hex() | exp.Translate():
            return _CASES * max(_of_parts(node, columns))
        case exp.TimeToStr():
            return _PLAIN * (1 + _length(node.args.get("format"), columns) // 2)
    return max(_of_parts(node, columns))


def _of_parts(node: exp.Expr, columns: Columns) -> list[int]:
    return [_PLAIN, *(longest(part, columns) for part in node.iter_expressions())]


def _length(node: object, columns: Columns) -> int:
    return longest(node, columns) if isinstance(node, exp.Expr) else 0


def _refers(node: exp.RegexpReplace) -> bool:
    """Does what is put in repeat what was found?"""
    return "\\" in str(node.args.get("replacement"))


def _of_column(column: Column) -> int:
    return _of_values(column.values)


@lru_cache(maxsize=64)
def _of_values(values: tuple[str, ...]) -> int:
    return max(map(len, values), default=_PLAIN)
