"""Classes as the leaves of an R-tree (Iwuchukwu, Naughton, "K-anonymization as spatial indexing", VLDB 2007).

Records are points; each goes down to the leaf whose box it enlarges least, and a leaf that has three times k is divided
where the margins of both parts are least together, each of k at least. What is left of 2k or more is divided in the
end. Categories stand on their axes by falling frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.clusters.top_down import clustered
from querygate.methods.anonymise.clusters.top_down_greedy import leaping
from querygate.methods.anonymise.division.mondrian import Progress
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table

FANOUT = 16
"""Children of a node."""


def spatial_index(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. Time is in proportion to n log n. Raises Infeasible if the table as a whole does
    not keep a promise.
    """
    return clustered(table, k, guards, _indexed, progress)


def _indexed(table: Table, k: int) -> Ints:
    points = np.stack([axis for a in table.attributes for axis in _axes(a)], axis=1)
    tree = _Tree(points, table.counts, k)
    for row in leaping(table.combinations).tolist():
        tree.add(row)
    labels = np.zeros(table.combinations, dtype=np.int64)
    waiting, classes = tree.leaves(), 0
    while waiting:
        rows = waiting.pop()
        parts = tree.divided(rows)
        if parts is None:
            labels[rows] = classes
            classes += 1
        else:
            waiting += parts
    return labels


def _axes(attribute: Attribute) -> list[Floats]:
    """Where the rows stand, on an axis of the attribute's weight; where some are missing on a second one."""
    missing = attribute.codes == NULL
    if attribute.ordered:
        lower, upper = attribute.edges
        place = (lower + upper)[attribute.codes] / 2 / (attribute.span or 1.0)
        place = place - (lower[0] + upper[0]) / 2 / (attribute.span or 1.0)
    else:
        often = np.bincount(attribute.codes[~missing], minlength=attribute.size)
        rank = np.argsort(np.argsort(-often, kind="stable"), kind="stable")
        place = rank[attribute.codes] / attribute.span
    axes = [np.where(missing, 0.0, place), missing.astype(np.float64)] if missing.any() else [place]
    return [attribute.weight * axis for axis in axes]


@dataclass
class _Node:
    """A leaf has rows, another node has children."""

    low: Floats
    high: Floats
    rows: list[int] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


class _Tree:
    def __init__(self, points: Floats, records: Ints, k: int) -> None:
        self._points, self._records, self._k = points, records, k
        nowhere = np.full(points.shape[1], np.inf)
        self._root = _Node(nowhere, -nowhere)

    def add(self, row: int) -> None:
        parts = self._add(self._root, row)
        if parts is not None:
            self._root = _over(parts)

    def _add(self, node: _Node, row: int) -> list[_Node] | None:
        """Put a row below a node; the two that it becomes if it is too full."""
        point = self._points[row]
        node.low, node.high = np.minimum(node.low, point), np.maximum(node.high, point)
        if not node.children:
            node.rows.append(row)
            if self._records[node.rows].sum() < 3 * self._k:
                return None
            divided = self.divided(np.array(node.rows))
            return None if divided is None else [self._leaf(part) for part in divided]
        low, high = (np.stack([getattr(child, end) for child in node.children]) for end in ("low", "high"))
        grown = np.maximum(high, point) - np.minimum(low, point) - (high - low)
        least = int(np.argmin(grown.sum(axis=1)))
        parts = self._add(node.children[least], row)
        if parts is None:
            return None
        node.children[least : least + 1] = parts
        return _halves(node) if len(node.children) > FANOUT else None

    def _leaf(self, rows: Ints) -> _Node:
        points = self._points[rows]
        return _Node(points.min(axis=0), points.max(axis=0), rows.tolist())

    def divided(self, rows: Ints) -> list[Ints] | None:
        """Two parts of k records and more, of the least margins together; None where there are none."""
        best: tuple[float, list[Ints]] | None = None
        for axis in range(self._points.shape[1]):
            order = rows[np.lexsort((rows, self._points[rows, axis]))]
            left = np.cumsum(self._records[order])
            possible = np.flatnonzero((left >= self._k) & (left[-1] - left >= self._k))
            if not possible.size:
                continue
            margins = _margins(self._points[order])[possible]
            at = int(np.argmin(margins))
            if best is None or margins[at] < best[0]:
                end = int(possible[at]) + 1
                best = float(margins[at]), [order[:end], order[end:]]
        return None if best is None else best[1]

    def leaves(self) -> list[Ints]:
        found, waiting = [], [self._root]
        while waiting:
            node = waiting.pop()
            waiting += node.children
            if not node.children:
                found.append(np.array(node.rows, dtype=np.int64))
        return found


def _margins(points: Floats) -> Floats:
    """For a cut after each point: the sum of the edges of both boxes, in terms of the points in them."""
    size = np.arange(1, len(points) + 1)
    left, right = (
        (np.maximum.accumulate(run) - np.minimum.accumulate(run)).sum(axis=1) * size for run in (points, points[::-1])
    )
    both: Floats = left + np.append(right[::-1][1:], 0.0)
    return both


def _over(children: list[_Node]) -> _Node:
    low, high = (np.stack([getattr(child, end) for child in children]) for end in ("low", "high"))
    return _Node(low.min(axis=0), high.max(axis=0), children=children)


def _halves(node: _Node) -> list[_Node]:
    """Two nodes of half of the children each, along the axis on which these lie farthest apart."""
    middles = np.stack([child.low + child.high for child in node.children])
    axis = int(np.argmax(np.ptp(middles, axis=0)))
    order = np.argsort(middles[:, axis], kind="stable").tolist()
    half = len(order) // 2
    return [_over([node.children[place] for place in part]) for part in (order[:half], order[half:])]
