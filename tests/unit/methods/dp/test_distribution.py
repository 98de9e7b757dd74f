"""Each mechanism against its law. Samples are seeded; a right sampler would fail one in a million seeds."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from querygate.methods.dp import MECHANISMS
from querygate.methods.dp.sampler import below, flip_exp
from querygate.methods.dp.selection import choose
from tests.unit.methods.dp import laws
from tests.unit.methods.dp.empirical import FAILURE, Floats, sample

SIZE, VALUE, SENSITIVITY, EPSILON, DELTA = 2_500, 7, 3, 0.8, 1e-3
LOWER, UPPER = 2, 12
SCALE = SENSITIVITY / EPSILON
WIDE = np.arange(-150.0, 170.0)
INSIDE = np.arange(LOWER, UPPER + 1.0)


def drawn(name: str, size: int = SIZE, **other: float) -> Floats:
    mechanism, entropy = MECHANISMS.get(name), random.Random(name)
    given = {"sensitivity": SENSITIVITY, "epsilon": EPSILON, "delta": DELTA if mechanism.approximate else 0.0} | other
    given |= {"lower": LOWER, "upper": UPPER} if mechanism.bounded else {}
    return sample(size, mechanism.release, VALUE, entropy=entropy, **given)


def sigma(name: str) -> float:
    mechanism = MECHANISMS.get(name)
    return mechanism.release(0, sensitivity=SENSITIVITY, epsilon=EPSILON, delta=DELTA, entropy=random.Random(1)).scale


@pytest.mark.parametrize("epsilon", [0.2, EPSILON, 9.0])
def test_geometric(epsilon: float) -> None:
    law = laws.discrete_laplace(VALUE, SENSITIVITY / epsilon)
    seen = drawn("geometric", epsilon=epsilon)
    assert laws.p_value_of_atoms(seen, law, np.arange(-400.0, 400.0)) > FAILURE


def test_geometric_truncated() -> None:
    law = laws.truncated(laws.discrete_laplace(VALUE, SCALE), LOWER, UPPER)
    assert laws.p_value_of_atoms(drawn("geometric-truncated"), law, INSIDE) > FAILURE


def test_geometric_folded() -> None:
    law = laws.folded(laws.discrete_laplace(VALUE, SCALE), LOWER, UPPER, whole=True)
    assert laws.p_value_of_atoms(drawn("geometric-folded"), law, INSIDE) > FAILURE


def test_laplace() -> None:
    assert laws.p_value_of_continuous(drawn("laplace"), laws.continuous_laplace(VALUE, SCALE)) > FAILURE


def test_laplace_truncated() -> None:
    seen, law = drawn("laplace-truncated"), laws.continuous_laplace(VALUE, SCALE)
    inside = seen[(seen > LOWER) & (seen < UPPER)]
    low, high = (float(law(np.array(end))) for end in (LOWER, UPPER))
    assert laws.p_value_of_continuous(inside, lambda x: (law(x) - low) / (high - low)) > FAILURE
    for share, expected in (((seen == LOWER).mean(), low), ((seen == UPPER).mean(), 1 - high)):
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / SIZE)


def test_laplace_folded() -> None:
    law = laws.folded(laws.continuous_laplace(VALUE, SCALE), LOWER, UPPER, whole=False)
    assert laws.p_value_of_continuous(drawn("laplace-folded"), law) > FAILURE


def test_snapping() -> None:
    snap = 4.0  # the power of two above 3 / 0.8
    law = laws.truncated(laws.snapped(laws.continuous_laplace(VALUE, SCALE), snap), LOWER, UPPER)
    assert laws.p_value_of_atoms(drawn("snapping"), law, np.array([LOWER, 4.0, 8.0, UPPER])) > FAILURE


def test_gaussian_analytic() -> None:
    law = laws.continuous_gaussian(VALUE, sigma("gaussian-analytic"))
    assert laws.p_value_of_continuous(drawn("gaussian-analytic"), law) > FAILURE


def test_gaussian_discrete() -> None:
    law = laws.discrete_gaussian(VALUE, sigma("gaussian-discrete"))
    assert laws.p_value_of_atoms(drawn("gaussian-discrete"), law, WIDE) > FAILURE


def test_a_wrong_scale_is_seen() -> None:
    law = laws.discrete_laplace(VALUE, SCALE * 0.7)
    assert laws.p_value_of_atoms(drawn("geometric"), law, WIDE) < FAILURE
    assert laws.p_value_of_continuous(drawn("laplace"), laws.continuous_laplace(VALUE, SCALE * 0.7)) < FAILURE


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(5, 2)])
def test_coins_of_exponential_probability(rate: Fraction) -> None:
    entropy, expected = random.Random(3), math.exp(-rate)
    heads = sum(flip_exp(rate.numerator, rate.denominator, entropy) for _ in range(SIZE))
    assert abs(heads / SIZE - expected) <= 5 * math.sqrt(expected * (1 - expected) / SIZE)


def test_whole_numbers_below_a_limit_are_equally_likely() -> None:
    entropy = random.Random(4)
    counts = np.bincount([below(5, entropy) for _ in range(SIZE)], minlength=5)
    assert len(counts) == 5
    assert np.abs(counts / SIZE - 0.2).max() < 5 * math.sqrt(0.16 / SIZE)
    assert below(1, entropy) == 0


def test_permute_and_flip_has_its_probabilities() -> None:
    """Added up over every order of the candidates (McKenna and Sheldon 2020, algorithm 1)."""
    scores, entropy = [5, 4, 2], random.Random(6)
    expected = np.zeros(3)
    for order in itertools.permutations(range(3)):
        reached = 1 / 6
        for candidate in order:
            heads = math.exp(-(max(scores) - scores[candidate]) / 2)
            expected[candidate] += reached * heads
            reached *= 1 - heads
    picked = [choose(scores, sensitivity=1, epsilon=1.0, entropy=entropy) for _ in range(SIZE)]
    assert expected.sum() == pytest.approx(1)
    assert np.abs(np.bincount(picked, minlength=3) / SIZE - expected).max() < 5 * math.sqrt(0.25 / SIZE)
