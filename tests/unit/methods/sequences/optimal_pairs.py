"""The limit of pairing: the division into pairs (and one group of three, if odd) that takes fewest steps.

For an even number of sequences this is a perfect matching of least weight, for an odd one the best group of three with
the best matching of the rest. Both are one programme: choose columns (pairs, groups of three) that hold each sequence
once. Its relaxation is tightened by Edmonds' inequalities (of an odd number |S| of sequences at most (|S| - 1)/2 groups
have two members or more there; "Maximum matching and a polyhedron with 0,1-vertices", 1965), added where they are
broken. Columns come in only when their reduced cost asks for it. Left to be decided in whole numbers are those that
could be in a better solution than the best known: those whose reduced cost is less than the gap. So the result is
exact. It needs nothing but the solver that comes with SciPy (HiGHS).
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse.csgraph import connected_components

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.sequences.alignment import Alignment, loss
from querygate.methods.sequences.bad_sequences import BadSequences, check_enough
from querygate.methods.sequences.distance_matrix import SequenceDistances, nearest
from querygate.methods.sequences.refine import refined

MOST, MOST_ODD = 500, 151
"""Sequences that can be taken: pairs grow with their square, groups of three with their cube."""

SMALL = 1e-6
FEW = 8
"""Of each sequence, so many nearest make the first pairs to choose from."""

LARGE = (SMALL, 0.3, 0.6)
"""Shares above which sequences hang together, when odd sets are looked for."""

FIRST = 3.0
"""Columns that cost at most so many steps beyond the prices are tried first, then about twice as many steps."""

PATIENCE = 8
"""Rounds of inequalities that together gain less than one step; what is left is decided in whole numbers."""


class _Columns(NamedTuple):
    """All groups that may be chosen: members (the third is -1 in a pair) and steps."""

    members: Ints
    steps: Floats

    def inside(self, some: Bools) -> Floats:
        """1 where two members or more are among some: what Edmonds' inequality counts."""
        one, two, three = np.append(some, False)[self.members.T]
        two_or_more: Bools = one & two | two & three | one & three
        return two_or_more.astype(np.float64)


class _Relaxed(NamedTuple):
    """The relaxation solved: its value, the share of each column, and what each column costs beyond its prices."""

    value: float
    share: Floats
    reduced: Floats


def optimal(alignment: Alignment, distances: SequenceDistances | None = None) -> Ints:
    """The number of the group of each sequence in a division of fewest steps into pairs and, if odd, one of three.

    >>> from querygate.methods.sequences.alignment import of_texts
    >>> optimal(of_texts(["AAAA", "AAAC", "AACC", "ACCC"])).tolist()
    [0, 0, 1, 1]
    """
    n = alignment.sequences
    check_enough(n, 2)
    if n <= 3:
        return np.zeros(n, dtype=np.int64)
    most = MOST_ODD if n % 2 else MOST
    if n > most:
        raise BadSequences(
            f"The limit for {n:,} sequences takes too long to compute: at most {most:,} are possible.",
            "Compare with the bound for any number of sequences, or with a sample.",
        )
    far = SequenceDistances(alignment) if distances is None else distances
    columns = _columns(alignment, far)
    known = refined(alignment, 2, far)
    chosen = _solve(columns, n, loss(alignment, known), _start(columns, known, far))
    if chosen is None:
        return known
    labels = np.empty(n, dtype=np.int64)
    members = columns.members[chosen]
    for label, group in enumerate(members[np.argsort(members[:, 0])].tolist()):
        labels[[one for one in group if one >= 0]] = label
    return labels


def _columns(alignment: Alignment, far: SequenceDistances) -> _Columns:
    every = np.arange(alignment.sequences)
    first, second = np.triu_indices(alignment.sequences, 1)
    pairs = np.stack([first, second, np.full(first.size, -1)], axis=1)
    steps = far.between(every, every)[first, second].astype(np.float64)
    if alignment.sequences % 2 == 0:
        return _Columns(pairs, steps)
    threes = np.array(list(combinations(range(alignment.sequences), 3)))
    varying = alignment.codes[:, (alignment.codes != alignment.codes[0]).any(axis=0)]
    level = alignment.lattice.level.astype(np.int16)
    own = level[varying].sum(axis=1, dtype=np.int64)
    cost = np.empty(len(threes))
    for start in range(0, len(threes), 8_192):
        some = threes[start : start + 8_192]
        common = varying[some[:, 0]] | varying[some[:, 1]] | varying[some[:, 2]]
        cost[start : start + 8_192] = 3 * level[common].sum(axis=1, dtype=np.int64) - own[some].sum(axis=1)
    return _Columns(np.concatenate([pairs, threes]), np.concatenate([steps, cost]))


def _start(columns: _Columns, known: Ints, far: SequenceDistances) -> Bools:
    """The columns to begin with: the nearest few of each sequence, and the groups of a known division."""
    every = np.arange(known.size)
    near = nearest(far, every, every, FEW)[1]
    close = np.zeros((known.size, known.size), dtype=np.bool_)
    rows, places = np.nonzero(near >= 0)
    close[rows, near[rows, places]] = True
    close |= close.T
    one, two, three = columns.members.T
    together = (known[one] == known[two]) & ((three < 0) | (known[three] == known[one]))
    # Pairs inside the known group of three are allowed too; what matters is that its division can be chosen.
    start: Bools = together | (three < 0) & close[one, two]
    return start


