"""Many records in parts, so that the cost of clustering grows with their number and not with its square."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from querygate.core.types import Floats, Ints


def parts(points: Floats, largest: int) -> Iterator[Ints]:
    """Divide at the median along the principal axis until no part has more than `largest` points.

    >>> [part.tolist() for part in parts(np.array([[4.0], [1.0], [3.0], [2.0]]), largest=2)]
    [[1, 3], [2, 0]]
    """
    waiting = [np.arange(len(points))]
    while waiting:
        rows = waiting.pop()
        if rows.size <= largest:
            yield rows
            continue
        along = points[rows] @ _principal_axis(points[rows])
        order = np.argsort(along, kind="stable")
        waiting += [rows[order[rows.size // 2 :]], rows[order[: rows.size // 2]]]


def _principal_axis(points: Floats) -> Floats:
    centred = points - points.mean(axis=0)
    axis: Floats = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    # Of the two directions the one whose largest component is positive: which side comes first is then settled.
    return -axis if axis[np.argmax(np.abs(axis))] < 0 else axis
