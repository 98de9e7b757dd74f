"""Searches end at the threshold; against all policies of a small lattice; the published comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from querygate.methods.policy_search import (
    LatticeAttribute,
    LatticeCubes,
    PolicyLattice,
    PolicySolution,
    SearchResult,
    bisecting,
    directed,
    explain,
    explain_search,
    safe_harbor,
    whole_numbers,
)
from querygate.methods.policy_search.search import undominated
from tests.unit.methods.policy_search.shelby import LATTICE, study

SMALL = PolicyLattice((LatticeAttribute("race", ("a", "b", "c")), whole_numbers("age", 86, 94, open_top=True)))
SEARCHES = [bisecting, directed, partial(bisecting, apart=False)]


def small(seed: int) -> LatticeCubes:
    rng = np.random.default_rng(seed)
    people = rng.poisson(np.linspace(40, 4, 9), SMALL.shape) + 1
    return LatticeCubes(SMALL, rng.binomial(people, 0.4), people)


def maximal(one: LatticeCubes, threshold: float) -> set[str]:
    """Every policy within the threshold that no other within it specialises, by trying them all."""
    length = one.lattice.length
    policies = (np.arange(2**length)[:, None] >> np.arange(length)) % 2 == 1
    inside = policies[[one.risk_of(kept) <= threshold * (1 + 1e-12) for kept in policies]]
    missing = inside.astype(int) @ (~inside).astype(int).T
    return {one.lattice.policy(kept).bits for kept, n in zip(inside, (missing == 0).sum(axis=1), strict=True) if n == 1}


@pytest.mark.parametrize("search", SEARCHES)
def test_solutions_are_at_the_threshold(search: Callable[..., SearchResult]) -> None:
    one = small(1)
    threshold = one.risk(safe_harbor(SMALL))
    found = search(one, threshold, 60, np.random.default_rng(4))
    assert len(found.solutions) == 60
    for solution in found.solutions:
        assert solution.risk == one.risk(solution.policy) <= threshold * (1 + 1e-12)
        finer = [solution.policy.kept | (np.arange(SMALL.length) == at) for at in range(SMALL.length)]
        assert any(one.risk_of(kept) > threshold for kept in finer)
    assert found.distinct <= found.visited


@pytest.mark.parametrize("seed", range(3))
def test_completed_solutions_are_those_that_nothing_dominates(seed: int) -> None:
    one = small(seed)
    threshold = one.risk(safe_harbor(SMALL))
    every = maximal(one, threshold)
    found = bisecting(one, threshold, 3 * len(every), np.random.default_rng(seed), complete=True)
    assert {solution.policy.bits for solution in found.solutions} <= every
    assert len(found.best) > 0.7 * len(every)
    walked = directed(one, threshold, 40, np.random.default_rng(seed), complete=True)
    assert {solution.policy.bits for solution in walked.solutions} <= every


def test_completed_solutions_that_are_kept_apart_are_all_different() -> None:
    threshold = study().risk(safe_harbor(LATTICE))
    found = bisecting(study(), threshold, 60, np.random.default_rng(1), complete=True)
    assert len(found.best) == 60


@pytest.mark.parametrize("search", SEARCHES)
def test_the_ends_of_the_lattice_settle_it(search: Callable[..., SearchResult]) -> None:
    one = small(2)
    rng = np.random.default_rng(0)
    free = search(one, one.risk(SMALL.finest), 10, rng)
    assert [solution.policy for solution in free.solutions] == [SMALL.finest]
    assert "unchanged" in explain_search(free)
    none = search(one, one.risk(SMALL.coarsest) / 2, 10, rng)
    assert none.solutions == none.best == ()
    assert "Even a release" in explain_search(none)
    assert none.visited == 2


def test_a_threshold_that_leaves_the_coarsest_alone() -> None:
    one = small(2)
    found = bisecting(one, one.risk(SMALL.coarsest), 5, np.random.default_rng(0), complete=True)
    assert len(found.solutions) == 5
    assert all(solution.risk <= one.risk(SMALL.coarsest) * (1 + 1e-12) for solution in found.solutions)


def test_a_seed_gives_the_same_again() -> None:
    first, again = (bisecting(small(1), 0.02, 10, np.random.default_rng(9)) for _ in range(2))
    assert first == again


def test_dominance_is_that_of_the_lattice() -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        some = [PolicySolution(SMALL.policy(rng.random(SMALL.length) < 0.7), 0.0) for _ in range(12)]
        bits = {solution.policy.bits for solution in some}
        policies = [SMALL.policy(text) for text in bits]
        best = {p.bits for p in policies if not any(q != p and (q.kept | ~p.kept).all() for q in policies)}
        found = undominated(some)
        assert {solution.policy.bits for solution in found} == best
        assert len(found) == len(best)
    assert undominated([]) == ()


def test_the_published_comparison() -> None:
    """Adult over the county: as many policies as published, and fewer dominated solutions than the walk leaves."""
    threshold = study().risk(safe_harbor(LATTICE))
    halved = bisecting(study(), threshold, 100, np.random.default_rng(0))
    walked = directed(study(), threshold, 100, np.random.default_rng(0))
    assert halved.visited <= 670
    assert walked.visited >= 5140 / 670 * halved.visited
    assert len(halved.best) >= 95
    assert len(halved.best) - len(walked.best) >= 95 - 83


def test_a_solution_in_words() -> None:
    policy = SMALL.policy("11" + "11110111")
    assert explain(PolicySolution(policy, 0.875), 0.909) == (
        "ages 90-91 combined; all else unchanged; risk 0.875 (Safe Harbor: 0.909)"
    )
    assert explain(PolicySolution(SMALL.finest, 0.5)) == "all unchanged; risk 0.5"
    assert explain(PolicySolution(SMALL.coarsest, 0.5)) == "race suppressed; age suppressed; risk 0.5"
