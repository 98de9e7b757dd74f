"""Aggregates to measures: which records, which of their values, and which statistic of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypedDict, Unpack

from sqlglot import exp

from querygate.core.canonical_text import told
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call, Choice, Constant, Expression, Lookup, Ref, is_number, told_key
from querygate.core.plan import Aggregate, Empty, Family, Measure
from querygate.core.predicate import Predicate, both, either, is_true, negate
from querygate.core.types import SqlValue
from querygate.sql.aggregates import NAMES, AggregateCall, Aggregation, as_filter, is_aggregate, read_aggregate
from querygate.sql.condition_predicates import condition
from querygate.sql.context import Context
from querygate.sql.expressions import expression
from querygate.sql.narrow_numbers import INTERPOLATED, is_decimal, is_single
from querygate.sql.parse import span_of
from querygate.sql.tabulation import axis, is_tabulable, sql_type

ONE = Constant(1, "integer")
NOTHING = Constant(0, "integer")

TEXT_STATISTICS = ("mode", "min", "max")
"""What texts of a category have: the most frequent, and the first and the last in their order."""


class AggregateOptions(TypedDict, total=False):
    """What an aggregate may have besides: see Aggregate."""

    texts: tuple[str, ...]
    parameters: tuple[float, ...]
    empty: Empty
    may_vanish: int | None
    sides: tuple[int, ...]


@dataclass
class Measures:
    """The measures and aggregates of a statement in the making. Measure 0 is the selection of the WHERE itself."""

    context: Context
    where: Predicate
    grouped: bool
    measures: list[Measure] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)
    texts: dict[Measure, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.measure(self.where)

    def measure(self, where: Predicate, *values: Expression, splits: tuple[Predicate, ...] = ()) -> int:
        wanted = Measure(where, values, splits)
        if wanted not in self.measures:
            self.measures.append(wanted)
        return self.measures.index(wanted)

    def add(
        self, family: Family, statistic: str, measure: int, type_: str, **more: Unpack[AggregateOptions]
    ) -> Aggregate:
        vanish = more.get("may_vanish")
        needed = () if vanish is None else self._told(self.measures[vanish])
        own = {name: value for name, value in more.items() if name != "sides"}  # sides follow from the measure
        asked = (family, statistic, self._told(self.measures[measure]), needed, {**own, "may_vanish": None})
        id_ = "aggregate " + hashlib.sha256(repr(asked).encode()).hexdigest()[:24]
        found = next((a for a in self.aggregates if a.id == id_), None)
        if found is None:
            found = Aggregate(id_, family, statistic, measure, type_, **more)
            self.aggregates.append(found)
        return found

    def _told(self, measure: Measure) -> tuple[str, ...]:
        """Equal for measures that ask the same, whatever the words: values and splits matter on its records alone."""
        if measure not in self.texts:
            where, columns = measure.where, self.context.named
            values = [f"{value.type} {told(value, columns, where)}" for value in measure.values]
            splits = [self.context.meaning(both([where, is_true(split)])) for split in measure.splits]
            self.texts[measure] = (self.context.meaning(where), *values, *splits)
        return self.texts[measure]

    def _alike(self, p: Predicate, q: Predicate) -> bool:
        """Do two conditions mean the same?"""
        return p == q or self.context.meaning(p) == self.context.meaning(q)

    # -- one aggregate -------------------------------------------------------------------------------------------

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """The aggregate that begins at a node."""
        asked = read_aggregate(node)
        if asked is None:
            raise _refused(node)
        filtered = as_filter(asked)
        try:
            return self._read(filtered, node)
        except UnsupportedSQL:
            if filtered == asked:
                raise
        return self._read(asked, node)  # a value that is there only where the CASE lets it be

    def _read(self, asked: AggregateCall, node: exp.Expr) -> Aggregate:
        where = self.where
        if asked.condition is not None:
            where = both([where, is_true(condition(asked.condition, self.context))])
        if asked.name in _SPECIAL:
            return _SPECIAL[asked.name](self, asked, where, node)
        known = NAMES[asked.name]
        if asked.distinct and (known.family != "column" or known.parameters):
            raise UnsupportedSQL("QG206", "This aggregate does not support DISTINCT.", "Remove it.", span=span_of(node))
        if known.family in ("pair", "groups", "table"):
            return self._of_two(known, asked, where, node)
        return self._of_column(known, asked, where, node)

    def _of_column(self, known: Aggregation, asked: AggregateCall, where: Predicate, node: exp.Expr) -> Aggregate:
        if not 1 <= len(asked.arguments) <= 1 + len(known.parameters):
            raise _refused(node)
        if known.statistic in TEXT_STATISTICS:
            texts = self._numbered_texts(asked.arguments[0])
            if texts is not None:
                type_, numbers, told_ = texts
                measure = self.measure(both([where, numbers.present]), numbers)
                return self.add("column", known.statistic, measure, type_, texts=told_)
        value = self._value(asked.arguments[0], known, asked.name)
        if asked.name in ("fsum", "favg") and value.type == "integer":  # these add doubles, whatever they get
            value = Call("double", (value,))
        parameters = self._parameters(known, asked.arguments[1:], node)
        self._check_interpolated(asked, node)
        measure = self.measure(both([where, value.present]), value)
        type_ = value.type if known.value else "number"
        type_ = "timestamp" if type_ == "moment" else type_
        family: Family = "distinct" if asked.distinct and known.statistic not in ("min", "max") else "column"
        return self.add(family, known.statistic, measure, type_, parameters=parameters)

    def _value(self, node: exp.Expr, known: Aggregation, name: str) -> Expression:
        found = expression(node, self.context)
        if found.type == "boolean" and name == "sum":
            return expression(exp.Cast(this=node.copy(), to=exp.DataType.build("BIGINT")), self.context)
        in_time = found.type in ("date", "moment")
        if not is_number(found) or (in_time and not known.dates):
            column = node.unnest()
            what = (
                f"{column.name} ({self.context.column(column).type})"
                if isinstance(column, exp.Column)
                else f"a value of type {found.type}"
            )
            other = "MIN and MAX" if in_time else "COUNT, or group by it"
            raise UnsupportedSQL(
                "QG209", f"{name.upper()} is not supported for {what}.", f"Use {other}.", span=span_of(column)
            )
        return found

    def _numbered_texts(self, node: exp.Expr) -> tuple[str, Lookup, tuple[str, ...]] | None:
        """The type of texts or flags of one column, their numbers in the order of their characters or in that of the
        policy, and the texts."""
        found = expression(node, self.context)
        order: tuple[str, ...] = ()
        if found.type not in ("category", "boolean") or not isinstance(found, Ref | Lookup):
            return None
        if isinstance(found, Ref):
            column = self.context.known(found)
            if not is_tabulable(column):
                return None
            found, order = Lookup.over_values(column.name, column.type, column.values, axis(column)), column.order
        told_ = list(order) or sorted({str(told_key(result)) for result in found.results if result is not None})
        places = tuple(None if r is None else told_.index(str(told_key(r))) for r in found.results)
        if found.of_category:
            coded = Lookup.over_values(found.column, "integer", found.values, places)
        else:
            coded = Lookup.over_pieces(found.column, "integer", found.starts, places)
        if found.type == "boolean" and told_ == ["true"]:
            return None  # its numbers would not be those of flags
        return found.type, coded, tuple(told_) if found.type == "category" else ()

    def _check_interpolated(self, asked: AggregateCall, node: exp.Expr) -> None:
        """Between two decimals of one digit the database knows no third: it cuts the rest off."""
        value, context = asked.arguments[0], self.context
        if asked.name not in INTERPOLATED or not (
            is_single(value, context.singles) or is_decimal(value, context.decimals)
        ):
            return
        if sql_type(value, context) not in ("DOUBLE", "BIGINT", "HUGEINT", "INTEGER"):
            raise UnsupportedSQL(
                "QG209",
                f"{asked.name.upper()} of decimals or FLOAT is rounded by the database to the column's digits.",
                "Cast the values to DOUBLE first.",
                span=span_of(node),
            )

    def _parameters(self, known: Aggregation, given: tuple[exp.Expr, ...], node: exp.Expr) -> tuple[float, ...]:
        found: list[float] = []
        for i, default in enumerate(known.parameters):
            value: SqlValue = default
            if i < len(given):
                constant = expression(given[i], self.context)
                value = None
                if isinstance(constant, Constant) and constant.type in ("integer", "number"):
                    value = constant.value
            if (
                not isinstance(value, int | float | Decimal)
                or not (known.statistic == "exceedance" or 0 <= value <= 1)
                or (known.statistic.startswith("mean_ci") and not 0 < value < 1)
            ):
                raise UnsupportedSQL(
                    "QG207", "A parameter of this aggregate is missing or out of range.",
                    "Give a number: a probability or level between 0 and 1, or a threshold.", span=span_of(node),
                )  # fmt: skip
            found.append(float(value))
        return tuple(found)

    def _of_two(self, known: Aggregation, asked: AggregateCall, where: Predicate, node: exp.Expr) -> Aggregate:
        if len(asked.arguments) != 2:
            raise _refused(node)
        first, second = asked.arguments
        if known.family == "pair":
            y, x = self._value(first, known, asked.name), self._value(second, known, asked.name)
            measure = self.measure(both([where, y.present, x.present]), y, x)
            return self.add("pair", known.statistic, measure, "number")
        split = self._truth(second)
        if known.family == "groups":
            x = self._value(first, known, asked.name)
            measure = self.measure(both([where, x.present, _decided(split)]), x, splits=(split,))
            sides = [self.measure(both([where, is_true(side), x.present]), x) for side in (split, negate(split))]
            return self.add("groups", known.statistic, measure, "number", sides=tuple(sides))
        exposed = self._truth(first)
        measure = self.measure(both([where, _decided(exposed), _decided(split)]), splits=(exposed, split))
        rows, columns = ([is_true(one), is_true(negate(one))] for one in (exposed, split))
        counted = [both([row, column]) for row in rows for column in columns]
        counted += [both([row, _decided(split)]) for row in rows]
        counted += [both([_decided(exposed), column]) for column in columns]
        counts = tuple(self.measure(both([where, each])) for each in counted)
        return self.add("table", known.statistic, measure, "number", sides=counts)

    def _truth(self, node: exp.Expr) -> Predicate:
        """A condition. A category of yes and no is read as one, as the database casts its values to flags."""
        named = node.unnest()
        column = self.context.column(named) if isinstance(named, exp.Column) else None
        if column is None or column.type != "category" or not is_tabulable(column):
            return condition(node, self.context)
        try:
            flags = expression(exp.Cast(this=node.copy(), to=exp.DataType.build("BOOLEAN")), self.context)
        except UnsupportedSQL:  # values of another kind
            return condition(node, self.context)
        if not isinstance(flags, Lookup):
            return condition(node, self.context)
        name = self.context.name_of(column)
        kept = [str(exp.Literal.string(v)) for v, flag in zip(flags.values, flags.results, strict=False) if flag]
        self.context.note(f"{name} was read as the condition {name} IN ({', '.join(kept)}).")
        return flags.where(bool)

    # -- counts --------------------------------------------------------------------------------------------------

    def _count(self, asked: AggregateCall, where: Predicate, node: exp.Expr) -> Aggregate:
        arguments = [a for a in asked.arguments if not isinstance(a, exp.Star)]
        if len(arguments) > 1:
            raise _refused(node)
        if not arguments:
            return self.add("column", "count", self.measure(where), "integer")
        value = expression(arguments[0], self.context)
        where = both([where, value.present])
        if not asked.distinct:
            return self.add("column", "count", self.measure(where), "integer")
        if isinstance(value, Lookup) and not value.of_category:
            value = value.numbered()  # as many as there are results
        if is_number(value):
            return self.add("column", "count_distinct", self.measure(where, value), "integer")
        if not isinstance(value, Ref | Lookup):
            raise _refused(node)
        return self.add("sets", "count_distinct", self.measure(where, value), "integer")

    def _count_if(self, asked: AggregateCall, where: Predicate, node: exp.Expr) -> Aggregate:
        if len(asked.arguments) != 1:
            raise _refused(node)
        test = condition(asked.arguments[0], self.context)
        decided = both([where, _decided(test)])  # where it is NULL throughout, so is the count
        vanish = None if self.grouped and self._alike(decided, self.where) else self.measure(decided)
        return self.add("column", "count", self.measure(both([where, is_true(test)])), "integer", may_vanish=vanish)

    def _regr_part(self, asked: AggregateCall, where: Predicate, node: exp.Expr) -> Aggregate:
        """REGR_COUNT, REGR_AVGX and REGR_AVGY: over the records that have both values."""
        if len(asked.arguments) != 2:
            raise _refused(node)
        y, x = (self._value(argument, NAMES["avg"], asked.name) for argument in asked.arguments)
        where = both([where, y.present, x.present])
        if asked.name == "regr_count":
            return self.add("column", "count", self.measure(where), "integer")
        return self.add("column", "avg", self.measure(where, x if asked.name == "regr_avgx" else y), "number")

    # -- quotients -----------------------------------------------------------------------------------------------

    def quotient(self, over: exp.Expr, under: exp.Expr, *, null: bool) -> Aggregate | None:
        """SUM or COUNT divided by SUM or COUNT over records that contain its own: bounded jointly, never as if the two
        were independent. None where that is not so; then the quotient of two ranges is what remains."""
        above, below = (self._summed(node) for node in (over, under))
        if above is None or below is None:
            return None
        (n_where, n_value, n_told), (d_where, d_value, _) = above, below
        if not self._alike(both([n_where, d_where]), n_where) or not self._is_positive(d_value):
            return None
        value = _weighted_by(d_value, n_value) if d_value != ONE else None
        statistic = "ratio_of_sums" if value is None else "weighted_mean"
        value = n_value if value is None else value
        x = value if self._alike(n_where, d_where) else Choice(((n_where, value),), NOTHING, _type_of(value))
        measure = self.measure(d_where, x, d_value)
        exists = self.grouped and self._alike(d_where, self.where)
        with_it = n_told is not None and self._alike(self.measures[n_told].where, d_where)  # both are NULL, or neither
        vanish = None if with_it else n_told
        empty: Empty = "exists" if exists else "null" if null or with_it else "refuse"
        counts = n_value == d_value == ONE
        sides = (self.measure(n_where), self.measure(d_where)) if counts else ()
        return self.add("pair", statistic, measure, "number", empty=empty, may_vanish=vanish, sides=sides)

    def _summed(self, node: exp.Expr) -> tuple[Predicate, Expression, int | None] | None:
        """Selection, value of each record, and the measure without whose records it is NULL."""
        if not is_aggregate(node):
            return None
        found = self.aggregate(node)
        measure = self.measures[found.measure]
        if found.family != "column" or found.statistic not in ("sum", "count"):
            return None
        if found.statistic == "count":
            return measure.where, ONE, found.may_vanish
        return (
            (measure.where, measure.values[0], found.measure)
            if measure.values[0].type not in ("date", "moment")
            else None
        )

    def adds_up(self, aggregate: Aggregate) -> bool:
        """Is it a count, or a sum of what is never negative, by what is public of the column?"""
        if aggregate.family != "column" or aggregate.statistic not in ("sum", "count"):
            return False
        values = self.measures[aggregate.measure].values
        return not values or aggregate.statistic == "count" or self._is_positive(values[0])

    def is_part(self, part: Aggregate, whole: Aggregate) -> bool:
        """Is one the same sum or count as the other, of some of its records?"""
        one, other = (self.measures[aggregate.measure] for aggregate in (part, whole))
        alike = whole.family == "column" and whole.statistic in ("sum", "count")
        values = (
            [m.values[0] if a.statistic == "sum" else ONE for a, m in ((part, one), (whole, other))] if alike else []
        )
        return alike and values[0] == values[1] and self._alike(both([one.where, other.where]), one.where)

    def _is_positive(self, e: Expression) -> bool:
        """Is it above zero wherever it is there, by what is public of the column?"""
        if isinstance(e, Constant):
            return e.value == 1
        if isinstance(e, Ref):
            low = self.context.known(e).low
            return low is not None and low > 0
        return isinstance(e, Lookup) and bool((e.ends[0] > 0).all())


def _weighted_by(weight: Expression, value: Expression) -> Expression | None:
    """What is multiplied by the weight in each record: x of w * x, 1 of w itself; None where that is not so."""
    match value:
        case Constant(None | 0):
            return NOTHING
        case Call("mul", (left, right)) if weight in (left, right):
            return right if left == weight else left
        case Choice():
            ways = [(p, _weighted_by(weight, branch)) for p, branch in value.branches]
            otherwise = _weighted_by(weight, value.otherwise)
            known = [(p, branch) for p, branch in ways if branch is not None]
            if otherwise is None or len(known) < len(ways):
                return None
            return Choice(tuple(known), otherwise, "number", value.complete)
    return ONE if value == weight else None


def _type_of(value: Expression) -> str:
    return "integer" if value.type == "integer" else "number"


def _decided(p: Predicate) -> Predicate:
    """A condition is not NULL."""
    return either([is_true(p), is_true(negate(p))])


def _refused(node: exp.Expr) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG207",
        "This aggregate does not accept these arguments.",
        "Write, for example, AVG(column), QUANTILE_CONT(column, 0.9), CORR(y, x) or COUNT(DISTINCT column).",
        span=span_of(node),
    )


_SPECIAL = {
    "count": Measures._count,
    "count_if": Measures._count_if,
    "regr_count": Measures._regr_part,
    "regr_avgx": Measures._regr_part,
    "regr_avgy": Measures._regr_part,
}
