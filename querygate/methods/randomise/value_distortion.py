"""Value distortion: noise is added to a number (Agrawal & Srikant, SIGMOD 2000), in parts of its domain.

As published, noise may carry a number anywhere, and what noise it was is all that hides it: a value near an end that
lands far outside tells of that end, and noise from an interval rules values out. Here noise that would leave the
domain is drawn again, so every part can come of every other, and a matrix says how often. Noise of an interval shorter
than the domain has no bound at any width, so it is not offered.

For the same amplification randomised response keeps more wherever that is above about 10: noise spends it on parts far
apart. Noise of a chosen spread, which bounds no belief, is what keeps values near where they were.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from querygate.core.types import Floats

Noise = Literal["laplace", "normal"]
_HALVINGS = 200


def distortion(parts: int, gamma: float, noise: Noise) -> tuple[Floats, float]:
    """As little noise as amplifies by no more than gamma: the matrix over the parts and *missing*, and its ratio. A
    part that is d parts away is ratio^d times as likely as the own one (laplace), or ratio^(d^2) times (normal).

    >>> matrix, ratio = distortion(2, 4.0, "laplace")
    >>> matrix.round(3).tolist(), round(ratio, 3)
    ([[0.547, 0.294, 0.158], [0.294, 0.547, 0.158], [0.183, 0.183, 0.633]], 0.538)
    """
    if parts < 1 or gamma < 1:
        raise ValueError("at least one part, and gamma at least 1")
    low, high = 0.0, 1.0  # a ratio that amplifies too much, and one that does not
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _amplifies(_matrix(middle, parts, noise)) <= gamma:
            high = middle
        else:
            low = middle
    return _matrix(high, parts, noise), high


def distortion_of_spread(parts: int, spread: float, noise: Noise) -> tuple[Floats, float]:
    """Noise with a standard deviation of this share of the domain, whatever it amplifies."""
    deviation = spread * parts
    ratio = np.exp(-np.sqrt(2) / deviation if noise == "laplace" else -1 / (2 * deviation**2))
    return _matrix(float(ratio), parts, noise), float(ratio)


def certain_width(matrix: Floats, certainty: float = 0.95) -> float:
    """Agrawal and Srikant's measure: the shortest piece of the domain in which a number lies with this certainty once
    its released value is known, as a share of the domain; for the value that tells most, all numbers being as likely.

    >>> certain_width(np.array([[0.9, 0.1, 0], [0.1, 0.9, 0], [0, 0, 1]]))
    1.0
    """
    parts = len(matrix) - 1
    shortest = parts
    for column in matrix[:parts, :parts].T:
        upto = np.concatenate([[0.0], np.cumsum(column / column.sum())])
        last = np.searchsorted(upto, upto[:-1] + certainty - 1e-12)
        reached = last <= parts
        shortest = min(shortest, int((last - np.arange(parts))[reached].min()))
    return shortest / parts


def _matrix(ratio: float, parts: int, noise: Noise) -> Floats:
    """*Missing* is as far from each part as the parts are many."""
    place = np.arange(parts)
    away = np.full((parts + 1, parts + 1), float(parts))
    away[:parts, :parts] = np.abs(place[:, None] - place[None, :])
    away[parts, parts] = 0.0
    weights = ratio ** (away if noise == "laplace" else away**2)
    made: Floats = weights / weights.sum(axis=1, keepdims=True)
    return made


def _amplifies(matrix: Floats) -> float:
    least = matrix.min(axis=0)
    return float((matrix.max(axis=0) / least).max()) if least.min() > 0 else float("inf")
