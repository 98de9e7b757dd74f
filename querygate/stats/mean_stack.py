"""Means of many groups and readings at once, from intervals and counts, as `avg` gives for each of them.

Each end is a largest mean (see `largest_mean`), found here for all of them together, and without rounding where values
are whole numbers of some unit whose products stay below 2^53, since such doubles add and multiply exactly. Proof:
docs/explanation/proofs/location.md.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.plan import SelectedAmong
from querygate.core.types import Bools, Cells, Floats, Ints, Range
from querygate.stats.cells import leaning_up
from querygate.stats.knowledge.class_caps import CapRows, largest_capped_means
from querygate.stats.numerics import ADDABLE, EXACT, GRID, are_within, exact_sum, gamma, quotient_above, totals


def stacked_means(cells: Cells, of: Ints, number: int, among: SelectedAmong | None) -> list[Range] | None:
    """The range of the mean of each selection; `of` says which one each row belongs to. No end is called attained; None
    where ends are not finite, or whole numbers too large to be added."""
    if not are_within(ADDABLE, cells.low, cells.high):
        return None
    values = np.concatenate([cells.high, -cells.low]).astype(np.float64)
    if among is not None:
        leaning = [
            leaning_up(end, cells.least, cells.most, among.place, (among.least, among.most))
            for end in np.split(values, 2)
        ]
        least, most = (np.concatenate(counts) for counts in zip(*leaning, strict=True))
    else:
        least, most = np.concatenate([cells.least, cells.least]), np.concatenate([cells.most, cells.most])
    stack = _Stack(values, least, most, np.concatenate([of, of + number]), 2 * number)
    scale = 1 if cells.integer else GRID
    is_whole = stack.is_whole(scale)
    if cells.integer and not is_whole.all():
        return None
    ends, null = stack.means(is_whole, scale), stack.is_empty.tolist()
    return [
        Range.null() if up is None or down is None else Range(-down, up, sharp=False, may_be_null=is_null)
        for up, down, is_null in zip(ends, ends[number:], null, strict=False)
    ]


class _Stack:
    """Selections, one after the other, whose largest means are wanted; `of` says which one each row belongs to."""

    def __init__(self, values: Floats, least: Ints, most: Ints, of: Ints, number: int) -> None:
        self.values, self.least, self.most, self.of, self.number = values, least, most, of, number
        self.is_empty: Bools = totals(of, least, number) == 0.0

    def is_whole(self, scale: int) -> Bools:
        """Which selections have values that are whole numbers of 1/scale with a sum below 2^53 units?"""
        held = self.most > 0
        units = np.where(held, self.values * scale, 0.0)
        reach = np.zeros(self.number)
        np.maximum.at(reach, self.of, np.abs(units))
        found: Bools = reach * totals(self.of, self.most, self.number) < EXACT
        found[self.of[np.floor(units) != units]] = False
        return found

    def means(self, is_whole: Bools, scale: int) -> list[float | None]:
        """The largest mean of each selection, rounded up; None where nobody is selected."""
        if is_whole.all():
            return self.exact_means(scale)
        if not is_whole.any():
            return self.rounded_means()
        exact, rounded = self._part(is_whole).exact_means(scale), self._part(~is_whole).rounded_means()
        return [exact.pop(0) if whole else rounded.pop(0) for whole in is_whole.tolist()]

    def _part(self, wanted: Bools) -> _Stack:
        rows, number = wanted[self.of].nonzero()[0], np.cumsum(wanted) - 1
        return _Stack(self.values[rows], self.least[rows], self.most[rows], number[self.of[rows]], int(wanted.sum()))

    def exact_means(self, scale: int) -> list[float | None]:
        """The doubles next above, of values that are whole numbers of 1/scale; None where nobody is selected.

        Dinkelbach (1967): from a selection to the one that takes all records above its mean, until it no longer
        changes.
        """
        values, of, number = self.values * scale, self.of, self.number
        total, count = totals(of, self.most * values, number), totals(of, self.most, number)
        # Certain records are added up once: whole numbers have the same sum in any order.
        sure_total, sure_count = totals(of, self.least * values, number), totals(of, self.least, number)
        (open_,) = (self.most > self.least).nonzero()
        values, of, more = values[open_], of[open_], (self.most - self.least)[open_]
        before: Bools | None = None
        while True:
            better = values * count[of] > total[of]
            if before is not None and np.array_equal(better, before):
                break
            taken = np.where(better, more, 0)
            new_total, new_count = totals(of, taken * values, number), totals(of, taken, number)
            new_total, new_count = sure_total + new_total, sure_count + new_count
            held = new_count > 0.0
            total, count, before = np.where(held, new_total, total), np.where(held, new_count, count), better
        if self.is_empty.any():
            total = np.where(self.is_empty, self._largest_value() * scale, total)
            count = np.where(self.is_empty, 1.0, count)
        return [
            quotient_above(int(s), int(n) * scale) if s > -math.inf else None
            for s, n in zip(total.tolist(), count.tolist(), strict=True)
        ]

    def rounded_means(self) -> list[float | None]:
        """The same for any doubles, which a database adds in an order of its own: with N records a computed sum is at
        most sum(x) + gamma(N - 1) sum|x|, and two more steps cover the division."""
        records = exact_sum(self.most)
        inflated = np.nextafter(self.values + np.abs(self.values) * gamma(max(records - 1, 0)), np.inf)
        uncapped, each = np.full(self.number, np.inf), np.arange(self.number)
        rows = CapRows(inflated, inflated, self.least, self.most, self.of, uncapped, each, self.number).held()
        means = largest_capped_means(rows, reached=False).bound
        if self.is_empty.any():
            top = self._largest_value()
            beyond = gamma(records) * np.abs(np.where(np.isfinite(top), top, 0.0))
            means = np.where(self.is_empty, top + beyond, means)
        means = np.where(means > -np.inf, np.nextafter(np.nextafter(means, np.inf), np.inf), means)
        return [None if mean == -math.inf else mean for mean in means.tolist()]

    def _largest_value(self) -> Floats:
        """If no record is certain, the largest value alone is best."""
        top = np.full(self.number, -np.inf)
        (held,) = self.most.nonzero()
        np.maximum.at(top, self.of[held], self.values[held])
        return top
