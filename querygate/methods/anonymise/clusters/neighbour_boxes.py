"""Boxes around nearest neighbours, in a space whose axes are stretched by the weights of the attributes.

The distance of two records is the greatest weighted difference of an attribute (Chebyshev), so a box around neighbours
is narrow where the weight is great. With the weights of `directed` this is the method of Xiang, O'Rawe, Kreinovich,
Hajagos and Ferson (2014): take a record and its k - 1 nearest, box them unless one of them is in a box already, and
give what is left over to the nearest box. A k-d tree stands in place of their quadratic search, records in dense places
come first, because their boxes are narrow, and what is left over is boxed in further rounds as long as it is many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.clusters.merge import merge_until_kept
from querygate.methods.anonymise.division.districts import districts
from querygate.methods.anonymise.division.mondrian import Progress, canonical
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table

MOST_PULLED = 5_000
"""Records of a district that may each have weights of their own: their neighbours are found by looking at all. In a
larger one the mean weights hold for all."""

ROUNDS = 20
"""A round leaves over less than half, so these are never needed unless distances tie everywhere."""


def directed_boxes(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record. Two different categories are as far apart as the ends of a number's domain, or
    farther; so are a value and a missing one. Boxes that break a guard are joined with others of the same district.
    Raises Infeasible if the table as a whole does not keep a promise.
    """
    if table.counts.size and table.counts.max() > 1:
        raise ValueError("this method divides records: the table has one row for each")
    district = districts(table, k, guards)
    order = np.lexsort((*(a.codes for a in table.attributes), district))
    axes = [(axis[order], a.pull) for a in table.attributes for axis in _axes(a)]
    points = np.stack([axis for axis, _ in axes], axis=1)
    pulls = None
    if any(pull is not None for _, pull in axes):
        pulls = np.stack([np.ones(order.size) if pull is None else pull[order] for _, pull in axes], axis=1)
    labels, classes = np.empty_like(order), 0
    ends = np.append(np.flatnonzero(np.diff(district[order])) + 1, order.size)
    for begin, end in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        here, near = points[begin:end], None if pulls is None else pulls[begin:end]
        if near is not None and end - begin > MOST_PULLED:
            here, near = here * near.mean(axis=0), None
        found = _boxed(here, k, near)
        labels[order[begin:end]] = found + classes
        classes += int(found.max()) + 1
        if progress:
            progress(end / order.size)
    return canonical(table, merge_until_kept(table, labels, k, guards, within=district))


def _axes(attribute: Attribute) -> list[Floats]:
    missing = attribute.codes == NULL
    if attribute.ordered:
        lower, upper = attribute.edges
        place = np.where(missing, 0.0, (lower + upper)[attribute.codes] / 2) / (attribute.span or 1.0)
    else:
        # Neighbours on the axis are of similar frequency: what is rare is mixed with what is rare.
        frequency = np.bincount(attribute.codes[~missing], minlength=attribute.size)
        rank = np.empty(attribute.size)
        rank[np.argsort(-frequency, kind="stable")] = np.arange(attribute.size)
        place = np.where(missing, 0.0, rank[attribute.codes])
    axes = [place, missing.astype(np.float64)] if attribute.has_nulls else [place]
    return [attribute.weight * axis for axis in axes]


def _boxed(points: Floats, k: int, pulls: Floats | None = None) -> Ints:
    """The box of each point, 0..m-1, all of at least k points. `pulls` stretch the axes for each point by itself."""
    size = len(points)
    if size < 2 * k:
        return np.zeros(size, dtype=np.int64)
    box = _equal_points(points, k)
    boxes = int(box.max()) + 1
    for _ in range(ROUNDS):
        alone = np.flatnonzero(box < 0)
        if alone.size < k:
            break
        near, radius = (
            _neighbours(points[alone], k) if pulls is None else _pulled_neighbours(points[alone], k, pulls[alone])
        )
        for point in np.argsort(radius, kind="stable").tolist():
            together = alone[near[point]]
            if box[together].max() < 0:
                box[together] = boxes
                boxes += 1
    alone = np.flatnonzero(box < 0)
    if alone.size:
        boxed = np.flatnonzero(box >= 0)
        box[alone] = box[boxed[_neighbours(points[boxed], 1, points[alone])[0][:, 0]]]
    return box


def _equal_points(points: Floats, k: int) -> Ints:
    """k or more equal points are a box without any width; -1 for all others. Points are in lexicographic order."""
    new = np.append(True, (points[1:] != points[:-1]).any(axis=1))
    group = np.cumsum(new) - 1
    enough = np.bincount(group) >= k
    return np.where(enough[group], (np.cumsum(enough) - 1)[group], -1)


def _pulled_neighbours(points: Floats, k: int, pulls: Floats) -> tuple[Ints, Floats]:
    """The k nearest points of each by its own weights, itself among them, and the distance of the last."""
    near, radius = np.empty((len(points), k), dtype=np.int64), np.empty(len(points))
    for one, (point, pull) in enumerate(zip(points, pulls, strict=True)):
        distance = (np.abs(points - point) * pull).max(axis=1)
        distance[one] = -1.0
        found = np.argpartition(distance, k - 1)[:k]
        near[one], radius[one] = np.sort(found), max(0.0, float(distance[found].max()))
    return near, radius


def _neighbours(points: Floats, k: int, of: Floats | None = None) -> tuple[Ints, Floats]:
    """The k nearest points of each, and the distance of the last."""
    asked = points if of is None else of
    distance, near = cKDTree(points).query(asked, np.arange(1, k + 1), p=np.inf)
    return np.asarray(near), np.asarray(distance)[:, -1]
