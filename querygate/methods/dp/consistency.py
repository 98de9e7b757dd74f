"""Noisy counts made consistent: none below zero, parts that add up to their total.

This is post-processing: a function of numbers that were released already. It reads no data, so it costs nothing and
takes nothing from the promise (Dwork and Roth 2014, proposition 2.1). It makes counts near zero larger on average,
since noise below zero is taken away and noise above is not; intervals that came with the counts are still about those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def non_negative(counts: Sequence[float]) -> list[float]:
    """Each count, or 0 where it is below."""
    return [max(count, 0) for count in counts]


def consistent(
    parts: Sequence[float],
    total: float,
    *,
    part_variance: float = 1.0,
    total_variance: float = 1.0,
    whole: bool = False,
) -> tuple[list[float], float]:
    """Parts of at least 0 and their total, nearest to the noisy ones in weighted least squares.

    Minimises sum (x - part)² / part_variance + (T - total)² / total_variance with T the sum of all x and every x at
    least 0 (as Hay and others 2010, with bounds). A total that is known has variance 0. With a multiplier m the
    solution is x = max(0, part - m part_variance) and T = total + m total_variance (Karush, Kuhn and Tucker). The sum
    of the x falls with m while T rises, so they meet at one m, which is found by keeping more and more of the largest.

    >>> consistent([52, 31, -4], 74)
    ([49.0, 28.0, 0.0], 77.0)
    >>> consistent([52, 31, -4], 76, whole=True)
    ([49, 29, 0], 78)
    """
    if not parts:
        raise ValueError("there are no parts")
    if not all(map(math.isfinite, (*parts, total, part_variance, total_variance))):
        raise ValueError("parts, total and variances are finite numbers")
    if part_variance <= 0 or total_variance < 0:
        raise ValueError("the variance of a part is above 0, that of the total at least 0")
    total = max(total, 0) if total_variance == 0 else total
    ranked = sorted(parts, reverse=True)
    multiplier, so_far = math.inf, 0.0
    for kept, part in enumerate(ranked, 1):  # if the `kept` largest stay above 0: kept linear equations, one unknown
        so_far += part
        tried = (so_far - total) / (kept * part_variance + total_variance)
        if tried * part_variance >= part and multiplier < math.inf:
            break
        multiplier = tried
    shares = [max(0.0, part - multiplier * part_variance) for part in parts]
    return _whole(shares) if whole else (shares, math.fsum(shares))


def _whole(shares: Sequence[float]) -> tuple[list[float], float]:
    """Rounded to whole numbers that add up to the rounded sum: those with the largest remainders are rounded up."""
    total = math.floor(math.fsum(shares) + 0.5)
    rounded = [math.floor(share) for share in shares]
    up = sorted(range(len(shares)), key=lambda i: rounded[i] - shares[i])[: total - sum(rounded)]
    for i in up:
        rounded[i] += 1
    return list(rounded), total
