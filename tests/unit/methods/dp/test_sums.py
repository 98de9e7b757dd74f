"""Sensitivities by trying every row; intervals of sums and means; what is shown before and after."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.optimize import minimize

from querygate.core.budget_types import Cost
from querygate.methods.dp import (
    MECHANISMS,
    Grid,
    consistent,
    explain_accuracy,
    mean_cost,
    needed_epsilon,
    noisy_mean,
    noisy_sum,
    non_negative,
)
from querygate.methods.dp.accuracy import within
from querygate.methods.dp.sensitivity import count_sensitivity
from tests.seeds import seeds

GRIDS = [Grid(40, 300, 1), Grid(-20, 5, 0.5), Grid(0, 1, 0.001), Grid(-3, -1, 0.25), Grid(0.1, 0.7, 0.1)]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_no_row_changes_more(grid: Grid) -> None:
    rng = np.random.default_rng(1)
    tried = [grid.low, grid.high, -math.inf, math.inf, *rng.uniform(grid.low - 1, grid.high + 1, 200).tolist()]
    steps = [grid.steps(value) for value in tried]
    centred = [2 * step - grid.first - grid.last for step in steps]
    assert max(map(abs, steps)) == grid.sum_sensitivity()
    assert max(map(abs, centred)) == grid.centred_sensitivity()
    assert grid.sum_sensitivity(3) == 3 * grid.sum_sensitivity()
    assert count_sensitivity(4) == 4
    for value, step in zip(tried[4:], steps[4:], strict=True):
        clamped = min(max(value, grid.low), grid.high)
        assert abs(step * grid.step - clamped) <= grid.step / 2 * (1 + 1e-9)


@pytest.mark.parametrize("ends", [(3, 3, 1), (5, 3, 1), (0, 1, 0), (0, math.inf, 1), (0, 0.4, 1), (0, math.nan, 1)])
def test_a_domain_that_is_none_is_refused(ends: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="domain"):
        Grid(*ends)


def test_people_have_rows() -> None:
    with pytest.raises(ValueError, match="row"):
        count_sensitivity(0)


def test_bounded_mechanisms_make_no_sums() -> None:
    with pytest.raises(ValueError, match="bounds"):
        noisy_sum(10, GRIDS[0], epsilon=1.0, entropy=random.Random(1), mechanism="snapping")


@pytest.mark.parametrize("name", ["geometric", "laplace", "gaussian-discrete"])
@pytest.mark.parametrize(("low", "high", "rows"), [(40, 300, 300), (-20, 5, 25), (0, 1, 3)])
def test_intervals_of_sums_and_means(name: str, low: float, high: float, rows: int) -> None:
    grid = Grid(low, high, 0.5)
    entropy, rng = random.Random(f"{name} {low}"), np.random.default_rng(2)
    steps = [grid.steps(value) for value in rng.triangular(low, low, high, rows)]
    total, times = sum(steps), 150
    arguments = {"epsilon": 0.8, "entropy": entropy, "mechanism": name}
    arguments |= {"delta": 1e-4} if name.startswith("gaussian") else {}
    sums = [noisy_sum(total, grid, **arguments) for _ in range(times)]
    means = [noisy_mean(total, rows, grid, **arguments) for _ in range(times)]
    true = total * 0.5
    least = 0.95 - 5 * math.sqrt(0.95 * 0.05 / times)
    assert sum(one.low95 <= true <= one.high95 for one in sums) / times > least
    assert sum(one.low95 <= true / rows <= one.high95 for one in means) / times > least
    assert all(low <= one.low95 <= one.value <= one.high95 <= high for one in means)
    assert {one.mechanism for one in (*sums, *means)} == {name}
    if rows == 300:
        assert np.median([one.high95 - one.low95 for one in means]) < (high - low) / 4


def test_sums_on_a_whole_grid_are_whole() -> None:
    shown = noisy_sum(1000, Grid(0, 100, 5), epsilon=0.5, entropy=random.Random(1))
    assert isinstance(shown.value, int)
    assert shown.value % 5 == 0
    assert shown.scale == 100 / 0.5


def test_the_mean_of_nothing_is_in_the_domain() -> None:
    shown = [noisy_mean(0, 0, Grid(40, 300, 1), epsilon=0.1, entropy=random.Random(seed)) for seed in range(30)]
    assert all(40 <= one.low95 <= one.value <= one.high95 <= 300 for one in shown)


def test_what_a_mean_costs() -> None:
    assert mean_cost(epsilon=0.3) == Cost(0.3, 0.0, 0.0225)
    gaussian = mean_cost(epsilon=0.3, delta=1e-6, mechanism="gaussian-discrete")
    half = MECHANISMS.get("gaussian-discrete").cost(epsilon=0.15, delta=5e-7)
    assert (gaussian.epsilon, gaussian.delta) == (0.3, 1e-6)
    assert gaussian.rho == pytest.approx(2 * half.rho)
    assert gaussian.rho >= 2 * half.rho


def test_accuracy_before_a_policy_is_written() -> None:
    assert explain_accuracy(400, 0.1) == "a count of 400 will be within 30 in 95 of 100 answers"
    for distance in (3, 30, 300):
        epsilon = needed_epsilon(distance)
        assert within(epsilon) <= distance < within(epsilon * 0.995)
    for name in MECHANISMS:
        delta = 1e-6 if MECHANISMS.get(name).approximate else 0.0
        epsilon = needed_epsilon(50, mechanism=name, delta=delta, sensitivity=2)
        assert within(epsilon, mechanism=name, delta=delta, sensitivity=2) <= 50
    assert needed_epsilon(10**9) == 1e-4
    for wrong in (0, -3, math.nan, 1e-9):
        with pytest.raises(ValueError, match=r"within|distance"):
            needed_epsilon(wrong, mechanism="laplace")


@pytest.mark.parametrize("seed", seeds(12))
def test_consistent_counts_are_the_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = (rng.poisson(6, 5) + rng.laplace(0, 6, 5)).tolist()
    total, variances = float(rng.normal(25, 12)), (1.0, float(rng.choice([0.0, 0.5, 4.0])))
    x, added = consistent(parts, total, part_variance=variances[0], total_variance=variances[1])
    assert min(x) >= 0
    assert sum(x) == pytest.approx(added)

    def badness(y: np.ndarray) -> float:
        off = 0.0 if variances[1] == 0 else (y.sum() - total) ** 2 / variances[1]
        return float(((y - parts) ** 2).sum() / variances[0] + off)

    limits = [] if variances[1] else [{"type": "eq", "fun": lambda y: y.sum() - max(total, 0)}]
    best = minimize(badness, np.full(5, max(total, 0) / 5), bounds=[(0, None)] * 5, constraints=limits, method="SLSQP")
    assert badness(np.array(x)) <= badness(best.x) + 1e-3
    if variances[1] == 0:
        assert added == pytest.approx(max(total, 0))
    whole, whole_sum = consistent(parts, total, total_variance=variances[1], whole=True)
    assert all(isinstance(part, int) and part >= 0 for part in whole)
    assert sum(whole) == whole_sum
    assert max(abs(a - b) for a, b in zip(whole, x, strict=True)) <= 1


def test_consistency_of_odd_cases() -> None:
    assert consistent([-3, -8], -10) == ([0.0, 0.0], 0.0)
    assert consistent([5], 9, total_variance=0) == ([9.0], 9.0)
    assert consistent([10, 20], 30) == ([10.0, 20.0], 30.0), "what is consistent stays"
    assert non_negative([-2, 0, 3.5]) == [0, 0, 3.5]
    for wrong in (([], 3, {}), ([1], math.nan, {}), ([1], 3, {"part_variance": 0.0}), ([1], 3, {"total_variance": -1})):
        with pytest.raises(ValueError, match=r"parts|variance"):
            consistent(wrong[0], wrong[1], **wrong[2])
