"""Items of a select list as arithmetic over aggregates, so that an answer can be turned back into a total.

`SUM(sbp) / COUNT(*)` is a mean, `AVG(sbp) * COUNT(*)` a sum, `SUM(a) - SUM(b)` a difference told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlglot import exp

Operation = Literal["number", "aggregate", "+", "-", "*", "/", "round", "truncate"]
_OPERATIONS: dict[type[exp.Expr], Operation] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_COMPARISONS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "="}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}
_EXACT = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT, exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL)


LARGEST_EXPONENT = 400
"""Of a number: beyond it no type of a database holds it."""


@dataclass(frozen=True)
class AnswerFormula:
    """A number, an aggregate by its place in `Logged.added`, or an operation on formulas.

    `round` gives the first term to `value` digits; `truncate` is a division of whole numbers.
    """

    operation: Operation
    value: Fraction = Fraction(0)
    terms: tuple[AnswerFormula, ...] = ()

    @property
    def aggregates(self) -> set[int]:
        """The places of all aggregates in it."""
        own = {int(self.value)} if self.operation == "aggregate" else set()
        return own.union(*(term.aggregates for term in self.terms))


@dataclass(frozen=True)
class Shown:
    """A group is shown only if the formula compares like this with the number."""

    formula: AnswerFormula
    comparison: str
    number: Fraction


def make_formula(node: exp.Expr, places: Mapping[int, int]) -> AnswerFormula | None:
    """The formula at a node; `places` are those of aggregates by the identity of their nodes. None: not arithmetic."""
    if id(node) in places:
        return AnswerFormula("aggregate", Fraction(places[id(node)]))
    value = number_of(node)
    if value is not None:
        return AnswerFormula("number", value)
    if isinstance(node, (exp.Paren, exp.Alias)):
        return make_formula(node.this, places)
    if isinstance(node, exp.Neg):
        return _joined("-", AnswerFormula("number"), make_formula(node.this, places))
    if type(node) in _OPERATIONS:
        left, right = make_formula(node.this, places), make_formula(node.expression, places)
        found = _joined(_OPERATIONS[type(node)], left, right)
        whole = isinstance(node, exp.Div) and node.args.get("typed") and not node.find(exp.Cast)
        return AnswerFormula("truncate", terms=(found,)) if whole and found is not None else found
    if isinstance(node, exp.Round):
        inner, digits = make_formula(node.this, places), number_of(node.args.get("decimals") or exp.Literal.number(0))
        return None if inner is None or digits is None else AnswerFormula("round", digits, (inner,))
    if is_exact_cast(node) or isinstance(node, (exp.Coalesce, exp.Nullif)):
        return make_formula(node.this, places)  # the same number, where it is one
    return None


def _joined(operation: Operation, left: AnswerFormula | None, right: AnswerFormula | None) -> AnswerFormula | None:
    return None if left is None or right is None else AnswerFormula(operation, terms=(left, right))


def make_shown(clause: exp.Expr | None, places: Mapping[int, int]) -> tuple[Shown, ...]:
    """What of a HAVING is a comparison of arithmetic with a number; the rest may hold for any group."""
    found = []
    parts = [] if clause is None else list(clause.this.flatten()) if isinstance(clause.this, exp.And) else [clause.this]
    for part in (part.unnest() for part in parts):
        sign = _COMPARISONS.get(type(part))
        if sign is None:
            continue
        for one, other, comparison in (
            (part.this, part.expression, sign),
            (part.expression, part.this, _TURNED[sign]),
        ):
            formula, number = make_formula(one, places), number_of(other)
            if formula is not None and number is not None:
                found.append(Shown(formula, comparison, number))
    return tuple(found)


def is_exact_cast(node: exp.Expr) -> bool:
    """A cast that leaves a number what it is."""
    return isinstance(node, exp.Cast) and node.to.this in _EXACT


def number_of(node: exp.Expr | None) -> Fraction | None:
    """A number as it is written; None where it is none, or one that no type holds and nobody could write out."""
    if isinstance(node, exp.Paren):
        return number_of(node.this)
    if isinstance(node, exp.Neg):
        inner = number_of(node.this)
        return None if inner is None else -inner
    if node is not None and is_exact_cast(node):
        return number_of(node.this)
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    text = str(node.this).lower()
    try:
        return Fraction(text) if abs(int(text.partition("e")[2] or 0)) <= LARGEST_EXPONENT else None
    except ValueError:
        return None
