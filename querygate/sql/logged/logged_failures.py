"""Statements whose failure would tell a secret: an error is an answer (Haeberlen, Pierce and Narayan 2011).

`WHERE 1 / (sbp - 165) > 0` fails if and only if somebody who is looked at has 165. A value that grows beyond what its
type holds is the same: `sbp * 1e306` is an error or infinite from 180 on. Found from the text alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from querygate.core.types import folded
from querygate.sql.aggregates import is_aggregate
from querygate.sql.formulas import number_of
from querygate.sql.logged.logged_conditions import bracketed, columns_of, text_of
from querygate.sql.logged.logged_statement import read_statement

_PARTIAL: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Sqrt, "a square root of"),
    (exp.Ln, "a logarithm of"),
    (exp.Log, "a logarithm of"),
    (exp.Pow, "a power of"),
    (exp.Exp, "a power of"),
    (exp.Acos, "an arc cosine of"),
    (exp.Asin, "an arc sine of"),
)
_DIVISIONS = (exp.Div, exp.IntDiv, exp.Mod)
_CLAUSES = (exp.Query, exp.Where, exp.Having, exp.Order, exp.Group, exp.Filter)

LARGE, LARGE_TERM, LARGE_FACTOR, LARGE_EXPONENT = 10**30, 2**30, 10**6, 30
"""Numbers that may not fit: any, whole ones that are added, whole ones that are multiplied, and as an exponent."""

MOST_FACTORS = 2
"""A square is what variances are made of; a secret to a higher power may not fit."""


@dataclass(frozen=True)
class FailurePoint:
    """What may fail, and whom of the known the statement looks at."""

    what: str
    known: str  # a condition on known columns, TRUE where there is none


def may_fail(sql: str, secret: Collection[str], dialect: str) -> FailurePoint | None:
    """What in a statement fails or not by the secrets of single records; None if nothing does."""
    tree = read_statement(sql, dialect)
    hidden = frozenset(map(folded, secret))
    for node in tree.walk():
        what = _what(node, hidden)
        if what is not None:
            return FailurePoint(
                f"It contains {what} a secret, which may fail or become infinite because of one person's value.",
                _known(tree, hidden),
            )
    return None


def _what(node: exp.Expr, secret: frozenset[str]) -> str | None:
    if isinstance(node, _DIVISIONS):
        chosen = number_of(node.expression) == 0 and _depends(node.find_ancestor(exp.Case, exp.If, exp.Where), secret)
        depends = _depends(node.expression, secret) and not isinstance(node.expression.unnest(), exp.Nullif)
        return "a division by something that depends on" if chosen or depends else None
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        return "a cast of" if _depends(node.this, secret) and _may_not_fit(node) else None
    for kind, name in _PARTIAL:
        if isinstance(node, kind) and any(_depends(part, secret) for part in node.iter_expressions()):
            return name if not (kind is exp.Pow and number_of(node.expression) == 2) else None
    return "very large numbers in arithmetic on" if _may_overflow(node, secret) else None


def _may_overflow(node: exp.Expr, secret: frozenset[str]) -> bool:
    """Is it so large that a secret beside it, or one that chooses it, decides whether a number still fits its type?"""
    if isinstance(node, exp.Mul) and not isinstance(node.parent, exp.Mul):
        factors = [factor.unnest() for factor in node.flatten()]
        constants = [abs(value) for value in map(number_of, factors) if value]
        large = math.prod(constants) >= LARGE_FACTOR and all(value.denominator == 1 for value in constants)
        large |= sum(_depends(factor, secret) for factor in factors) > MOST_FACTORS
    elif isinstance(node, (exp.Pow, exp.Exp)):
        large = (number_of(node.expression if isinstance(node, exp.Pow) else node.this) or 0) >= LARGE_EXPONENT
    else:
        is_number = isinstance(node, exp.Literal) and not node.is_string
        value = abs(number_of(node) or Fraction(LARGE)) if is_number and node.this.strip("0.") else Fraction(0)
        whole = value >= LARGE_TERM and node.find_ancestor(exp.Add, exp.Sub, exp.Mul) is not None
        large = not isinstance(node.parent, exp.Predicate) and (value >= LARGE or 0 < value * LARGE <= 1 or whole)
    return large and any(_depends(part, secret) for part in (_whole(node), *_conditions(node)))


def _conditions(node: exp.Expr) -> Iterator[exp.Expr]:
    """What decides whether a record comes to it."""
    chosen, query = node.find_ancestor(exp.Filter), node.find_ancestor(exp.Select)
    clauses = (chosen and chosen.expression, query and query.args.get("where"))
    return (clause.this for clause in clauses if clause is not None)


def _whole(node: exp.Expr) -> exp.Expr:
    """The expression of single records that it is part of."""
    while node.parent is not None and not (is_aggregate(node.parent) or isinstance(node.parent, _CLAUSES)):
        node = node.parent
    return node


def _may_not_fit(node: exp.Cast) -> bool:
    """Text as anything else, or arithmetic as whole numbers. A condition as a number always fits; so does a column
    that is only added up, as it is a number then."""
    inner = node.this.unnest()
    if node.to.this in exp.DataType.TEXT_TYPES or isinstance(inner, (exp.Predicate, exp.Connector, exp.Not)):
        return False
    if isinstance(inner, exp.Column):
        return node.find_ancestor(exp.Where) is not None
    text = any(literal.is_string for literal in inner.find_all(exp.Literal))
    return text or node.to.this in exp.DataType.INTEGER_TYPES


def _depends(node: exp.Expr | None, secret: frozenset[str]) -> bool:
    """By a secret of single records: what an aggregate gives is of many."""
    if node is None:
        return False
    found = node.walk(prune=is_aggregate)
    return any(isinstance(part, exp.Column) and folded(part.name) in secret for part in found)


def _known(tree: exp.Expr, secret: frozenset[str]) -> str:
    """The conjuncts of WHERE that are about what is known."""
    clause = tree.find(exp.Where)
    condition = clause.this if clause is not None else exp.true()
    parts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    known = [part for part in parts if columns_of(part) and not columns_of(part) & secret]
    return " AND ".join(text_of(bracketed(part)) for part in known) or "TRUE"
