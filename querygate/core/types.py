"""The words of the product as frozen dataclasses: what travels between the layers."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import string
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from querygate.core.frozen_classes import frozen
from querygate.core.rights import Right, UserRole, may

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]
"""Values of a column, one type for all: whole numbers, numbers, flags or texts."""
Arrays: TypeAlias = "Mapping[str, Array]"
"""Columns of a table as arrays, by name; masked where a value is missing."""

Role = Literal[
    "identifier", "quasi-identifier", "sensitive", "codes", "note", "sequence", "payload", "public", "withheld"
]
Type = Literal["integer", "number", "date", "timestamp", "category", "boolean", "codes"]
Scalar: TypeAlias = "int | float | str | bool | None"
SqlValue: TypeAlias = "Scalar | Decimal | dt.date"
"""What an expression in SQL makes; None is NULL."""

NUMERIC: frozenset[str] = frozenset({"integer", "number", "date", "timestamp"})
"""Types that the store keeps as intervals; code lists are kept as sets of items, the others as value sets."""

DISCRETE: frozenset[str] = frozenset({"integer", "date", "timestamp"})
"""Numeric types whose values are whole numbers: a date is its day number since 1970-01-01, a timestamp its microseconds
since then."""

CALCULABLE: frozenset[str] = frozenset({"integer", "number", "date", "moment"})
"""Types of expressions whose values are numbers. A timestamp column is a moment there; what a function makes of days or
moments and the database calls a timestamp is a text."""


_TO_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def folded(name: str) -> str:
    """A name as DuckDB compares names: the case of ASCII letters does not matter, that of others does.

    >>> folded("Größe") == folded("GRößE"), folded("é") == folded("É")
    (True, False)
    """
    return name.translate(_TO_LOWER)


# -- what is published ---------------------------------------------------------------------------------


@frozen
class Column:
    """One published column, as a researcher may know it. `index` names its physical columns in the store."""

    name: str
    index: int
    role: Role
    type: Type
    nullable: bool
    low: int | float | None = None  # public domain, numeric types
    high: int | float | None = None
    values: tuple[str, ...] = ()  # public values, category and boolean, or the public code list, in code-point order
    title: str = ""
    decimal: bool = False
    parents: tuple[tuple[str, str], ...] = ()  # (code or group of codes, the group it belongs to), codes
    moments: Literal["none", "rounded", "exact"] = "none"  # what is told of the mean and variance of each class
    shared: bool = False  # with moments: all known values of a class have one interval
    rare: str = ""  # the value that stands for all values that too few people have, category
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (column, codes): true where one of them is there; codes
    order: tuple[str, ...] = ()  # the values, the least first, where they are greater and smaller than each other
    cuts: tuple[int | float, ...] = ()  # those of the policy, where conditions are likely to end; quasi-identifiers

    @property
    def is_numeric(self) -> bool:
        return self.type in NUMERIC

    @property
    def is_discrete(self) -> bool:
        return self.type in DISCRETE

    @property
    def is_codes(self) -> bool:
        """Does a record have a set of codes there? A missing list is an empty one. With groups, nothing is stored of
        the column itself: a flag tells of each group.
        """
        return self.type == "codes"


SEPARATOR = "\x1f"
"""The character that separates texts of a reference where they stand in a row; no text has it."""


@frozen
class Reference:
    """A public table that statements may join: a text or a number for each key, by column.

    Keys are values of a category, each once. Values of a column are all texts, all whole numbers or all floats.
    """

    name: str
    key: str
    keys: tuple[str, ...]
    columns: tuple[tuple[str, tuple[str | int | float | None, ...]], ...]

    def type_of(self, column: str) -> Literal["category", "integer", "number"]:
        """What the values of a column are; of one without any, texts."""
        values = dict(self.columns)[column]
        kinds = {type(value) for value in values if value is not None}
        return "integer" if kinds == {int} else "number" if kinds == {float} else "category"

    @property
    def hash(self) -> str:
        """SHA-256 of the whole table: what was joined can be told afterwards."""
        body = json.dumps([self.name, self.key, self.keys, self.columns], ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(body.encode()).hexdigest()


USUAL_MECHANISM = "geometric"
"""Of counts, where a policy names none: exact on whole numbers, and of the least variance there is."""

USUAL_LEAST = 0.001
"""Epsilon that a noisy answer costs at least, unless a policy says otherwise or allows less."""


@frozen
class NoiseOptions:
    """The privacy budget of a dataset, and whom it protects. All of it is public.

    A person has at most `rows_per_person` rows in what an answer is computed from; without a column that tells persons
    apart each row is a person. Limits hold for all versions together: the same people are in them. A statement costs at
    least `epsilon_least`: what is nearly free could be asked without end, and whatever else an answer shows with it.
    """

    epsilon_per_query: float
    epsilon_total: float
    epsilon_per_user: float
    epsilon_per_project: float | None = None
    delta: float = 0.0
    mechanism: str = USUAL_MECHANISM
    person: str = ""
    rows_per_person: int = 1
    epsilon_least: float = USUAL_LEAST
    epsilon_per_extract: float | None = None  # of a noisy model, on approval; None: there are none

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon_least", min(self.epsilon_least, self.epsilon_per_query))


@frozen
class Margin:
    """What a view publishes as one table: counts by its quasi-identifiers, and by sensitive columns that stay linked in
    it (none: only counts). Every record is in one class of every margin.
    """

    view: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()

    @property
    def columns(self) -> frozenset[str]:
        return _united(self.quasi, self.sensitive)


@lru_cache(maxsize=1024)
def _united(quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> frozenset[str]:
    """Asked for several times of every margin by every statement."""
    return frozenset((*quasi, *sensitive))


@frozen
class Catalog:
    """What one version of a dataset says about itself. It is stored with the cells and is all public."""

    dataset: str
    version: int
    title: str
    k: int
    rows: int
    columns: tuple[Column, ...]
    tight: bool = False  # class edges are attained by members (policy: edges = "tight")
    min_group: int = 0
    modes: tuple[str, ...] = ("interval",)
    policy_hash: str = ""
    published: str = ""
    unit: str = ""
    references: tuple[Reference, ...] = ()
    noise: NoiseOptions | None = None  # where answers may be noisy
    on_differencing: Literal["alert", "warn", "refuse"] = "alert"
    in_extracts: tuple[str, ...] = ()  # columns that no query reaches, and that leave in extracts alone
    person: str = ""  # the column that tells persons apart, one in each row: it is not published, and can be counted
    persons: int = 0  # how many people the rows are of, where some have several; k counts them. 0: each row is one
    margins: tuple[Margin, ...] = ()  # of a dataset that is published as views; empty: as classes over all columns

    @property
    def views(self) -> tuple[tuple[str, ...], ...]:
        """The quasi-identifiers of each view."""
        return tuple({margin.view: margin.quasi for margin in self.margins}.values())

    @property
    def linked(self) -> tuple[tuple[str, ...], ...]:
        """Sensitive columns that stay together in views, where there are several."""
        units = dict.fromkeys(margin.sensitive for margin in self.margins)
        return tuple(unit for unit in units if len(unit) > 1)

    @property
    def flags(self) -> frozenset[str]:
        """Columns that are true of those who have a code of a group; they are made of a list, and no record's own."""
        return frozenset(name for column in self.columns for name, _ in column.groups)

    @property
    def noisy_only(self) -> bool:
        """Whether every answer is noisy. Then nothing exact is published about the rows, not even their number."""
        return self.modes == ("laplace",)

    def column(self, name: str) -> Column | None:
        """The column called `name`, without regard to case as in SQL."""
        wanted = folded(name)
        return next((c for c in self.columns if folded(c.name) == wanted), None)

    def reference(self, name: str) -> Reference | None:
        """The reference table called `name`."""
        wanted = folded(name)
        return next((r for r in self.references if folded(r.name) == wanted), None)


