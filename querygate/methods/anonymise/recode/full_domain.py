"""Full-domain recoding: every attribute at one height of its hierarchy, the heights that lose least.

The choices of heights are a lattice. A coarser choice joins classes, so with k-anonymity and a limit of records left
out, all above a choice that passes pass too, and all below one that fails fail (Samarati, TKDE 2001; LeFevre, DeWitt,
Ramakrishnan, "Incognito", SIGMOD 2005). As in OLA (El Emam et al., JAMIA 2009) and Flash (Kohlmayer et al., 2012) a
path upwards is searched by halves, and each verdict is handed down or up.

The loss is not monotone, since records that are left out lose everything and come back further up. What never falls is
the loss if nobody were left out: it is a sum over attributes, bounds the loss from below, and gives the order in which
choices are looked at. The search ends where this bound reaches the best loss found; no better choice is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.division.mondrian import Progress, check_feasible
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.recode.hierarchy import Hierarchy
from querygate.methods.anonymise.recode.recoder import (
    RecodedTable,
    Scale,
    Stretches,
    grouped,
    relative_weights,
    scales_of,
)
from querygate.methods.anonymise.recode.suppression import Promise, ask, recode
from querygate.methods.anonymise.table import NULL, Table

LARGEST = 1_000_000
"""A lattice with more choices is not searched completely, but from the root down, taking the step that loses least."""

MOST_JUDGED = 20_000
"""After judging this many choices, the best one found so far is taken."""

MOST_BASES = 50
"""Choices whose classes are kept, so that coarser ones are made from them and not from the combinations."""

UNKNOWN, FAILS, PASSES, JUDGED = range(4)

NO_GAIN = 1e-12

Heights = tuple[int, ...]


def full_domain(
    table: Table,
    k: int,
    guards: Sequence[Guard] = (),
    *,
    suppress: float = 0.0,
    cells: float = 0.0,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    progress: Progress | None = None,
) -> RecodedTable:
    """One height for each attribute, with the least loss; `optimal` says that this is proven.

    Guards that are not monotone are asked at every choice that could still be the best, so that they cost time and
    nothing else. Closeness is measured to all records, those left out among them.
    """
    check_feasible(table, k, guards)
    scales = scales_of(table, hierarchies)

    def make(promise: Promise) -> Stretches:
        lattice = HeightLattice(table, scales, promise, progress)
        return lattice.draft(lattice.best())

    return recode(make, table, k, guards, suppress, cells)


class HeightLattice:
    """All choices of heights, and what is known of them."""

    def __init__(
        self, table: Table, scales: tuple[Scale, ...], promise: Promise, progress: Progress | None = None
    ) -> None:
        self.table, self.scales, self.promise = table, scales, promise
        self.progress = progress or (lambda share: None)
        self.shape = tuple(scale.heights for scale in scales)
        self.weights = relative_weights(table)
        self.ranks = [[np.unique(first, return_inverse=True)[1] for first in scale.first] for scale in scales]
        self.costs = [self._costs(place) for place in range(len(scales))]
        bottom = tuple(0 for _ in scales)
        self.bases = [(bottom, np.arange(table.combinations), table.counts)]
        self.found: Heights = tuple(n - 1 for n in self.shape)
        self.least = np.inf
        self.judged = 0
        self.optimal = False

    def best(self) -> Heights:
        """The heights with the least loss."""
        whole = float(np.prod([float(n) for n in self.shape])) <= LARGEST
        self._search() if whole else self._descend()
        self.progress(1.0)
        return self.found

    def draft(self, heights: Heights) -> Stretches:
        codes = [a.codes for a in self.table.attributes]
        first, last = (
            np.stack([ends[h][c] for ends, h, c in zip(side, heights, codes, strict=True)])
            for side in ([scale.first for scale in self.scales], [scale.last for scale in self.scales])
        )
        label, rows = self._labels(heights), np.arange(self.table.combinations)
        out = ~self.promise.kept(rows, label)[label]
        return Stretches(self.table, self.scales, first, last, out, optimal=self.optimal)

    def _costs(self, place: int) -> Floats:
        """Loss of all records by height. Summed by code, so that it does not depend on the order of rows."""
        scale, attribute = self.scales[place], self.table.attributes[place]
        slot = np.where(attribute.codes == NULL, attribute.size, attribute.codes)
        held = np.bincount(slot, self.table.counts, attribute.size + 1)
        widths = scale.widths(scale.first, scale.last)
        return np.asarray(widths @ held * self.weights[place])

    def _search(self) -> None:
        """Choices in the order of their bounds, until no bound is below the best loss."""
        bound: Floats = reduce(np.add.outer, self.costs)
        state = np.zeros(self.shape, dtype=np.int8)
        for done, place in enumerate(np.argsort(bound, axis=None, kind="stable").tolist()):
            if bound.flat[place] >= self.least - NO_GAIN * self.table.records:
                break
            if self.judged >= MOST_JUDGED and np.isfinite(self.least):
                return
            heights = tuple(map(int, np.unravel_index(place, self.shape)))
            if state[heights] == UNKNOWN:
                self._climb(heights, state)
            if state[heights] == PASSES:
                self._judge(heights, state)
            self.progress(done / bound.size)
        self.optimal = True

    def _climb(self, heights: Heights, state: np.typing.NDArray[np.int8]) -> None:
        """Where on a path to the root choices begin to pass; then this choice is known, and what the verdicts imply."""
        path = self._path(heights)
        low, high = 0, len(path)  # the first choice that passes is at low or above it, and below or at high
        while low < high:
            middle = (low + high) // 2
            if state[path[middle]] == UNKNOWN:
                self._judge(path[middle], state)
            if state[path[middle]] == FAILS:
                low = middle + 1
            else:
                high = middle

    def _path(self, heights: Heights) -> list[Heights]:
        """From here to the root, each time the step that adds least to the bound."""
        path, at = [heights], list(heights)
        while True:
            steps = [
                (float(cost[h + 1] - cost[h]), place)
                for place, (cost, h) in enumerate(zip(self.costs, at, strict=True))
                if h + 1 < cost.size
            ]
            if not steps:
                return path
            at[min(steps)[1]] += 1
            path.append(tuple(at))

    def _judge(self, heights: Heights, state: np.typing.NDArray[np.int8]) -> None:
        """Judge a choice and hand the verdict on."""
        if self._passes(heights):
            above = state[tuple(slice(h, None) for h in heights)]
            above[above == UNKNOWN] = PASSES
            state[heights] = JUDGED
        else:
            state[tuple(slice(None, h + 1) for h in heights)] = FAILS

    def _passes(self, heights: Heights) -> bool:
        """Whether k and the monotone guards are kept within the limit; the best one that keeps all is remembered."""
        self.judged += 1
        promise = self.promise
        rows, records, label = self._rolled_up(heights)
        if promise.guards:
            rows, records, label = np.arange(self.table.combinations), self.table.counts, self._labels(heights)
        size = np.bincount(label, records)
        standing = np.asarray(size >= promise.k)
        for guards, monotone in (((), True), (promise.monotone, True), (promise.others, False)):
            standing = ask(guards, rows, label, standing)
            if size[~standing].sum() > promise.limit:
                return not monotone
        out = ~standing[label]
        loss = self._loss(heights, rows[out], records[out])
        if loss < self.least - NO_GAIN * self.table.records:
            self.found, self.least = heights, loss
        return True

    def _rolled_up(self, heights: Heights) -> tuple[Ints, Ints, Ints]:
        """One row for each class of a finer choice judged before, its records, and its class here (Incognito)."""
        finer = (base for base in self.bases if all(b <= h for b, h in zip(base[0], heights, strict=True)))
        _, rows, records = min(finer, key=lambda base: base[1].size)
        label = self._labels(heights, rows)
        size = np.bincount(label, records).astype(np.int64)
        if 2 * size.size <= rows.size:
            member = np.empty(size.size, dtype=np.int64)
            member[label] = rows
            self.bases.append((heights, member, size))
            del self.bases[1:-MOST_BASES]
        return rows, records, label

    def _loss(self, heights: Heights, out: Ints, records: Ints) -> float:
        """Of all records; those left out lose all that the others keep."""
        kept = np.ones(out.size)
        for scale, weight, h in zip(self.scales, self.weights, heights, strict=True):
            codes = scale.attribute.codes[out]
            kept -= weight * scale.widths(scale.first[h][codes], scale.last[h][codes])
        bound = sum(float(cost[h]) for cost, h in zip(self.costs, heights, strict=True))
        return bound + float(kept @ records)

    def _labels(self, heights: Heights, rows: Ints | slice = slice(None)) -> Ints:
        """The class of each row: 0..m-1."""
        chosen = [ranks[h] for ranks, h in zip(self.ranks, heights, strict=True)]
        codes = [a.codes[rows] for a in self.table.attributes]
        columns = ((rank[code], int(rank.max()) + 1) for rank, code in zip(chosen, codes, strict=True))
        return grouped(columns, codes[0].size)

    def _descend(self) -> None:
        """Greedily, where the lattice is too large: from the root, one height lower while the promise is kept."""
        self._passes(self.found)
        at: Heights | None = self.found
        while at is not None:
            here = self.found
            for place, h in enumerate(at):
                if h:
                    self._passes((*at[:place], h - 1, *at[place + 1 :]))
            at = self.found if self.found != here else None
