"""The values that an expression may have in the records of a row for which a condition is TRUE.

Columns are clipped to what the condition lets through, then interval arithmetic. The hull is exact where each column
occurs once (Moore 1966), because columns of one row vary freely; otherwise it is an outer bound, narrowed by splitting
the column that occurs most often. Rows from which no record can be selected are never evaluated, so a zero divisor
there does no harm.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from querygate.bounds.column_values import value_bounds
from querygate.bounds.interval_arithmetic import FUNCTIONS, Box, Ends, as_doubles
from querygate.core.block import ALL_NULLS, NO_NULLS, SOME_NULLS, Block, NumberColumn, SetColumn
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call, Choice, Constant, Expression, Lookup, Ref, day_number, enclosed
from querygate.core.predicate import Predicate, columns
from querygate.core.types import Bools, Ints

if TYPE_CHECKING:
    from querygate.bounds.membership import Membership

PARTS = 8
"""Into how many parts the interval of a column that occurs several times is split."""

_REACH = float(2**63 - 1024)  # the largest double that is a whole number of 64 bits

MOST_SPLIT = 200_000
"""Rows beyond which there is no splitting: it would cost more than it gives."""


def expression_bounds(e: Expression, members: Membership, where: Predicate) -> Box:
    """(low, high) per row; low > high where no value is possible."""
    if isinstance(e, Ref):
        return Box(*value_bounds(where, members, e.column))
    members.check()
    possible = members.counts(where)[1] > 0
    rows = np.flatnonzero(possible)
    block = narrowed(members.on(members.block.take(rows)), where, e.columns)
    held = _has_values(e, block)
    found = evaluate(e, members.on(block.take(np.flatnonzero(held))))
    return _scattered(found, rows[held], members.block.size)


def evaluate(e: Expression, members: Membership) -> Box:
    """The hull of an expression over each row, taken where it is not NULL."""
    block = members.block
    repeated = [(n, name) for name, n in Counter(e.columns).items() if n > 1 and _is_wide(block.columns.get(name))]
    if isinstance(e, Call) and repeated and 0 < block.size * PARTS <= MOST_SPLIT:
        return _split(e, members, max(repeated)[1])
    return _hull(e, members)


def _hull(e: Expression, members: Membership) -> Box:
    match e:
        case Ref(name):
            column = members.block.number(name)
            return Box(column.low, column.high)
        case Constant():
            return _constant(e, members.block.size)
        case Lookup():
            return _tabulated(e, members.block)
        case Call(name, arguments):
            return FUNCTIONS[name](*(_hull(argument, members) for argument in arguments))
        case Choice():
            return _choice(e, members)


def narrowed(members: Membership, where: Predicate, names: tuple[str, ...]) -> Block:
    """The block with numbers clipped to what the condition lets through."""
    block = members.block
    for name in sorted(set(names) & columns(where)):
        column = block.columns[name]
        if isinstance(column, NumberColumn):
            low, high = value_bounds(where, members, name)
            null = np.where((low > high) & (column.null == SOME_NULLS), ALL_NULLS, column.null)  # only NULL is left
            block = block.with_column(name, NumberColumn(low, high, null, column.tight))
    return block


def _has_values(e: Expression, block: Block) -> Bools:
    """Rows in which the columns still have a value."""
    held = np.ones(block.size, dtype=np.bool_)
    for name in set(e.columns):
        column = block.columns[name]
        if isinstance(column, NumberColumn):
            held &= (column.low <= column.high) | (column.null != NO_NULLS)
    return held


def _scattered(found: Box, rows: Ints, size: int) -> Box:
    """The boxes at their rows, and nothing elsewhere."""
    low, high = np.ones(size, dtype=found.low.dtype), np.zeros(size, dtype=found.high.dtype)
    low[rows], high[rows] = found.low, found.high
    return Box(low, high)


def _constant(e: Constant, size: int) -> Box:
    if e.type in ("integer", "date", "boolean", "null"):
        whole = np.full(size, int(day_number(e.value or 0)), dtype=np.int64)
        return Box(whole, whole)
    low, high = enclosed(day_number(e.value))
    return Box(np.full(size, low), np.full(size, high))


# -- several branches -------------------------------------------------------------------------------------------


def _choice(e: Choice, members: Membership) -> Box:
    """The hull of the branches that a record of the row may take, each over the values that lead to it."""
    block = members.block
    whole = e.type in ("integer", "date", "moment")
    kind = np.dtype(np.int64 if whole else np.float64)
    low, high = np.ones(block.size, dtype=kind), np.zeros(block.size, dtype=kind)
    for way, value in e.ways:
        if isinstance(value, Constant) and value.value is None:
            continue
        # a branch may look possible where its value is certainly NULL, and then it gives no value
        rows = np.flatnonzero((members.counts(way)[1] > 0) & (members.counts(value.present)[1] > 0))
        here = narrowed(members.on(block.take(rows)), way, value.columns)
        held = np.flatnonzero(_has_values(value, here))
        found = evaluate(value, members.on(here.take(held)))
        if whole and not found.integer:  # whole numbers beyond 64 bits come as doubles
            (low, high), whole = as_doubles(Box(low, high)), False
        found = found if whole else as_doubles(found)
        rows = rows[held]
        fresh = low[rows] > high[rows]
        there = found.low <= found.high
        low[rows] = np.where(there, np.where(fresh, found.low, np.minimum(low[rows], found.low)), low[rows])
        high[rows] = np.where(there, np.where(fresh, found.high, np.maximum(high[rows], found.high)), high[rows])
    return Box(low, high)


# -- columns that occur several times ----------------------------------------------------------------------------


def _is_wide(column: object) -> bool:
    if not isinstance(column, NumberColumn) or not (column.low < column.high).any():
        return False
    return bool(np.isfinite(column.low).all() and np.isfinite(column.high).all())


def _split(e: Expression, members: Membership, name: str) -> Box:
    """The hull over parts of one column's interval: inner bounds shrink with the parts (Moore 1966)."""
    block = members.block
    column = block.number(name)
    low, high = column.low.astype(np.float64), column.high.astype(np.float64)
    boxes = []
    for i in range(PARTS):
        ends = [np.clip(low + (high - low) * (j / PARTS), -_REACH, _REACH) for j in (i, i + 1)]
        first: Ends = np.floor(ends[0]).astype(np.int64) if column.integer else ends[0]
        last: Ends = np.ceil(ends[1]).astype(np.int64) if column.integer else ends[1]
        some = column.low <= column.high  # an interval without values has no parts with values
        part = NumberColumn(
            np.where(some, np.clip(first, column.low, column.high), column.low) if i else column.low,
            np.where(some, np.clip(last, column.low, column.high), column.high) if i < PARTS - 1 else column.high,
            column.null,
        )
        boxes.append(_hull(e, members.on(block.with_column(name, part))))
    return Box(np.minimum.reduce([box.low for box in boxes]), np.maximum.reduce([box.high for box in boxes]))


