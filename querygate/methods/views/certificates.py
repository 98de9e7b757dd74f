"""What a publisher writes and a verifier needs: classes and figures, certificates, and what was collapsed and why.

Figures are for readers. Certificates and collapses depend on sensitive values: they are for the custodian and the
verifier alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views.atoms import by_atom
from querygate.methods.views.balance import Balance
from querygate.methods.views.column_frontiers import ColumnFrontiers
from querygate.methods.views.frontier import Collapse, Frontier
from querygate.methods.views.sum_cells import SumCells
from querygate.methods.views.table import NULL, Measure, RecordTable, SensitiveColumn


@dataclass(frozen=True)
class ClassFigures:
    """What one view shows of one column in one cell, by class.

    `nodes` name the classes, `histogram` has their records by bin (NULL last), and `sum_low` and `sum_high` by measure
    the least and greatest sum of the cell that holds theirs.
    """

    view: int
    nodes: Ints
    histogram: Ints
    sum_low: Ints
    sum_high: Ints


@dataclass(frozen=True)
class ColumnRelease:
    """One sensitive column in one cell. `views` are those that show it; none: it is withheld in this cell. With
    `beside`, its worlds are about earlier versions too, whose margins come first.
    """

    name: str
    views: tuple[int, ...]
    safe: ColumnFrontiers
    figures: tuple[ClassFigures, ...]
    collapses: tuple[Collapse, ...]
    beside: bool = False


@dataclass(frozen=True)
class CellRelease:
    """One frame cell. `leaf` (views x records) and the frontiers say in which class each record is.

    `least_cut` is the least weight of a combination of the first two views; `balances` are the certificates of each
    further view together with all before it, and `together` those of all views of all versions, where something new is
    told beside earlier ones.
    """

    records: Ints
    leaf: Ints
    counts: tuple[Frontier, ...]
    least_cut: int
    balances: tuple[tuple[Balance, ...], ...]
    columns: tuple[ColumnRelease, ...]
    collapses: tuple[Collapse, ...]
    together: tuple[Balance, ...] = ()

    def frontier(self, view: int, column: str | None = None) -> Frontier | None:
        """The classes of a view, for counts or for a column; None if the view is silent on it."""
        if column is None:
            return self.counts[view]
        one = next(release for release in self.columns if release.name == column)
        return dict(zip(one.views, one.safe.views, strict=True)).get(view)

    def labels(self, view: int, column: str | None = None) -> Ints | None:
        """The class (a node) of each record of the cell; None if the view is silent."""
        frontier = self.frontier(view, column)
        return None if frontier is None else frontier.top[self.leaf[view]]


@dataclass(frozen=True)
class ViewsRelease:
    """All cells. Weights are in parts of a person: `person` is one."""

    views: tuple[tuple[str, ...], ...]
    k: int
    values: int
    person: int
    cells: tuple[CellRelease, ...]

    def class_boxes(
        self, table: RecordTable, cell: int, view: int, column: str | None = None
    ) -> Iterator[tuple[str, Bools]]:
        """Per quasi-identifier of the view which codes occur in each class (classes x codes, NULL last).

        Classes are those of counts or of a column, in order of their nodes; nothing if the view is silent on it.
        """
        here = self.cells[cell]
        frontier = here.frontier(view, column)
        if frontier is None:
            return
        for name in self.views[view]:
            quasi = table.column(name)
            codes = quasi.codes[here.records]
            box = np.zeros((frontier.classes, quasi.size + 1), dtype=np.bool_)
            box[frontier.of(here.leaf[view]), np.where(codes == NULL, quasi.size, codes)] = True
            yield name, box


def class_sums(measure: Measure, records: Ints, bins: Ints, label: Ints) -> SumCells:
    """What is published of the sum of each class; `bins` and `label` are by record of a cell."""
    known = measure.has_number[bins]
    parts = (measure.values[records], *(end[bins] for end in measure.ends), np.ones_like(bins))
    return SumCells.of(measure, *(by_atom(label, np.where(known, part, 0), int(label.max()) + 1) for part in parts))


def figures_of(
    column: SensitiveColumn, records: Ints, leaf: Ints, views: tuple[int, ...], safe: ColumnFrontiers
) -> tuple[ClassFigures, ...]:
    """What each view shows; `leaf` has a row for each of these views."""
    if safe.is_withheld:
        return ()
    told = []
    bins = column.bins[records]
    for view, frontier, own in zip(views, safe.views, leaf, strict=True):
        label = frontier.of(own)
        histogram = np.zeros((frontier.classes, column.size + 1), dtype=np.int64)
        np.add.at(histogram, (label, bins), 1)
        low, high = (np.zeros((len(column.measures), frontier.classes), dtype=np.int64) for _ in range(2))
        for place, measure in enumerate(column.measures):
            cells = class_sums(measure, records, bins, label)
            low[place], high[place] = cells.low, cells.high
        told.append(ClassFigures(view, frontier.nodes, histogram, low, high))
    return tuple(told)
