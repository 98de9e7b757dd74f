"""Comparisons of two expressions: certain, possible or impossible, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querygate.bounds.expression_values import evaluate
from querygate.bounds.interval_arithmetic import Box, as_doubles
from querygate.core.expression import Expression
from querygate.core.predicate import Comparison
from querygate.core.types import Bools

if TYPE_CHECKING:
    from querygate.bounds.membership import Membership


def outcomes(p: Comparison, members: Membership, there: Bools) -> tuple[Bools, Bools]:
    """(surely, maybe): does the comparison hold for every, and for any, pair of values of a row? False off `there`."""
    surely, maybe = np.zeros_like(there), np.zeros_like(there)
    rows = np.flatnonzero(there)
    here = members.on(members.block.take(rows))
    left, right = _alike(*(evaluate(_expression(side), here) for side in (p.left, p.right)))
    if p.operator == "<":
        found = left.high < right.low, left.low < right.high
    elif p.operator == "<=":
        found = left.high <= right.low, left.low <= right.high
    else:
        same = (left.low == left.high) & (right.low == right.high) & (left.low == right.low)
        meet = (left.low <= right.high) & (right.low <= left.high)
        found = (same, meet) if p.operator == "=" else (~meet, ~same)
    surely[rows], maybe[rows] = found
    return surely, maybe


def _alike(left: Box, right: Box) -> tuple[Box, Box]:
    if left.integer and right.integer:
        return left, right
    return as_doubles(left), as_doubles(right)


def _expression(side: object) -> Expression:
    return side  # type: ignore[return-value]  # conditions know expressions by what they need of them only
