"""Loss of the two children of each candidate cut, over all attributes: what the cut really brings.

A cut on one attribute narrows the others as well (who is over 80 is rarely in school), so cuts are compared by the
loss of the children in full. Weighing the attribute's own width alone costs 1 to 15 % of information.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Array, Bools, Floats
from querygate.methods.anonymise.division.cuts import Candidate
from querygate.methods.anonymise.division.node_cells import Batch, NodeCells

LANES = 31
"""Candidates looked at together: two bits each in one 63-bit word."""


def loss_of_nodes(all_cells: Sequence[NodeCells]) -> Floats:
    """Records times weighted width of every node as it stands."""
    return sum(
        (c.total * _width(c, np.ones((1, c.node.size), dtype=np.bool_))[0] for c in all_cells),
        start=np.zeros(all_cells[0].total.size),
    )


def loss_after(batch: Batch, all_cells: Sequence[NodeCells], candidates: Sequence[Candidate]) -> Floats:
    """Per candidate and node, records times weighted width of both children; infinite where there is no cut."""
    total = all_cells[0].total
    loss = np.zeros((len(candidates), batch.nodes))
    for begin in range(0, len(candidates), LANES):
        lanes = candidates[begin : begin + LANES]
        sides = _sides(lanes)
        for cells in all_cells:
            present = cells.union(sides)
            for lane, candidate in enumerate(lanes):
                bits = np.array([[1 << (2 * lane)], [2 << (2 * lane)]], dtype=present.dtype)
                left, right = _width(cells, (present & bits) != 0)
                records = candidate.left_records
                loss[begin + lane] += records * left + (total - records) * right
    for row, candidate in zip(loss, candidates, strict=True):
        row[~candidate.exists] = np.inf
    return loss


def _sides(candidates: Sequence[Candidate]) -> Array:
    """Per position one bit for each side of each candidate; their union over a cell says where its value occurs."""
    kind = np.min_scalar_type(2 ** (2 * len(candidates)) - 1)
    left = kind.type(sum(1 << (2 * lane) for lane in range(len(candidates))))
    sides = np.full(candidates[0].right.size, left)
    for lane, candidate in enumerate(candidates):
        sides ^= candidate.right.astype(kind) * kind.type(3 << (2 * lane))
    return sides


def _width(cells: NodeCells, present: Bools) -> Floats:
    """Weighted width per node of the cells that are present; each row of `present` is a case of its own.

    Values and missing values together have full width; missing values alone have none, as has a single category.
    """
    attribute, first = cells.attribute, cells.first
    values = present & ~cells.is_null if attribute.has_nulls else present
    if attribute.ordered:
        low = np.minimum.reduceat(np.where(values, cells.lower, np.inf), first, axis=1)
        high = np.maximum.reduceat(np.where(values, cells.upper, -np.inf), first, axis=1)
        width: Floats = np.maximum(high - low, 0.0) / (attribute.span or 1.0)
    else:
        number = np.add.reduceat(values, first, axis=1, dtype=np.int64)
        width = np.where(number > 1, number, 0) / attribute.span
    if attribute.has_nulls:
        mixed = np.logical_or.reduceat(values, first, axis=1) & np.logical_or.reduceat(
            present & cells.is_null, first, axis=1
        )
        width[mixed] = 1.0
    return attribute.weight * width
