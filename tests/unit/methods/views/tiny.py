"""One tiny random table after another, through everything that can be tried in full."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views import (
    CellRelease,
    ColumnRelease,
    RecordTable,
    SensitiveColumn,
    TooFewPeople,
    ViewsRelease,
    certified_views,
)
from querygate.methods.views.atoms import Atoms, by_atom
from querygate.methods.views.balance import balanced
from querygate.methods.views.crossings import least_crossing
from querygate.methods.views.frontier import Frontier
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.swaps import find_swaps
from querygate.methods.views.windows import Windows
from querygate.methods.views.worlds import roomy_world
from tests.unit.methods.views import brute
from tests.unit.methods.views.recheck import problems
from tests.unit.methods.views.replay import unplayable
from tests.unit.methods.views.tables import plan, random_table


def tried(seed: int) -> list[str]:
    """What is wrong with the certificates of one table; nothing if it has too few people."""
    table, views, k = random_table(seed, persons=seed % 5 == 0), 2 + seed % 3, 2 + seed % 2
    try:
        release = certified_views(table, plan(views, k, values=2 + (seed % 7 == 0)))
    except TooFewPeople:
        return []
    wrong = problems(table, release)
    for cell in release.cells:
        wrong += _supports(table, release, cell)
        for column, one in zip(table.sensitive, cell.columns, strict=True):
            wrong += [f"{column.name}: {text}" for text in unplayable(column, cell, one, release.values)]
            wrong += _against_all(column, cell, one, release.values)
    return [f"seed {seed}: {text}" for text in wrong]


def _supports(table: RecordTable, release: ViewsRelease, cell: CellRelease) -> list[str]:
    """Cuts and programmes say what the least support of any combination is, before the repair and after."""
    wrong = []
    least = release.k * table.person
    weights = table.weights[cell.records]
    for views in ([Frontier.finest(one.tree) for one in cell.counts[:2]], list(cell.counts[:2])):
        support = _least(views, cell.leaf[:2], weights)
        if least_crossing(*views, cell.leaf[:2], weights) != support:
            wrong.append("the least cut is not the least support")
        kept, _, collapses = balanced(views, cell.leaf[:2], weights, least)
        if bool(collapses) == (support >= least):
            wrong.append("the programme and the least support differ")
        if _least([views[0], kept], cell.leaf[:2], weights) < min(least, support):
            wrong.append("a balanced view has a small support")
    if _least(list(cell.counts), cell.leaf, weights) < least:
        wrong.append("all views together have a small support")
    return wrong


def _least(views: list[Frontier], leaf: Ints, weights: Ints) -> int:
    atoms, atom = Atoms.of(views, leaf)
    return brute.least_support(atoms.labels, by_atom(atom, weights, atoms.number))


def _against_all(column: SensitiveColumn, cell: CellRelease, one: ColumnRelease, values: int) -> list[str]:
    """All tables with the same histograms: no claim goes beyond them, and between two values none is missed."""
    if len(one.views) != 2 or column.measures:
        return []
    holders = Holders.of(Windows.of(column, cell.records), one.safe.views, cell.leaf[list(one.views)])
    possible = Possible.begin(holders, values + 10)  # nobody is ever safe, so all pairs are tried
    if len(holders.atoms.divided) == 2:
        find_swaps(possible, roomy_world(holders, 0))
    labels = np.stack([view.of(own) for view, own in zip(one.safe.views, cell.leaf[:2], strict=True)])
    truth = brute.possible_bins(labels, column.bins[cell.records])
    wrong = []
    for group, could in zip(holders.row_group.tolist(), truth, strict=True):
        claimed = set(holders.windows.public[possible.bins[group]].tolist())
        if not claimed <= could or (holders.column.size == 2 and claimed != could):
            wrong.append(f"{column.name}: claimed {claimed}, possible {could}")
    return wrong
