"""Clustering of records by what their union loses (Xu, Wang, Pei, Wang, Shi, Fu, "Utility-Based Anonymization", KDD
2006), top-down: divide by two records that are far apart, again and again.

Works on atoms: records with the same codes, up to 2k - 1 of them at a time, since joining them costs nothing. Public
cuts come first; classes that break a guard are joined with others in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from querygate.methods.anonymise.division.districts import districts
from querygate.methods.anonymise.division.mondrian import Progress, canonical
from querygate.methods.anonymise.division.snake import join_pure
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table

FARTHEST = 3
"""Steps from a record to the one farthest from it, until two are far apart."""

Divide = Callable[[Table, int], Ints]
"""Atoms, k -> the class of each."""


def top_down(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. Two records far apart are seeds; each takes the half of the others that it is
    nearer to in comparison, so both sides keep k and nothing has to be repaired; O(n log n). Raises Infeasible if the
    table as a whole does not keep a promise.
    """
    return clustered(table, k, guards, divide_by_seeds, progress)


def clustered(table: Table, k: int, guards: Sequence[Guard], divide: Divide, progress: Progress | None) -> Ints:
    """Divide the atoms of each district, then join what breaks a guard."""
    district = districts(table, k, guards)
    atoms = RowAtoms.of(table, district, k)
    labels, classes = np.empty(atoms.table.combinations, dtype=np.int64), 0
    ends = np.append(np.flatnonzero(np.diff(atoms.district)) + 1, labels.size)
    for begin, end in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        found = divide(rows_of(atoms.table, np.arange(begin, end)), k)
        labels[begin:end] = found + classes
        classes += int(found.max()) + 1
        if progress:
            progress(end / labels.size)
    kept = merge_until_kept(table, labels[atoms.of_row], k, guards, within=district)
    return canonical(table, join_pure(table, kept, guards))


@dataclass(frozen=True)
class RowAtoms:
    """Rows with equal codes taken together, k to 2k - 1 records at a time where there are so many.

    In order of district and codes, so that nothing depends on the order of the rows.
    """

    table: Table
    district: Ints
    of_row: Ints

    @classmethod
    def of(cls, table: Table, district: Ints, k: int) -> RowAtoms:
        order = np.lexsort((*(a.codes for a in reversed(table.attributes)), district))
        keys = np.stack([district[order], *(a.codes[order] for a in table.attributes)])
        new = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
        group = np.cumsum(new) - 1
        records = table.counts[order]
        total = np.bincount(group, records).astype(np.int64)
        before = np.cumsum(records) - records
        inside = before - before[new][group]
        pieces = np.maximum(1, total // k)[group] if records.max() == 1 else np.ones_like(group)
        piece = np.minimum(inside * pieces // total[group], pieces - 1)
        first = np.append(True, (np.diff(group) != 0) | (np.diff(piece) != 0))
        number = np.cumsum(first) - 1
        of_row = np.empty_like(number)
        of_row[order] = number
        counts = np.bincount(number, records).astype(np.int64)
        attributes = tuple(replace(a, codes=a.codes[order[first]], cuts=()) for a in table.attributes)
        return cls(Table(attributes, counts), district[order[first]], of_row)


def rows_of(table: Table, rows: Ints) -> Table:
    """Some rows of a table."""
    return Table(tuple(replace(a, codes=a.codes[rows]) for a in table.attributes), table.counts[rows])


def distances(attributes: Sequence[Attribute], one: int, others: Ints) -> Floats:
    """Weighted width of the union of a row with each of the others."""
    total = np.zeros(others.size)
    for attribute in attributes:
        code, codes = attribute.codes[one], attribute.codes[others]
        if attribute.ordered:
            lower, upper = attribute.edges
            width = (np.maximum(upper[codes], upper[code]) - np.minimum(lower[codes], lower[code])) / (
                attribute.span or 1.0
            )
        else:
            width = np.where(codes == code, 0.0, 2 / attribute.span)
        missing: Bools = codes == NULL
        width = np.where(missing & (code == NULL), 0.0, np.where(missing | (code == NULL), 1.0, width))
        total += attribute.weight * width
    return total


def far_apart(table: Table, rows: Ints) -> tuple[int, int] | None:
    """The places of two rows that are far apart; None where all are the same."""
    one = other = 0
    for _ in range(FARTHEST):
        one, other = other, int(np.argmax(distances(table.attributes, int(rows[other]), rows)))
    far = distances(table.attributes, int(rows[other]), rows)
    return (one, other) if far[one] > 0 else None


def divide_by_seeds(table: Table, k: int) -> Ints:
    """The class of each row; all have k records, and none has more unless its rows are too heavy to be parted."""
    labels, classes = np.zeros(table.combinations, dtype=np.int64), 0
    waiting = [np.arange(table.combinations)]
    while waiting:
        rows = waiting.pop()
        halves = _halves(table, rows, k)
        if halves is None:
            labels[rows] = classes
            classes += 1
        else:
            waiting.extend(halves)
    return labels


def _halves(table: Table, rows: Ints, k: int) -> tuple[Ints, Ints] | None:
    """The rows nearer to one seed and those nearer to the other, as even as k and the weight of rows allow."""
    counts = table.counts[rows]
    records = int(counts.sum())
    if records < 2 * k or rows.size < 2:
        return None
    seeds = far_apart(table, rows)
    if seeds is None:
        return None
    near, far = (distances(table.attributes, int(rows[seed]), rows) for seed in seeds)
    order = np.argsort(near - far, kind="stable")
    left = np.cumsum(counts[order])
    possible = np.flatnonzero((left >= k) & (records - left >= k))
    if not possible.size:
        return None
    at = int(possible[np.argmin(np.abs(2 * left[possible] - records))]) + 1
    return np.sort(rows[order[:at]]), np.sort(rows[order[at:]])
