"""What logged statements compare secret columns with: all that can be said of a secret without looking at one.

>>> secret_tests(['(("sbp" >= 165) IS NOT DISTINCT FROM TRUE)', '(("sbp" * 2 < -8) IS NOT DISTINCT FROM TRUE)'])
{'sbp': SecretTests(literals=('-8', '165', '2'), calculates=True, asks_missing=False)}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from querygate.core.audit.audit_records import SecretTests
from querygate.core.types import folded
from querygate.sql.logged.logged_conditions import columns_of
from querygate.sql.logged.logged_statement import LoggedStatement
from querygate.sql.parse import DIALECT

_MISSING = (exp.Coalesce, exp.Is)
_THREE_VALUED = (exp.NullSafeEQ, exp.NullSafeNEQ)
"""How a condition is written that is TRUE, FALSE or NULL for a person."""


def conditions_of(statements: Iterable[LoggedStatement]) -> Iterator[str]:
    """The secret conditions of statements, and the secrets that they group by."""
    for one in statements:
        for added in one.added:
            yield from (part.secret for part in (*added.parts, *added.among) if part.secret)
        yield from (text for text, _ in one.hidden)


def secret_tests(conditions: Iterable[str]) -> dict[str, SecretTests]:
    """By folded name of the column."""
    literals: dict[str, set[str]] = {}
    calculates: set[str] = set()
    asks: set[str] = set()
    for text in dict.fromkeys(conditions):
        for test in _tests(text):
            for column in columns_of(test):
                literals.setdefault(column, set()).update(map(_text, test.find_all(exp.Literal)))
            calculates |= {folded(column.name) for column in test.find_all(exp.Column) if _is_inside(column, test)}
            asks |= columns_of(test) if isinstance(test, exp.Is) or test.find(*_MISSING) is not None else set()
    return {
        name: SecretTests(tuple(sorted(found)), name in calculates, name in asks) for name, found in literals.items()
    }


def _tests(text: str) -> Iterator[exp.Expr]:
    """The smallest conditions in a text; the text itself where it is a value."""
    try:
        tree = sqlglot.parse_one(text, dialect=DIALECT)
    except SqlglotError:  # whoever evaluates it will say so
        return
    smallest = [node for node in tree.walk() if _is_test(node) and not any(map(_is_test, _below(node)))]
    yield from smallest or [tree]
    bare = (node.this.unnest() for node in tree.find_all(*_THREE_VALUED))
    yield from (node for node in bare if isinstance(node, exp.Column))


def _is_test(node: exp.Expr) -> bool:
    return isinstance(node, exp.Predicate) and not isinstance(node, _THREE_VALUED)


def _below(node: exp.Expr) -> Iterator[exp.Expr]:
    return (other for other in node.walk() if other is not node)


def _is_inside(column: exp.Column, test: exp.Expr) -> bool:
    """Is the column part of an expression, not one side of the test?"""
    above = column.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return column is not test and above is not test


def _text(literal: exp.Literal) -> str:
    return f"-{literal.this}" if isinstance(literal.parent, exp.Neg) else str(literal.this)
