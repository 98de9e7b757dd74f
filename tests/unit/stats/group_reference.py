"""Two groups: random classes with all ways to put their records into the first group, the second or neither, and what
the database makes of each. Nothing here shares code with the product."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement, product

import numpy as np
from scipy.special import stdtr
from scipy.stats import mannwhitneyu

from querygate.stats import GroupCells

Data = tuple[float, ...]
Groups = tuple[Data, Data]
MOST_DATA_SETS = 600


def make_groups(random: np.random.Generator) -> tuple[GroupCells, list[Groups]] | None:
    """Small classes of whole numbers with all their data sets; None where there are too many, or none at all."""
    number = int(random.integers(1, 4))
    low = random.integers(-3, 5, number)
    high = low + random.integers(0, 3, number)
    size = random.integers(1, 4, number)
    first, second = (np.sort(random.integers(0, size[:, None] + 1, (number, 2)), axis=1) for _ in range(2))
    if np.any(first[:, 0] + second[:, 0] > size):
        return None
    every: list[Groups] = [((), ())]
    for i in range(number):
        values = range(low[i], high[i] + 1)
        options = [
            (one, two)
            for a, b in product(range(first[i, 0], first[i, 1] + 1), range(second[i, 0], second[i, 1] + 1))
            if a + b <= size[i]
            for one in combinations_with_replacement(values, a)
            for two in combinations_with_replacement(values, b)
        ]
        if len(every) * len(options) > MOST_DATA_SETS:
            return None
        every = [(a + one, b + two) for a, b in every for one, two in options]
    return GroupCells(low, high, size, *first.T, *second.T, integer=True), every


def won(groups: Groups) -> float | None:
    """Mann-Whitney's U, as scipy counts it."""
    one, two = groups
    return float(mannwhitneyu(one, two, method="asymptotic").statistic) if one and two else None


def superiority(groups: Groups) -> float | None:
    found = won(groups)
    return None if found is None else found / (len(groups[0]) * len(groups[1]))


def variance(data: Data) -> float:
    mean = sum(data) / len(data)
    return sum((value - mean) ** 2 for value in data) / (len(data) - 1)


def difference(groups: Groups) -> float | None:
    one, two = groups
    return sum(one) / len(one) - sum(two) / len(two) if one and two else None


def errors(groups: Groups) -> list[float] | None:
    """var_samp / n of both groups, None where Welch's t has no value."""
    if min(map(len, groups)) < 2:
        return None
    found = [variance(data) / len(data) for data in groups]
    return found if sum(found) > 0.0 else None


def welch_t(groups: Groups) -> float | None:
    found = errors(groups)
    return None if found is None else float(difference(groups) or 0.0) / math.sqrt(sum(found))


def welch_p(groups: Groups) -> float | None:
    found, t = errors(groups), welch_t(groups)
    if found is None or t is None:
        return None
    freedom = sum(found) ** 2 / sum(e**2 / (len(data) - 1) for e, data in zip(found, groups, strict=True))
    return 2 * float(stdtr(freedom, -abs(t)))


TRUTHS: dict[str, Callable[[Groups], float | None]] = {
    "mean_difference": difference,
    "welch_t": welch_t,
    "welch_p": welch_p,
    "mann_whitney": won,
    "superiority": superiority,
}
