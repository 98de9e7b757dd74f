"""COUNT(DISTINCT x) and the most frequent value. Proof: docs/explanation/proofs/distinct.md.

Doubles are as countable as whole numbers: `places` numbers them in their order, so that one algorithm serves both.
Few distinct values: stab all certain cells with as few points as possible. Many: give records places of their own, the
cell with the earliest end first. Where cells are sets of values instead, the most is a flow, and the fewest a hitting
set, which is found for certain where few values are left to choose from.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush, heapreplace

import numpy as np
import scipy  # loaded when it is first needed
from numpy.typing import NDArray

from querygate.core.types import Cells, Floats, Ints, Range
from querygate.stats.cells import selectable
from querygate.stats.numerics import exact_sum
from querygate.stats.registry import statistic

_PROOF = "distinct.md"
_CHOICES = 16  # values among which every subset is tried


@statistic("count_distinct", proof=_PROOF, result="count", summary="number of different values", needs=0)
def count_distinct(cells: Cells) -> Range:
    """Range of COUNT(DISTINCT x).

    Requires: no NaN; infinities are values like others, and -0.0 is 0.0 as in SQL.
    Ensures:  sharp, without any rounding: fewest by stabbing, most by matching records to places.
    """
    low, high = places(cells.low), places(cells.high)
    certain = cells.least > 0
    fewest = _stabs(low[certain], high[certain])
    most = _most_places(low, high, cells.most)
    return Range(fewest, most, fewest, most)


@statistic("mode", proof=_PROOF, result="value", summary="most frequent value")
def mode(cells: Cells) -> Range:
    """Range of the most frequent value; among equally frequent ones the database takes the first, so each is possible.

    Ensures: sharp. A value can be the mode exactly if as many records can take it as some value must have at least.
    """
    low, high = places(cells.low), places(cells.high)
    needed = max(1, _least_crowding(low, high, cells.least))
    bottom = cells.low[crowds(low, low, high, cells.most) >= needed].min().item()
    top = cells.high[crowds(high, low, high, cells.most) >= needed].max().item()
    return Range(bottom, top, bottom, top)


def places(ends: Floats | Ints) -> Ints:
    """Whole numbers in the order of the values, without gaps: the rank of a double among all doubles, zero at zero."""
    if np.issubdtype(ends.dtype, np.integer):
        return ends.astype(np.int64)
    bits = ends.astype(np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits)


def _stabs(low: Ints, high: Ints) -> int:
    """The smallest number of points that meet every interval: always the earliest end among those not met yet."""
    order = np.argsort(low)
    starts = low[order]
    earliest = np.minimum.accumulate(high[order][::-1])[::-1]
    points, first = 0, 0
    while first < starts.size:
        points += 1
        first = int(np.searchsorted(starts, earliest[first], side="right"))
    return points


def _room(low: Ints, high: Ints) -> NDArray[np.uint64]:
    """How far apart two ends are, of whole numbers of any size: right modulo 2^64, and it fits."""
    return high.view(np.uint64) - low.view(np.uint64)


def narrow_cells(low: Ints, high: Ints, counts: Ints) -> tuple[list[int], list[int], list[int], int]:
    """The cells with fewer places than there are records, equal ones merged; and the records of the other cells.

    The wide ones have room for all their records, whatever the narrow ones take.
    """
    records = exact_sum(counts)
    narrow = (_room(low, high) < records) & (counts > 0)
    low, high, held = low[narrow], high[narrow], counts[narrow]
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    first = np.flatnonzero(np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))[: low.size])
    merged = np.add.reduceat(held[order], first) if first.size else held
    return low[first].tolist(), high[first].tolist(), merged.tolist(), records - exact_sum(held)


def _most_places(low: Ints, high: Ints, counts: Ints) -> int:
    """The largest number of places that records can fill, one each."""
    starts, ends, held, roomy = narrow_cells(low, high, counts)
    return roomy + _served(starts, ends, held)


def _served(starts: list[int], ends: list[int], counts: list[int]) -> int:
    """How many records get a place, one per place, in a sweep that always serves the cell that ends first.

    Requires: sorted by start. Places are passed over in runs, so each step finishes a cell or reaches a new one.
    """
    waiting: list[tuple[int, int]] = []
    served, place, following = 0, min(starts, default=0), 0
    while waiting or following < len(starts):
        if not waiting:
            place = max(place, starts[following])
        while following < len(starts) and starts[following] <= place:
            heappush(waiting, (ends[following], counts[following]))
            following += 1
        end, left = waiting[0]
        if end < place:
            heappop(waiting)
            continue
        run = min(left, end - place + 1)
        if following < len(starts):
            run = min(run, starts[following] - place)
        served, place = served + run, place + run
        if run == left:
            heappop(waiting)
        else:
            heapreplace(waiting, (end, left - run))
    return served


def _least_crowding(low: Ints, high: Ints, least: Ints) -> int:
    """The smallest k such that the certain records fit with at most k on a place: doubling, then bisection."""
    starts, ends, held, roomy = narrow_cells(low, high, least)
    too_few, enough = 0, sum(held)
    while enough - too_few > 1:
        k = min(2 * too_few + 1, (too_few + enough) // 2)
        fits = _served([k * s for s in starts], [k * e + k - 1 for e in ends], held) == sum(held)
        too_few, enough = (too_few, k) if fits else (k, enough)
    return max(enough, 1 if roomy else 0)


def crowds(at: Ints, low: Ints, high: Ints, most: Ints) -> Ints:
    """How many records can be at each of some places."""
    by_low, by_high = np.argsort(low), np.argsort(high)
    begun = np.concatenate([[0], np.cumsum(most[by_low])])[np.searchsorted(low[by_low], at, side="right")]
    over = np.concatenate([[0], np.cumsum(most[by_high])])[np.searchsorted(high[by_high], at, side="left")]
    there: Ints = begun - over
    return there


def distinct_cells(cells: Cells) -> Cells:
    """Cells in which each distinct value counts once, for SUM(DISTINCT x) and the like.

    Ensures: whatever the data set, its different values are a selection of the result. A point that somebody certainly
    has is one certain value; another point is one possible value; of an interval up to `most` values are possible, and
    no more than it holds. Nothing counts twice: each value is represented by one cell that contains it, its point if it
    has one.

    >>> low, high = np.array([3, 3, 5]), np.array([3, 3, 6])
    >>> few = distinct_cells(Cells(low, high, np.array([2, 0, 4]), np.array([2, 1, 4]), integer=True))
    >>> few.low, few.most, few.least
    (array([3, 5]), array([1, 2]), array([1, 0]))
    """
    cells = selectable(cells)
    low, high = places(cells.low), places(cells.high)
    point = low == high
    values, first = np.unique(low[point], return_index=True)
    certain = np.isin(values, low[point & (cells.least > 0)])
    gaps = np.minimum(_room(low, high), np.uint64(2**52)).astype(np.int64)
    rooms = np.minimum(cells.most, gaps + 1)
    taken = np.flatnonzero(point)[first]
    rest = np.flatnonzero(~point)
    return Cells(
        np.concatenate([cells.low[taken], cells.low[rest]]),
        np.concatenate([cells.high[taken], cells.high[rest]]),
        np.concatenate([certain.astype(np.int64), np.zeros(len(rest), dtype=np.int64)]),
        np.concatenate([np.ones(len(taken), dtype=np.int64), rooms[rest]]),
        cells.integer,
    )


# -- value sets ------------------------------------------------------------------------------------------


def count_distinct_of_sets(sets: Sequence[AbstractSet[int]], least: Ints, most: Ints) -> Range:
    """Range of COUNT(DISTINCT x) where a record of cell i has one of the values sets[i].

    Requires: sets that are not empty where most > 0; 0 <= least <= most.
    Ensures:  high is sharp (a flow). low is sharp where at most 16 values are left after the obvious ones, or where as
              many disjoint sets are found as values that meet all sets; else it is the number of disjoint sets.

    >>> count_distinct_of_sets([{1, 2}, {2, 3}, {5}], np.array([1, 1, 0]), np.array([1, 2, 9]))
    Range(low=1, high=4, attained_low=1, attained_high=4, sharp=True, may_be_null=False)
    """
    room: dict[frozenset[int], int] = {}
    certain: set[frozenset[int]] = set()
    for values, fewest, largest in zip(sets, least.tolist(), most.tolist(), strict=True):
        key = frozenset(values)
        if largest:
            room[key] = room.get(key, 0) + largest
        if fewest:
            certain.add(key)
    high = _largest_flow(room)
    low, attained_low = _fewest_values(certain)
    return Range(low, high, attained_low, high, sharp=low == attained_low)


def _largest_flow(room: dict[frozenset[int], int]) -> int:
    """Source -> sets (number of records) -> values -> sink (one each)."""
    if not room:
        return 0
    values = {value: index for index, value in enumerate(sorted(set().union(*room)))}
    sink = len(room) + len(values) + 1
    edges = [(0, 1 + i, min(count, len(key))) for i, (key, count) in enumerate(room.items())]
    edges += [(1 + i, 1 + len(room) + values[v], 1) for i, key in enumerate(room) for v in key]
    edges += [(1 + len(room) + j, sink, 1) for j in values.values()]
    start, end, capacity = np.array(edges, dtype=np.int32).T
    graph = scipy.sparse.coo_array((capacity, (start, end)), shape=(sink + 1, sink + 1)).tocsr()
    return int(scipy.sparse.csgraph.maximum_flow(graph, 0, sink).flow_value)


def _fewest_values(certain: set[frozenset[int]]) -> tuple[int, int]:
    """A bound, and a number of values that does meet every set (a smallest hitting set is NP-hard in general)."""
    forced = {value for key in certain if len(key) == 1 for value in key}
    rest: list[frozenset[int]] = []
    for key in sorted(certain, key=len):
        if not key & forced and not any(other <= key for other in rest):
            rest.append(key)
    disjoint, met = _disjoint(rest), _greedy(rest)
    choices = sorted(set().union(*rest))
    if disjoint < met and len(choices) <= _CHOICES:
        disjoint = met = _smallest_subset(rest, choices)
    return len(forced) + disjoint, len(forced) + met


def _disjoint(sets: list[frozenset[int]]) -> int:
    """Sets without a common value, smallest first: each needs a value of its own."""
    taken: set[int] = set()
    found = 0
    for key in sets:
        if not key & taken:
            taken |= key
            found += 1
    return found


def _greedy(sets: list[frozenset[int]]) -> int:
    """How many values it takes when each time the one is added that meets most of the sets that are left."""
    found = 0
    while sets:
        tally: dict[int, int] = {}
        for key in sets:
            for value in key:
                tally[value] = tally.get(value, 0) + 1
        best = max(tally, key=lambda value: tally[value])
        sets = [key for key in sets if best not in key]
        found += 1
    return found


def _smallest_subset(sets: list[frozenset[int]], choices: list[int]) -> int:
    """The size of the smallest subset of the choices that meets every set: all subsets as bit patterns."""
    subsets = np.arange(1 << len(choices), dtype=np.int64)
    for key in sets:
        pattern = sum(1 << bit for bit, value in enumerate(choices) if value in key)
        subsets = subsets[(subsets & pattern) != 0]
    sizes = np.zeros(subsets.size, dtype=np.int64)
    for bit in range(len(choices)):
        sizes += (subsets >> bit) & 1
    return int(sizes.min())
