"""Evaluates conditions and expressions for each row: look-ups in tables of public codes, and arithmetic.

The time must not depend on what is in a row. So tables are made from public values before any row is read; every row is
looked up in every table, every branch of a CASE is computed for every row, and no row can fail: an undefined number is
NaN, and comparisons with it are neither true nor false. The steps are the same whatever the rows contain.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from querygate.bounds.interval_arithmetic import half_away
from querygate.core.expression import Call, Choice, Constant, Expression, Lookup, Ref, day_number, told_key
from querygate.core.noise_ports import RowCodes, Rows
from querygate.core.plan import GroupKey, LeftOut
from querygate.core.predicate import And, Atom, Comparison, Const, HasAny, Or, Predicate, Truth
from querygate.core.types import Array, Bools, Floats, Ints, Scalar, SqlValue
from querygate.core.valueset import Point

Truths: TypeAlias = NDArray[np.int8]
FALSE, NULL, TRUE = 0, 1, 2
"""In this order AND is the least and OR the greatest."""

_RANK: dict[Truth, int] = {"false": FALSE, "null": NULL, "true": TRUE}
_COMPARE: dict[str, Callable[[Floats, Floats], Bools]] = {
    "<": np.less,
    "<=": np.less_equal,
    "=": np.equal,
    "<>": np.not_equal,
}


def _rounded(x: Floats, digits: Floats) -> Floats:
    """ROUND as the database does it; the digits are the same for every row."""
    places = int(digits.flat[0]) if digits.size else 0
    scale = 10.0 ** abs(places)
    found: Floats = half_away(x * scale) / scale if places > 0 else half_away(x / scale) * scale
    return found


def _single(numbers: Floats, _: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def _decimal(numbers: Floats, digits: Floats) -> Floats:
    """Halves as the database casts them: see `bounds.arithmetic`."""
    scale = 10.0**digits
    moved = numbers * scale
    found: Floats = np.rint(moved + np.sign(moved) * 1e-9) / scale
    return found


_FUNCTIONS: dict[str, Callable[..., Floats]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "least": np.minimum,
    "greatest": np.maximum,
    "double": np.positive,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _rounded,
    "whole": np.rint,
    "single": _single,
    "decimal": _decimal,
    "sign": np.sign,
    "power": np.power,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "ln": np.log,
    "log10": np.log10,
    "log2": np.log2,
}


class RowValues:
    """Some rows, and the values computed from them."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    # -- tables ----------------------------------------------------------------------------------------------------

    def _looked_up(self, name: str, inner: Array, results: Array) -> Array:
        """The result of each row's piece; `inner` are the starts of all pieces but the first, which reaches down.

        The last of the results is that of a missing value.
        """
        column = self._rows.columns[name]
        if isinstance(column, RowCodes):
            pieces = np.searchsorted(inner, column.values, side="right")
            table: Array = results[np.append(pieces, len(results) - 1)]
            found: Array = table[column.codes]
            return found
        place = places(inner, column.numbers)
        return results[np.where(column.missing, len(results) - 1, place)]

    def _of_texts(self, name: str, results: Array) -> Array:
        """The result of each row's public value; the last is that of a missing one."""
        column = self._rows.columns[name]
        if not isinstance(column, RowCodes):
            raise TypeError("a category has codes")
        return results[column.codes]

    def _tabulated(self, e: Lookup, results: Array) -> Array:
        return self._of_texts(e.column, results) if e.of_category else self._looked_up(e.column, e.starts[1:], results)

    # -- conditions ------------------------------------------------------------------------------------------------

    def truth(self, p: Predicate) -> Truths:
        """FALSE, NULL or TRUE for each row."""
        match p:
            case Const(truth):
                return np.full(self._rows.size, _RANK[truth], dtype=np.int8)
            case Atom():
                return self._atom(p)
            case Comparison():
                return self._comparison(p)
            case And(parts):
                return _all(np.minimum, [self.truth(part) for part in parts])
            case Or(parts):
                return _all(np.maximum, [self.truth(part) for part in parts])
            case HasAny():
                raise TypeError("code lists are not read for noisy answers")

    def _atom(self, p: Atom) -> Truths:
        column = self._rows.columns[p.column]
        if isinstance(column, RowCodes) and column.values.dtype == object:
            truths = [p.at(value) for value in column.values]
            return self._of_texts(p.column, _table([_RANK[truth] for truth in (*truths, p.null)], np.int8))
        cuts = sorted({cut for values in (p.true, p.false) for cut, _ in values.cuts})
        truths = [p.at(value) for value in (-np.inf, *cuts)]  # from a cut to the next one it does not change
        results = _table([_RANK[truth] for truth in (*truths, p.null)], np.int8)
        like = column.values if isinstance(column, RowCodes) else column.numbers
        return self._looked_up(p.column, _starts(cuts, like), results)

    def _comparison(self, p: Comparison) -> Truths:
        left, right = self.numbers(p.left), self.numbers(p.right)  # type: ignore[arg-type]
        held = np.where(_COMPARE[p.operator](left, right), TRUE, FALSE)
        known = (self.truth(p.when) == TRUE) & ~np.isnan(left) & ~np.isnan(right)
        return np.where(known, held, _RANK[p.null]).astype(np.int8)

    # -- values ----------------------------------------------------------------------------------------------------

    def numbers(self, e: Expression) -> Floats:
        """The value of each row as a number; arbitrary where it is NULL."""
        match e:
            case Ref(name):
                return self._column(name)
            case Constant(value):
                return np.full(self._rows.size, _number(value))
            case Lookup():
                return self._tabulated(e, _table([_number(result) for result in e.results], np.float64))
            case Call(name, arguments):
                with np.errstate(all="ignore"):
                    return _FUNCTIONS[name](*(self.numbers(argument) for argument in arguments))
            case Choice():
                return self._chosen(e, self.numbers)

    def _column(self, name: str) -> Floats:
        column = self._rows.columns[name]
        if isinstance(column, RowCodes):
            return np.append(column.values, 0).astype(np.float64)[column.codes]
        return column.numbers.astype(np.float64)

    def _chosen(self, e: Choice, value_of: Callable[[Expression], Array]) -> Array:
        """Every branch for every row; then the first whose condition is TRUE."""
        found = value_of(e.otherwise)
        for condition, value in reversed(e.branches):
            found = np.where(self.truth(condition) == TRUE, value_of(value), found)
        return found

    def group_places(self, key: GroupKey, values: Sequence[Scalar]) -> Ints:
        """The position of each row's key among the values; one past the last if it is none of them."""
        place = {value: i for i, value in enumerate(values)}

        def place_of(value: SqlValue) -> int:
            return place.get(told_key(value), len(values))

        def placed(e: Expression) -> Ints:
            return np.full(self._rows.size, place_of(e.value if isinstance(e, Constant) else None))

        if isinstance(key.by, Lookup):
            return self._tabulated(key.by, _table([place_of(result) for result in key.by.results], np.int64))
        if isinstance(key.by, LeftOut):
            raise TypeError("GROUPING is not read for noisy answers")
        return self._chosen(key.by, placed) if isinstance(key.by, Choice) else placed(key.by)

    def distinct_codes(self, e: Expression) -> tuple[Ints, int]:
        """A number for each row, equal for equal values, and how many there may be; arbitrary for NULL."""
        if isinstance(e, Lookup):
            numbers: dict[Hashable, int] = {}
            found = [numbers.setdefault(result, len(numbers)) for result in e.results]
            return self._tabulated(e, _table(found, np.int64)), len(numbers)
        column = self._rows.columns[e.column] if isinstance(e, Ref) else None
        if isinstance(column, RowCodes):
            return column.codes.astype(np.int64), len(column.values) + 1
        known, codes = np.unique(self.numbers(e) + 0.0, return_inverse=True)
        return codes.astype(np.int64), len(known)


