"""Every way to release something, on two neighbouring data sets; and the same with half the sensitivity it needs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from querygate.methods.dp import MECHANISMS, Grid, noisy_mean, noisy_quantile, noisy_sum
from querygate.methods.dp.selection import choose

EPSILON, DELTA = 1.0, 0.01
LOWER, UPPER = 80, 122
Draw = Callable[[int, float, random.Random], Any]
"""(which of the neighbours, sensitivity as a part of what it should be, entropy) -> a release."""


def delta_of(name: str) -> float:
    return DELTA if name in MECHANISMS and MECHANISMS.get(name).approximate else 0.0


def _release(name: str) -> Draw:
    mechanism = MECHANISMS.get(name)
    given: dict[str, Any] = {"lower": LOWER, "upper": UPPER} if mechanism.bounded else {}

    def draw(which: int, part: float, entropy: random.Random) -> Any:
        value, sensitivity = (100, 102)[which], 2 * part
        return mechanism.release(
            value, sensitivity=sensitivity, epsilon=EPSILON, delta=delta_of(name), entropy=entropy, **given
        )

    return draw


def _chosen(which: int, part: float, entropy: random.Random) -> int:
    return choose(([10, 10], [9, 11])[which], sensitivity=part, epsilon=EPSILON, entropy=entropy)


def _counted(which: int, part: float, entropy: random.Random) -> int:
    scores = ([10, 10], [10, 11])[which]
    return choose(scores, sensitivity=part, epsilon=EPSILON, entropy=entropy, monotonic=True)


def _summed(which: int, part: float, entropy: random.Random) -> Any:
    return noisy_sum((500, 580)[which], Grid(0, 80 * part, 1), epsilon=EPSILON, entropy=entropy)


def _averaged(which: int, part: float, entropy: random.Random) -> Any:
    total, count = ((500, 9), (580, 10))[which]
    return noisy_mean(total, count, Grid(0, 80, 1), epsilon=EPSILON, entropy=entropy)


def _median(which: int, part: float, entropy: random.Random) -> int:
    counts = ([3, 3, 0, 0], [3, 4, 0, 0])[which]
    return noisy_quantile(counts, 0.5, epsilon=EPSILON, entropy=entropy)


TIGHT: dict[str, Draw] = {name: _release(name) for name in MECHANISMS}
TIGHT |= {"choose": _chosen, "choose among counts": _counted, "sum": _summed}
"""Half the sensitivity is seen in these."""

EVERY: dict[str, Draw] = TIGHT | {"mean": _averaged, "median": _median}
