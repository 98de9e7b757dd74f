"""Clusters whose radius is at most twice the least possible one (Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy,
Thomas, Zhu, "Achieving anonymity via clustering", PODS 2006): r-gather, with k for r.

For a distance, records that are not yet covered become centres in turn and cover what lies within it. The distance is
enough if each record has k within it, and if every centre can be given k records within it, none of them twice: a flow.
The least distance that is enough is at most twice the radius of the best clusters. What a flow leaves over goes to the
nearest centre. Distances are sums over attributes: of numbers their difference in terms of the domain, of categories
what mixing two of them loses, of a missing value and another 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from querygate.methods.anonymise.clusters.top_down import rows_of
from querygate.methods.anonymise.division.districts import districts
from querygate.methods.anonymise.division.mondrian import Progress, canonical, mondrian
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table

EXACT = 1_200
"""Up to this many records, the bound holds for all of them ..."""

BLOCK = 600
"""... and beyond within blocks of at least this many, which Mondrian makes first: distances are of all pairs."""


def gather(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. Classes that break a guard are joined with others, beyond the bound. Raises
    Infeasible if the table as a whole does not keep a promise.
    """
    if table.counts.size and table.counts.max() > 1:
        raise ValueError("this method divides records: the table has one row for each")
    district = districts(table, k, guards)
    order = np.lexsort((*(a.codes for a in reversed(table.attributes)), district))
    labels, classes, done = np.empty_like(order), 0, 0
    for rows in np.split(order, np.flatnonzero(np.diff(district[order])) + 1):
        for part in _blocks(table, rows, k):
            labels[part] = classes + clusters(distances(rows_of(table, part).attributes), k)
            classes, done = int(labels[part].max()) + 1, done + part.size
            if progress:
                progress(done / order.size)
    return canonical(table, merge_until_kept(table, labels, k, guards, within=district))


def _blocks(table: Table, rows: Ints, k: int) -> list[Ints]:
    least = max(BLOCK, 10 * k)
    if rows.size <= max(EXACT, 2 * least):
        return [rows]
    block = mondrian(rows_of(table, rows), least)
    order = np.argsort(block, kind="stable")
    return [rows[part] for part in np.split(order, np.flatnonzero(np.diff(block[order])) + 1)]


def distances(attributes: Sequence[Attribute]) -> Floats:
    """The distance of each row from each other: a metric."""
    size = attributes[0].codes.size
    total = np.zeros((size, size))
    for a in attributes:
        missing = a.codes == NULL
        if a.ordered:
            lower, upper = a.edges
            place = (lower / 2 + upper / 2)[a.codes] / (a.span or 1.0)
            apart = np.abs(place[:, None] - place[None, :])
        else:
            apart = np.where(a.codes[:, None] == a.codes[None, :], 0.0, 2 / a.span)
        mixed = missing[:, None] != missing[None, :]
        apart = np.where(mixed, 1.0, np.where(missing[:, None], 0.0, apart))
        total += a.weight * apart
    return total


def clusters(apart: Floats, k: int) -> Ints:
    """The cluster of each point, 0..m-1, all of k points: the greatest distance to a centre is at most twice the least
    radius that clusters of k points around one of them can have.

    >>> clusters(np.abs(np.subtract.outer([0.0, 1, 2, 10, 11], [0.0, 1, 2, 10, 11])), k=2)
    array([0, 0, 0, 1, 1])
    """
    if len(apart) < 2 * k:
        return np.zeros(len(apart), dtype=np.int64)
    known = np.unique(apart)
    low, high = -1, known.size - 1  # not enough; enough, since one centre covers all
    best = np.zeros(len(apart), dtype=np.int64)
    while high - low > 1:
        middle = (low + high) // 2
        found = _within(apart, float(known[middle]), k)
        if found is None:
            low = middle
        else:
            high, best = middle, found
    return best


def _within(apart: Floats, reach: float, k: int) -> Ints | None:
    """Clusters of k points within the distance of their centres; None if the distance is not enough."""
    near = apart <= reach
    if near.sum(axis=1).min() < k:
        return None
    centres, covered = [], np.zeros(len(apart), dtype=np.bool_)
    for point in range(len(apart)):
        if not covered[point]:
            centres.append(point)
            covered |= near[point]
    given = _given(near[centres], k)
    if given is None:
        return None
    nearest: Ints = np.argmin(apart[centres], axis=0)
    return np.where(given >= 0, given, nearest)


def _given(near: np.ndarray[tuple[int, int], np.dtype[np.bool_]], k: int) -> Ints | None:
    """k points for each centre among those near it, by a flow: the centre of each point, or -1."""
    centres, points = near.shape
    source, sink = centres + points, centres + points + 1
    one, other = np.nonzero(near)
    begin = np.concatenate([np.full(centres, source), one, centres + np.arange(points)])
    end = np.concatenate([np.arange(centres), centres + other, np.full(points, sink)])
    room = np.concatenate([np.full(centres, k), np.ones(one.size + points)]).astype(np.int32)
    flow = maximum_flow(csr_array((room, (begin, end)), shape=(sink + 1, sink + 1)), source, sink)
    if flow.flow_value < centres * k:
        return None
    given = np.full(points, -1, dtype=np.int64)
    sent = flow.flow[:centres, centres:source].tocoo()
    used = sent.data > 0
    given[sent.col[used]] = sent.row[used]
    return given
