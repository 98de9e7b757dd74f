"""A release handed to the independent checker: what it finds wrong, in words."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views import CellRelease, ColumnRelease, RecordTable, SensitiveColumn, ViewsRelease
from querygate.methods.views.balance_check import (
    BalanceGiven,
    least_support,
    people_by_class,
    person_shares,
    unbalanced,
)
from querygate.methods.views.certificate_check import BinnedNumber, TotalsGiven, WitnessCheck, histogram, sum_ends


def problems(table: RecordTable, release: ViewsRelease) -> list[str]:
    """Every certificate made again; an empty list is what is wanted."""
    found = []
    covered = np.sort(np.concatenate([cell.records for cell in release.cells]))
    if not np.array_equal(covered, np.arange(table.records)):
        found.append("not every record is in one cell")
    for number, cell in enumerate(release.cells):
        found += [f"cell {number}: {text}" for text in cell_problems(table, release, cell)]
    return found


def cell_problems(table: RecordTable, release: ViewsRelease, cell: CellRelease) -> list[str]:
    """What is wrong with one cell."""
    weight, whole = person_shares(table.records, table.persons)
    counts = np.stack([view.top[leaf] for view, leaf in zip(cell.counts, cell.leaf, strict=True)])
    found = _counts(table, release, cell, counts, weight[cell.records], whole)
    found += _functions(table, release, cell, counts)
    for column, one in zip(table.sensitive, cell.columns, strict=True):
        found += [f"{column.name}: {text}" for text in _column(release, cell, counts, column, one)]
    return found


def _counts(
    table: RecordTable, release: ViewsRelease, cell: CellRelease, counts: Ints, weight: Ints, whole: int
) -> list[str]:
    found = []
    persons = np.arange(cell.records.size) if table.persons is None else table.persons[cell.records]
    for view, label in enumerate(counts):
        if people_by_class(label, persons).min() < release.k:
            found.append(f"R1: view {view} has a class of fewer than k people")
    if (least := least_support(counts[0], counts[min(1, len(counts) - 1)], weight)) < release.k * whole:
        found.append("R2: a combination of two views tells of fewer than k people")
    if least != cell.least_cut:
        found.append("R2: the least cut is another one")
    for view in range(2, len(counts)):
        if np.unique(counts[view]).size == 1:
            continue  # the whole cell as one class is a sum of classes of the first view
        given = [BalanceGiven(one.atom, one.numbers, one.denominator) for one in cell.balances[view - 2]]
        if unbalanced(counts[: view + 1], weight, release.k * whole, given):
            found.append(f"R2*: view {view} has an atom without a certificate")
    return found


def _functions(table: RecordTable, release: ViewsRelease, cell: CellRelease, counts: Ints) -> list[str]:
    """Equal people are in one class."""
    found = []
    for view, label in zip(release.views, counts, strict=True):
        codes = np.stack([table.column(name).codes[cell.records] for name in view])
        if np.unique(codes, axis=1).shape[1] != np.unique(np.vstack([codes, label]), axis=1).shape[1]:
            found.append("equal people are in two classes")
    return found


def _column(
    release: ViewsRelease, cell: CellRelease, counts: Ints, column: SensitiveColumn, one: ColumnRelease
) -> list[str]:
    if not one.views:
        return []
    found = []
    bins = column.bins[cell.records]
    labels = np.stack([view.top[cell.leaf[at]] for at, view in zip(one.views, one.safe.views, strict=True)])
    numbers = [
        BinnedNumber(m.values[cell.records], np.append(m.low, 1), np.append(m.high, 0), m.span, m.step, m.fewest)
        for m in column.measures
    ]
    for at, label, told in zip(one.views, labels, one.figures, strict=True):
        if len(set(zip(counts[at].tolist(), label.tolist(), strict=True))) > np.unique(counts[at]).size:
            found.append("a class of counts is divided")
        if not np.array_equal(told.histogram, histogram(label, bins, column.size + 1)):
            found.append("a histogram is another one")
        for place, number in enumerate(numbers):
            if list(zip(told.sum_low[place], told.sum_high[place], strict=True)) != sum_ends(label, bins, number):
                found.append("a sum is not in its cell")
    check = WitnessCheck(labels, bins, numbers, release.values)
    worlds = [TotalsGiven(world.exact, world.totals) for world in one.safe.worlds]
    for world in worlds:
        if not check.swap(world):
            found.append("R3: a world does not meet the figures")
    if unsafe := int(check.unsafe().sum()):
        found.append(f"R3: {unsafe} records are not shown to be able to have another value")
    return found
