"""A statement over several gates: what each member is asked, and how the figures of all are put together.

Accepted is one SELECT of keys and aggregates with WHERE and GROUP BY. Each aggregate is asked of every member, with
what pooling it needs beside it: a mean is asked with its sum and its count. Around an aggregate may stand arithmetic
with numbers, ROUND and a cast, which are done on the pooled range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from querygate.client.answer import Range, Value
from querygate.client.literals import write_value
from querygate.core.errors import UnsupportedSQL
from querygate.federation.pooled_quotient import QuotientParts, pool_quotients
from querygate.federation.pooled_range import (
    NOTHING,
    Pooled,
    pool_between,
    pool_distinct,
    pool_largest,
    pool_least,
    pool_sums,
)
from querygate.federation.pooled_variance import VarianceParts, pool_variances
from querygate.sql.parse import DIALECT, parse

Parts = Sequence[Sequence[Range]]
"""By member: the ranges that a figure asked for, in its order."""

Pool = Callable[[Parts], Pooled]
Step = Callable[[Any], Any]
"""What is done to a pooled end; it grows or falls with it."""

CLAUSES = frozenset({"expressions", "from_", "from", "where", "group", "order", "kind"})
AVAILABLE = (
    "COUNT, SUM, AVG, MIN, MAX, MEDIAN, PERCENTILE_DISC, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP, COUNT(DISTINCT) "
    "and shares such as 100.0 * COUNT(*) FILTER (WHERE ...) / COUNT(*)"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One column of the pooled answer: what members are asked for it, and how their ranges become one."""

    name: str
    asked: tuple[exp.Expr, ...]
    pool: Pool
    steps: tuple[Step, ...] = ()
    whole: bool = False

    def of(self, parts: Parts) -> Pooled:
        found = self.pool(parts)
        for step in self.steps:
            found = _stepped(found, step)
        return found


@dataclass(frozen=True, slots=True)
class PooledStatement:
    """Keys and figures in the order of the statement. `order` are the keys that rows are ordered by, descending or
    not."""

    tree: exp.Select
    columns: tuple[str, ...]
    keys: Mapping[str, exp.Expr]
    figures: tuple[Figure, ...]
    order: tuple[tuple[str, bool], ...]

    def member_sql(self, table: str, only: Mapping[str, Value] | None = None) -> str:
        """The statement for one member; with `only`, of a single group, without grouping."""
        asked = [figure_part for figure in self.figures for figure_part in figure.asked]
        parts = [exp.alias_(part.copy(), f"f{number}") for number, part in enumerate(asked)]
        named = (
            [] if only is not None else [exp.alias_(key.copy(), f"k{at}") for at, key in enumerate(self.keys.values())]
        )
        made = exp.select(*named, *parts, exp.alias_(exp.Count(this=exp.Star()), "records")).from_(
            exp.to_identifier(table, quoted=True)
        )
        where = self.tree.args.get("where")
        conditions = [where.this.copy()] if where else []
        if only is not None:
            conditions += [_is_value(self.keys[name], value) for name, value in only.items()]
        elif self.keys:
            made = made.group_by(*(key.copy() for key in self.keys.values()))
        made = made.where(*map(exp.paren, conditions)) if conditions else made
        return made.sql(DIALECT)


def read_pooled_statement(sql: str) -> PooledStatement:
    """The statement, or a refusal that says what can be pooled."""
    tree = parse(sql)
    if not isinstance(tree, exp.Select):
        raise UnsupportedSQL(
            "QG202", "Only a single SELECT can be pooled over gates.", "Send one SELECT with aggregates."
        )
    more = sorted(name for name, value in tree.args.items() if value and name not in CLAUSES)
    if more:
        raise _cannot(f"{more[0].rstrip('_').upper().replace('_', ' ')} cannot be used over several gates.")
    columns, keys, figures = _projections(tree)
    _check_grouping(tree, keys)
    if not figures:
        raise UnsupportedSQL("QG201", "The statement has no aggregate.", f"Ask for {AVAILABLE}.")
    return PooledStatement(tree, tuple(columns), keys, tuple(figures), _order(tree, keys))


def _projections(tree: exp.Select) -> tuple[list[str], dict[str, exp.Expr], list[Figure]]:
    columns: list[str] = []
    keys: dict[str, exp.Expr] = {}
    figures: list[Figure] = []
    for projection in tree.expressions:
        inner = projection.unalias()
        name = projection.alias_or_name or inner.sql(DIALECT).lower()
        if name in columns:
            raise UnsupportedSQL("QG207", "Two columns have the same name.", "Give each a name of its own with AS.")
        columns.append(name)
        if inner.find(exp.AggFunc):
            figures.append(_figure(name, inner))
        else:
            keys[name] = inner
    return columns, keys, figures


