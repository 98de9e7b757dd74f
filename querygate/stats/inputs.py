"""Reads lists, NumPy, pandas or Arrow columns as cells, or raises a ValueError that says what is wrong.

pandas and Arrow objects are recognised by their methods, so neither library is imported here. Where a number is not a
double (a large integer, a Decimal, a Fraction, an extended float) lower ends are rounded down and upper ends up, so the
interval that is read contains the one that was given.
"""

from __future__ import annotations

from collections.abc import Sized
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from querygate.core.types import Array, Cells, Floats, Ints
from querygate.stats.comparison import GroupCells
from querygate.stats.exposure_tables import TableCells
from querygate.stats.numerics import EXACT, enclose
from querygate.stats.pairs import PairCells

Column: TypeAlias = "ArrayLike | None"
"""Numbers: a list, a NumPy array, a pandas Series, an Arrow array; as `lo` alone also a pandas IntervalArray."""

Counts: TypeAlias = "ArrayLike | None"
"""Records per interval: exact numbers, or pairs (least, most) where membership is uncertain; None is one each."""


def read_cells(lo: Column, hi: Column = None, counts: Counts = None, *, integer: bool = False) -> Cells:
    """Cells from two columns of ends and the numbers of records.

    >>> read_cells([40, 50], [49, 59], [5, (0, 3)])
    Cells(low=array([40., 50.]), high=array([49., 59.]), least=array([5, 0]), most=array([5, 3]), integer=False)
    """
    low, high = read_ends(lo, hi, integer=integer)
    least, most = read_counts(counts, low.size)
    return Cells(low, high, least, most, integer)


def read_ends(lo: Column, hi: Column = None, *, integer: bool = False) -> tuple[Floats | Ints, Floats | Ints]:
    """Lower and upper ends, checked: known, in order, and equally many."""
    if hi is None:
        lo, hi = _split(lo)
    low, high = _numbers(lo, "lower end", -np.inf), _numbers(hi, "upper end", np.inf)
    if low.size != high.size:
        raise ValueError(f"there are {low.size} lower ends and {high.size} upper ends")
    _check(low > high, "interval {} is reversed: its lower end is above its upper end")
    if not integer:
        return low, high
    first, last = _whole(low, lo, np.ceil), _whole(high, hi, np.floor)
    _check(first > last, "interval {} holds no whole number, but integer=True says that all values are whole")
    return first, last


def read_pairs(x: Column, y: Column, counts: Counts = None) -> PairCells:
    """Cells of two columns, each given as a pair (lo, hi) or as a pandas IntervalArray.

    >>> read_pairs(([0], [1]), ([2], [3])).y_high
    array([3.])
    """
    (x_low, x_high), (y_low, y_high) = (
        read_ends(*column) if isinstance(column, tuple) and len(column) == 2 else read_ends(column) for column in (x, y)
    )
    if x_low.size != y_low.size:
        raise ValueError(f"there are {x_low.size} intervals of x and {y_low.size} of y")
    return PairCells(x_low, x_high, y_low, y_high, *read_counts(counts, x_low.size))


def read_groups(
    lo: Column, hi: Column, first: Counts, second: Counts, sizes: Counts = None, *, integer: bool = False
) -> GroupCells:
    """Classes of which some records are in a first group and others in a second; without sizes no record can be in
    either.

    >>> read_groups([0, 1], [1, 2], [1, (0, 2)], [0, 1]).size
    array([1, 3])
    """
    low, high = read_ends(lo, hi, integer=integer)
    one, two = read_counts(first, low.size), read_counts(second, low.size)
    members = one[1] + two[1] if sizes is None else _sizes(sizes, low.size)
    _check(one[0] + two[0] > members, "class {} has fewer members than the two groups have of it")
    return GroupCells(low, high, members, *one, *two, integer)


def read_table(exposed: Counts, outcome: Counts, sizes: Counts = None, counts: Counts = None) -> TableCells:
    """Classes with the numbers of members that are exposed and that have the outcome; without counts all members are
    selected.

    >>> read_table([(2, 5)], [3], [9]).unexposed
    array([7])
    """
    if not isinstance(exposed, Sized):
        raise ValueError("exposed must be a column: a number, a pair (least, most), or True or False for each class")
    members = _sizes(sizes, len(exposed))
    one, two = read_counts(exposed, members.size), read_counts(outcome, members.size)
    chosen = (members, members) if counts is None else read_counts(counts, members.size)
    for numbers, what in ((one, "exposed"), (two, "with the outcome"), (chosen, "selected")):
        _check(numbers[1] > members, f"class {{}} has fewer members than are {what}")
    return TableCells(one[1], members - one[0], two[1], members - two[0], *chosen)


