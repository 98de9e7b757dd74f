"""Policies at the threshold: bisecting policy search, and a directed walk as its baseline.

After Benitez, Loukides and Malin (IHI 2010). Risk falls with generalisation, so on every chain from the coarsest policy
to the finest there is one step at which the threshold is crossed; the policy before it is a solution.

*Bisecting* halves such a chain: from the bracket (coarse within the threshold, fine above it) take a policy half-way,
by merging half of the boundaries in which the two differ, and keep the half that still brackets the threshold, until
the two are one boundary apart: about log2(boundaries) policies for a solution. Which boundaries are merged is drawn
with the weight size of the attribute + uses in earlier solutions, as published. A boundary is *used* by a solution that
keeps it (our reading): what all solutions so far keep is merged more readily, so solutions spread. *Directed* search
starts anywhere and walks one boundary at a time towards the threshold, specialising or generalising.

*Dominance* is that of the lattice, as published: a solution is dominated if another one specialises it. Two things
beyond the paper keep solutions from that:

- `apart` (bisecting) keeps iterations out of each other's way at no cost. A search ends with a solution S and a
  boundary b that S cannot take back: with b kept it is above the threshold. A later iteration that keeps b cannot end
  at a policy dominated by S, as S merges b; nor at one that dominates S, as that would specialise S with b kept and be
  above the threshold. So an iteration starts from a coarse end that keeps such boundaries: S by S in random order, b of
  S unless a boundary that S merges is kept already (which alone rules out that S dominates, and leaves more room). If
  nothing is left within the threshold, the iteration starts from the coarsest policy after all.
- `complete` takes back every boundary that the threshold allows, at a few policies a solution where solutions are fine.
  By monotonicity a boundary that cannot be taken back now cannot be later, so one pass gives a policy that none within
  the threshold dominates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from querygate.core.types import Array, Bools, Floats
from querygate.methods.policy_search.policy_lattice import LatticePolicy
from querygate.methods.policy_search.policy_risk import LatticeCubes, within


@dataclass(frozen=True)
class PolicySolution:
    """A policy within the threshold."""

    policy: LatticePolicy
    risk: float


@dataclass(frozen=True)
class SearchResult:
    """What a search found: a solution for each iteration, in the order in which they were found."""

    method: Literal["bisecting", "directed"]
    threshold: float
    solutions: tuple[PolicySolution, ...]
    visited: int  # policies measured, each time
    distinct: int  # different policies measured

    @property
    def best(self) -> tuple[PolicySolution, ...]:
        """Each of the solutions that no other dominates, once."""
        return undominated(self.solutions)


def undominated(solutions: Sequence[PolicySolution]) -> tuple[PolicySolution, ...]:
    """Those that no other specialises; of equal ones the first."""
    first = tuple({one.policy.bits: one for one in reversed(solutions)}.values())[::-1]
    if not first:
        return ()
    kept = np.array([one.policy.kept for one in first]).reshape(len(first), -1)
    # A keeps all that B keeps where none of B's boundaries is missing in A; every policy specialises itself.
    missing = kept.astype(np.int32) @ (~kept).astype(np.int32).T
    dominated = (missing == 0).sum(axis=1) > 1
    return tuple(one for one, out in zip(first, dominated, strict=True) if not out)


class _Nodes:
    """Policies measured so far."""

    def __init__(self, study: LatticeCubes) -> None:
        self.study, self.known, self.visited = study, dict[bytes, float](), 0

    def risk(self, kept: Bools) -> float:
        self.visited += 1
        key = kept.tobytes()
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.study.risk_of(kept)
        return found


def bisecting(
    study: LatticeCubes,
    threshold: float,
    iterations: int,
    rng: np.random.Generator,
    *,
    apart: bool = True,
    complete: bool = False,
) -> SearchResult:
    """Bisecting policy search; as published without `apart` and `complete`."""
    lattice = study.lattice
    size = np.repeat(np.array(lattice.shape, dtype=np.float64), [n - 1 for n in lattice.shape])
    uses = np.zeros(lattice.length)
    earlier: list[tuple[Bools, int]] = []

    def bisect(nodes: _Nodes, low: Bools) -> tuple[Bools, Bools]:
        high = np.ones(lattice.length, dtype=np.bool_)
        while (between := np.flatnonzero(low != high)).size > 1:
            middle = high.copy()
            middle[_draw(between, (size + uses)[between], between.size // 2, rng)] = False
            if within(nodes.risk(middle), threshold):
                low = middle
            else:
                high = middle
        return low, high

    def one(nodes: _Nodes) -> Bools:
        start = _apart(earlier if apart else (), lattice.length, rng)
        low, high = bisect(nodes, start)
        if low is start and not within(nodes.risk(start), threshold):
            low, high = bisect(nodes, np.zeros(lattice.length, dtype=np.bool_))
        critical = int(np.flatnonzero(low != high)[0])
        if complete:
            low = _completed(low, nodes, threshold, rng)
        earlier.append((~low, critical))
        uses[low] += 1
        return low

    return _search("bisecting", study, threshold, iterations, one)


def _apart(earlier: Sequence[tuple[Bools, int]], length: int, rng: np.random.Generator) -> Bools:
    """Boundaries to keep so as to end apart from earlier solutions: what each merges, and what it cannot take back."""
    kept = np.zeros(length, dtype=np.bool_)
    for place in rng.permutation(len(earlier)):
        merged, critical = earlier[place]
        if not (kept & merged).any():
            kept[critical] = True
    return kept


def directed(
    study: LatticeCubes, threshold: float, iterations: int, rng: np.random.Generator, *, complete: bool = False
) -> SearchResult:
    """A random walk to the threshold from a policy drawn with a fair coin for each boundary."""
    length = study.lattice.length

    def one(nodes: _Nodes) -> Bools:
        at = rng.random(length) < 0.5
        inside = within(nodes.risk(at), threshold)
        for place in rng.permutation(np.flatnonzero(at != inside)):
            after = at.copy()
            after[place] = inside
            crossed = within(nodes.risk(after), threshold) != inside
            if not crossed or not inside:
                at = after
            if crossed:
                break
        return _completed(at, nodes, threshold, rng) if complete else at

    return _search("directed", study, threshold, iterations, one)


def _search(
    method: Literal["bisecting", "directed"],
    study: LatticeCubes,
    threshold: float,
    iterations: int,
    one: Callable[[_Nodes], Bools],
) -> SearchResult:
    """Solutions of repeated runs, unless an end of the lattice settles the matter: all policies are within, or none."""
    nodes, lattice, solutions = _Nodes(study), study.lattice, list[PolicySolution]()
    if within(whole := nodes.risk(lattice.finest.kept), threshold):
        solutions.append(PolicySolution(lattice.finest, whole))
    elif within(nodes.risk(lattice.coarsest.kept), threshold):
        for _ in range(iterations):
            kept = one(nodes)
            solutions.append(PolicySolution(lattice.policy(kept), nodes.known[kept.tobytes()]))
    return SearchResult(method, threshold, tuple(solutions), nodes.visited, len(nodes.known))


def _completed(kept: Bools, nodes: _Nodes, threshold: float, rng: np.random.Generator) -> Bools:
    for place in rng.permutation(np.flatnonzero(~kept)):
        after = kept.copy()
        after[place] = True
        if within(nodes.risk(after), threshold):
            kept = after
    return kept


def _draw(items: Array, weights: Floats, count: int, rng: np.random.Generator) -> Array:
    """So many of the items without replacement, by weight (Efraimidis and Spirakis 2006: the least of exp(1)/w)."""
    keys = rng.exponential(size=items.size) / weights
    return items[np.argpartition(keys, count - 1)[:count]]
