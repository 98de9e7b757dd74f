"""The margins are true: every sum lies inside its bounds, checked with exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from querygate.stats import numerics
from tests.each import each


def hard_vectors() -> list[np.ndarray]:
    random = np.random.default_rng(3)
    shapes = [1, 2, 127, 128, 129, 1000, 16385]
    vectors = []
    for size in shapes:
        base = random.normal(0, 1, size)
        vectors += [base, base + 1e15, base * 10.0 ** random.uniform(-20, 20, size), base * 1e-310, np.full(size, 0.1)]
        vectors.append(np.concatenate([base * 1e16, -base * 1e16, base]))
    return vectors


@each("values", hard_vectors())
def test_sum_and_dot_lie_inside(values: np.ndarray) -> None:
    weights = np.random.default_rng(4).integers(0, 10**6, values.size)
    total = sum(map(Fraction, values.tolist()), Fraction(0))
    found = numerics.sum_bounds(values)
    assert found.low <= total <= found.high
    dot = sum((w * Fraction(v) for w, v in zip(weights.tolist(), values.tolist(), strict=True)), Fraction(0))
    found = numerics.dot_bounds(weights, values)
    assert found.low <= dot <= found.high


def test_margin_is_small() -> None:
    values = np.random.default_rng(5).uniform(0, 1, 10**6)
    found = numerics.sum_bounds(values)
    assert (found.high - found.low) / found.high < 1e-13


def test_overflow_gives_no_bound() -> None:
    assert numerics.sum_bounds(np.array([1e308, 1e308, -1e308, -1e308])) == (-math.inf, math.inf)
    assert numerics.dot_bounds(np.array([100]), np.array([1e308])).high == math.inf


def test_exact_dot_beyond_64_bits() -> None:
    weights, values = np.array([2**40, 3]), np.array([2**60, -(2**62)])
    assert numerics.exact_dot(weights, values) == 2**100 - 3 * 2**62
    assert numerics.exact_dot(weights[:0], values[:0]) == 0
    assert numerics.exact_sum(np.full(4, 2**62)) == 2**64


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(-1, 3), Fraction(5), Fraction(10**400), Fraction(-(10**400))]
)
def test_enclose(value: Fraction) -> None:
    low, high = numerics.enclose(value)
    assert low <= value <= high
    assert high <= math.nextafter(low, math.inf)


def test_whole_units_only_where_sums_are_exact() -> None:
    most = np.array([3, 3])
    assert numerics.whole_units(np.array([0.5, -2.25]), most).tolist() == [512, -2304]
    assert numerics.whole_units(np.array([0.1, 0.5]), most) is None
    assert numerics.whole_units(np.array([2.0**42, 0.5]), most) is None
    assert numerics.whole_units(np.array([math.inf, 0.5]), most) is None


def test_gamma_stops_where_the_theorem_does() -> None:
    assert numerics.gamma(0) == 0.0
    assert numerics.gamma(10) > 10 * 2.0**-53
    assert numerics.gamma(2**53) == math.inf
