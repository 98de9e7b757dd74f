"""What an aggregate of a logged statement adds up, in the plainest words: `a * x + b` of whom.

`SUM(CASE WHEN p THEN x ELSE 0 END)` is a sum over p, `SUM(x * 1.0)` and `SUM(x + 0)` are `SUM(x)`, `COUNT(x)` counts
those of whom `x IS NOT NULL`, `AVG(p::INT)` is a share. So that no rewording is another measure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from querygate.sql.aggregates import AggregateCall, as_filter
from querygate.sql.formulas import is_exact_cast, number_of

ADDITIVE = frozenset({"sum", "avg", "mean", "fsum", "favg"})
_WHOLE = exp.DataType.INTEGER_TYPES | exp.DataType.FLOAT_TYPES


@dataclass(frozen=True)
class Value:
    """An aggregate over those of whom `condition` holds, each giving scale * value + shift; zero for all others.

    No value: each gives one. `zeros`: the others of the statement count as zeros, as in AVG(CASE ... ELSE 0 END).
    """

    name: str
    value: exp.Expr | None
    condition: exp.Expr | None
    scale: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)
    zeros: bool = False
    parameters: tuple[exp.Expr, ...] = ()


def plain_value(asked: AggregateCall) -> Value:
    """The aggregate as a value and a condition."""
    asked = as_filter(asked)
    arguments = [argument for argument in asked.arguments if not isinstance(argument, exp.Star)]
    value = arguments[0].unnest() if arguments else None
    name = asked.name + (" distinct" if asked.distinct else "")
    found = Value(name, value, asked.condition, parameters=tuple(arguments[1:]))
    if name == "count_if" and value is not None:
        return Value("count", None, _both(asked.condition, value))
    if name == "count" and value is not None:
        return _counted(found)
    if name in ADDITIVE and value is not None:
        return _summed(found)
    return found


def _counted(found: Value) -> Value:
    """COUNT(x): those who have one."""
    value = found.value
    if value is None or isinstance(value, exp.Null) or value.find(exp.Column) is None:
        return found if isinstance(value, exp.Null) else replace(found, value=None)
    present = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return replace(found, value=None, condition=_both(found.condition, present))


def _summed(found: Value) -> Value:
    """Constants, factors, casts and conditions out of a sum, one after the other."""
    while found.value is not None:
        step = _step(found, found.value.unnest())
        if step is None:
            break
        found = step
    return found


def _step(found: Value, value: exp.Expr) -> Value | None:
    constant = number_of(value)
    if constant is not None:
        return replace(found, value=None, scale=found.scale * constant)
    if is_exact_cast(value) and not _is_condition(value.this.unnest()):
        return replace(found, value=value.this)
    if isinstance(value, exp.Coalesce) and found.name in ("sum", "fsum") and not found.shift:
        others = [number_of(other) for other in value.expressions]
        return replace(found, value=value.this) if others == [0] else None
    if isinstance(value, (exp.Add, exp.Sub)):
        return _shifted(found, value)
    if isinstance(value, exp.Mul):
        return _scaled(found, value)
    if isinstance(value, exp.Div):
        by = number_of(value.expression)
        return replace(found, value=value.this, scale=found.scale / by) if by and not value.args.get("typed") else None
    if isinstance(value, exp.Neg):
        return replace(found, value=value.this, scale=-found.scale)
    return _chosen(found, value)


def _shifted(found: Value, value: exp.Add | exp.Sub) -> Value | None:
    sign = -1 if isinstance(value, exp.Sub) else 1
    left, right = number_of(value.this), number_of(value.expression)
    if right is not None:
        return replace(found, value=value.this, shift=found.shift + sign * found.scale * right)
    if left is not None:
        shift, scale = found.shift + found.scale * left, sign * found.scale
        return replace(found, value=value.expression, scale=scale, shift=shift)
    return None


def _scaled(found: Value, value: exp.Mul) -> Value | None:
    for one, other in ((value.this, value.expression), (value.expression, value.this)):
        factor = number_of(other)
        if factor:
            return replace(found, value=one, scale=found.scale * factor)
        indicator = other.unnest()
        if _is_condition(indicator) or (isinstance(indicator, (exp.Case, exp.If, exp.Cast)) and not _square(value)):
            inner = _chosen(replace(found, value=indicator), indicator)
            if inner is not None and inner.value is not None and number_of(inner.value) == 1:
                return replace(inner, value=one)
    return None


def _square(value: exp.Mul) -> bool:
    return bool(value.this.unnest() == value.expression.unnest())


def _chosen(found: Value, value: exp.Expr) -> Value | None:
    """A CASE of one value and zeros, or a condition as a number: those of whom it holds."""
    if found.shift:
        return None
    if isinstance(value, exp.Cast) and value.to.this in _WHOLE and _is_condition(value.this.unnest()):
        value = value.this.unnest()
    if _is_condition(value):
        one = exp.Literal.number(1)
        return replace(found, value=one, condition=_both(found.condition, value), zeros=True)
    if not isinstance(value, (exp.Case, exp.If)):
        return None
    branches = _branches(value)
    given = [(test, result) for test, result in branches if number_of(result) != 0 and not isinstance(result, exp.Null)]
    if len({result.sql() for _, result in given}) != 1 or any(isinstance(result, exp.Null) for _, result in branches):
        return None
    condition = exp.or_(*(test.copy() for test, _ in given))
    return replace(found, value=given[0][1], condition=_both(found.condition, condition), zeros=True)


def _branches(value: exp.Case | exp.If) -> list[tuple[exp.Expr, exp.Expr]]:
    """(when exactly, what) of each branch: its own test holds and none before it does."""
    whens = value.args["ifs"] if isinstance(value, exp.Case) else [value]
    default = value.args.get("default" if isinstance(value, exp.Case) else "false") or exp.null()
    found: list[tuple[exp.Expr, exp.Expr]] = []
    before: list[exp.Expr] = []
    for when in whens:
        test = when.this
        if isinstance(value, exp.Case) and value.this is not None:
            test = exp.EQ(this=value.this.copy(), expression=test.copy())
        found.append((exp.and_(*(_fails(one) for one in before), test.copy()), when.args["true"].unnest()))
        before.append(test)
    return [*found, (exp.and_(*(_fails(one) for one in before)), default.unnest())]


def _fails(test: exp.Expr) -> exp.Expr:
    """It is FALSE, or not known."""
    return exp.or_(exp.not_(test.copy()), exp.Is(this=exp.Paren(this=test.copy()), expression=exp.null()))


def _is_condition(node: exp.Expr) -> bool:
    return isinstance(node, (exp.Predicate, exp.Connector, exp.Not))


def _both(one: exp.Expr | None, other: exp.Expr) -> exp.Expr:
    if one is None:
        return other.copy()
    return exp.And(this=exp.Paren(this=one.copy()), expression=exp.Paren(this=other.copy()))