def places(starts: Array, numbers: Array) -> Ints:
    """How many of the ascending `starts` are at or below each number: a binary search with the same steps for all.

    >>> places(np.array([10.0, 20.0]), np.array([9.0, 10.0, 25.0]))
    array([0, 1, 2])
    """
    found = np.zeros(len(numbers), dtype=np.int64)
    step = 1 << len(starts).bit_length() >> 1
    while step:
        ahead = found + step
        reached = (ahead <= len(starts)) & (starts[np.minimum(ahead, len(starts)) - 1] <= numbers)
        found = np.where(reached, ahead, found)
        step >>= 1
    return found


def _starts(cuts: Sequence[Point], like: Array) -> Array:
    """Where pieces begin, in the type of the numbers they are compared with."""
    if like.dtype != np.int64:
        return np.array(cuts, dtype=np.float64)
    most = np.iinfo(np.int64)
    return np.array([min(max(int(cut), most.min), most.max) for cut in cuts], dtype=np.int64)


def _all(combine: np.ufunc, parts: list[Truths]) -> Truths:
    found = parts[0]
    for part in parts[1:]:
        found = combine(found, part)
    return found


def _table(results: Sequence[int | float], dtype: type[np.generic]) -> Array:
    return np.array(results, dtype=dtype)


def _number(value: SqlValue) -> float:
    return 0.0 if value is None else float(day_number(value))
