"""Joining classes that break a promise to others until all keep it: the last step of methods that build from below."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.clusters.hulls import Hulls
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import Table


def merge_until_kept(table: Table, labels: Ints, k: int, guards: Sequence[Guard], within: Ints | None = None) -> Ints:
    """Labels 0..m-1 such that every class keeps k and every guard.

    A class that fails, the smallest first, joins the one with which it loses least. `within` are pieces that classes do
    not leave, each of which keeps every promise as a whole; without it the table must do so. Some guards (entropy,
    closeness) can fail for the union of two classes that kept them: the union then goes on joining.
    """
    labels = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    pieces = np.zeros_like(labels) if within is None else within
    while True:
        classes = int(labels.max()) + 1
        failing = np.flatnonzero(~_kept(table, labels, classes, k, guards))
        if not failing.size:
            return labels
        joined = _joined(table, labels, failing, pieces)
        if int(joined.max()) + 1 == classes:  # a piece that fails as a whole: beyond it, then
            pieces = np.zeros_like(pieces)
        labels = joined


def _kept(table: Table, labels: Ints, classes: int, k: int, guards: Sequence[Guard]) -> Bools:
    kept = np.asarray(np.bincount(labels, table.counts, classes) >= k)
    rows = np.arange(labels.size)
    for guard in guards:
        kept &= guard.classes(rows, labels, classes)
    return kept


def _joined(table: Table, labels: Ints, failing: Ints, pieces: Ints) -> Ints:
    """Each failing class joined to its best partner; nobody takes part twice in one round."""
    hulls = Hulls.of(table, labels)
    piece_of = np.empty(hulls.records.size, dtype=np.int64)
    piece_of[labels] = pieces
    own = hulls.records * hulls.widths()
    target = np.arange(hulls.records.size)
    taken = np.zeros(target.size, dtype=np.bool_)
    for label in failing[np.argsort(hulls.records[failing], kind="stable")].tolist():
        if taken[label]:
            continue
        free = np.flatnonzero((piece_of == piece_of[label]) & ~taken)
        free = free[free != label]
        if not free.size:
            continue
        union = (hulls.records[free] + hulls.records[label]) * hulls.union_width(label, free)
        partner = int(free[np.argmin(union - own[free])])
        target[label] = partner
        taken[[label, partner]] = True
    return np.unique(target[labels], return_inverse=True)[1].reshape(-1).astype(np.int64)
