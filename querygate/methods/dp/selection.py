"""Choosing with privacy: the best of public candidates by a score of the data.

Candidates are public. Of their scores only how much one protected unit can change any of them must be known. All is
done in whole numbers, so each candidate has exactly the probability that the proof says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from querygate.methods.dp.exact_floats import exact
from querygate.methods.dp.sampler import Entropy, below, flip_exp


def choose(
    scores: Sequence[float],
    *,
    sensitivity: float,
    epsilon: float | Fraction,
    entropy: Entropy,
    monotonic: bool = False,
) -> int:
    """The place of a candidate whose score is near the highest: permute-and-flip, which keeps epsilon.

    Candidates come up in random order, and each is taken with probability exp(-epsilon gap / (2 sensitivity)), where
    the gap is how far its score is below the highest; the highest is taken for certain, so one is. It is never worse
    than the exponential mechanism of McSherry and Talwar 2007 (McKenna and Sheldon 2020).
    If one more unit can only raise scores (`monotonic`, as counts are), the 2 is not needed.

    >>> import random
    >>> choose([3, 180, 20], sensitivity=1, epsilon=1.0, entropy=random.Random(1), monotonic=True)
    1
    """
    if not len(scores):
        raise ValueError("there is no candidate to choose from")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon is a number above 0, not {epsilon}")
    if not (_is_finite(sensitivity) and sensitivity > 0):
        raise ValueError(f"sensitivity is a number above 0, not {sensitivity}")
    if not all(map(_is_finite, scores)):
        raise ValueError("a score is not a finite number")
    rate = exact(epsilon) / (exact(sensitivity) * (1 if monotonic else 2))
    numbers = [score if isinstance(score, int) else Fraction(score) for score in scores]
    best = max(numbers)
    moved: dict[int, int] = {}  # a shuffle of 0, 1, 2 ... of which only what was touched is kept
    for first in range(len(scores)):
        picked = first + below(len(scores) - first, entropy)
        candidate = moved.get(picked, picked)
        moved[picked] = moved.get(first, first)
        gap = best - numbers[candidate]
        if flip_exp(rate.numerator * gap.numerator, rate.denominator * gap.denominator, entropy):
            return candidate
    raise AssertionError("the best candidate is always taken")


def _is_finite(number: float) -> bool:
    """Whole numbers are, however large: no float need hold them."""
    return isinstance(number, int) or math.isfinite(number)


def noisy_quantile(
    counts: Sequence[int],
    q: float,
    *,
    epsilon: float | Fraction,
    entropy: Entropy,
    rows_per_person: int = 1,
) -> int:
    """The place, on a public grid, of a value near the q-quantile; `counts` has how many rows lie at each place.

    The score of a place is how many rows would have to be on its other side to make it a quantile: 0 where at most
    q n rows lie below it and at least q n at it or below (Smith 2011, with ties). One row more or less changes q n by
    q and either count by one or nothing, so the score by at most max(q, 1 - q).

    >>> import random
    >>> noisy_quantile([0, 0, 500, 500, 1, 0], 0.5, epsilon=1.0, entropy=random.Random(5)) in (2, 3)
    True
    """
    if not 0 <= q <= 1:
        raise ValueError(f"a quantile is between 0 and 1, not {q}")
    rows = np.asarray(counts, dtype=np.int64)
    if rows.ndim != 1 or (rows < 0).any():
        raise ValueError("counts are a list of whole numbers, none below 0")
    if rows_per_person < 1:
        raise ValueError(f"a person has at least one row, not {rows_per_person}")
    a, b = exact(q).as_integer_ratio()
    wanted = a * int(rows.sum())
    below_or_at: list[int] = np.cumsum(rows).tolist()  # whole numbers of any size: none of them can be too many
    below_it = [0, *below_or_at[:-1]]
    scores = [-max(0, wanted - b * to, b * up - wanted) for to, up in zip(below_or_at, below_it, strict=True)]
    return choose(scores, sensitivity=max(a, b - a) * rows_per_person, epsilon=epsilon, entropy=entropy)
