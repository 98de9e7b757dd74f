"""The extreme deviation where cells have many different ends: a grid of edges, refined where the answer lies.

Ends are moved outwards to the edges, so each grid gives a bound. It also says which medians cannot belong to the
extreme; their bound is kept, and the next grid has its edges where m - d, m and m + d lie for the others. Proof:
docs/explanation/proofs/deviation.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats
from querygate.stats.deviation.feasible_pairs import (
    BETWEEN,
    EndCounts,
    Lead,
    Pairs,
    Problem,
    Side,
    Test,
    corner_pairs,
    cut_pairs,
    joined,
)

_EDGES, _GRIDS = 160, 8  # edges in each of three windows, and how often they are refined
_FINE = 1e-5  # of the bound: a grid with such steps is fine enough
_BATCH = 16_384
_LEADS, _MORE, _MANY = 3, 8, 50_000  # leads for data sets: from the last grids, and along the window if there is time


class Extreme(NamedTuple):
    """No deviation is beyond `bound`; one near to it may be found at `leads`."""

    bound: float
    leads: list[Lead]


@dataclass(frozen=True, slots=True)
class _State:
    """Signed so that larger is more extreme: no median allows more than `bound`, and medians outside the window no more
    than `settled`."""

    bound: float
    settled: float
    window: tuple[float, float]
    depth: float  # how far below the bound the answer is looked for


def refined(problem: Problem, side: Side) -> Extreme:
    """The farthest (nearest) that the sums allow, up to the resolution of the last grid."""
    reach = float(problem.high.max()) - float(problem.low.min())
    state = _State(reach if side == "far" else 0.0, -np.inf, (problem.median_low, problem.median_high), reach)
    leads: list[Lead] = []
    for _ in range(_GRIDS):
        edges, step = _grid(problem, state)
        after, found = _narrowed(EndCounts(edges, problem), side, step, state)
        leads = (found + leads)[:_LEADS]
        settled = state.bound - after.bound + state.depth - after.depth <= _FINE * abs(state.bound)
        state = after
        if settled:
            break
    if problem.low.size < _MANY:
        test = Test(BETWEEN[side], 1, 0)
        leads += [Lead(float(m), abs(state.bound), test) for m in np.linspace(*state.window, _MORE)]
    return Extreme(abs(state.bound), leads)


def _grid(problem: Problem, state: _State) -> tuple[Floats, float]:
    """Edges where m - d, m and m + d are, and the outermost ends, without which there is none; and the resolution."""
    bottom, top = float(problem.low.min()), float(problem.high.max())
    small, large = sorted((abs(state.bound), abs(state.bound - state.depth)))
    first, last = state.window
    windows = [
        (max(low, bottom), min(high, top))
        for low, high in ((first - large, last - small), (first, last), (first + small, last + large))
        if max(low, bottom) < min(high, top)
    ]
    inner = np.concatenate([np.linspace(low, high, _EDGES) for low, high in windows] or [np.empty(0)])
    edges = np.unique(np.concatenate([np.round(inner) if problem.integer else inner, [bottom, top, first, last]]))
    step = max(((high - low) / (_EDGES - 1) for low, high in windows), default=0.0)
    return edges[(edges >= bottom) & (edges <= top)], 3.0 * step + (2.0 if problem.integer else 0.0)


def _narrowed(table: EndCounts, side: Side, step: float, state: _State) -> tuple[_State, list[Lead]]:
    """What one grid proves: pairs that pass, the best of them, and the medians that come near to it."""
    sign, (first, last) = 1.0 if side == "far" else -1.0, state.window
    centres = table.edges[(table.edges >= first) & (table.edges <= last)]
    floor = state.bound - state.depth
    corners = corner_pairs(table, side, centres)
    values = sign * corners.distance
    corners = corners.chosen(np.flatnonzero((values <= state.bound) & (values >= floor)))
    pairs = joined(corners, cut_pairs(table, side, centres, abs(state.bound)))
    pairs = pairs.chosen(np.flatnonzero(_is_possible(table, pairs, side)))
    values = sign * pairs.distance
    bound = max(float(values.max(initial=floor)), state.settled)
    close = pairs.middle[values >= bound - step]
    if not close.size:
        return replace(state, bound=bound, depth=min(step, state.depth)), []
    at = np.clip(np.searchsorted(centres, [close.min(), close.max()]) + np.array([-2, 1]), 0, centres.size - 1)
    low, high = float(centres[at[0]]), float(centres[at[1]])
    outside = ((pairs.middle <= low) & (low > first)) | ((pairs.middle >= high) & (high < last))
    settled = max(state.settled, float(values[outside].max(initial=floor)))
    best = int(np.argmax(values))
    lead = Lead(float(pairs.middle[best]), float(pairs.distance[best]), Test(BETWEEN[side], 1, 0))
    return _State(bound, settled, (low, high), min(step, state.depth)), [lead]


def _is_possible(table: EndCounts, pairs: Pairs, side: Side) -> Bools:
    """Whether a pair passes in any median case, with the easier of the two middle distances."""
    found = np.zeros(pairs.distance.size, dtype=np.bool_)
    for start in range(0, found.size, _BATCH):
        some = slice(start, start + _BATCH)
        for easier, *_ in table.problem.ways(side):
            found[some] |= table.is_possible(pairs.chosen(some), side, easier)
    return found
