"""Counts, sums and means agree in distribution with OpenDP, given the same rows and epsilon."""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from querygate.methods.dp import MECHANISMS, Grid, noisy_mean, noisy_sum
from tests.unit.methods.dp.empirical import FAILURE, Floats, sample

dp: Any = importlib.import_module("opendp.prelude")
dp.enable_features("contrib")

SIZE, EPSILON = 1_500, 0.5
LOW, HIGH = 40, 300
ROWS: list[int] = np.random.default_rng(1).normal(130, 40, 60).astype(int).tolist()
GRID = Grid(LOW, HIGH, 1)
INSIDE = [GRID.steps(value) for value in ROWS]


def whole_rows() -> Any:
    return dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def agree(ours: Floats, theirs: Floats) -> bool:
    """Kolmogorov and Smirnov; with ties it is on the careful side, so a wrong scale is looked for below as well."""
    return bool(ks_2samp(ours, theirs).pvalue > FAILURE)


def counts(epsilon: float) -> Floats:
    mechanism = MECHANISMS.get("geometric")
    return sample(SIZE, mechanism.release, len(ROWS), sensitivity=1, epsilon=epsilon, entropy=random.Random(1))


def opendp_counts() -> Floats:
    measurement = whole_rows() >> dp.t.then_count() >> dp.m.then_laplace(scale=1 / EPSILON)
    assert measurement.map(1) == pytest.approx(EPSILON)
    return sample(SIZE, measurement, ROWS)


def test_counts() -> None:
    assert agree(counts(EPSILON), opendp_counts())
    assert not agree(counts(EPSILON / 2), opendp_counts())


def test_sums() -> None:
    measurement = whole_rows() >> dp.t.then_clamp((LOW, HIGH)) >> dp.t.then_sum()
    measurement = measurement >> dp.m.then_laplace(scale=HIGH / EPSILON)
    assert measurement.map(1) == pytest.approx(EPSILON)
    ours = sample(SIZE, noisy_sum, sum(INSIDE), GRID, epsilon=EPSILON, entropy=random.Random(2))
    assert agree(ours, sample(SIZE, measurement, ROWS))


def test_means() -> None:
    """OpenDP has the sum of distances from the middle, in half steps, and the count, each for half of epsilon."""
    centred = [2 * step - LOW - HIGH for step in INSIDE]
    clamped = whole_rows() >> dp.t.then_clamp((LOW - HIGH, HIGH - LOW)) >> dp.t.then_sum()
    top = clamped >> dp.m.then_laplace(scale=(HIGH - LOW) / (EPSILON / 2))
    bottom = whole_rows() >> dp.t.then_count() >> dp.m.then_laplace(scale=1 / (EPSILON / 2))
    assert top.map(1) + bottom.map(1) == pytest.approx(EPSILON)
    theirs = sample(SIZE, top, centred) / np.maximum(sample(SIZE, bottom, centred), 1) / 2 + (LOW + HIGH) / 2
    ours = sample(SIZE, noisy_mean, sum(INSIDE), len(INSIDE), GRID, epsilon=EPSILON, entropy=random.Random(3))
    assert agree(ours, np.clip(theirs, LOW, HIGH))


def test_gaussian_noise() -> None:
    mechanism = MECHANISMS.get("gaussian-discrete")
    arguments = {"sensitivity": 1, "epsilon": EPSILON, "delta": 1e-6, "entropy": random.Random(4)}
    sigma = mechanism.release(0, **arguments).scale
    measurement = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=sigma)
    assert mechanism.cost(epsilon=EPSILON, delta=1e-6).rho >= measurement.map(1) * (1 - 1e-9)
    assert agree(sample(SIZE, mechanism.release, 60, **arguments), sample(SIZE, measurement, 60))
