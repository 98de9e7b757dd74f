"""Choosing: usually what is best, never what is refused."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from querygate.methods.dp import noisy_quantile
from querygate.methods.dp.selection import choose


def test_the_mode_is_found_when_it_is_clear() -> None:
    entropy = random.Random(1)
    counts = [40, 400, 38, 0, 12]
    picked = [choose(counts, sensitivity=1, epsilon=0.5, entropy=entropy, monotonic=True) for _ in range(200)]
    assert set(picked) == {1}


def test_equal_scores_are_equally_likely() -> None:
    entropy = random.Random(2)
    picked = np.bincount([choose([7.5] * 4, sensitivity=1, epsilon=1.0, entropy=entropy) for _ in range(2000)])
    assert np.abs(picked / 2000 - 0.25).max() < 0.05
    assert choose([3], sensitivity=1, epsilon=1.0, entropy=entropy) == 0


@pytest.mark.parametrize(
    ("scores", "wrong"),
    [
        ([], {}),
        ([1, math.nan], {}),
        ([1, math.inf], {}),
        ([1, 2], {"epsilon": 0.0}),
        ([1, 2], {"epsilon": math.inf}),
        ([1, 2], {"sensitivity": 0.0}),
        ([1, 2], {"sensitivity": math.nan}),
    ],
)
def test_what_cannot_be_chosen_is_refused(scores: list[float], wrong: dict[str, float]) -> None:
    arguments = {"sensitivity": 1.0, "epsilon": 1.0} | wrong
    with pytest.raises(ValueError, match=r"candidate|score|epsilon|sensitivity"):
        choose(scores, entropy=random.Random(1), **arguments)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_quantiles_are_near(q: float) -> None:
    """With a large epsilon the place is a quantile; with a small one few rows lie between."""
    rng, entropy = np.random.default_rng(3), random.Random(3)
    values = np.clip(rng.normal(130, 20, 5000).round().astype(int), 40, 300) - 40
    counts = np.bincount(values, minlength=261).tolist()
    for epsilon, allowed in ((200.0, 0.0), (0.5, 0.02)):
        place = noisy_quantile(counts, q, epsilon=epsilon, entropy=entropy)
        assert (values < place).mean() <= q + allowed
        assert (values <= place).mean() >= q - allowed


def test_many_ties_at_the_median() -> None:
    assert noisy_quantile([1, 5, 4, 0], 0.5, epsilon=100.0, entropy=random.Random(1)) == 1


def test_no_rows_and_a_long_grid() -> None:
    entropy = random.Random(4)
    places = {noisy_quantile([0] * 50, 0.5, epsilon=1.0, entropy=entropy) for _ in range(200)}
    assert len(places) > 30
    counts = [0] * 100_000
    counts[60_000] = 2_000
    assert noisy_quantile(counts, 0.5, epsilon=1.0, entropy=entropy) == 60_000


@pytest.mark.parametrize("q", [0.1234567890123457, 1e-300, 5e-324])
def test_no_share_has_too_many_decimals_for_any_number_of_rows(q: float) -> None:
    for rows in (0, 1, 500, 2**60):
        assert noisy_quantile([rows, 0, 0], q, epsilon=1.0, entropy=random.Random(1)) in range(3)


@pytest.mark.parametrize(("counts", "q", "rows"), [([1, 2], 1.5, 1), ([1, -2], 0.5, 1), ([1, 2], 0.5, 0)])
def test_quantiles_that_are_none_are_refused(counts: list[int], q: float, rows: int) -> None:
    with pytest.raises(ValueError, match=r"quantile|counts|row"):
        noisy_quantile(counts, q, epsilon=1.0, entropy=random.Random(1), rows_per_person=rows)
