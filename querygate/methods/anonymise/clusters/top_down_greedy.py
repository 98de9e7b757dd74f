"""Top-down clustering as published (Xu, Wang, Pei, Wang, Shi, Fu, "Utility-Based Anonymization", KDD 2006).

Two records far apart are seeds; each other record in turn joins the group that loses less with it, however large the
groups become, and both are divided again. Groups that end below k join others where that loses least; the paper also
lets them borrow records from large groups. `top_down` divides in even halves instead, which needs no repair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.clusters.top_down import clustered, far_apart, rows_of
from querygate.methods.anonymise.division.mondrian import Progress
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table


def top_down_greedy(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. Records come in an order that jumps through the sorted ones, always the same.
    Raises Infeasible if the table as a whole does not keep a promise.
    """
    return clustered(table, k, guards, _divide, progress)


def _divide(table: Table, k: int) -> Ints:
    """Groups that are not divided any more, some of them below k."""
    labels, groups = np.zeros(table.combinations, dtype=np.int64), 0
    waiting = [np.arange(table.combinations)]
    while waiting:
        rows = waiting.pop()
        seeds = far_apart(table, rows) if int(table.counts[rows].sum()) > k and rows.size > 1 else None
        if seeds is None or seeds[0] == seeds[1]:
            labels[rows] = groups
            groups += 1
        else:
            joins = _joined(rows_of(table, rows), *seeds)
            waiting += [rows[joins], rows[~joins]]
    return labels


def _joined(table: Table, one: int, other: int) -> Bools:
    """Which rows are in the group of the first seed."""
    sides = list(zip(*(_sides(a) for a in table.attributes), strict=True))
    groups = [_Group(table, sides[seed], int(table.counts[seed])) for seed in (one, other)]
    joins = np.zeros(table.combinations, dtype=np.bool_)
    joins[one] = True
    for row in leaping(table.combinations).tolist():
        if row not in (one, other):
            records = int(table.counts[row])
            joins[row] = groups[0].loss(sides[row], records) < groups[1].loss(sides[row], records)
            groups[0 if joins[row] else 1].add(sides[row], records)
    return joins


_Side: TypeAlias = "tuple[float, float] | int"
"""What a row has of an attribute: the ends of a number's interval, or a bit for a category. None of it is no number."""

NOWHERE = (np.inf, -np.inf)


def _sides(attribute: Attribute) -> list[_Side]:
    missing = (attribute.codes == NULL).tolist()
    if not attribute.ordered:
        return [0 if gone else 1 << code for gone, code in zip(missing, attribute.codes.tolist(), strict=True)]
    lower, upper = (ends[attribute.codes].tolist() for ends in attribute.edges)
    return [NOWHERE if gone else (low, high) for gone, low, high in zip(missing, lower, upper, strict=True)]


class _Group:
    """The box of a group that grows: plain numbers, since rows come one by one."""

    def __init__(self, table: Table, seed: Sequence[_Side], records: int) -> None:
        self._scales = [(a.weight, a.span or 1.0) for a in table.attributes]
        self._box, self._missing, self._records = list(seed), [side in (0, NOWHERE) for side in seed], records

    def loss(self, row: Sequence[_Side], records: int) -> float:
        """Of the group with the row: widths, times records."""
        total = 0.0
        for (weight, span), side, held, missing in zip(self._scales, row, self._box, self._missing, strict=True):
            box = _union(held, side)
            if box in (0, NOWHERE):  # all missing
                continue
            if missing or side in (0, NOWHERE):
                width = 1.0
            elif isinstance(box, tuple):
                width = (box[1] - box[0]) / span
            else:
                width = number / span if (number := box.bit_count()) > 1 else 0.0
            total += weight * width
        return total * (self._records + records)

    def add(self, row: Sequence[_Side], records: int) -> None:
        self._box = [_union(held, side) for held, side in zip(self._box, row, strict=True)]
        self._missing = [gone or side in (0, NOWHERE) for gone, side in zip(self._missing, row, strict=True)]
        self._records += records


def _union(held: _Side, side: _Side) -> _Side:
    if isinstance(held, tuple) and isinstance(side, tuple):
        return min(held[0], side[0]), max(held[1], side[1])
    return int(held) | int(side)  # type: ignore[arg-type]


def leaping(rows: int) -> Ints:
    """The numbers 0..rows-1 in an order in which neighbours are far apart: multiples of the golden ratio, by fraction.

    >>> leaping(8)
    array([0, 5, 2, 7, 4, 1, 6, 3])
    """
    return np.argsort(np.arange(rows) * 0.6180339887498949 % 1.0, kind="stable").astype(np.int64)
