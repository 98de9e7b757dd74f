"""Conditional privacy against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from querygate.methods.model_fit import conditional_privacy


def normal(spread: float) -> float:
    """2^h of a normal law."""
    return spread * math.sqrt(2 * math.pi * math.e)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.99])
def test_two_normal_columns(correlation: float) -> None:
    """Π(A|B) = σ sqrt(2πe (1 - ρ²))."""
    random = np.random.default_rng(3)
    b = random.normal(size=8000)
    a = 10 * (correlation * b + math.sqrt(1 - correlation**2) * random.normal(size=8000))
    assert conditional_privacy(a, 5 - 7 * b) == pytest.approx(normal(10 * math.sqrt(1 - correlation**2)), rel=0.04)


def test_several_columns() -> None:
    """A = B M + E: what is left is E, and 2^h(E) is the product over its independent columns."""
    random = np.random.default_rng(4)
    b = random.normal(size=(8000, 2))
    a = b @ np.array([[1.0, 0.3], [-0.5, 1.0]]) + random.normal(size=(8000, 2)) * [1.0, 3.0]
    assert conditional_privacy(a, b) == pytest.approx(normal(1) * normal(3), rel=0.08)


def test_a_uniform_law_has_the_privacy_of_its_width() -> None:
    """The example of Agrawal and Aggarwal."""
    random = np.random.default_rng(5)
    a, b = random.uniform(0, 8, size=8000), random.normal(size=8000)
    assert conditional_privacy(a, b) == pytest.approx(8, rel=0.04)


def test_centroids() -> None:
    """Classes of width 2, each published by its centre: privacy 2, though the centres are ties."""
    a = np.random.default_rng(6).uniform(0, 40, size=8000)
    assert conditional_privacy(a, np.floor(a / 2) * 2 + 1) == pytest.approx(2, rel=0.06)


def test_whole_numbers() -> None:
    """Uniform over 10 of them, given the extract: privacy 10. Known exactly: no more than the step, 1."""
    ages = np.random.default_rng(7).integers(0, 100, size=8000)
    assert conditional_privacy(ages, ages // 10) == pytest.approx(10, rel=0.06)
    assert conditional_privacy(ages, ages) == pytest.approx(1, rel=0.06)


def test_what_is_given_away_has_none() -> None:
    a = np.random.default_rng(8).normal(size=500)
    assert conditional_privacy(a, a) < 0.05
    assert conditional_privacy(np.ones(50), a[:50]) == 0


def test_missing_values_are_left_out() -> None:
    random = np.random.default_rng(9)
    a, b = random.normal(size=400), random.normal(size=400)
    holes = np.concatenate([a, [np.nan, 1.0]]), np.concatenate([b, [1.0, np.nan]])
    assert conditional_privacy(*holes) == conditional_privacy(a, b)


def test_records_are_paired_and_enough() -> None:
    with pytest.raises(ValueError, match="record i"):
        conditional_privacy(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="at least 5 records"):
        conditional_privacy(np.arange(4.0), np.arange(4.0))
