"""Two columns with class sums: the truth of random data is inside what the classes tell, whatever the data."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from querygate.core.types import ClassCells
from querygate.stats import PAIR_STATISTICS
from querygate.stats.cells import meet
from querygate.stats.knowledge.class_pairs import CLASS_PAIR_STATISTICS, ToldPair
from querygate.stats.pairs import PairCells

Arrays = tuple[np.ndarray, np.ndarray]


def centred(x: np.ndarray, y: np.ndarray) -> Arrays:
    return x - x.mean(), y - y.mean()


def covariance(x: np.ndarray, y: np.ndarray, ddof: int = 0) -> float:
    one, two = centred(x, y)
    return float((one * two).sum() / (x.size - ddof))


def slope(x: np.ndarray, y: np.ndarray) -> float:
    return covariance(x, y) / covariance(x, x)


TRUTHS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "covar_pop": covariance,
    "covar_samp": lambda x, y: covariance(x, y, 1),
    "corr": lambda x, y: covariance(x, y) / math.sqrt(covariance(x, x) * covariance(y, y)),
    "regr_slope": slope,
    "regr_intercept": lambda x, y: float(y.mean() - slope(x, y) * x.mean()),
    "regr_r2": lambda x, y: covariance(x, y) ** 2 / (covariance(x, x) * covariance(y, y)),
    "ratio_of_sums": lambda x, y: float(x.sum() / y.sum()),
}
KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "ties": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "spread": lambda rng, n: rng.normal(50, 12, n),
    "constant": lambda rng, n: np.full(n, 7.0),
    "far": lambda rng, n: 1e9 + rng.normal(0, 3, n),
    "tiny": lambda rng, n: 1e-9 * rng.normal(5, 1, n),
}


def drawn(rng: np.random.Generator, x_kind: str, y_kind: str) -> tuple[ToldPair, np.ndarray, np.ndarray]:
    """Classes of one to six members whose hulls and sums are told; of some only a part is, or may be, selected."""
    sizes = rng.integers(1, 7, int(rng.integers(1, 12)))
    x, y = KINDS[x_kind](rng, int(sizes.sum())), KINDS[y_kind](rng, int(sizes.sum()))
    group = np.repeat(np.arange(sizes.size), sizes)
    partial = rng.random(sizes.size) < 0.25
    least = np.where(partial, rng.integers(0, sizes + 1), sizes)
    most = np.where(partial, rng.integers(least, sizes + 1), sizes)
    taken = rng.integers(least, most + 1)
    chosen = np.concatenate([np.flatnonzero(group == c)[: taken[c]] for c in range(sizes.size)])
    return (
        ToldPair(boxes(x, y, group, least, most), told(x, group, least, most), told(y, group, least, most)),
        x[chosen],
        y[chosen],
    )


def hulls(values: np.ndarray, group: np.ndarray) -> Arrays:
    parts = [values[group == c] for c in range(group.max() + 1)]
    room = 0.3 * np.ptp(values)
    return np.array([p.min() - room for p in parts]), np.array([p.max() + room for p in parts])


def boxes(x: np.ndarray, y: np.ndarray, group: np.ndarray, least: np.ndarray, most: np.ndarray) -> PairCells:
    held = most > 0
    ends = [end[held] for end in (*hulls(x, group), *hulls(y, group))]
    return PairCells(*ends, least[held], most[held])


def told(values: np.ndarray, group: np.ndarray, least: np.ndarray, most: np.ndarray) -> ClassCells:
    low, high = hulls(values, group)
    sums = np.array([math.fsum(values[group == c].tolist()) for c in range(group.max() + 1)])
    nothing = np.full(sums.size, np.nan)
    return ClassCells(
        low, high, low, high, np.bincount(group), least, most, np.arange(sums.size),
        np.nextafter(sums, -np.inf), np.nextafter(sums, np.inf), nothing, nothing, integer=False, apart=True,
    )  # fmt: skip


@pytest.mark.parametrize(("x_kind", "y_kind"), [(a, b) for a in KINDS for b in ("ties", "spread", "far")])
def test_the_truth_is_inside(x_kind: str, y_kind: str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(5):
        pair, x, y = drawn(rng, x_kind, y_kind)
        for name, compute in CLASS_PAIR_STATISTICS.items():
            found = compute(pair)
            if found is None:
                continue
            if x.size < (2 if name == "covar_samp" else 1):
                assert found.may_be_null
                continue
            value = TRUTHS[name](x, y)
            assert found.low <= value <= found.high, (name, found, value)


def test_means_of_classes_say_more_than_their_hulls() -> None:
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(30), 10)
    x = group + rng.normal(0, 2, group.size)
    y = 3.0 * x + rng.normal(0, 5, group.size)
    counts = np.full(30, 10)
    pair = ToldPair(boxes(x, y, group, counts, counts), *(told(v, group, counts, counts) for v in (x, y)))
    for name, compute in CLASS_PAIR_STATISTICS.items():
        plain, sharper = PAIR_STATISTICS.get(name).range(pair.cells), compute(pair)
        met = meet(plain, sharper)
        assert met.high - met.low < 0.75 * (plain.high - plain.low), name
