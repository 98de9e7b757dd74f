"""Certified views of a table: partitions over few columns each, which together tell of nobody.

Frame cells are independent of each other: `cell_records` gives them, and `certified_cell` makes one, so that a caller
can make them side by side. In each, in this order: trees, the first two views for counts, the sensitive columns in
them, and then one further view after another, each coarsened alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views.atoms import by_atom, distinct_columns
from querygate.methods.views.balance import Balance, balanced
from querygate.methods.views.certificates import CellRelease, ColumnRelease, ViewsRelease, figures_of
from querygate.methods.views.column_frontiers import CellRecords, ColumnFrontiers, find_frontiers
from querygate.methods.views.crossings import least_crossing, uncrossed
from querygate.methods.views.frame import CellLimits, FrameColumn, frame_cells
from querygate.methods.views.frontier import Collapse, Frontier
from querygate.methods.views.table import RecordTable, SensitiveColumn
from querygate.methods.views.tree import Tree, grow

SPANNING = 2
"""Views that are certified together, both coarsened; further ones are inserted."""


class TooFewPeople(ValueError):
    """The table has fewer than k people, so that no class has."""


@dataclass(frozen=True)
class ViewPlan:
    """Which views, in which frame, and what each class keeps. The order of a view's columns is that of its splits."""

    views: tuple[tuple[str, ...], ...]
    frame: tuple[FrameColumn, ...]
    k: int
    values: int = 2
    most: CellLimits = field(default_factory=CellLimits)

    def __post_init__(self) -> None:
        if not self.views or not all(self.views) or self.k < 2 or self.values < 2:
            raise ValueError("there is at least one view, every view has a column, and k and values are at least 2")


def certified_views(table: RecordTable, plan: ViewPlan) -> ViewsRelease:
    """All cells, one after another. Raises TooFewPeople."""
    return gathered(table, plan, [certified_cell(table, plan, records) for records in cell_records(table, plan)])


def gathered(table: RecordTable, plan: ViewPlan, cells: Sequence[CellRelease]) -> ViewsRelease:
    """The release of cells that were made apart, in order of the frame."""
    return ViewsRelease(plan.views, plan.k, plan.values, table.person, tuple(cells))


def cell_records(table: RecordTable, plan: ViewPlan) -> list[Ints]:
    """The records of each frame cell."""
    if int(table.weights.sum()) < plan.k * table.person:
        raise TooFewPeople("the table has fewer than k people")
    cell = frame_cells(table, plan.frame, plan.views, plan.k, plan.most)
    order = np.argsort(cell, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)


def certified_cell(table: RecordTable, plan: ViewPlan, records: Ints) -> CellRelease:
    """Everything that is published of one cell, with its certificates."""
    least = plan.k * table.person
    trees = [_tree(table, view, [one.name for one in plan.frame], records, least) for view in plan.views]
    leaf = np.stack([tree.leaf for tree in trees])
    counts = [Frontier.finest(tree) for tree in trees]
    rows, row = distinct_columns(leaf)
    weights = by_atom(row, table.weights[records], rows.shape[1])
    second = min(1, len(counts) - 1)  # one view alone crosses itself nowhere
    both = rows[[0, second]]
    certified, collapses = uncrossed(counts[0], counts[second], both, weights, least)
    counts[: second + 1] = certified[: second + 1]
    least_cut = least_crossing(counts[0], counts[second], both, weights)
    balances: list[tuple[Balance, ...]] = []
    for place in range(SPANNING, len(counts)):
        counts[place], found, more = balanced(counts[: place + 1], rows[: place + 1], weights, least)
        collapses += more
        balances.append(tuple(found))
    columns = [column_release(column, records, leaf, counts, plan.values) for column in table.sensitive]
    return CellRelease(records, leaf, tuple(counts), least_cut, tuple(balances), tuple(columns), tuple(collapses))


def _tree(table: RecordTable, view: Sequence[str], frame: Sequence[str], records: Ints, least: int) -> Tree:
    """The tree over the distinct combinations of the view's columns, with the leaf of each record. Its classes tell
    columns of the frame as well.
    """
    columns = [table.column(name) for name in dict.fromkeys((*view, *frame))]
    codes, place = distinct_columns(np.stack([column.codes[records] for column in columns]))
    weights = by_atom(place, table.weights[records], codes.shape[1])
    return grow(columns, codes, weights, least, table.person, len(view)).over(place)


def column_release(
    column: SensitiveColumn, records: Ints, leaf: Ints, counts: Sequence[Frontier], values: int
) -> ColumnRelease:
    """The column in the first two views, and then in one further view after another."""
    spanning = counts[:SPANNING]
    safe = find_frontiers(column, CellRecords(records, leaf[: len(spanning)]), spanning, 0, values)
    found = released(column, records, leaf, tuple(range(len(spanning))), safe, safe.collapses)
    for place in range(SPANNING, len(counts)):
        found = _inserted(column, found, records, leaf, counts, place, values)
    return found


def _inserted(
    column: SensitiveColumn,
    before: ColumnRelease,
    records: Ints,
    leaf: Ints,
    counts: Sequence[Frontier],
    place: int,
    values: int,
) -> ColumnRelease:
    """The column with one more view, or as it was if that view has to be silent on it."""
    if before.safe.is_withheld:
        return before
    views = (*before.views, place)
    cell = CellRecords(records, leaf[list(views)])
    safe = find_frontiers(column, cell, (*before.safe.views, counts[place]), len(before.views), values)
    # Collapses name a view by its place among those that tell of the column; the last is the new one.
    more = tuple(replace(one, view=place) for one in safe.collapses)
    collapses = (*before.collapses, *more)
    if safe.is_withheld:
        return ColumnRelease(column.name, before.views, before.safe, before.figures, collapses)
    return released(column, records, leaf, views, safe, collapses)


def released(
    column: SensitiveColumn,
    records: Ints,
    leaf: Ints,
    views: tuple[int, ...],
    safe: ColumnFrontiers,
    collapses: tuple[Collapse, ...],
) -> ColumnRelease:
    """What these views show of the column."""
    views = () if safe.is_withheld else views
    figures = figures_of(column, records, leaf[list(views)], views, safe)
    return ColumnRelease(column.name, views, safe, figures, collapses)
