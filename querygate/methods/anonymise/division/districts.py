"""Districts: the parts into which public cuts divide a table before anything else.

Public cuts come from the policy, so they say nothing about the data, and a query aligned with them meets no class that
lies on both sides. Where a part would have fewer than k records, or break a guard, cuts are left out, as few as strict
Mondrian finds: its public cuts, on a table in which each attribute says only between which cuts a value lies.

>>> import numpy as np
>>> age = Attribute.ordered_by("age", np.array([0, 1, 1, 2, 3]), edges=np.arange(0.0, 50, 10), cuts=(1, 2))
>>> districts(Table((age,), np.ones(5, dtype=int)), k=2)
array([0, 0, 0, 1, 1])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.division.mondrian import check_feasible, mondrian
from querygate.methods.anonymise.division.node_cells import argsort_packed, starts_of
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table


def districts(table: Table, k: int, guards: Sequence[Guard] = ()) -> Ints:
    """The district of each row, 0..m-1. A class that stays within one lies across no public cut that is kept.

    Raises Infeasible if the table as a whole does not keep a promise.
    """
    if k < 1:
        raise ValueError("k is at least 1")
    check_feasible(table, k, guards)
    parts, cell = _cells(table)
    order, cell = argsort_packed(cell)
    starts = starts_of(cell)
    label = np.zeros_like(order)
    if starts.size > 1:
        small = Table(
            tuple(replace(p, codes=p.codes[order[starts]]) for p in parts), np.add.reduceat(table.counts[order], starts)
        )
        label[order] = mondrian(small, k, [_Expanded(g, order, starts) for g in guards])[cell]
    return label


def districts_of(table: Table, labels: Ints) -> Ints:
    """The districts that a partition keeps: what no class joins across a public cut stays apart."""
    _, cell = _cells(table)
    classes, cells = int(labels.max()) + 1, int(cell.max()) + 1
    links = coo_array((np.ones(labels.size), (labels, classes + cell)), shape=(classes + cells,) * 2)
    _, component = connected_components(links, directed=False)
    return np.unique(component[labels], return_inverse=True)[1].reshape(-1)


def _cells(table: Table) -> tuple[list[Attribute], Ints]:
    """The attributes that have public cuts, by what lies between these, and the combination of each row."""
    parts = [_between_cuts(a) for a in table.attributes if a.cuts]
    cell = np.zeros(table.combinations, dtype=np.int64)
    for part in parts:
        cell = np.unique(cell * (part.size + 1) + part.codes + 1, return_inverse=True)[1].reshape(-1)
    return parts, cell


def _between_cuts(attribute: Attribute) -> Attribute:
    """The same attribute with one code for all values between two cuts, and every cut a public one."""
    first = np.array([0, *sorted(set(attribute.cuts))])
    part = np.searchsorted(first, attribute.codes, side="right") - 1
    lower, upper = attribute.edges
    edges = np.append(lower[first], upper[attribute.size - 1])
    cuts = tuple(range(1, first.size))
    return Attribute.ordered_by(
        attribute.name, np.where(attribute.codes == NULL, NULL, part), edges, cuts, attribute.weight
    )


class _Expanded:
    """A guard on the rows of the table, asked about parts of it."""

    def __init__(self, guard: Guard, order: Ints, starts: Ints) -> None:
        self.name, self._guard = guard.name, guard
        self._rows = np.split(order, starts[1:])

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        members = [self._rows[r] for r in rows.tolist()]
        return self._guard.classes(np.concatenate(members), np.repeat(label, [m.size for m in members]), classes)
