"""Stable classes: people whom earlier versions left together stay together, or are divided into parts that are classes.

Strict Mondrian, begun from the groups of the earlier versions instead of from the whole table: no class of its lies
across two groups, so every part of a group has at least k people and keeps every guard. Only a group that has become
too small itself, because people left it, joins another class, and then as a whole. Newcomers are a group of their own
(the bucketisation of Byun, Sohn, Bertino, Li, "Secure anonymization for incremental datasets", SDM 2006).

>>> import numpy as np
>>> from querygate.methods.anonymise.table import Attribute
>>> age = Attribute.ordered_by("age", np.array([0, 1, 2, 3, 4, 5]), edges=np.arange(7.0))
>>> table = Table((age,), counts=np.ones(6, dtype=int))
>>> stay_together(table, np.array([0, 1, 0, 1, -1, -1]), k=2)
array([0, 1, 0, 1, 2, 2])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.class_boxes import ncp
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from querygate.methods.anonymise.division.mondrian import DivisionSearch, Progress, canonical
from querygate.methods.anonymise.division.node_cells import Batch
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import Table

NEWCOMER = -1
"""The history of somebody who was in no earlier version."""

ONE_BY_ONE = 2_000
"""Up to this many newcomers are tried one by one in the existing classes."""


def stay_together(
    table: Table,
    history: Ints,
    k: int,
    guards: Sequence[Guard] = (),
    *,
    apart: bool = True,
    progress: Progress | None = None,
) -> Ints:
    """The class of each row, 0..m-1; `history` is the group in which it was before.

    `apart`: newcomers have classes of their own. Otherwise a few of them join the classes that suit them best, where
    that loses less. Raises Infeasible if the table as a whole does not keep a promise.
    """
    node = np.unique(history, return_inverse=True)[1].reshape(-1)
    batch = Batch.whole(table).relabelled(node, int(node.max()) + 1)
    labels = DivisionSearch(table, k, guards, progress).run(batch)
    new = history == NEWCOMER
    own = merge_until_kept(table, labels, k, guards)
    if apart or not _few(table, new):
        return canonical(table, own)
    single = np.where(new, int(labels.max()) + 1 + np.cumsum(new), labels)
    joined = merge_until_kept(table, single, k, guards)
    return canonical(table, min((own, joined), key=lambda found: ncp(table, found)))


def _few(table: Table, new: Bools) -> bool:
    return bool(new.any()) and int(table.counts[new].sum()) <= ONE_BY_ONE
