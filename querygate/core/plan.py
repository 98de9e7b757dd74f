"""What a statement needs from the store: keys, measures, aggregates, outputs. Built by `sql`, read by the gate.

Records are grouped by keys; aggregates turn the cells of each group into ranges. Expressions around aggregates (their
sum or quotient, HAVING, a query over the groups) read the groups as rows of a second block, whose columns are the keys
and the aggregates, by id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from querygate.core.expression import Call, Choice, Constant, Expression, Lookup
from querygate.core.frozen_classes import frozen
from querygate.core.predicate import Predicate, columns
from querygate.core.types import Cells, ClassCells, Ints, Scalar

NONE = Constant(None, "null")
"""The formula of an output that is a key."""

MOST_DIGITS = 15
"""Digits after the point that numbers are shown with as asked: a double has no more."""


@frozen
class LeftOut:
    """GROUPING of some keys: which of them a grouping set leaves out, as a number with a bit for each, the first key's
    the highest. It tells a subtotal from a group of missing values."""

    places: tuple[int, ...]
    columns: tuple[str, ...] = ()

    def of(self, chosen: tuple[int, ...]) -> int:
        """For one grouping set.

        >>> LeftOut((0, 1)).of((0,))
        1
        """
        return sum((place not in chosen) << i for i, place in enumerate(reversed(self.places)))


@frozen
class GroupKey:
    """What records are grouped by: a function of one column, or a choice of constants. `values` in order, NULL last.

    `id` is its name as a column of the groups; it is equal for equal keys. `order` are values in an order that the
    policy says, and not their texts.
    """

    id: str
    type: str
    by: Lookup | Choice | Constant | LeftOut
    values: tuple[Scalar, ...]
    order: tuple[str, ...] = ()


@frozen
class Measure:
    """A selection of records with the values that are wanted of them, and conditions that divide them in two.

    Records are selected where `where` is TRUE; it says already that the values are not NULL and the conditions neither.
    """

    where: Predicate
    values: tuple[Expression, ...] = ()
    splits: tuple[Predicate, ...] = ()


Family = Literal["column", "distinct", "sets", "pair", "groups", "table"]
Empty = Literal["refuse", "null", "exists"]


@frozen
class Aggregate:
    """A statistic over a measure, with its parameters. `family` is the registry that knows it.

    `id` is its name as a column of the groups; it is equal for equal aggregates. `empty` tells what a quotient is when
    there is nothing to divide by: refused, NULL, or impossible because the group would not be there. `may_vanish` is
    the selection without whose records it is NULL: of a quotient's numerator, or where COUNT_IF's condition is told.
    `sides` are the measures of the two groups that a comparison compares, of the two counts of a quotient, or of a
    table's four counts and four totals, each by itself. `texts` are what its numbers stand for, in their order, where
    it is a text.
    """

    id: str
    family: Family
    statistic: str
    measure: int
    type: str
    parameters: tuple[float, ...] = ()
    empty: Empty = "exists"
    may_vanish: int | None = None
    sides: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def measures(self) -> frozenset[int]:
        """All measures that it needs."""
        return frozenset({self.measure, *self.sides} | ({self.may_vanish} if self.may_vanish is not None else set()))


@frozen
class Rank:
    """One term that the groups of a window are ordered by: a key, by its place, with the order of its values where the
    policy says it; or a formula."""

    key: int | None
    formula: Expression
    descending: bool
    nulls_first: bool
    order: tuple[str, ...] = ()


@frozen
class Window:
    """A number of each group that others have a part in: a statistic of `argument` over the groups that have the same
    keys at the places `among`, a rank among them, or what one aggregate is of all of them together ("whole").

    `id` is its name as a column of the groups. With `ranks` it is over the groups up to this one, and those that rank
    the same if `peers`. `whole` is the aggregate, by its place, that is of the groups together what `argument` is of
    each: their sum. "share" is the argument divided by that sum; `null` says that it is NULL where the sum is zero.
    `parameters` are those of "lag", how many places before (after, where it is negative) and what stands for nothing
    there, and of "ntile", into how many parts.
    """

    id: str
    statistic: str
    type: str
    argument: Expression = NONE
    among: tuple[int, ...] = ()
    ranks: tuple[Rank, ...] = ()
    peers: bool = True
    whole: int | None = None
    null: bool = False
    parameters: tuple[int | float, ...] = ()


@frozen
class Output:
    """One column of the answer: a group key (`source` indexes Plan.keys) or a formula over the group's aggregates.

    `id` is its name as a column where the groups are the records of an outer query. `texts` are what the numbers of a
    range stand for, where it is one of texts.
    """

    name: str
    kind: Literal["key", "range"]
    type: str
    source: int = 0
    formula: Expression = NONE
    id: str = ""
    texts: tuple[str, ...] = ()

    @property
    def digits(self) -> int | None:
        """So many digits after the point has each of its values, as ROUND or a cast to DECIMAL says."""
        if not isinstance(self.formula, Call) or self.formula.name not in ("round", "decimal"):
            return None
        places = self.formula.arguments[1]
        known = isinstance(places, Constant) and isinstance(places.value, int) and 0 <= places.value <= MOST_DIGITS
        return int(places.value) if known else None  # type: ignore[union-attr,arg-type]  # a constant number


@frozen
class Order:
    """ORDER BY one output of the plan."""

    output: int
    descending: bool
    nulls_first: bool


@frozen
class Plan:
    """A statement understood. Measure 0 is always the selection of the WHERE itself, which counts each group.

    `outputs` are in the order of the select list; those from `shown` on serve ORDER BY only. `sets` are the grouping
    sets, as places of keys; without GROUP BY there is one, and it is empty. `inner` is the plan whose groups are the
    records of this one, where there is a query over groups. `windows` are made of the groups that HAVING keeps, and
    `qualify` selects among the groups by them. `following` are the other branches of a UNION ALL.
    `notes` say how a statement was read, where it might be taken otherwise.
    """

    dataset: str
    keys: tuple[GroupKey, ...]
    sets: tuple[tuple[int, ...], ...]
    grouped: bool
    measures: tuple[Measure, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    shown: int
    having: Predicate | None
    orders: tuple[Order, ...]
    limit: int | None
    canonical: str
    hash: str
    inner: Plan | None = None
    following: tuple[Plan, ...] = ()
    offset: int = 0
    notes: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()
    qualify: Predicate | None = None

    @property
    def branches(self) -> tuple[Plan, ...]:
        """The SELECTs of a UNION ALL, or the only one there is."""
        return (self, *self.following)

    @property
    def columns(self) -> frozenset[str]:
        """Every column of the store that this plan needs."""
        return self.inner.columns if self.inner is not None else self.columns_of(self.measures)

    def columns_of(self, measures: Iterable[Measure]) -> frozenset[str]:
        """Every column that its keys and some of its measures need."""
        found = {name for key in self.keys for name in key.by.columns}
        for measure in measures:
            found.update(columns(measure.where), *(value.columns for value in measure.values))
            found.update(*(columns(split) for split in measure.splits))
        return frozenset(found)


@frozen
class SelectedAmong:
    """Rows that belong together, `place` says which: of place i between least[i] and most[i] records are selected."""

    place: Ints
    least: Ints
    most: Ints


@frozen
class MeasureCells:
    """The cells of one group for one measure, a row each: how many records, of how many, with which values.

    `values` holds one interval per wanted value (least and most are the measure's), `sets` the possible values where
    the wanted one is a category, `splits` four arrays per condition: least and most for which it is TRUE, then FALSE.
    `free` says that every selection and every end of an interval that the cells allow is consistent with the store, so
    that a statistic that is sharp over the cells is sharp; `solid` says so of every value between the ends too.
    `classes` are the same cells with what is published of their classes, for each wanted value; None where that is
    nothing, and empty where no value has class sums. `frame` is the frame cell of each row, in a margin; `among` says
    how many records are selected in rows together, where that is known.
    """

    size: Ints
    least: Ints
    most: Ints
    values: tuple[Cells, ...] = ()
    sets: tuple[frozenset[int], ...] = ()
    splits: tuple[tuple[Ints, Ints, Ints, Ints], ...] = ()
    free: bool = True
    solid: bool = True
    classes: tuple[ClassCells | None, ...] = ()
    frame: Ints | None = None
    among: SelectedAmong | None = None

    def take(self, rows: Ints) -> MeasureCells:
        """Some rows, without what is told of classes."""
        least, most, among = self.least[rows], self.most[rows], self.among
        return MeasureCells(
            self.size[rows],
            least,
            most,
            tuple(Cells(value.low[rows], value.high[rows], least, most, value.integer) for value in self.values),
            tuple(self.sets[row] for row in rows.tolist()) if self.sets else (),
            tuple((s[0][rows], s[1][rows], s[2][rows], s[3][rows]) for s in self.splits),
            self.free,
            self.solid,
            (),
            None if self.frame is None else self.frame[rows],
            None if among is None else SelectedAmong(among.place[rows], among.least, among.most),
        )


@frozen
class FetchedGroup:
    """Keys of one possible group and, for each measure of the plan, its cells.

    `always` says that it is there even if nobody is in it: a statement without GROUP BY, a grand total. `chosen` is its
    grouping set, as places of keys.
    """

    keys: tuple[Scalar, ...]
    cells: tuple[MeasureCells, ...]
    always: bool = False
    chosen: tuple[int, ...] = ()
