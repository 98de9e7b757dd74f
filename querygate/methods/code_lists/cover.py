"""Least loss that touches every itemset: greedy weighted cover (Chvátal 1979, within ln n of the least).

>>> hitting_set(np.array([[0, 1], [0, 2], [3, 2]]), np.array([3.0, 1.0, 1.0, 5.0]))
array([1, 2])
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints

FREE = 1e-12
"""Loss of what costs nothing, so that ratios are numbers."""


def hitting_set(itemsets: Ints, loss: Floats) -> Ints:
    """Items, rising, one at least of every itemset (a row), with little loss in all."""
    rows, width = itemsets.shape
    flat = itemsets.ravel()
    by_item = np.argsort(flat, kind="stable")
    edge = np.searchsorted(flat[by_item], np.arange(loss.size + 1))
    hits = np.diff(edge)
    open_, chosen = np.ones(rows, dtype=np.bool_), []
    while open_.any():
        best = int(np.argmax(hits / (loss + FREE)))
        touched = by_item[edge[best] : edge[best + 1]] // width
        touched = np.unique(touched[open_[touched]])
        open_[touched] = False
        hits = hits - np.bincount(itemsets[touched].ravel(), minlength=loss.size)
        chosen.append(best)
    return np.array(sorted(chosen), dtype=np.int64)
