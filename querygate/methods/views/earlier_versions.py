"""Views of a new version beside those of earlier ones: only the new ones are coarsened, and R2* and R3 hold for all.

Earlier versions are further partitions of the records of a frame cell. Those who are not in an earlier version are a
class of their own there, which nobody published: what holds with it holds without. A cell in which nothing new is told
keeps the certificates it has; otherwise the new views are coarsened until the whole collection has its own.

Proof: docs/explanation/proofs/views-versions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views.atoms import Atoms, by_atom, distinct_columns
from querygate.methods.views.balance import Balance, broken_steps, certificates
from querygate.methods.views.certificates import CellRelease, ColumnRelease, class_sums
from querygate.methods.views.certified_views import SPANNING, ViewPlan, certified_cell, column_release, released
from querygate.methods.views.column_frontiers import CellRecords, find_frontiers
from querygate.methods.views.crossings import class_graph, least_crossing
from querygate.methods.views.frontier import Collapse, Frontier, collapse_greedily
from querygate.methods.views.least_cuts import cuts_below
from querygate.methods.views.table import RecordTable, SensitiveColumn
from querygate.methods.views.tree import ROOT, Tree
from querygate.methods.views.windows import GREATEST, LEAST, FinerBins

REASON = "together with earlier versions it would tell of fewer than k people"

MOST_ATOMS = 4_000
"""Groups of people that are told apart in one frame cell; each of them may need a programme of that size."""

ABSENT = -1
"""In the place of a class or a bin: the record is not in that version, or nothing is published of it there."""


class Uncertified(ValueError):
    """No coarser views have a certificate, or the cell is too large to look for one."""


@dataclass(frozen=True)
class EarlierColumn:
    """What earlier versions show of a sensitive column. `labels` and `bins` are margins x records: the class of each
    record, and the bin it is counted in. `low` and `high` (measures x records) are the ends of these bins, and `least`
    and `most` (measures x margins x records) those of the cells of sums of its classes; see FinerBins.
    """

    labels: Ints
    bins: Ints
    low: Ints
    high: Ints
    least: Ints
    most: Ints

    def of(self, records: Ints) -> EarlierColumn:
        parts = (self.labels, self.bins, self.low, self.high, self.least, self.most)
        return EarlierColumn(*(part[..., records] for part in parts))

    @property
    def finer(self) -> FinerBins:
        """Who is told apart by bins of earlier versions."""
        return FinerBins(distinct_columns(self.bins)[1], self.low, self.high, self.least, self.most)

    @property
    def is_told(self) -> bool:
        return bool((self.labels != ABSENT).any())

    def tells(self, column: SensitiveColumn, records: Ints, label: Ints) -> bool:
        """Has an earlier version the very same classes and bins, and sums in cells that are no wider?"""
        bins = column.bins[records]
        for number, measure in enumerate(column.measures):
            known, (low, high) = measure.has_number[bins], (end[bins] for end in measure.ends)
            if (known & ((low > self.low[number]) | (high < self.high[number]))).any():
                return False
        sums = [class_sums(measure, records, bins, label) for measure in column.measures]
        least = [np.where(one.is_first, LEAST, one.low)[label] for one in sums]
        most = [np.where(one.is_last, GREATEST, one.high)[label] for one in sums]
        return any(
            bool((own != ABSENT).all())
            and _is_same(own, label)
            and _is_same(held, bins)
            and all(bool((a <= b).all()) for a, b in zip(least, self.least[:, margin], strict=True))
            and all(bool((a >= b).all()) for a, b in zip(most, self.most[:, margin], strict=True))
            for margin, (own, held) in enumerate(zip(self.labels, self.bins, strict=True))
        )


@dataclass(frozen=True)
class EarlierViews:
    """What earlier versions tell, by record. `counts` are the classes of all their views (views x records), `columns`
    stand beside the sensitive columns of a table, and `least` is the least k of all versions.
    """

    counts: Ints
    columns: tuple[EarlierColumn, ...]
    least: int

    def of(self, records: Ints) -> EarlierViews:
        return EarlierViews(self.counts[:, records], tuple(one.of(records) for one in self.columns), self.least)

    @property
    def has_any(self) -> bool:
        """Is any of the records in an earlier version?"""
        return bool((self.counts != ABSENT).any())

    def tells(self, label: Ints) -> bool:
        """Are these classes unions of classes that some earlier version has published?"""
        return any(bool((own != ABSENT).all()) and _is_coarser(label, own) for own in self.counts)


def certified_beside(table: RecordTable, plan: ViewPlan, records: Ints, earlier: EarlierViews) -> CellRelease:
    """A cell of the new version; `earlier` is about these records. Raises Uncertified."""
    alone = certified_cell(table, plan, records)
    counts, together, collapses = list(alone.counts), tuple[Balance, ...](), tuple[Collapse, ...]()
    if not all(earlier.tells(view.of(leaf)) for view, leaf in zip(counts, alone.leaf, strict=True)):
        counts, together, collapses = _apart(counts, alone.leaf, earlier, table.weights[records], table.person)
    columns = tuple(
        _column(column, one, told, alone, counts, plan.values)
        for column, one, told in zip(table.sensitive, alone.columns, earlier.columns, strict=True)
    )
    found = replace(alone, counts=tuple(counts), together=together, columns=columns)
    return found if not collapses else _coarser(found, collapses, table, plan)


def _coarser(cell: CellRelease, collapses: Sequence[Collapse], table: RecordTable, plan: ViewPlan) -> CellRelease:
    """The cell with what is shown of its own views, which are coarser now."""
    weights, counts = table.weights[cell.records], cell.counts
    second, balances = min(1, len(counts) - 1), list[tuple[Balance, ...]]()
    for place in range(SPANNING, len(counts)):
        atoms, atom = Atoms.of(counts[: place + 1], cell.leaf[: place + 1])
        found, broken = certificates(atoms, by_atom(atom, weights, atoms.number), plan.k * table.person)
        if broken and not counts[place].is_root:
            raise Uncertified("no exact certificate was found")
        balances.append(tuple(found))
    return replace(
        cell,
        least_cut=least_crossing(counts[0], counts[second], cell.leaf[[0, second]], weights),
        balances=tuple(balances),
        collapses=(*cell.collapses, *collapses),
    )


def given(label: Ints) -> Frontier:
    """Classes that are as they are: the leaves of a tree that splits off one after another."""
    _, leaf = np.unique(label, return_inverse=True)
    size = int(leaf.max()) + 1
    node = np.arange(2 * size - 1)
    is_leaf, first = node % 2 == 1, node // 2
    parent = np.maximum(node - np.where(is_leaf, 1, 2), -1)
    return Frontier.finest(
        Tree(parent, first, np.where(is_leaf, first + 1, size), np.zeros(node.size), leaf.reshape(-1))
    )


def _is_coarser(label: Ints, finer: Ints) -> bool:
    return int(distinct_columns(np.stack([finer, label]))[0].shape[1]) == np.unique(finer).size


def _is_same(one: Ints, other: Ints) -> bool:
    return _is_coarser(one, other) and _is_coarser(other, one)


# -- counts: R2* ---------------------------------------------------------------------------------------------------


def _apart(
    views: Sequence[Frontier], leaf: Ints, earlier: EarlierViews, weights: Ints, person: int
) -> tuple[list[Frontier], tuple[Balance, ...], tuple[Collapse, ...]]:
    """The new views, coarsened until R2* holds for the collection; its certificates, and what was collapsed."""
    fixed, least = [given(label) for label in earlier.counts], earlier.least * person
    rows, row = distinct_columns(np.concatenate([np.stack([view.tree.leaf for view in fixed]), leaf]))
    held = by_atom(row, weights, rows.shape[1])
    now, done = list(views), list[Collapse]()
    for place in range(len(now)):  # each with each: fast, and most of what there is to coarsen
        for number, other in enumerate(fixed):
            pair = rows[[number, len(fixed) + place]]
            while cuts := cuts_below(class_graph(other, now[place], pair, held), least):
                hits = [now[place].divides(np.stack(cuts)[:, other.classes :])]
                (now[place],), more = collapse_greedily([now[place]], hits, REASON)
                if not more:
                    raise Uncertified("an earlier version has a class of fewer than k people")
                done += [replace(one, view=place) for one in more]
    while True:
        atoms, atom = Atoms.of([*fixed, *now], rows)
        if atoms.number > MOST_ATOMS:
            raise Uncertified("too many groups of people are told apart")
        found, broken = certificates(atoms, by_atom(atom, held, atoms.number), least)
        if not broken:
            return now, tuple(found), tuple(done)
        steps, ends = broken_steps(broken), np.append(atoms.offsets, sum(atoms.sizes))[len(fixed) :]
        hits = [view.divides(steps[:, a:b]) for view, (a, b) in zip(now, pairwise(ends), strict=True)]
        now, more = collapse_greedily(now, hits, REASON)
        if not more:
            if all(view.is_root for view in now):
                raise Uncertified("no exact certificate was found")
            more = [Collapse(place, ROOT, REASON, 1) for place, view in enumerate(now) if not view.is_root]
            now = [view.collapsed(ROOT) for view in now]
        done += more


# -- sensitive columns: R3 -------------------------------------------------------------------------------------------


def _column(
    column: SensitiveColumn,
    one: ColumnRelease,
    told: EarlierColumn,
    alone: CellRelease,
    counts: Sequence[Frontier],
    values: int,
) -> ColumnRelease:
    """The column in the new views; where earlier versions tell of it too, in all of them together."""
    records, leaf = alone.records, alone.leaf
    if not told.is_told:
        same = all(a is b for a, b in zip(counts, alone.counts, strict=True))
        return one if same else column_release(column, records, leaf, counts, values)
    classes = [view.of(leaf[place]) for place, view in zip(one.views, one.safe.views, strict=True)]
    if all(
        told.tells(column, records, label) and _is_coarser(label, counts[place].of(leaf[place]))
        for place, label in zip(one.views, classes, strict=True)
    ):
        return one
    fixed = [given(label) for label in told.labels]
    cell = CellRecords(records, np.concatenate([np.stack([view.tree.leaf for view in fixed]), leaf]))
    safe = find_frontiers(column, cell, [*fixed, *counts], len(fixed), values, told.finer)
    collapses = tuple(replace(each, view=max(0, each.view - len(fixed))) for each in safe.collapses)
    mine = replace(safe, views=safe.views[len(fixed) :], collapses=collapses)
    return replace(released(column, records, leaf, tuple(range(len(counts))), mine, collapses), beside=True)
