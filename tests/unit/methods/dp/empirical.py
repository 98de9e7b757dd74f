"""How much an attacker learns from releases, measured: a lower confidence bound for epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

Floats = NDArray[np.float64]
FAILURE = 1e-6
"""How often a bound may be above the truth by chance."""

EVENTS = 60
"""Thresholds, and single outcomes, that are tried as events."""


def measured_epsilon(first: Floats, second: Floats, delta: float = 0.0, failure: float = FAILURE) -> float:
    """At most the epsilon that lies between two samples, up to chance: log((P(event) - delta) / Q(event)).

    The event is looked for in one half of the samples. Its probabilities are bounded from the other half (Clopper and
    Pearson), so looking for it does no harm. Both directions are tried.
    """
    return max(_one_way(first, second, delta, failure / 2), _one_way(second, first, delta, failure / 2))


def _one_way(first: Floats, second: Floats, delta: float, failure: float) -> float:
    half, rest = len(first) // 2, len(first) - len(first) // 2
    p, q = first[:half], second[:half]
    best = max(_events(np.concatenate([p, q])), key=lambda event: _loss(event(p), event(q), half, delta, failure))
    return _loss(best(first[half:]), best(second[half:]), rest, delta, failure)


def _events(seen: Floats) -> Iterator[Callable[[Floats], int]]:
    for threshold in np.unique(np.quantile(seen, np.linspace(0, 1, EVENTS), method="nearest")):
        yield lambda sample, t=threshold: int((sample <= t).sum())
        yield lambda sample, t=threshold: int((sample >= t).sum())
    values, counts = np.unique(seen, return_counts=True)
    for value in values[np.argsort(-counts)][:EVENTS]:
        yield lambda sample, v=value: int((sample == v).sum())


def _loss(hits: int, other: int, size: int, delta: float, failure: float) -> float:
    at_least = beta.ppf(failure / 2, hits, size - hits + 1) if hits else 0.0
    at_most = beta.ppf(1 - failure / 2, other + 1, size - other) if other < size else 1.0
    return math.log((at_least - delta) / at_most) if at_least > delta else -math.inf


def sample(size: int, draw: Callable[..., Any], *arguments: Any, **named: Any) -> Floats:
    """Values of many releases."""
    drawn = (draw(*arguments, **named) for _ in range(size))
    return np.array([float(getattr(one, "value", one)) for one in drawn])