# -- what the engine reads and the statistics bound ------------------------------------------------------


@frozen
class Cells:
    """Cells of one group for one measure: values in [low, high], between `least` and `most` records selected.

    `integer` says that values are whole numbers, so that ends of ranges are whole numbers too.
    """

    low: Floats | Ints
    high: Floats | Ints
    least: Ints
    most: Ints
    integer: bool = False

    @property
    def count_low(self) -> int:
        return int(self.least.sum())

    @property
    def count_high(self) -> int:
        return int(self.most.sum())


@frozen
class ClassCells:
    """Cells of one group with the classes they belong to, for a column of which class sums are published.

    Row i holds `size[i]` members of class `group[i]` (0..c-1, rising) with values in [floor, ceiling]; between `least`
    and `most` of them are selected, and those have values in [low, high]. All members of a class with a known value are
    in the rows, also those that cannot be selected. Per class: their sum lies in [sum_low, sum_high] and their variance
    in [var_low, var_high] (NaN: not told). `apart` says that nothing but other columns decides who is selected. `frame`
    is the frame cell of each class, in a margin. Between total_least and total_most members of a class are selected,
    where that is known.
    """

    low: Floats | Ints
    high: Floats | Ints
    floor: Floats | Ints
    ceiling: Floats | Ints
    size: Ints
    least: Ints
    most: Ints
    group: Ints
    sum_low: Floats
    sum_high: Floats
    var_low: Floats
    var_high: Floats
    integer: bool
    apart: bool
    frame: Ints | None = None
    total_least: Ints | None = None
    total_most: Ints | None = None


