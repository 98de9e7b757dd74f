"""The values that a column may have in the records for which a condition is TRUE.

A condition on the column itself clips its interval; a condition on another column leaves it unchanged. AND intersects,
OR takes the hull of the branches that are possible in the row. Always sound; sharp if the column occurs in one atom
whose TRUE set meets the interval in one piece.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from querygate.bounds.true_intervals import INT64, pieces_of
from querygate.core.block import NumberColumn
from querygate.core.predicate import And, Atom, Comparison, Or, Predicate, columns
from querygate.core.types import Floats, Ints

if TYPE_CHECKING:
    from querygate.bounds.membership import Membership


def value_bounds(p: Predicate, members: Membership, name: str) -> tuple[Floats | Ints, Floats | Ints]:
    """(low, high) of the column given the condition, per row; low > high where no value is possible."""
    members.check()
    column = members.block.number(name)
    if name not in columns(p):
        return column.low, column.high
    match p:
        case Atom():
            return _clipped(p, column)
        case And(parts):
            each = [value_bounds(part, members, name) for part in parts if name in columns(part)]
            return reduce(np.maximum, (low for low, _ in each)), reduce(np.minimum, (high for _, high in each))
        case Or(parts):
            low, high = _none(column)
            for part in parts:
                part_low, part_high = value_bounds(part, members, name)
                possible = (members.counts(part)[1] > 0) & (part_low <= part_high)
                low = np.where(possible, np.minimum(low, part_low), low)
                high = np.where(possible, np.maximum(high, part_high), high)
            return low, high
        case Comparison():
            return column.low, column.high
    raise TypeError(f"{type(p).__name__} uses no column")


def _clipped(atom: Atom, column: NumberColumn) -> tuple[Floats | Ints, Floats | Ints]:
    if atom.true.is_everything:
        return column.low, column.high
    nowhere = _none(column)
    pieces = pieces_of(atom, column)
    if pieces is None:
        return nowhere
    met = pieces.meet(column.low, column.high)
    low, high = pieces.clip(column.low, column.high)
    return np.where(met, low, nowhere[0]), np.where(met, high, nowhere[1])


def _none(column: NumberColumn) -> tuple[Floats | Ints, Floats | Ints]:
    """An interval without values, for every row."""
    least, greatest = INT64 if column.integer else (-np.inf, np.inf)
    return np.full_like(column.low, greatest), np.full_like(column.high, least)
