"""Median absolute deviation, `mad`: the median of |x - median(x)|. Proof: docs/explanation/proofs/deviation.md.

The largest (smallest) deviation that passes the test of `feasible_pairs.py` is at one of finitely many pairs of a
median and a distance. If cells have few different ends, all of these are tried, the best first; otherwise cells are
widened to a grid, which is sound, and the grid is refined where the answer lies (`edge_grid.py`).
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Cells, Floats, Range
from querygate.stats.deviation.edge_grid import Extreme, refined
from querygate.stats.deviation.feasible_pairs import BETWEEN, EndCounts, Lead, Pairs, Problem, Side, Test, corner_pairs
from querygate.stats.deviation.witnesses import reached
from querygate.stats.numerics import ADDABLE, EXACT, UNIT, are_within, exact_sum, up
from querygate.stats.quantiles import median
from querygate.stats.registry import statistic

_FEW = 480  # with more different ends, cells are widened to a grid
_BATCH = 4096
_SLACK = 1e-9  # relative to the upper end: within this, an attained value counts as the end


@statistic("mad", proof="deviation.md", result="number", summary="median absolute deviation from the median")
def mad(cells: Cells) -> Range:
    """Range of the median of |x - median(x)|, both medians interpolated, as `mad` computes it on doubles.

    Requires: ends below 10^300 in magnitude; otherwise there is no upper bound.
    Ensures:  sound; sharp where the attained values, which are those of real data sets, meet the ends.
    """
    if not are_within(ADDABLE, cells.low, cells.high):
        return Range(0.0, math.inf, None, None, sharp=False, may_be_null=True)
    if exact_sum(cells.most) >= EXACT:
        return Range(0.0, math.inf, None, None, sharp=False)
    if is_time_up():  # no two values are farther apart
        return Range(0.0, up(float(cells.high.max()) - float(cells.low.min()), 2), None, None, sharp=False)
    problem = _problem(cells)
    far, near = _extreme(problem, "far"), _extreme(problem, "near")
    size = max(abs(float(cells.low.min())), abs(float(cells.high.max())))
    margin = 0.0 if _is_exact(cells) else 64 * UNIT * size + 1e-320
    bottom, top = max(near.bound - margin, 0.0), far.bound + margin
    low, high = reached(cells, near.leads, "near"), reached(cells, far.leads, "far")
    sharp = low - near.bound <= margin + _SLACK * top and far.bound - high <= margin + _SLACK * top
    return Range(bottom, top, max(low, bottom), min(high, top), sharp=sharp)


def _is_exact(cells: Cells) -> bool:
    """On whole numbers below 2^50 medians and distances are multiples of a quarter: the database does not round."""
    return cells.integer and are_within(2.0**50, cells.low, cells.high)


def _problem(cells: Cells) -> Problem:
    middle, fewest, most = median(cells), exact_sum(cells.least), exact_sum(cells.most)
    ends = cells.low.astype(np.float64), cells.high.astype(np.float64)
    medians = float(middle.low or 0.0), float(middle.high or 0.0)
    return Problem(*ends, cells.least, cells.most, cells.integer, *medians, fewest, most)


def _extreme(problem: Problem, side: Side) -> Extreme:
    ends = np.unique(np.concatenate([problem.low, problem.high, [problem.median_low, problem.median_high]]))
    if ends.size > _FEW:
        return refined(problem, side)
    table = EndCounts(ends, problem, lattice=problem.has_few_medians)
    pairs = corner_pairs(table, side, _centres(problem, ends))
    pairs = pairs.chosen(np.argsort(-pairs.distance if side == "far" else pairs.distance))
    found = [_of_way(table, pairs, side, distances) for distances in problem.ways(side)]
    bounds = [bound for bound, _ in found if bound is not None]
    leads = [lead for _, some in found for lead in some]
    leads.sort(key=lambda lead: -lead.distance if side == "far" else lead.distance)
    return Extreme(max(bounds) if side == "far" else min(bounds, default=0.0), leads)


def _centres(problem: Problem, ends: Floats) -> Floats:
    """Medians to try that need not be in the middle of two ends: ends, and all multiples of 1/2 if values are whole."""
    low, high = problem.median_low, problem.median_high
    inside = ends[(ends >= low) & (ends <= high)]
    if not problem.has_few_medians:
        return inside
    return np.union1d(inside, np.arange(math.ceil(2 * low), math.floor(2 * high) + 1.0) / 2)


def _of_way(
    table: EndCounts, pairs: Pairs, side: Side, distances: list[tuple[Test, ...]]
) -> tuple[float | None, list[Lead]]:
    """The extreme of one way in which a deviation comes about; None where there is no data set of the kind."""
    total, leads = 0.0, list[Lead]()
    for tests in distances:
        tried = table.problem.at_values(pairs) if tests[0].case is BETWEEN[side] else pairs
        found = _first(table, tried, side, tests)
        if found is not None:
            place = float(tried.middle[found]), float(tried.distance[found])
            total, leads = total + place[1], leads + [Lead(*place, test) for test in tests]
        elif side == "near":
            return None, []
    return total / len(distances), leads  # where nothing can be far it counts as 0


def _first(table: EndCounts, pairs: Pairs, side: Side, tests: tuple[Test, ...]) -> int | None:
    """The first pair that is possible."""
    start, size = 0, 64
    while start < pairs.distance.size:
        possible = table.is_possible(pairs.chosen(slice(start, start + size)), side, tests)
        if possible.any():
            return start + int(np.argmax(possible))
        start, size = start + size, min(4 * size, _BATCH)
    return None
