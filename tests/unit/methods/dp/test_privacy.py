"""No release tells more than its epsilon, measured; and the measurement would see it if it did."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.unit.methods.dp.cases import EPSILON, EVERY, TIGHT, delta_of
from tests.unit.methods.dp.empirical import measured_epsilon, sample

SIZE = 4_000


def measured(name: str, part: float) -> float:
    entropy = random.Random(f"{name} {part}")
    first, second = (sample(SIZE, EVERY[name], which, part, entropy) for which in (0, 1))
    return measured_epsilon(first, second, delta_of(name))


@pytest.mark.parametrize("name", EVERY)
def test_no_more_than_the_declared_epsilon(name: str) -> None:
    assert measured(name, 1) <= EPSILON


@pytest.mark.parametrize("name", TIGHT)
def test_half_the_sensitivity_is_seen(name: str) -> None:
    assert measured(name, 0.5) > EPSILON


def test_the_bound_is_a_bound() -> None:
    """The epsilon between two Laplace samples is found from below, and not from far."""
    rng = np.random.default_rng(1)
    first, second = rng.laplace(0, 1, 20_000), rng.laplace(1, 1, 20_000)
    assert 0.8 < measured_epsilon(first, second) <= 1
    assert measured_epsilon(first, first[::-1]) <= 0.1