# -- tabulated functions -----------------------------------------------------------------------------------------


def _tabulated(e: Lookup, block: Block) -> Box:
    column = block.columns[e.column]
    low, high = e.ends
    if isinstance(column, SetColumn):
        places = result_places(e, column.dictionary.values)[column.dictionary.members]  # MISSING reads the last
        starts = column.dictionary.starts[:-1]
        lows, highs = np.minimum.reduceat(low[places], starts), np.maximum.reduceat(high[places], starts)
        return _checked(Box(lows[column.sets], highs[column.sets]))
    column = block.number(e.column)
    first, last = piece_range(e, column)
    found_low = range_extreme(low[:-1], first, last, np.minimum)
    found_high = range_extreme(high[:-1], first, last, np.maximum)
    gone = (column.low > column.high) | (column.null == ALL_NULLS)  # only NULL is left
    if gone.any():
        found_low, found_high = np.where(gone, low[-1], found_low), np.where(gone, high[-1], found_high)
    may_be_null = column.null != NO_NULLS  # then what NULL becomes may be the value
    return _checked(
        Box(
            np.where(may_be_null, np.minimum(found_low, low[-1]), found_low),
            np.where(may_be_null, np.maximum(found_high, high[-1]), found_high),
        )
    )


def _checked(box: Box) -> Box:
    """Rows for which the function is NULL throughout hold an arbitrary value: nobody there is selected."""
    none = box.low > box.high
    box = Box(np.where(none, 0, box.low), np.where(none, 0, box.high))
    if not box.integer and not (np.isfinite(box.low) & np.isfinite(box.high)).all():
        raise UnsupportedSQL(
            "QG215",
            "For some values of the column, this expression divides by zero or has no finite result.",
            "Exclude such values with WHERE, or divide by NULLIF(divisor, 0).",
        )
    return box


def result_places(e: Lookup, texts: tuple[str, ...]) -> Ints:
    """For each value of a dictionary its place in the table; the last entry, where MISSING (-1) points, is NULL's."""
    at = {value: i for i, value in enumerate(e.values)}
    return np.array([*(at[text] for text in texts), len(e.values)], dtype=np.int64)


def piece_range(e: Lookup, column: NumberColumn) -> tuple[Ints, Ints]:
    """The first and the last piece that each interval of the column meets."""
    inner = e.starts[1:]
    first: Ints = np.searchsorted(inner, column.low, side="right")
    last: Ints = np.searchsorted(inner, column.high, side="right")
    return first, np.maximum(first, last)


def range_extreme(values: Ends, start: Ints, end: Ints, extreme: np.ufunc) -> Ends:
    """min or max of values[start..end], both included, for many ranges: a sparse table, O(size log size) once.

    >>> range_extreme(np.array([3, 1, 2]), np.array([0, 2]), np.array([1, 2]), np.minimum)
    array([1, 2])
    """
    levels = [values]
    while len(levels[-1]) > (1 << (len(levels) - 1)):
        width = 1 << (len(levels) - 1)
        levels.append(extreme(levels[-1][:-width], levels[-1][width:]))
    level = np.minimum(np.log2(end - start + 1).astype(np.int64), len(levels) - 1)
    found = np.empty(len(start), dtype=values.dtype)
    for number, table in enumerate(levels):
        rows = np.flatnonzero(level == number)
        if rows.size:
            found[rows] = extreme(table[start[rows]], table[end[rows] - (1 << number) + 1])
    return found