def _solve(columns: _Columns, n: int, best: float, active: Bools) -> Ints | None:
    """The columns of a solution of fewer steps than the best known; None if there is none."""
    odd_sets: list[Bools] = []
    values: list[float] = []
    while True:
        relaxed = _relax(columns, n, odd_sets, active)
        wanted = relaxed.reduced < -SMALL
        if wanted.any():
            active = active | wanted
            continue
        values.append(relaxed.value)
        broken = _broken(columns, n, relaxed.share)
        if not broken or (len(values) > PATIENCE and values[-1] < values[-1 - PATIENCE] + 1):
            break
        odd_sets += broken
    whole = np.flatnonzero(relaxed.share > 1 - SMALL)
    if relaxed.share[whole].sum() > relaxed.share.sum() - SMALL:
        return whole
    return _decided(columns, n, odd_sets, relaxed, best)


def _decided(columns: _Columns, n: int, odd_sets: list[Bools], relaxed: _Relaxed, best: float) -> Ints | None:
    """In whole numbers. Steps are whole, so a better solution has at least one step fewer than the best known.

    None of its columns costs more beyond the prices than that is above the relaxation. Cheaper columns are tried alone
    first: what they give is mostly the best, and leaves few others to be looked at.
    """
    found, within = None, 0.0
    while (gap := best - 1 - relaxed.value + SMALL) > within:
        within = min(gap, 2 * within + FIRST)
        place = np.flatnonzero(relaxed.reduced <= within)
        chosen = _choose(_Columns(columns.members[place], columns.steps[place]), n, odd_sets)
        if chosen is not None and columns.steps[place[chosen]].sum() < best - 0.5:
            found, best = place[chosen], float(columns.steps[place[chosen]].sum())
    return found


def _relax(columns: _Columns, n: int, odd_sets: list[Bools], active: Bools) -> _Relaxed:
    place = np.flatnonzero(active)
    some = _Columns(columns.members[place], columns.steps[place])
    equal, ones = _held_once(some, n)
    within, most = _odd(some, odd_sets)
    # The solver takes sparse matrices; its annotations do not say so.
    solved = linprog(some.steps, within, most, equal, ones, (0, None), "highs")  # type: ignore[call-overload]
    if solved.x is None:
        raise ArithmeticError(f"the relaxation was not solved: {solved.message}")
    prices = np.append(solved.eqlin.marginals[:n], 0.0)
    reduced = columns.steps - prices[columns.members].sum(axis=1)
    if n % 2:
        reduced -= np.where(columns.members[:, 2] < 0, 0.0, solved.eqlin.marginals[n])
    for one, price in zip(odd_sets, solved.ineqlin.marginals, strict=True):
        if price:
            reduced -= price * columns.inside(one)
    share = np.zeros(len(columns.steps))
    share[place] = solved.x
    return _Relaxed(float(solved.fun), share, reduced)


def _held_once(columns: _Columns, n: int) -> tuple[sparse.csr_array, Floats]:
    """Each sequence is in one group; of an odd number, one group is of three."""
    column, place = np.nonzero(columns.members >= 0)
    row = columns.members[column, place]
    if n % 2:
        three = np.flatnonzero(columns.members[:, 2] >= 0)
        column, row = np.append(column, three), np.append(row, np.full(three.size, n))
    rows = n + n % 2
    return sparse.csr_array((np.ones(row.size), (row, column)), shape=(rows, len(columns.steps))), np.ones(rows)


def _odd(columns: _Columns, odd_sets: list[Bools]) -> tuple[sparse.csr_array, Floats]:
    """Edmonds' inequalities: what is counted of each column, and the most."""
    counted = [sparse.csr_array(columns.inside(one)[None]) for one in odd_sets]
    none = sparse.csr_array((0, len(columns.steps)))
    return sparse.vstack([none, *counted], format="csr"), np.array([(one.sum() - 1) / 2 for one in odd_sets])


def _broken(columns: _Columns, n: int, share: Floats) -> list[Bools]:
    """Odd sets whose inequality the shares break, of those that hang together by columns of a share, or a large one."""
    used = np.flatnonzero(share > SMALL)
    some = _Columns(columns.members[used], columns.steps[used])
    found: dict[bytes, Bools] = {}
    for least in LARGE:
        held = some.members[share[used] > least]
        third = np.where(held[:, 2] < 0, held[:, 1], held[:, 2])
        ends = np.concatenate([held[:, 0], held[:, 1]]), np.concatenate([held[:, 1], third])
        graph = sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))
        number, label = connected_components(graph, directed=False)
        for part in np.flatnonzero(np.bincount(label, minlength=number) % 2):
            odd: Bools = label == part
            if some.inside(odd) @ share[used] > (odd.sum() - 1) / 2 + SMALL:
                found[odd.tobytes()] = odd
    return list(found.values())


def _choose(columns: _Columns, n: int, odd_sets: list[Bools]) -> Ints | None:
    """The columns that hold each sequence once in fewest steps; None if no choice does."""
    equal, ones = _held_once(columns, n)
    within, most = _odd(columns, odd_sets)
    asked = [LinearConstraint(equal, ones, ones), LinearConstraint(within, -np.inf, most)]
    whole = np.ones(len(columns.steps), dtype=np.int64)
    solved = milp(
        columns.steps, integrality=whole, bounds=Bounds(0, 1), constraints=asked, options={"mip_rel_gap": 0.0}
    )
    return None if solved.x is None else np.flatnonzero(solved.x > 0.5)
