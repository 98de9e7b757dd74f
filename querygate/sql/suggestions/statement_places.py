"""The places of a statement where a range becomes wide, and the statement with something else in these places.

A place is an end of a condition (`age >= 45`), a set of values (`education = 'high school'`), a key of the groups, a
whole condition, or an average. Whoever knows which cuts of a column are sharp fills it otherwise. Whether the outcome
is accepted is for others to try.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from sqlglot import exp

from querygate.core.dates import day_text, moment_text
from querygate.core.errors import Refusal
from querygate.core.types import Catalog, Column
from querygate.sql.aggregates import is_aggregate
from querygate.sql.literals import constant, is_constant
from querygate.sql.name_text import column_node
from querygate.sql.parse import parse
from querygate.sql.restatement import plain_wording

PlaceKind = Literal["low", "high", "values", "key", "condition", "average"]
Filling: TypeAlias = "int | float | tuple[int | float, int | float] | frozenset[str] | None"
"""Of an end or an average the first value above it, of a statistic of two columns one for each, of values these, of a
key the groups that are kept; None leaves the place out."""

LONGEST = 2_000
"""A longer statement has no places: each filling costs a parse, and nobody would read the outcome."""

_AVERAGES = (exp.Avg, exp.Median)
_DEVIATIONS = (exp.Stddev, exp.StddevSamp, exp.StddevPop)
_VARIANCES = (exp.Variance, exp.VariancePop)
_PAIRS = (exp.Corr, exp.CovarSamp, exp.CovarPop, exp.RegrSlope, exp.RegrR2)
_LOW, _HIGH = (exp.GT, exp.GTE), (exp.LT, exp.LTE)
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}
_MOST_DIGITS = 15
"""A decimal literal with more is not read as one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a column decides who is counted. `text` is what stands there, `node` its number in the tree.

    Of an end `cut` is the first value above it, of a set `values` are those that it lists. An "average" is any
    statistic of numbers: of one `column`, or of it and an `other`; `whole` is how wide its range could be by what is
    public, and `is_place` says that it is itself a value of the column.
    """

    kind: PlaceKind
    column: Column
    text: str
    node: int
    cut: int | float | None = None
    values: frozenset[str] = frozenset()
    other: Column | None = None
    whole: float = 0.0
    is_place: bool = False


class StatementPlaces:
    """A statement by its places. One that cannot be edited has none."""

    def __init__(self, sql: str, catalog: Catalog) -> None:
        self._catalog = catalog
        try:
            self._tree: exp.Expr | None = parse(sql) if len(sql) <= LONGEST else None
        except Refusal:
            self._tree = None
        self.places: tuple[Place, ...] = () if self._tree is None else tuple(self._found(self._tree))

    @property
    def outputs(self) -> list[int]:
        """The items of the select list that are aggregates, by their numbers in the tree."""
        items = self._tree.expressions if isinstance(self._tree, exp.Select) else []
        aggregates = {id(item) for item in items if any(map(is_aggregate, item.walk()))}
        return [i for i, node in enumerate(self._tree.walk() if self._tree else ()) if id(node) in aggregates]

    def item_of(self, place: Place) -> int:
        """Which item of the select list a key is."""
        nodes = list(self._tree.walk()) if self._tree else []
        items = self._tree.expressions if isinstance(self._tree, exp.Select) else []
        return next(i for i, item in enumerate(items) if item is nodes[place.node])

    def filled(self, fillings: Mapping[Place, Filling]) -> str | None:
        """The statement with these fillings; None where they leave nothing to ask for."""
        if self._tree is None:
            return None
        tree = self._tree.copy()
        nodes = list(tree.walk())
        by_node: dict[int, dict[Place, Filling]] = {}
        for place, filling in fillings.items():
            if place.kind not in ("key", "condition"):
                by_node.setdefault(place.node, {})[place] = filling
        for number, changed in by_node.items():
            if (made := self._written(number, changed)) is not None:
                nodes[number].replace(made)
        dropped = [place for place, fill in fillings.items() if place.kind in ("key", "condition") and fill is None]
        for place in dropped:
            if place.kind == "condition":
                _drop_condition(nodes[place.node])
        for place, fill in fillings.items():
            if place.kind == "key" and fill is not None and not _keep_groups(tree, place.column, fill):
                return None
        keys = [place.column.name for place in dropped if place.kind == "key"]
        if keys and not _drop_keys(tree, keys, self._catalog):
            return None
        return plain_wording(tree)

    def told(self, fillings: Mapping[Place, Filling]) -> list[str]:
        """What the fillings change, a few words each."""
        said: dict[str, None] = {}
        for place, fill in fillings.items():
            if place.kind == "key" and isinstance(fill, frozenset):
                left_out = ", ".join(sorted(set(place.column.values) - fill)) or "NULL"
                said[f"without the group {left_out} of {place.text}"] = None
                continue
            if place.kind in ("key", "condition"):
                said[f"without {'groups of ' if place.kind == 'key' else ''}{place.text}"] = None
                continue
            together = {other: fill for other, fill in fillings.items() if other.node == place.node}
            made = self._written(place.node, together)
            if made is not None:
                said[f"{plain_wording(made.unnest())} in place of {place.text}"] = None
        return list(said)

    # -- finding -----------------------------------------------------------------------------------------------------

    def _found(self, tree: exp.Expr) -> Iterator[Place]:
        numbers = {id(node): number for number, node in enumerate(tree.walk())}
        for node in tree.walk():
            yield from self._ends(node, numbers[id(node)])
            yield from self._values(node, numbers[id(node)])
        if not isinstance(tree, exp.Select):
            return
        where = tree.args.get("where")
        for part in _conjuncts(where) if where is not None else ():
            column = next((c for c in map(self._column, part.find_all(exp.Column)) if c is not None), None)
            if column is not None:
                yield Place("condition", column, plain_wording(part), numbers[id(part)])
        if tree.args.get("group") is not None:
            for item in tree.expressions:
                column = self._column(item.unalias().unnest())
                if column is not None:
                    yield Place("key", column, column.name, numbers[id(item)])
        for item in tree.expressions:
            found = self._statistic(item.unalias().unnest(), numbers[id(item)])
            if found is not None:
                yield found

    def _statistic(self, node: exp.Expr, number: int) -> Place | None:
        """A statistic of one number or of two, in whose place the share of those beyond a cut may stand."""
        if not isinstance(node, (*_AVERAGES, *_DEVIATIONS, *_VARIANCES, *_PAIRS)):
            return None
        column = self._column(node.this)
        other = self._column(node.expression) if isinstance(node, _PAIRS) else None
        named = [column, other] if isinstance(node, _PAIRS) else [column]
        if column is None or any(each is None or each.type not in ("integer", "number") for each in named):
            return None
        spans = [float((each.high or 0) - (each.low or 0)) or 1.0 for each in named if each is not None]
        is_place = isinstance(node, _AVERAGES)
        whole = spans[0] if is_place else spans[0] / 2
        if isinstance(node, _VARIANCES):
            whole = whole**2
        elif other is not None:
            usual = {exp.Corr: 2.0, exp.RegrR2: 1.0, exp.RegrSlope: 2 * spans[0] / spans[1]}
            whole = usual.get(type(node), spans[0] * spans[1] / 2)
        text = plain_wording(node)
        return Place("average", column, text, number, other=other, whole=whole, is_place=is_place)

    def _column(self, node: object) -> Column | None:
        node = node.unnest() if isinstance(node, exp.Paren) else node
        return self._catalog.column(node.name) if isinstance(node, exp.Column) else None

    def _ends(self, node: exp.Expr, number: int) -> Iterator[Place]:
        told = self._interval(node)
        if told is None:
            return
        column, low, high = told
        text = plain_wording(node)
        if low is not None:
            yield Place("low", column, text, number, low)
        if high is not None:
            yield Place("high", column, text, number, high)

    def _interval(self, node: exp.Expr) -> tuple[Column, int | float | None, int | float | None] | None:
        """The column of a condition on a number or a date, and the first values above its two ends."""
        if isinstance(node, exp.Between):
            column, low, high = self._column(node.this), node.args["low"], node.args["high"]
            if column is None or not column.is_numeric or not (is_constant(low) and is_constant(high)):
                return None
            return column, _cut(low, column, after=False), _cut(high, column, after=True)
        told = self._compared(node)
        if told is None or not told[1].is_numeric:
            return None
        kind, column, value = told
        if kind in _LOW:
            return column, _cut(value, column, after=kind is exp.GT), None
        if kind in _HIGH:
            return column, None, _cut(value, column, after=kind is exp.LTE)
        if kind is exp.EQ and column.is_discrete:
            return column, _cut(value, column, after=False), _cut(value, column, after=True)
        return None

    def _compared(self, node: exp.Expr) -> tuple[type[exp.Expr], Column, exp.Expr] | None:
        if type(node) not in _MIRRORED:
            return None
        left, right, kind = node.this, node.expression, type(node)
        if is_constant(left):
            left, right, kind = right, left, _MIRRORED[kind]
        column = self._column(left)
        return None if column is None or not is_constant(right) else (kind, column, right)

    def _values(self, node: exp.Expr, number: int) -> Iterator[Place]:
        if isinstance(node, exp.In):
            column, listed = self._column(node.this), list(node.expressions)
        elif isinstance(node, (exp.EQ, exp.NEQ)) and (told := self._compared(node)) is not None:
            column, listed = told[1], [told[2]]
        else:
            return
        if column is None or column.type != "category" or not listed:
            return
        if all(isinstance(value, exp.Literal) and value.is_string for value in listed):
            values = frozenset(str(value.this) for value in listed)
            yield Place("values", column, plain_wording(node), number, values=values)

    # -- writing -----------------------------------------------------------------------------------------------------

    def _written(self, number: int, changed: Mapping[Place, Filling]) -> exp.Expr | None:
        """What stands in a node's place with these fillings of its places."""
        node = next(node for i, node in enumerate(self._tree.walk() if self._tree else ()) if i == number)
        first = next(iter(changed))
        if first.kind == "average":
            return _share(first, changed[first])
        if first.kind == "values":
            return _listed(first.column, changed[first], negated=isinstance(node, exp.NEQ))
        told = self._interval(node)
        if told is None:
            return None
        column, low, high = told
        kept = high
        for place, filling in changed.items():
            if isinstance(filling, (int, float)):
                low, high = (filling, high) if place.kind == "low" else (low, filling)
        closed = isinstance(node, exp.LTE) if column.is_discrete else isinstance(node, exp.Between) and high == kept
        return _bounded(column, low, high, closed=closed)