def read_counts(counts: Counts, size: int) -> tuple[Ints, Ints]:
    """Least and most number of records of each of `size` intervals."""
    if counts is None:
        return np.ones(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    if isinstance(counts, list | tuple) and any(np.ndim(entry) == 1 for entry in counts):
        counts = [entry if np.ndim(entry) == 1 else (entry, entry) for entry in counts]
    try:
        given = np.asarray(counts)
    except ValueError:
        given = np.empty((0, 0, 0))
    if given.ndim == 0:
        given = np.full(size, given[()])
    if given.ndim > 2 or (given.ndim == 2 and given.shape[1] != 2):
        raise ValueError("counts must be numbers, one per interval, or pairs (least, most)")
    if given.shape[0] != size:
        raise ValueError(f"there are {size} intervals and {given.shape[0]} counts")
    least, most = (given, given) if given.ndim == 1 else (given[:, 0], given[:, 1])
    least, most = _records(least), _records(most)
    _check(least > most, "count {} is reversed: its least number is above its most")
    return least, most


def _sizes(sizes: Counts, size: int) -> Ints:
    """Numbers of members, which are known exactly."""
    least, most = read_counts(sizes, size)
    _check(least < most, "size {} is uncertain")
    return least


def _split(intervals: object) -> tuple[Column, Column]:
    """Both ends of a pandas IntervalArray, IntervalIndex or Series of intervals. Whether ends are open makes no
    difference to a range: values come arbitrarily close to an open end."""
    inner = getattr(intervals, "array", intervals)
    if not (hasattr(inner, "left") and hasattr(inner, "right")):
        raise ValueError("give lower and upper ends, or a pandas IntervalArray alone")
    return inner.left, inner.right


def _numbers(column: Column, what: str, side: float) -> Floats:
    """Doubles, rounded towards `side` where a number is not one."""
    if isinstance(column, np.ma.MaskedArray):
        _check(np.ma.getmaskarray(column), what + " {} is unknown (masked)")
    given = _array(column, what)
    if given.dtype.kind == "O":
        doubles = np.array([_double(v, what, i, side) for i, v in enumerate(given.tolist())], dtype=np.float64)
    elif given.dtype.kind in "biuf":
        doubles = _rounded(given, side)
    else:
        raise ValueError(f"{what}s must be numbers, not {given.dtype}")
    _check(np.isnan(doubles), what + " {} is unknown (NaN)")
    return doubles


def _array(column: Column, what: str) -> Array:
    try:
        given = np.asarray(column)
    except ValueError as wrong:
        raise ValueError(f"{what}s must be a column of numbers") from wrong
    if given.ndim != 1:
        raise ValueError(f"{what}s must be a column of numbers, not an array of {given.ndim} dimensions")
    return given


def _rounded(given: Array, side: float) -> Floats:
    doubles: Floats = given.astype(np.float64)
    beyond = doubles < given if side > 0 else doubles > given
    moved = np.abs(doubles) >= EXACT if given.dtype.kind in "iu" else beyond
    return np.where(moved, np.nextafter(doubles, side), doubles) if moved.any() else doubles


def _double(value: object, what: str, at: int, side: float) -> float:
    """One number of a column of Python objects."""
    if value is None:
        raise ValueError(f"{what} {at} is unknown (None)")
    if isinstance(value, float):
        return value
    if isinstance(value, Rational | Decimal) and not (isinstance(value, Decimal) and not value.is_finite()):
        bounds = enclose(Fraction(value))
        return bounds.high if side > 0 else bounds.low
    raise ValueError(f"{what} {at} is not a number: {type(value).__name__}")


def _whole(doubles: Floats, given: Column, inward: np.ufunc) -> Ints:
    """Whole numbers inside, exact where integers were given."""
    original = np.asarray(given)
    if original.dtype.kind in "biu" and (original.dtype.kind != "u" or not original.size or original.max() < 2**63):
        return original.astype(np.int64)
    _check(np.abs(doubles) >= 2.0**63, "end {} does not fit into 64 bits, which integer=True needs")
    whole: Ints = inward(doubles).astype(np.int64)
    return whole


def _records(column: Array) -> Ints:
    """Counts as whole numbers that are not negative."""
    if column.dtype.kind == "O":
        column = np.array([np.nan if value is None else value for value in column.tolist()])
    if column.dtype.kind not in "biuf":
        raise ValueError(f"counts must be numbers, not {column.dtype}")
    if column.dtype.kind == "f":
        _check(np.isnan(column), "count {} is unknown (NaN)")
        _check(column != np.floor(column), "count {} is not a whole number")
    _check(column < 0, "count {} is negative")
    _check(column >= 2**62, "count {} is too large")
    return column.astype(np.int64)


def _check(wrong: Array, message: str) -> None:
    """A ValueError about the first entry (they count from 0) that is wrong."""
    if wrong.any():
        raise ValueError(message.format(int(np.argmax(wrong))))
