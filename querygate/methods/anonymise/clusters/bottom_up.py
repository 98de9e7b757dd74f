"""Bottom-up clustering (Xu et al., KDD 2006): every record is a cluster; those under k join where they lose least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.methods.anonymise.clusters.hulls import Hulls
from querygate.methods.anonymise.clusters.top_down import clustered, divide_by_seeds, rows_of
from querygate.methods.anonymise.division.mondrian import Progress, mondrian
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import Table

EXACT = 2_000
"""Up to this many distinct records, every cluster is compared with every other ..."""

BLOCK = 400
"""... and beyond, only within blocks of at least this many records that Mondrian makes first."""


def bottom_up(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. In each round every cluster under k joins the cluster with which the union loses
    least in addition; clusters of 2k or more are divided again. Quadratic up to EXACT different records in a district;
    larger ones are first divided into blocks of similar records, so that time grows in proportion. Raises Infeasible if
    the table as a whole does not keep a promise.
    """
    return clustered(table, k, guards, _divide, progress)


def _divide(atoms: Table, k: int) -> Ints:
    if atoms.combinations <= EXACT:
        return _joined(atoms, k)
    block = mondrian(atoms, max(BLOCK, 20 * k)) if atoms.records >= max(BLOCK, 20 * k) else np.zeros(atoms.combinations)
    labels, classes = np.empty(atoms.combinations, dtype=np.int64), 0
    order = np.argsort(block, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
        found = _joined(rows_of(atoms, rows), k)
        labels[rows] = found + classes
        classes += int(found.max()) + 1
    return labels


def _joined(atoms: Table, k: int) -> Ints:
    """Clusters of at least k records; the table has as many."""
    hulls = Hulls.of(atoms, np.arange(atoms.combinations))
    own = hulls.records * hulls.widths()
    cluster = np.arange(atoms.combinations)
    gone = np.zeros(atoms.combinations, dtype=np.bool_)
    while (small := np.flatnonzero(~gone & (hulls.records < k))).size:
        grown = np.zeros_like(gone)  # in this round: it waits for the next
        for one in small.tolist():
            if gone[one] or grown[one]:
                continue
            gone[one] = True
            loss = (hulls.records + hulls.records[one]) * hulls.union_width(one)
            added = loss - own
            added[gone] = np.inf
            other = int(added.argmin())
            hulls.join(other, one)
            own[other], grown[other] = loss[other], True
            cluster[cluster == one] = other
    return _divided_again(atoms, np.unique(cluster, return_inverse=True)[1].reshape(-1), k)


def _divided_again(atoms: Table, cluster: Ints, k: int) -> Ints:
    """Clusters of 2k records or more, divided into parts of at least k."""
    labels = cluster.copy()
    for large in np.flatnonzero(np.bincount(cluster, atoms.counts) >= 2 * k).tolist():
        rows = np.flatnonzero(cluster == large)
        parts = divide_by_seeds(rows_of(atoms, rows), k)
        labels[rows] = np.where(parts == 0, large, labels.max() + parts)
    return np.unique(labels, return_inverse=True)[1].reshape(-1)