def _cut(node: exp.Expr, column: Column, *, after: bool) -> int | float | None:
    """The first value above a constant, or the constant itself where it belongs to what is above."""
    try:
        value = constant(node, column)
    except Refusal:
        return None
    if isinstance(value, Decimal):  # between two whole numbers
        return math.ceil(value)
    if not isinstance(value, (int, float)):
        return None
    if not after:
        return value
    return value + 1 if column.is_discrete else math.nextafter(value, math.inf)


def _bounded(column: Column, low: int | float | None, high: int | float | None, *, closed: bool) -> exp.Expr:
    """From `low` on, below `high`: as BETWEEN where values are whole numbers; `closed`, up to the value before."""
    name = column_node(column.name)
    if low is not None and high is not None and (column.is_discrete or closed):
        return exp.Between(this=name, low=_literal(column, low), high=_literal(column, _before(high, column)))
    ends: list[exp.Expr] = []
    if low is not None:
        ends.append(exp.GTE(this=name, expression=_literal(column, low)))
    if high is not None and closed:
        ends.append(exp.LTE(this=name.copy(), expression=_literal(column, _before(high, column))))
    elif high is not None:
        ends.append(exp.LT(this=name.copy(), expression=_literal(column, high)))
    return ends[0] if len(ends) == 1 else exp.Paren(this=exp.And(this=ends[0], expression=ends[1]))


