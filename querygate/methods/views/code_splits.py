"""Two-way splits of codes of one column, both sides of which keep enough weight."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from querygate.core.types import Bools, Ints


def balanced_cut(codes: Ints, weights: Ints, least: int, allowed: Collection[int] | None = None) -> Bools | None:
    """Who is below the most even feasible cut of an ordered column; `allowed` are the codes just above a cut."""
    values, place = np.unique(codes, return_inverse=True)
    below = np.cumsum(_weight_by(place, weights, values.size))[:-1]
    above = int(weights.sum()) - below
    lighter = np.minimum(below, above)
    feasible = lighter >= least
    if allowed is not None:
        # A cut between two codes that occur is any cut above the lower one, up to the upper one.
        cuts = np.array(sorted(allowed), dtype=np.int64)
        feasible &= np.searchsorted(cuts, values[1:], side="right") > np.searchsorted(cuts, values[:-1], side="right")
    if not feasible.any():
        return None
    best = int(np.argmax(np.where(feasible, lighter, -1)))
    below_cut: Bools = codes <= values[best]
    return below_cut


def peeled(codes: Ints, weights: Ints, least: int, person: int = 1) -> Bools | None:
    """Who has the commonest category, or as few of the commonest as are enough.

    Categories that too few have leave open how many of each there are among all whom they are with: so they are by
    themselves if they are enough together, and with the smallest category that is enough otherwise.
    """
    values, place = np.unique(codes, return_inverse=True)
    held = _weight_by(place, weights, values.size)
    order = np.argsort(-held, kind="stable")
    rare = order[held[order] < least]
    common = order[: order.size - rare.size]
    if rare.size and common.size:
        is_many = int(held[rare].sum()) >= least + (rare.size - 1) * person  # each of them could be k people
        left = common if is_many else np.append(common[-1:], rare)
        is_enough = int(held[left].sum()) >= least and int(weights.sum() - held[left].sum()) >= least
        return np.isin(codes, values[left]) if is_enough else None
    first = np.cumsum(held[order])
    feasible = (first >= least) & (first[-1] - first >= least)
    if not feasible.any():
        return None
    return np.isin(codes, values[order[: int(np.argmax(feasible)) + 1]])


def _weight_by(place: Ints, weights: Ints, size: int) -> Ints:
    """Weights added up by place, in whole numbers."""
    held = np.zeros(size, dtype=np.int64)
    np.add.at(held, place.reshape(-1), weights)
    return held
