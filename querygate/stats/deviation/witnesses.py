"""Data sets with a large or small median absolute deviation, built around a median and a distance.

Nothing that is guaranteed depends on this; it says how tight a bound is. A small integer program decides how many
records of each kind are selected and at which place they are.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from querygate.core.types import Cells, Floats, Ints
from querygate.stats.deviation.feasible_pairs import Lead, Side
from querygate.stats.numerics import exact_sum

_HALVINGS, _QUICKLY = 40, 18  # of a distance; and where there are many cells
_MANY = 50_000


def reached(cells: Cells, leads: list[Lead], side: Side) -> float:
    """The best deviation of the data sets found from the leads, the most promising first; otherwise of any data set."""
    best = _deviation(*_centres(cells))
    for lead in leads:
        if best >= lead.distance if side == "far" else best <= lead.distance:
            break
        found = _at(cells, lead, side)
        best = max(best, found) if side == "far" else min(best, found)
    return best


def _centres(cells: Cells) -> tuple[Floats, Ints]:
    """A plain data set: one value per cell, as many records as possible."""
    middle = cells.low + (cells.high - cells.low) // 2 if cells.integer else cells.low / 2 + cells.high / 2
    return middle.astype(np.float64), cells.most


def _at(cells: Cells, lead: Lead, side: Side) -> float:
    """The deviation of a data set about m, at the distance or near it."""
    m, d = lead.middle, _feasible_distance(cells, lead, side)
    kinds = _kinds(cells, lead, d, side)
    taken = _program(cells, kinds, lead, side)
    if taken is None:
        return -math.inf if side == "far" else math.inf
    return _deviation(*_placed(cells, kinds, taken, m, d, side))


def _kinds(cells: Cells, lead: Lead, d: float, side: Side) -> Ints:
    """The kind of each cell, in the order of a case. In a gap a cell that ends at m is on one side."""
    low, high, m = cells.low, cells.high, lead.middle
    left, right = (high < m, low > m) if lead.test.sides else (high <= m, (low >= m) & (high > m))
    if side == "near":
        return 2 - left - (high < m - d) + right + (low > m + d)
    far_left, far_right = low <= m - d, high >= m + d
    middle = np.where(far_left & far_right, 3, np.where(far_left, 2, np.where(far_right, 5, 4)))
    found: Ints = np.where(left, np.where(far_left, 0, 1), np.where(right, np.where(far_right, 7, 6), middle))
    return found


def _totals(cells: Cells, kinds: Ints, number: int) -> tuple[Ints, Ints]:
    least, most = (np.bincount(kinds, c, minlength=number).astype(np.int64) for c in (cells.least, cells.most))
    return least, most


def _feasible_distance(cells: Cells, lead: Lead, side: Side) -> float:
    """The distance nearest to that of the lead which the sums allow on the cells as they are, found by bisection."""
    number = len(lead.test.case.kinds)

    def holds(distance: float) -> bool:
        least, most = _totals(cells, _kinds(cells, lead, distance, side), number)
        return bool(lead.test.case.is_possible(least[:, None], most[:, None], lead.test.sides, 0)[0])

    if holds(lead.distance):
        return lead.distance
    bad = lead.distance
    good = 0.0 if side == "far" else float(cells.high.max()) - float(cells.low.min())
    for _ in range(_HALVINGS if cells.low.size < _MANY else _QUICKLY):
        middle = good / 2 + bad / 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _program(cells: Cells, kinds: Ints, lead: Lead, side: Side) -> list[tuple[int, int, int]] | None:
    """How many records of each kind go to each place, as many as possible to where they are wanted."""
    optimize = scipy.optimize  # loaded when it is first needed: it is slow to load
    slots = [(kind, place) for kind, places in enumerate(lead.test.case.kinds) for place in places]
    kind, place = np.array(slots).T
    least, most = _totals(cells, kinds, len(lead.test.case.kinds))
    wanted = np.isin(place, (0, 4)) == (side == "far")
    holding = optimize.LinearConstraint(
        (kind == np.arange(len(lead.test.case.kinds))[:, None]).astype(float), least, most
    )
    others = np.stack([np.where(place < 2, -1.0, 1.0), np.where(place > 2, -1.0, 1.0)])
    limits = [holding, optimize.LinearConstraint(others, lead.test.sides, np.inf)]
    found = optimize.milp(
        -np.where(wanted, 1.0, -1.0),
        integrality=np.ones(kind.size, dtype=np.int64),
        bounds=optimize.Bounds(0, most[kind]),
        constraints=limits,
    )
    if found.x is None or not found.x.any():
        return None
    return [(k, p, n) for (k, p), n in zip(slots, np.rint(found.x).astype(np.int64).tolist(), strict=True) if n > 0]


def _placed(
    cells: Cells, kinds: Ints, taken: list[tuple[int, int, int]], m: float, d: float, side: Side
) -> tuple[Floats, Ints]:
    """Values and how many records have them: cells of a kind are filled one after the other."""
    values, counts = [], []
    low, high = cells.low.astype(np.float64), cells.high.astype(np.float64)
    whole = np.floor if cells.integer else np.asarray
    for kind in {k for k, _, _ in taken}:
        here = np.flatnonzero(kinds == kind)
        number = sum(n for k, _, n in taken if k == kind)
        selected = _filled(number - exact_sum(cells.least[here]), (cells.most - cells.least)[here]) + cells.least[here]
        done = np.zeros(here.size, dtype=np.int64)
        for _, place, n in (entry for entry in taken if entry[0] == kind):
            part = _filled(n, selected - done)
            aim = {0: m - d, 4: m + d}.get(place, m) if side == "far" else m
            values.append(np.clip(-whole(-aim) if place > 2 else whole(aim), low[here], high[here]))
            counts.append(part)
            done += part
    return np.concatenate(values), np.concatenate(counts)


def _filled(number: int, room: Ints) -> Ints:
    """Distributes this many records, one cell after the other."""
    before = np.cumsum(room) - room
    filled: Ints = np.clip(number - before, 0, room)
    return filled


def _deviation(values: Floats, counts: Ints) -> float:
    """The median absolute deviation of one data set."""
    return _median(np.abs(values - _median(values, counts)), counts)


def _median(values: Floats, counts: Ints) -> float:
    order = np.argsort(values)
    upto, records = np.cumsum(counts[order]), exact_sum(counts)
    below, above = values[order][np.searchsorted(upto, [(records + 1) // 2, records // 2 + 1])]
    return float(below) if below == above else float(below / 2 + above / 2)