def _before(cut: int | float, column: Column) -> int | float:
    return cut - 1 if column.is_discrete else math.nextafter(cut, -math.inf)


def _literal(column: Column, value: int | float) -> exp.Expr:
    if column.type == "date":
        return exp.Literal.string(day_text(int(value)))
    if column.type == "timestamp":
        return exp.Literal.string(moment_text(int(value)))
    text = repr(abs(value)).removesuffix(".0")
    if column.type == "number" and sum(map(str.isdigit, text)) > _MOST_DIGITS:
        text = f"{abs(value):.16e}"
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if value < 0 else literal


def _listed(column: Column, values: Filling, *, negated: bool) -> exp.Expr | None:
    if not isinstance(values, frozenset) or not values:
        return None
    name, literals = column_node(column.name), [exp.Literal.string(value) for value in sorted(values)]
    if len(literals) == 1:
        return (exp.NEQ if negated else exp.EQ)(this=name, expression=literals[0])
    listed = exp.In(this=name, expressions=literals)
    return exp.Not(this=listed) if negated else listed


def _share(place: Place, cuts: Filling) -> exp.Expr | None:
    """For how many of a hundred a number is at least so large, or two numbers are: bins decide it, where they leave a
    statistic open."""
    columns = [place.column] if place.other is None else [place.column, place.other]
    given = cuts if isinstance(cuts, tuple) else (cuts,)
    if len(given) != len(columns) or not all(isinstance(cut, (int, float)) for cut in given):
        return None
    names = [column_node(column.name) for column in columns]
    above = exp.and_(
        *(exp.GTE(this=name, expression=_literal(column, cut))  # type: ignore[arg-type]  # a number
          for name, column, cut in zip(names, columns, given, strict=True))
    )  # fmt: skip
    counted = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=above))
    known: exp.Expr = exp.Count(this=names[0].copy())
    if len(names) == 2:
        there = exp.and_(*(exp.Not(this=exp.Is(this=name.copy(), expression=exp.Null())) for name in names))
        known = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=there))
    known = exp.Nullif(this=known, expression=exp.Literal.number(0))
    return exp.Div(this=exp.Mul(this=exp.Literal.number("100.0"), expression=counted), expression=known)


