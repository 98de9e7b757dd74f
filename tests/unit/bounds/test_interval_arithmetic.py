"""Interval arithmetic holds the real results, and leaves an end where nothing was rounded."""

from __future__ import annotations

import itertools
import math
import operator
import random
from fractions import Fraction

import numpy as np
import pytest

from querygate.bounds.interval_arithmetic import Box, add, div, mul, sub

TRIED = (0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 100.0, 4000.0, 1e-320, 5e-324, 2.0**52 + 1, 2.0**53, 1e17, 1e300, 0.375)
OPERATIONS = ((add, operator.add), (sub, operator.sub), (mul, operator.mul), (div, operator.truediv))


def box(*ends: float) -> Box:
    return Box(np.array([min(ends)]), np.array([max(ends)]))


def ends_of(found: Box) -> tuple[float, float]:
    return found.low[0].item(), found.high[0].item()


def test_a_share_in_percent_ends_at_0_and_100() -> None:
    assert ends_of(mul(box(100.0), box(0.0, 1.0))) == (0.0, 100.0)
    assert ends_of(div(box(0.0, 181_000.0), box(4000.0))) == (0.0, 45.25)
    assert ends_of(add(box(-3.0, 0.0), box(0.1, 3.0))) == (math.nextafter(-2.9, -math.inf), 3.0)


def test_no_end_is_a_negative_zero() -> None:
    for found in (mul(box(-1.0), box(0.0, 1.0)), div(box(0.0, 1.0), box(-5.0)), add(box(-0.0), box(-0.0))):
        assert all(math.copysign(1, end) > 0 for end in ends_of(found) if end == 0)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_real_and_what_a_database_computes_is_inside(seed: int) -> None:
    rng = random.Random(seed)
    numbers = [*TRIED, *(-x for x in TRIED), *(rng.uniform(-9, 9) * 10.0 ** rng.randint(-9, 9) for _ in range(20))]
    for _ in range(400):
        a, b = (box(rng.choice(numbers), rng.choice(numbers)) for _ in range(2))
        for apply, exactly in OPERATIONS:
            if apply is div and b.low[0] <= 0 <= b.high[0]:
                continue
            low, high = ends_of(apply(a, b))
            for x, y in itertools.product(ends_of(a), ends_of(b)):
                real = exactly(Fraction(x), Fraction(y))
                assert math.isinf(low) or Fraction(low) <= real
                assert math.isinf(high) or real <= Fraction(high)
                if y or apply is not div:
                    assert low <= exactly(x, y) <= high
