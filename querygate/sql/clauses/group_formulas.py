"""The groups of a statement as rows: what stands around keys and aggregates becomes a formula over their columns.

AVG(sbp) - AVG(age) is a difference of two columns of the groups, HAVING a condition on them.
"""

from __future__ import annotations

import hashlib
from copy import copy
from dataclasses import dataclass, field, replace
from typing import cast

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Ref
from querygate.core.plan import GroupKey, LeftOut, Window
from querygate.core.predicate import TRUE, is_true
from querygate.core.types import Column, Type, folded
from querygate.sql.aggregates import is_aggregate, read_aggregate
from querygate.sql.clauses.group_keys import is_constant
from querygate.sql.clauses.tables_in_scope import quoted_column
from querygate.sql.clauses.window_functions import WindowParts, Windows, is_sum_of, read_window, refused
from querygate.sql.context import Context
from querygate.sql.expressions import expression
from querygate.sql.measures import Measures
from querygate.sql.narrow_numbers import ROUNDINGS, is_single
from querygate.sql.parse import span_of
from querygate.sql.subqueries.scalar_queries import is_call, query_of
from querygate.sql.subqueries.scalar_queries import refused as refused_number


@dataclass
class GroupRows:
    """Keys and measures of a statement in the making. `terms` are the GROUP BY terms, in the order of the keys."""

    context: Context
    measures: Measures
    grouped: bool
    terms: list[exp.Expr] = field(default_factory=list)
    keys: list[GroupKey] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=list)
    over_records: bool = True  # and not over the groups of another query
    filtered: bool = False  # by HAVING: some groups of the partition of a window may be left out
    windows: Windows = field(default_factory=Windows)
    singles: dict[str, None] = field(default_factory=dict)  # keys and aggregates of single precision
    _made: tuple[list[str], Context] | None = None

    @property
    def as_context(self) -> Context:
        """The groups as what formulas and HAVING speak of; made anew only when there are others."""
        known = [*(key.id for key in self.keys), *(aggregate.id for aggregate in self.measures.aggregates)]
        known += [*(window.id for window in self.windows.made), "", *self.singles]
        if self._made is None or self._made[0] != known:
            singles = frozenset(self.singles)
            self._made = known, Context(self.columns(), self.context.native, self.context.condition, singles=singles)
        return self._made[1]

    def columns(self) -> dict[str, Column]:
        """Keys and aggregates as columns of the groups."""
        found = {}
        for i, key in enumerate(self.keys):
            known = [value for value in key.values if value is not None]
            type_ = cast(Type, "category" if key.type in ("timestamp", "date", "null") else key.type)
            texts = tuple(str(v) for v in known) if type_ in ("category", "boolean") else ()
            numbers = [v for v in known if not isinstance(v, str)] if type_ in ("integer", "number") else []
            low, high = (numbers[0], numbers[-1]) if numbers else (None, None)
            found[key.id] = Column(key.id, i, "public", type_, True, low, high, texts, order=key.order)
        for i, aggregate in enumerate(self.measures.aggregates):
            found[aggregate.id] = Column(aggregate.id, i, "public", cast(Type, aggregate.type), True)
        for i, window in enumerate(self.windows.made):
            found[window.id] = Column(window.id, i, "public", cast(Type, window.type), True)
        return found

    def lift(self, node: exp.Expr) -> exp.Expr:
        """The node with aggregates and keys replaced by columns of the groups."""
        node = node.unnest()
        if isinstance(node, exp.Div):
            joint = self._quotient(node)
            if joint is not None:
                return joint
        if isinstance(node, exp.Window):
            return self._told(self._window(node).id, node)
        if is_call(node):
            return self._number(node)
        if isinstance(node, (exp.Grouping, exp.GroupingId)):
            return quoted_column(self._left_out(node).id)
        if is_aggregate(node):
            truth = _written_out(node)
            if truth is not None:
                return self.lift(truth)
            aggregate = self.measures.aggregate(node)
            if aggregate.type in ("category", "boolean"):
                raise UnsupportedSQL(
                    "QG209",
                    "An aggregate that is a text can only be shown.",
                    "Show it by itself, without a condition or a function of it.",
                    span=span_of(node),
                )
            return self._told(aggregate.id, node)
        if node in self.terms and not is_constant(node):
            return self._told(self.keys[self.terms.index(node)].id, node)
        if isinstance(node, exp.Column):
            raise self.not_grouped(node)
        if is_constant(node):  # bare, as in IS NULL and in the base of a logarithm
            return node.copy()
        # Put together from lifted parts: to copy the whole at each step would take the square of its size.
        lifted = node.__class__(**{name: self._lift_part(value) for name, value in node.args.items()})
        lifted.meta.update(node.meta)
        return lifted

    def _told(self, id_: str, node: exp.Expr) -> exp.Expr:
        """A column of the groups, and whether it is of single precision."""
        if is_single(node, self.context.singles):
            self.singles[id_] = None
        return quoted_column(id_)

    def _lift_part(self, value: object) -> object:
        if isinstance(value, list):
            return [self.lift(part) if isinstance(part, exp.Expr) else part for part in value]
        if not isinstance(value, exp.Expr):
            return value
        if isinstance(value, (exp.Identifier, exp.DataType, exp.Var)) or not _is_value(value) or is_constant(value):
            return value.copy()
        return exp.Paren(this=self.lift(value))

    def _quotient(self, node: exp.Div) -> exp.Expr | None:
        """A quotient of sums, perhaps with a factor above: `100.0 * SUM(x) / COUNT(*)`."""
        over, under, null = node.this.unnest(), node.expression.unnest(), False
        if isinstance(under, exp.Nullif) and str(under.expression) == "0":
            under, null = under.this.unnest(), True
        single = is_single(node, self.context.singles)
        factor: exp.Expr | None = None
        if isinstance(over, exp.Mul):
            sides = [over.this.unnest(), over.expression.unnest()]
            plain = [side for side in sides if not side.find(exp.Column) and not any(map(is_aggregate, side.walk()))]
            if len(plain) != 1:
                return None
            factor = plain[0]
            over = sides[1] if sides[0] is factor else sides[0]
        sides = [over, under]
        over, under = map(_uncast, sides)
        if not is_aggregate(over):
            return None
        if isinstance(under, exp.Window):
            id_ = self._share(over, under, null=null)
        elif is_call(under):
            id_ = self._part(over, under, null=null)
        else:
            id_ = self._joint(over, under, null=null) if is_aggregate(under) else None
        if id_ is None:
            return None
        column: exp.Expr = quoted_column(id_)
        if single:
            column = exp.Cast(this=column, to=exp.DataType.build("FLOAT"))
            column.meta[ROUNDINGS] = 3
        return column if factor is None else exp.Mul(this=exp.Paren(this=factor.copy()), expression=column)

    def _joint(self, over: exp.Expr, under: exp.Expr, *, null: bool) -> str | None:
        """The column of a quotient of two aggregates over the same records; None where it is no such."""
        kept = list(self.measures.measures), list(self.measures.aggregates)
        joint = self.measures.quotient(over, under, null=null)
        if joint is None:
            self.measures.measures, self.measures.aggregates = kept
            return None
        self.measures.aggregates = [*kept[1], *(a for a in (joint,) if a not in kept[1])]
        return joint.id

    # -- windows -----------------------------------------------------------------------------------------------------

    def _window(self, node: exp.Window) -> Window:
        parts = self._window_parts(node)
        if isinstance(parts.argument, Ref) and is_sum_of(parts, parts.argument.column):
            parts = replace(parts, whole=self._whole_of(parts.argument.column))
        return self.windows.add(parts, self.keys, self.as_context)

    def _window_parts(self, node: exp.Window) -> WindowParts:
        if not self.grouped and not any(map(is_aggregate, node.walk())):
            raise refused(node, "A window over single records would show rows.", "Use it over groups, with GROUP BY.")
        inside = next((part for part in node.walk() if isinstance(part, exp.Window) and part is not node), None)
        if inside is not None:
            raise refused(inside, "A window cannot contain another.", "Compute the inner one in a subquery.")
        return read_window(node, self._place_of, lambda part: expression(self.lift(part), self.as_context))

    def _place_of(self, node: exp.Expr) -> int | None:
        return self.terms.index(node) if node in self.terms else None

    def _whole_of(self, id_: str) -> int | None:
        """The place of the aggregate that adds up over groups, if all records are in the groups that are shown."""
        found = [
            i for i, a in enumerate(self.measures.aggregates)
            if a.id == id_ and a.family == "column" and a.statistic in ("sum", "count")
        ]  # fmt: skip
        return found[0] if found and len(self.sets) == 1 and not self.filtered else None

    def _share(self, over: exp.Expr, under: exp.Window, *, null: bool) -> str | None:
        """The column of a group's share of a sum over groups; None where it is another quotient, or may be negative."""
        part = self.measures.aggregate(over)
        parts = self._window_parts(under)
        if not is_sum_of(parts, part.id) or not self.measures.adds_up(part):
            return None
        share = replace(parts, statistic="share", whole=self._whole_of(part.id), null=null)
        return self.windows.add(share, self.keys, self.as_context).id

    # -- one number of another query ---------------------------------------------------------------------------------

    def _number(self, node: exp.Expr) -> exp.Expr:
        """What the query says, in terms of aggregates of all its records."""
        if not self.over_records:
            raise refused_number(node)
        query = query_of(node).tree
        clause = query.args.get("where")
        where = is_true(self.context.condition(clause.this, self.context)) if clause is not None else TRUE
        measures = copy(self.measures)
        measures.where, measures.grouped = where, False
        item = query.expressions[0]
        rows = GroupRows(self.context, measures, False, over_records=True)
        lifted = exp.Paren(this=rows.lift(item.this if isinstance(item, exp.Alias) else item))
        self.measures.measures, self.measures.aggregates = measures.measures, measures.aggregates
        for column in list(lifted.find_all(exp.Column)):
            column.replace(self._told(self._of_all(column.name).id, node))
        return lifted

    def _of_all(self, id_: str) -> Window:
        """An aggregate of all records, beside each group."""
        place = next(i for i, a in enumerate(self.measures.aggregates) if a.id == id_)
        aggregate = self.measures.aggregates[place]
        parts = WindowParts("whole", Ref(id_, aggregate.type), (), whole=place)
        return self.windows.add(parts, self.keys, self.as_context)

    def _part(self, over: exp.Expr, under: exp.Expr, *, null: bool) -> str | None:
        """The column of a group's share of an aggregate of more records; None where it is another quotient."""
        lifted = self._number(under).unnest()
        if not isinstance(lifted, exp.Column):
            return None
        window = next(window for window in self.windows.made if window.id == lifted.name)
        whole = self.measures.aggregates[window.whole or 0]
        part = self.measures.aggregate(over)
        if not self.measures.adds_up(part) or not self.measures.is_part(part, whole):
            return None
        parts = WindowParts("part", Ref(part.id, part.type), (), whole=window.whole, null=null)
        return self.windows.add(parts, self.keys, self.as_context).id

    def _left_out(self, node: exp.Grouping | exp.GroupingId) -> GroupKey:
        """GROUPING(a, b): which of these keys a group leaves out. It is the same for all groups of a grouping set."""
        given = [argument.unnest() for argument in node.expressions]
        if not given or not all(argument in self.terms for argument in given):
            raise UnsupportedSQL(
                "QG211",
                "GROUPING takes columns of the GROUP BY.",
                "Name the columns as GROUP BY does, for example GROUPING(sex).",
                span=span_of(node),
            )
        by = LeftOut(tuple(self.terms.index(argument) for argument in given))
        asked = " ".join(("grouping", *(self.keys[place].id for place in by.places)))
        id_ = f"key {hashlib.sha256(asked.encode()).hexdigest()[:24]}"
        key = next((key for key in self.keys if key.id == id_), None)
        if key is None:
            values = sorted({by.of(chosen) for chosen in self.sets})
            key = GroupKey(id_, "integer", by, (*values, None))
            self.keys.append(key)
        return key

    def not_grouped(self, node: exp.Column) -> UnsupportedSQL:
        column = self.context.columns.get(folded(node.name))
        name = node.name
        if not self.grouped:
            return UnsupportedSQL(
                "QG201",
                "Rows are never shown, only aggregates of them.",
                f"Group by {name}, or aggregate it."
                if column is None or not column.is_numeric
                else f"Aggregate it, for example AVG({name}) or MIN({name}).",
                span=span_of(node),
            )
        return UnsupportedSQL(
            "QG211",
            f"Column {name} is neither grouped nor aggregated.",
            "Add it to GROUP BY, or aggregate it.",
            span=span_of(node),
        )