@frozen
class Range:
    """A guaranteed range. The truth is in [low, high], or NULL where `may_be_null`.

    `attained_low` and `attained_high` are values that some data set consistent with the store really reaches, so
    the reader sees how tight the range is; `sharp` says that they coincide with the ends (up to outward rounding).
    A range without ends (`low is None`) is NULL for certain.
    """

    low: int | float | None
    high: int | float | None
    attained_low: int | float | None = None
    attained_high: int | float | None = None
    sharp: bool = True
    may_be_null: bool = False

    @property
    def is_exact(self) -> bool:
        return self.low is not None and self.low == self.high and not self.may_be_null

    @property
    def is_null(self) -> bool:
        return self.low is None

    @classmethod
    def null(cls) -> Range:
        """The range of a statistic over a selection that is certainly empty."""
        return cls(None, None, None, None, sharp=True, may_be_null=True)

    @classmethod
    def exact(cls, value: int | float) -> Range:
        return cls(value, value, value, value)


# -- who asks, and what is given back --------------------------------------------------------------------


@frozen
class Principal:
    """Somebody who is signed in."""

    name: str
    role: UserRole
    scopes: frozenset[str] | None = None  # of the key; None: all of the role
    assumed: bool = False  # somebody at the console acts in this name, without its key

    def may(self, right: Right) -> bool:
        """Whether their role has the right and their key includes it."""
        return may(self.role, right, self.scopes)


@frozen
class QueryOptions:
    """What a request may say besides the SQL. Defaults: ranges if they are allowed, and the most epsilon there is."""

    mode: str | None = None
    epsilon: float | None = None
    consistent: bool = False  # noisy counts that add up
    readable: bool = False  # with texts for a person
    explain: bool = False  # with the causes of its width, of ranges


@frozen
class Request:
    """One incoming question."""

    principal: Principal
    dataset: str
    sql: str
    options: QueryOptions = QueryOptions()


@frozen
class Estimate:
    """A likely number inside a range, judging by the published store, not guaranteed; or why there is none."""

    value: int | float | None
    note: str = ""


@frozen
class Group:
    """One row of an answer: its keys, one range per statistic, and how many records it may hold.

    `rolled_up` says of each key whether the row is over all of its values, where a statement has several grouping sets.
    `estimates` has one for each range, or nothing where none were asked for. Of a group of groups `count` counts
    groups, and `holds` is how many records these may have. With LIMIT, `first` says whether it is certainly among the
    first.
    """

    keys: tuple[Scalar, ...]
    ranges: tuple[Range, ...]
    count: Range
    certain: bool
    rolled_up: tuple[bool, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    holds: int | None = None
    first: bool | None = None

    def may_show(self, least: int) -> bool:
        """Can it hold so many records? Or can nobody be in it, of whom something would be told?"""
        most = int(self.count.high or 0)
        return most == 0 or (most if self.holds is None else self.holds) >= least


@frozen
class AnswerColumn:
    """A column of an answer: a group key, or the range of a statistic. `source` is its place in the groups' tuples.
    `texts` are what the numbers of a range stand for, in their order, where it is one of texts. `digits` are those
    after the point that the statement asked for, as ROUND does: no value of the column has more."""

    name: str
    kind: Literal["key", "range"]
    type: str
    source: int
    texts: tuple[str, ...] = ()
    digits: int | None = None


@frozen
class Limited:
    """What LIMIT and OFFSET ask for, ranks from `first` to `last`, and of how many rows it is certain or possible."""

    first: int
    last: int | None
    ordered: bool
    certain: int
    possible: int


@frozen
class Answer:
    """The answer that is sent. Renderers turn it into JSON, CSV, Arrow, Parquet, HTML or a table for a terminal."""

    query_id: str
    dataset: str
    version: int
    mode: str
    columns: tuple[AnswerColumn, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()
    elapsed_ms: float = 0.0
    limited: Limited | None = None


IN_SQL = {
    "mean": "avg",
    "var": "var_samp",
    "sd": "stddev_samp",
    "median": "median",
    "cov": "covar_samp",
    "corr": "corr",
}
"""Statistics that a policy may name, by their names in SQL and in the registry."""
