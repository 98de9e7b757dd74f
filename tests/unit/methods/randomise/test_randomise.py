"""Randomised values: published figures, and what chance does, against counting."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.randomise import (
    allowed_amplification,
    amplification,
    invariant,
    rank_swapped,
    reconstructed,
    responses,
    uniform,
    worst_posterior,
)
from querygate.methods.randomise.transition_check import strays
from tests.each import each
from tests.seeds import seeds


def test_the_figures_of_the_papers() -> None:
    """Evfimievski et al. 2003: 5 % to 50 % allows 19, and a breach from 1 % to 50 % takes more than 99. Warner 1965:
    who tells the truth with 3/4 amplifies by 3."""
    assert allowed_amplification(0.05, 0.5) == pytest.approx(19)
    assert allowed_amplification(0.01, 0.5) == pytest.approx(99)
    assert amplification(np.array([[0.75, 0.25], [0.25, 0.75]])) == 3


def test_fifteen_thousand_codes_are_hardly_ever_released_intact() -> None:
    """The tutorial of 2012 tells about 3.3 in 10,000 for 15,000 codes; that is a matrix that amplifies by about 5."""
    size, gamma = 15_000, 5.0
    assert gamma / (size - 1 + gamma) == pytest.approx(3.3e-4, rel=0.02)
    assert uniform(150, gamma)[0, 0] == pytest.approx(gamma / (149 + gamma))


@each("seed", seeds(20))
def test_belief_never_grows_beyond_what_is_allowed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, (rho1, rho2) = int(rng.integers(2, 9)), sorted(rng.uniform(0.01, 0.99, 2).tolist())
    matrix = uniform(size, allowed_amplification(rho1, rho2))
    prior = rng.dirichlet(np.ones(size) * 0.3)
    inside = rng.random(size) < 0.5
    believed = float(prior[inside].sum())
    joint = prior[:, None] * matrix
    after = joint[inside].sum(axis=0) / joint.sum(axis=0)
    assert after.max() <= worst_posterior(amplification(matrix), believed) + 1e-9
    if believed <= rho1:
        assert after.max() <= rho2 + 1e-9


@each("seed", seeds(10))
def test_counts_come_back_and_strays_are_told(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.choice(4, 20_000, p=[0.6, 0.3, 0.09, 0.01])
    shares = np.bincount(codes) / codes.size
    for matrix in (uniform(4, 9.0), invariant(shares, 0.7)):
        made = responses(codes, matrix, rng)
        assert strays(codes, made, matrix) == 0
        assert strays(codes, codes, matrix) > 0
        found = reconstructed(np.bincount(made, minlength=4), matrix)
        assert np.abs(found - shares).max() < 0.03
    assert np.abs(np.bincount(made, minlength=4) / codes.size - shares).max() < 0.02  # invariant


@each("seed", seeds(20))
def test_swapped_values_stay_near_and_nobody_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = rng.integers(-1, 50, 200)
    got = rank_swapped(ranks, 0.1, rng)
    assert sorted(got.tolist()) == list(range(200))
    assert (got[got] == np.arange(200)).all()
    assert (got[ranks < 0] == np.flatnonzero(ranks < 0)).all()
    known = np.sort(ranks[ranks >= 0])
    for mine, other in zip(ranks[ranks >= 0].tolist(), ranks[got][ranks >= 0].tolist(), strict=True):
        low, high = sorted((mine, other))
        between = np.searchsorted(known, high, side="left") - np.searchsorted(known, low, side="right")
        assert between < round(0.1 * known.size)


@pytest.mark.parametrize("ranks", [[], [-1], [0], [5, 5], [-1, -1, 3]])
def test_hostile_ranks(ranks: list[int]) -> None:
    got = rank_swapped(np.array(ranks, dtype=np.int64), 0.5, np.random.default_rng(1))
    assert sorted(got.tolist()) == list(range(len(ranks)))


def test_bad_arguments() -> None:
    for call in (
        lambda: allowed_amplification(0.5, 0.5),
        lambda: uniform(0, 2.0),
        lambda: uniform(2, 0.5),
        lambda: invariant(np.array([0.5, 0.6]), 0.5),
        lambda: rank_swapped(np.array([1]), 0.0, np.random.default_rng(1)),
    ):
        with pytest.raises(ValueError):
            call()
