"""Which pairs (median, deviation) some data set can have: a few sums of counts decide. Used by `mad.py`.

Fix a median m and a distance d. A record lies left of m, at m or right of it, and it is far (at distance d or more) or
near. The deviation is at least d only if half of the records can be far, at most d only if half of them can be near;
and m is the median only if it is one of the values with fewer than half of the records on each side (`BETWEEN`), or
lies in a gap with exactly half of them on each side (`GAP`). For given multipliers of these conditions every record
takes its best place independently, and if the sum is still too small, the pair is refuted (weak duality). The
multipliers listed are the corners of a small linear program, so others refute no more. Proof:
docs/explanation/proofs/deviation.md.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from querygate.core.types import Bools, Floats, Ints

Side: TypeAlias = Literal["far", "near"]
"""Whether the largest deviation is asked for, or the smallest."""

Kinds: TypeAlias = tuple[tuple[int, ...], ...]
"""The useful places for each kind of record. Places: 0 left and far, 1 left and near, 2 at m, 3 right and near, 4 right
and far."""


_MEDIANS = 480  # whole numbers that are tried as medians one by one


class MedianCase(NamedTuple):
    """One of the cases of the median: what a record adds to each sum, by kind, and what the sums have to reach."""

    kinds: Kinds
    weights: Ints
    sides: Ints  # multipliers of "fewer than half on the left", "on the right", added up
    half: Ints  # of "half are far", "half are near"
    needed: Ints  # of "one is near on the left", "on the right", added up

    @classmethod
    def of(cls, side: Side, kinds: Kinds, *rows: tuple[int, ...]) -> MedianCase:
        """A row has the multipliers of: fewer than half on the left, on the right; half are where they are wanted; one
        is near on the left, one on the right."""
        left, right, half, near_left, near_right = np.array([(*row, 0, 0)[:5] for row in rows]).T[:, :, None]
        wanted = half * np.array([1, -1, -1, -1, 1]) * (1 if side == "far" else -1)
        sides = np.hstack([right - left, right - left, right + left, left - right, left - right])
        places = sides + wanted + near_left * np.array([0, 1, 0, 0, 0]) + near_right * np.array([0, 0, 0, 1, 0])
        weights = np.stack([places[:, list(reached)].max(axis=1) for reached in kinds], axis=1)
        return cls(kinds, weights, (left + right).ravel(), half.ravel(), (near_left + near_right).ravel())

    def is_possible(self, least: Ints, most: Ints, sides: int, half: int) -> Bools:
        """Whether no sum refutes, for each column of numbers of records by kind: twice a side falls short of all
        records by `sides`, and twice those where they are wanted exceed them by `half`."""
        sums = self.weights @ least + np.maximum(self.weights, 0) @ (most - least)
        required = sides * self.sides + half * self.half + self.needed
        possible: Bools = np.all(sums >= required[:, None], axis=0)
        return possible


_ONE_SIDE = ((1, 0, 0), (0, 1, 0))
BETWEEN: dict[Side, MedianCase] = {
    "far": MedianCase.of(
        "far",
        ((0,), (1,), (0, 2), (0, 2, 4), (2,), (2, 4), (3,), (4,)),
        *((0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1), (1, 1, 2), (2, 1, 1), (1, 2, 1), *_ONE_SIDE),
    ),
    "near": MedianCase.of("near", ((0,), (1,), (2,), (3,), (4,)), (0, 0, 1), (1, 0, 1), (0, 1, 1), *_ONE_SIDE),
}
GAP: dict[Side, MedianCase] = {
    "far": MedianCase.of(
        "far",
        ((0, 1), (1,), (0, 1, 3), (0, 1, 3, 4), (1, 3), (1, 3, 4), (3,), (3, 4)),
        *((0, 0, 1), (1, 0, 1), (0, 1, 1), *_ONE_SIDE),
        *((0, 0, 1, 2, 2), (0, 0, 1, 2, 0), (0, 0, 1, 0, 2), (1, 0, 1, 2, 0), (0, 1, 1, 0, 2), (0, 0, 0, 1, 1)),
    ),
    "near": MedianCase.of(
        "near",
        ((0,), (1,), (1, 3), (3,), (4,)),
        *((0, 0, 1), (1, 0, 1), (0, 1, 1), *_ONE_SIDE, (0, 0, 0, 1, 0), (0, 0, 0, 0, 1), (0, 0, 0, 1, 1)),
    ),
}
"""The kinds are those of BETWEEN, in the same order. Nothing is at m, and one is near on each side: the two next to the
gap are equally far."""

ALL_FAR = MedianCase(
    ((0,), (), (0,), (0, 4), (), (4,), (), (4,)),
    np.array(
        [
            [0, -1, 0, 0, -1, 0, -1, 0],
            [-1, 0, -1, 1, 0, 1, 0, 1],
            [1, 0, 1, 1, 0, -1, 0, -1],
            [1, 0, 1, 1, 0, 1, 0, 1],
            [1, 0, 1, 1, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 1, 0, 1],
        ]
    ),
    np.zeros(6, dtype=np.int64),
    np.zeros(6, dtype=np.int64),
    np.array([0, 0, 0, 2, 1, 1]),
)
"""A gap with everything far: every certain record can be far, both sides can be equal, and neither is empty."""


class Test(NamedTuple):
    """What a pair has to pass: a case, by how much twice a side has to fall short of all records, and by how much twice
    the far (near) ones have to exceed them."""

    case: MedianCase
    sides: int
    half: int


class Pairs(NamedTuple):
    """Medians and distances, and where they are among the edges: a <= m - d (far) or m + d (near) for the first
    `a_end`, a <= m for the first `a_middle`, a < m for the first `a_gap`; b >= m + d (far) or m - d (near) from
    `b_end` on, b >= m from `b_middle` on, b > m from `b_gap` on."""

    middle: Floats
    distance: Floats
    a_end: Ints
    b_end: Ints
    a_middle: Ints
    b_middle: Ints
    a_gap: Ints
    b_gap: Ints

    def chosen(self, which: Ints | slice) -> Pairs:
        return Pairs._make(column[which] for column in self)

    def in_gap(self) -> Pairs:
        """The same with nothing at m: left is a < m, right is b > m."""
        return self._replace(a_middle=self.a_gap, b_middle=self.b_gap)

    def beside(self) -> tuple[Pairs, Pairs]:
        """The same with medians just above m, and just below it: left is a <= m or a < m, right b > m or b >= m."""
        return self._replace(b_middle=self.b_gap), self._replace(a_middle=self.a_gap)


class Problem(NamedTuple):
    """The cells as doubles, the range of their median, and how many records there are if that is certain."""

    low: Floats
    high: Floats
    least: Ints
    most: Ints
    integer: bool
    median_low: float
    median_high: float
    fewest: int
    records: int  # at most

    @property
    def has_few_medians(self) -> bool:
        """Whether all multiples of 1/2 that can be the median may be tried."""
        return self.integer and self.median_high - self.median_low < _MEDIANS

    def at_values(self, pairs: Pairs) -> Pairs:
        """On a column of whole numbers a median that is one of the values is a whole number."""
        if not self.has_few_medians:
            return pairs
        return pairs.chosen(np.flatnonzero(pairs.middle == np.floor(pairs.middle)))

    def ways(self, side: Side) -> list[list[tuple[Test, ...]]]:
        """How a deviation comes about: as the distance in the middle, or with an even number of records as the mean of
        two, for one of which half of the records is enough, while the other needs one record more. A distance has to
        pass one of some tests."""
        between, gap = BETWEEN[side], GAP[side]
        whole = (Test(ALL_FAR, 0, 0),) if side == "far" else ()
        odd, even = [(Test(between, 1, 1),)], [(Test(between, 2, 0),), (Test(between, 2, 2),)]
        apart = [(Test(gap, 0, 0), *whole), (Test(gap, 0, 2), *whole)]
        return [odd, even, apart][self._parity()]

    def _parity(self) -> slice:
        """Which of the ways there are: all, unless the number of records is certain."""
        return slice(0, 3) if self.fewest < self.records else slice(0, 1) if self.records % 2 else slice(1, 3)


class Lead(NamedTuple):
    """A median and a distance that may belong to a data set, and in which way m is the median."""

    middle: float
    distance: float
    test: Test


class EndCounts:
    """Numbers of records by both ends of their cell: entry [i, j] counts those with a among the first i edges and b
    from edge j on. Ends between edges are moved outwards, which only allows more.

    Requires: the smallest and the largest end are edges. `lattice` says that every multiple of 1/2 that may be the
    median is going to be tried; otherwise a pair stands for those next to it as well.
    """

    def __init__(self, edges: Floats, problem: Problem, lattice: bool = False) -> None:
        self.edges, self.problem, self.lattice = edges, problem, lattice
        cell = (self.upto(problem.low) - 1) * edges.size + self.onwards(problem.high)
        self.least, self.most = (_cumulated(cell, counts, edges.size) for counts in (problem.least, problem.most))

    def upto(self, values: Floats) -> Ints:
        """How many edges are at most this large."""
        return np.searchsorted(self.edges, values, side="right")

    def onwards(self, values: Floats) -> Ints:
        """The first edge that is at least this large."""
        return np.searchsorted(self.edges, values, side="left")

    def is_possible(self, pairs: Pairs, side: Side, tests: tuple[Test, ...]) -> Bools:
        """Whether a pair passes one of the tests."""
        count, found = _far_counts if side == "far" else _near_counts, np.zeros(pairs.distance.size, dtype=np.bool_)
        for case, sides, half in tests:
            variants: tuple[Pairs, ...] = (pairs,)
            if case is not BETWEEN[side]:
                variants = (pairs.in_gap(),) if self.lattice else pairs.beside()
            for at in variants:
                found |= case.is_possible(count(self.least, at), count(self.most, at), sides, half)
        return found


def _cumulated(cell: Ints, counts: Ints, size: int) -> Ints:
    table = np.zeros((size + 1, size + 1), dtype=np.int64)
    held = np.bincount(cell, counts, minlength=size * size).astype(np.int64).reshape(size, size)
    table[1:, :-1] = np.cumsum(np.cumsum(held, axis=0)[:, ::-1], axis=1)[:, ::-1]
    return table


def _far_counts(t: Ints, at: Pairs) -> Ints:
    every = t[-1, 0]
    left = t[at.a_end, 0] - t[at.a_end, at.b_middle]
    left_near = every - t[-1, at.b_middle] - left
    anywhere = t[at.a_end, at.b_end]
    left_or_middle = t[at.a_end, at.b_middle] - anywhere
    middle_or_right = t[at.a_middle, at.b_end] - anywhere
    right = t[-1, at.b_end] - t[at.a_middle, at.b_end]
    right_near = every - t[at.a_middle, 0] - right - _stuck(t, at)
    before, after = [left, left_near, left_or_middle, anywhere], [middle_or_right, right_near, right]
    return np.stack([*before, every - sum(before) - sum(after), *after])


def _near_counts(t: Ints, at: Pairs) -> Ints:
    every = t[-1, 0]
    left_far, left = every - t[-1, at.b_end], t[-1, at.b_end] - t[-1, at.b_middle]
    right_far, right = every - t[at.a_end, 0], t[at.a_end, 0] - t[at.a_middle, 0] - _stuck(t, at)
    return np.stack([left_far, left, every - left_far - left - right_far - right, right, right_far])


def _stuck(t: Ints, at: Pairs) -> Ints:
    """Records that can only be at m, which is empty in a gap: they are treated as records on the left."""
    stuck: Ints = t[-1, 0] - t[at.a_middle, 0] - t[-1, at.b_middle] + t[at.a_middle, at.b_middle]
    return stuck


# -- pairs to try ------------------------------------------------------------------------------------------


def corner_pairs(table: EndCounts, side: Side, centres: Floats) -> Pairs:
    """Medians between the first and the last centre with distances: both m - d and m + d are edges, or one of them is
    and m is a centre."""
    edges = table.edges
    i, j = np.triu_indices(edges.size, 1)
    at, other = (column.ravel() for column in np.meshgrid(centres, edges))
    mirrored = 2 * at - other
    middle = np.concatenate([edges[i] / 2 + edges[j] / 2, at])
    left = np.concatenate([edges[i], np.minimum(other, mirrored)])
    right = np.concatenate([edges[j], np.maximum(other, mirrored)])
    kept = (np.nextafter(middle, math.inf) >= centres[0]) & (np.nextafter(middle, -math.inf) <= centres[-1])
    left, right, middle = left[kept], right[kept], middle[kept]
    return _located(table, side, left, right, middle, right / 2 - left / 2)


def cut_pairs(table: EndCounts, side: Side, centres: Floats, distance: float) -> Pairs:
    """All corners at one distance: m is a centre, or m - d or m + d is an edge."""
    middle = np.concatenate([table.edges - distance, table.edges + distance, centres])
    middle = middle[(middle >= centres[0]) & (middle <= centres[-1])]
    return _located(table, side, middle - distance, middle + distance, middle, np.full(middle.size, distance))


def _located(table: EndCounts, side: Side, left: Floats, right: Floats, middle: Floats, distance: Floats) -> Pairs:
    """The places among the edges. Inexact places are rounded so that more is allowed, not less."""
    inexact, inward = _is_not_the_middle(left, right, middle), math.inf if side == "far" else -math.inf
    below, above, left, right = (
        np.where(inexact, np.nextafter(place, towards), place)
        for place, towards in ((middle, -math.inf), (middle, math.inf), (left, inward), (right, -inward))
    )
    a_end, b_end = (left, right) if side == "far" else (right, left)
    ends = table.upto(a_end), table.onwards(b_end), table.upto(above), table.onwards(below)
    return Pairs(middle, distance, *ends, table.onwards(above), table.upto(below))


def _is_not_the_middle(left: Floats, right: Floats, middle: Floats) -> Bools:
    """Whether 2 m differs from left + right, or may: Knuth's two-sum gives the error of the addition exactly."""
    total = left + right
    back = total - left
    error = (left - (total - back)) + (right - back)
    wrong: Bools = (error != 0.0) | (total != 2 * middle) | (np.abs(total) < 1e-300) & (total != 0.0)
    return wrong


def joined(one: Pairs, other: Pairs) -> Pairs:
    return Pairs._make(np.concatenate(columns) for columns in zip(one, other, strict=True))