def _conjuncts(where: exp.Expr) -> list[exp.Expr]:
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this.unnest()]


def _drop_condition(node: exp.Expr) -> None:
    """Take a condition out of the AND that it stands in, or out of the WHERE that it is."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    if isinstance(node.parent, exp.And):
        above = node.parent
        above.replace(above.expression if above.this is node else above.this)
    elif isinstance(node.parent, exp.Where):
        node.parent.pop()


def _keep_groups(tree: exp.Expr, column: Column, values: Filling) -> bool:
    """Select only the records of these groups; False where there are subtotals, which would be others then."""
    condition = _listed(column, values, negated=False)
    group = tree.args.get("group")
    if condition is None or not isinstance(tree, exp.Select) or group is None or group.find(*_SUBTOTALS):
        return False
    tree.where(condition, copy=False)
    return True


def _drop_keys(tree: exp.Expr, names: list[str], catalog: Catalog) -> bool:
    """Group by the other keys; False where groups are of another kind or nothing is left to show."""
    group = tree.args.get("group")
    if not isinstance(tree, exp.Select) or group is None or group.find(*_SUBTOTALS):
        return False

    def is_dropped(item: exp.Expr) -> bool:
        node = item.unalias().unnest()
        column = catalog.column(node.name) if isinstance(node, exp.Column) else None
        return column is not None and column.name in names

    items = [item for item in tree.expressions if not is_dropped(item)]
    shown = [item.unalias().unnest().copy() for item in items if not any(map(is_aggregate, item.walk()))]
    if len(items) == len(shown):
        return False
    by_place = group.args.get("all") or any(isinstance(term, exp.Literal) for term in group.expressions)
    keys = shown if by_place else [term for term in group.expressions if not is_dropped(term)]
    tree.set("expressions", items)
    tree.set("group", exp.Group(expressions=keys) if keys else None)
    order = tree.args.get("order")
    if order is not None and (not keys or any(map(is_dropped, order.find_all(exp.Column)))):
        tree.set("order", None)
    return True


_SUBTOTALS = (exp.Rollup, exp.Cube, exp.GroupingSets)