def _check_grouping(tree: exp.Select, keys: Mapping[str, exp.Expr]) -> None:
    """Groups are matched by their keys, so that these are shown, and all of them are grouped by."""
    group = tree.args.get("group")
    if group is None:
        if keys:
            raise UnsupportedSQL("QG211", "A column is neither grouped nor aggregated.", "Add it to GROUP BY.")
        return
    if any(value for name, value in group.args.items() if name != "expressions" and value) and not group.args.get(
        "all"
    ):
        raise _cannot("Grouping sets cannot be used over several gates.")
    if group.args.get("all"):
        return
    named = [_grouped(tree, part, keys) for part in group.expressions]
    if None in named or set(named) != set(keys):
        raise UnsupportedSQL(
            "QG210",
            "The statement's columns are not those it groups by.",
            "Select all keys that you group by, and no more.",
        )


def _grouped(tree: exp.Select, part: exp.Expr, keys: Mapping[str, exp.Expr]) -> str | None:
    """The name of the key that a part of GROUP BY means: by place, name or text."""
    if isinstance(part, exp.Literal) and part.is_int and 0 < int(part.name) <= len(tree.expressions):
        shown = tree.expressions[int(part.name) - 1]
        return shown.alias_or_name or str(shown.sql(DIALECT)).lower()
    if isinstance(part, exp.Column) and part.name in keys:
        return part.name
    return next((name for name, key in keys.items() if key == part), None)


def _order(tree: exp.Select, keys: Mapping[str, exp.Expr]) -> tuple[tuple[str, bool], ...]:
    order = tree.args.get("order")
    found = []
    for one in order.expressions if order else ():
        name = _grouped(tree, one.this, keys)
        if name not in keys:
            raise UnsupportedSQL(
                "QG214", "Rows can be ordered only by columns of GROUP BY.", "Order by a column of GROUP BY."
            )
        found.append((str(name), bool(one.args.get("desc"))))
    return tuple(found)


# -- figures ---------------------------------------------------------------------------------------------


def _figure(name: str, tree: exp.Expr) -> Figure:
    steps: list[Step] = []
    inner = tree
    while (peeled := _peel(inner)) is not None:
        inner, more = peeled
        steps[:0] = more
    asked, pool = _aggregate(inner)
    return Figure(name, asked, pool, tuple(steps))


def _peel(tree: exp.Expr) -> tuple[exp.Expr, list[Step]] | None:
    """What stands around an aggregate: brackets, a sign, arithmetic with a number, ROUND, a cast to a number."""
    if isinstance(tree, exp.Paren):
        return tree.this, []
    if isinstance(tree, exp.Neg):
        return tree.this, [lambda end: -end]
    if isinstance(tree, exp.Cast) and tree.to.is_type("double"):
        return tree.this, []
    if isinstance(tree, exp.Round):
        digits = _number(tree.args["decimals"]) if tree.args.get("decimals") else Fraction(0)
        if digits is not None and digits.denominator == 1 and 0 <= digits <= 12:
            return tree.this, [_Rounded(int(digits))]
    if isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Div):
        left, right = _number(tree.left), _number(tree.right)
        if right is not None and not (isinstance(tree, exp.Div) and right == 0):
            return tree.left, [_by_number(type(tree), right)]
        if left is not None and not isinstance(tree, exp.Div):
            return tree.right, [_by_number(type(tree), left, first=True)]
        product = tree.left.unnest()
        if isinstance(tree, exp.Div) and isinstance(product, exp.Mul):  # 100.0 * a / b is 100.0 times a / b
            for factor, rest in ((product.left, product.right), (product.right, product.left)):
                number = _number(factor)
                if number is not None:
                    return exp.Div(this=rest.copy(), expression=tree.right.copy()), [_by_number(exp.Mul, number)]
    return None


@dataclass(frozen=True, slots=True)
class _Rounded:
    digits: int

    def __call__(self, end: Any) -> Any:
        """Halves away from zero, as databases round."""
        if not math.isfinite(end):
            return end
        exact = Decimal(end).quantize(Decimal(1).scaleb(-self.digits), ROUND_HALF_UP, Context(prec=800))
        return float(exact)


def _by_number(kind: type[exp.Expr], number: Fraction, *, first: bool = False) -> Step:
    operations: dict[type[exp.Expr], Callable[[Fraction], Fraction]] = {
        exp.Add: lambda end: end + number,
        exp.Sub: lambda end: number - end if first else end - number,
        exp.Mul: lambda end: end * number,
        exp.Div: lambda end: end / number,
    }
    operation = operations[kind]

    def step(end: Any) -> Any:
        if isinstance(end, float) and not math.isfinite(end):
            return float(end * (-1 if operation(Fraction(1)) < operation(Fraction(0)) else 1))
        return float(operation(Fraction(end)))

    return step


def _number(tree: exp.Expr) -> Fraction | None:
    inner = tree.unnest()
    if isinstance(inner, exp.Neg):
        found = _number(inner.this)
        return None if found is None else -found
    return Fraction(inner.name) if isinstance(inner, exp.Literal) and inner.is_number else None