def _written_out(node: exp.Expr) -> exp.Expr | None:
    """BOOL_OR and BOOL_AND by counts of records for which the condition is TRUE, and FALSE; NULL where for none."""
    asked = read_aggregate(node)
    if asked is None or asked.name not in ("bool_or", "bool_and") or len(asked.arguments) != 1:
        return None
    told = asked.arguments[0], exp.Not(this=exp.Paren(this=asked.arguments[0].copy()))
    decisive, other = told if asked.name == "bool_or" else told[::-1]
    either = exp.Boolean(this=asked.name == "bool_or"), exp.Boolean(this=asked.name != "bool_or")
    ifs = [
        exp.If(this=exp.GT(this=_counted(test, asked.condition), expression=exp.Literal.number(0)), true=truth)
        for test, truth in zip((decisive, other), either, strict=True)
    ]
    return exp.Case(ifs=ifs)


def _counted(test: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    held = exp.Paren(this=test.copy())
    both = held if condition is None else exp.And(this=exp.Paren(this=condition.copy()), expression=held)
    return exp.Filter(this=exp.Count(this=exp.Star(), big_int=True), expression=exp.Where(this=both))


def _uncast(node: exp.Expr) -> exp.Expr:
    """What is cast to a number that is divided all the same: any number to DOUBLE or FLOAT, a count to DECIMAL too."""
    while isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        inner: exp.Expr = node.this.unnest()
        counted = isinstance(inner.this if isinstance(inner, exp.Filter) else inner, (exp.Count, exp.CountIf))
        if node.to.this not in (exp.DType.DOUBLE, exp.DType.FLOAT) and not (
            counted and node.to.this == exp.DType.DECIMAL
        ):
            break
        node = inner
    return node


def _is_value(node: exp.Expr) -> bool:
    return not isinstance(node, (exp.Order, exp.Where))
