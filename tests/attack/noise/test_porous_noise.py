"""Floats have gaps. With textbook Laplace noise the gaps tell which number the noise was added to; here they do not.

Two attacks on whether a count is 0 or 1, both with epsilon far too small to tell. *Porous outputs* (Mironov 2012): the
attacker asks whether some random float would have led to the very number that is shown. *Precision* (Haney and others
2022): a number near zero that was made by adding to 1 has lost its last bits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from querygate.methods.dp import MECHANISMS

EPSILON, SIZE = 0.1, 2_000
SCALE = 1 / EPSILON
CHANCE = 1 - math.exp(-EPSILON / 2) / 2
"""How often the best guess from Laplace noise of this scale is right."""

BY_CHANCE = 5 * math.sqrt(0.25 / SIZE)
Noised = Callable[[int], float]


def textbook() -> Noised:
    """Laplace noise as textbooks have it: a random float through the inverse distribution function."""
    rng = np.random.default_rng(1)

    def noised(value: int) -> float:
        u = float(rng.random()) - 0.5
        return value - SCALE * math.copysign(1, u) * math.log(1 - 2 * abs(u))

    return noised


def numpys() -> Noised:
    rng = np.random.default_rng(2)
    return lambda value: float(rng.laplace(value, SCALE))


def gates(name: str) -> Noised:
    mechanism, entropy = MECHANISMS.get(name), random.Random(3)
    return lambda value: mechanism.release(value, sensitivity=1, epsilon=EPSILON, entropy=entropy).value


def can_be(shown: float, value: int) -> bool:
    """Is there a random float that makes textbook noise turn this value into what is shown?"""
    near = round(math.exp(-abs(shown - value) / SCALE) * 2**52)
    noises = (SCALE * math.log(k * 2.0**-52) for k in range(max(1, near - 4), near + 5))
    return any(shown in (value - noise, value + noise) for noise in noises)


def guess(shown: float) -> int:
    zero, one = can_be(shown, 0), can_be(shown, 1)
    return int(one) if zero != one else int(shown > 0.5)


def success(noised: Noised) -> float:
    truths = [which % 2 for which in range(SIZE)]
    return sum(guess(noised(truth)) == truth for truth in truths) / SIZE


def test_textbook_noise_is_seen_through() -> None:
    assert success(textbook()) > 0.85
    assert success(numpys()) > 0.7


@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_the_gates_noise_is_not(name: str) -> None:
    assert success(gates(name)) < CHANCE + BY_CHANCE


def fine(noised: Noised, value: int, size: int = 10 * SIZE) -> int:
    """How many of the numbers shown are too fine to be the sum of 1 and something."""
    return sum((noised(value) * 2.0**53) % 1 != 0 for _ in range(size))


def test_precision_tells_what_was_added_to() -> None:
    noised = numpys()
    assert fine(noised, 0) > 100
    assert fine(noised, 1) == 0, "one such number is proof"


def test_precision_tells_nothing_of_the_gates_noise() -> None:
    zero, one = (fine(gates("laplace"), value, 3 * SIZE) for value in (0, 1))
    assert min(zero, one) > 30
    assert max(zero, one) < min(zero, one) * math.exp(EPSILON) + 5 * math.sqrt(zero + one)
    assert fine(gates("geometric"), 0, SIZE) == fine(gates("geometric"), 1, SIZE) == 0