def _stepped(found: Pooled, step: Step) -> Pooled:
    if found.low is None:
        return found
    if not isinstance(found.low, int | float):
        raise _cannot("Arithmetic on texts and dates cannot be pooled.")
    try:
        if isinstance(step, _Rounded):  # a value near a half may be rounded either way
            least, most = math.nextafter(found.low, -math.inf), math.nextafter(found.high, math.inf)  # type: ignore[arg-type]
            ends = [step(least), step(most)]
        else:
            ends = sorted((step(found.low), step(found.high)))
            ends = [math.nextafter(ends[0], -math.inf), math.nextafter(ends[1], math.inf)]
    except (OverflowError, ValueError):
        raise _cannot("The result is too large for a number of a database.") from None
    guess = None if found.estimate is None else min(max(step(found.estimate), ends[0]), ends[1])
    sharp = found.sharp and not isinstance(step, _Rounded)
    return Pooled(ends[0], ends[1], guess, sharp=sharp, may_be_null=found.may_be_null)


def _aggregate(tree: exp.Expr) -> tuple[tuple[exp.Expr, ...], Pool]:
    """What members are asked for one aggregate, and the rule that pools it."""
    if isinstance(tree, exp.Div):
        return _quotient(tree)
    inner = tree.this if isinstance(tree, exp.Filter | exp.WithinGroup) else tree
    distinct = isinstance(inner.this, exp.Distinct) if inner.this is not None else False
    if isinstance(inner, exp.Count) and distinct:
        return (tree,), _first(pool_distinct)
    if isinstance(inner, exp.Min | exp.Max):
        return (tree,), _first(pool_least if isinstance(inner, exp.Min) else pool_largest)
    if distinct:
        raise _cannot("Of DISTINCT values only COUNT can be pooled.")
    if isinstance(inner, exp.Count | exp.CountIf | exp.Sum):
        return (tree,), _first(pool_sums)
    if isinstance(inner, exp.Avg):
        return (_like(tree, exp.Sum), _like(tree, exp.Count), tree), _pool_means
    if isinstance(inner, exp.Median | exp.PercentileDisc):
        return (tree,), _first(pool_between)
    variance = _VARIANCES.get(type(inner))
    if variance is not None:
        return (_like(tree, exp.Count), _like(tree, exp.Avg), _like(tree, exp.VariancePop)), _pool_spreads(*variance)
    raise _cannot("This aggregate cannot be combined from several gates.")


_VARIANCES: dict[type[exp.Expr], tuple[bool, bool]] = {  # sample, root
    exp.Variance: (True, False),
    exp.VariancePop: (False, False),
    exp.Stddev: (True, True),
    exp.StddevSamp: (True, True),
    exp.StddevPop: (False, True),
}


def _quotient(tree: exp.Div) -> tuple[tuple[exp.Expr, ...], Pool]:
    """A share or a ratio: both sides are counts or sums."""
    top, bottom = tree.left.unnest(), tree.right.unnest()
    for side in (top, bottom):
        inner = side.this if isinstance(side, exp.Filter) else side
        added = isinstance(inner, exp.Count | exp.CountIf | exp.Sum) and not isinstance(inner.this, exp.Distinct)
        if not added:
            raise _cannot("Only quotients of counts and sums can be pooled.")
    if not _is_of_everybody(bottom):
        raise _cannot("Only shares of all records can be pooled: divide by COUNT(*).")
    if isinstance(top.this if isinstance(top, exp.Filter) else top, exp.Sum):
        raise _cannot("SUM(x) / COUNT(*) cannot be pooled: use AVG.")
    share = exp.Div(this=exp.cast(top.copy(), "double"), expression=bottom.copy())
    return (top, bottom, share), _pool_means


def _is_of_everybody(tree: exp.Expr) -> bool:
    """Is it COUNT(*)? Then whoever has no record below has none above, and adds nothing to either."""
    return isinstance(tree, exp.Count) and isinstance(tree.this, exp.Star)


def _first(rule: Callable[[Sequence[Range]], Pooled]) -> Pool:
    return lambda parts: rule([one[0] for one in parts])


def _pool_means(parts: Parts) -> Pooled:
    return pool_quotients([QuotientParts(total, records, mean) for total, records, mean in parts])


def _pool_spreads(sample: bool, root: bool) -> Pool:
    def pool(parts: Parts) -> Pooled:
        return pool_variances([VarianceParts(*one) for one in parts], sample=sample, root=root)

    return pool


def _like(tree: exp.Expr, kind: type[exp.Expr]) -> exp.Expr:
    """Another aggregate of the same values, with the same FILTER."""
    inner = tree.this if isinstance(tree, exp.Filter) else tree
    made = kind(this=inner.this.copy())
    return exp.Filter(this=made, expression=tree.expression.copy()) if isinstance(tree, exp.Filter) else made


def _is_value(key: exp.Expr, value: Value) -> exp.Expr:
    if value is None:
        return exp.Is(this=exp.paren(key.copy()), expression=exp.Null())
    return exp.EQ(this=exp.paren(key.copy()), expression=exp.maybe_parse(write_value(value), dialect=DIALECT))


def _cannot(detail: str) -> UnsupportedSQL:
    return UnsupportedSQL("QG206", detail, f"Pooled are {AVAILABLE}, with WHERE, GROUP BY and ORDER BY keys.")


__all__ = ["NOTHING", "Figure", "PooledStatement", "read_pooled_statement"]
