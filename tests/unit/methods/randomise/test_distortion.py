"""Noise on numbers and small domains: their bounds hold whatever the data, and are used up."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.randomise import (
    amplification,
    certain_width,
    distortion,
    distortion_of_spread,
    reconstructed,
    responses,
    small_domain_matrix,
    small_domains,
    uniform,
    worst_known_belief,
)
from tests.each import each
from tests.seeds import seeds


@pytest.mark.parametrize("noise", ["laplace", "normal"])
@pytest.mark.parametrize("parts", [1, 2, 10, 40])
@pytest.mark.parametrize("gamma", [1.0, 1.5, 9.0, 1e6])
def test_noise_amplifies_by_what_is_allowed_and_no_less(noise: str, parts: int, gamma: float) -> None:
    matrix, ratio = distortion(parts, gamma, noise)  # type: ignore[arg-type]
    assert matrix.shape == (parts + 1, parts + 1)
    assert np.allclose(matrix.sum(axis=1), 1)
    assert amplification(matrix) <= gamma * (1 + 1e-12)
    assert amplification(matrix) == pytest.approx(gamma, rel=1e-6)
    assert 0 < ratio <= 1
    assert (np.argmax(matrix, axis=1) == np.arange(parts + 1)).all() or gamma == 1


def test_response_keeps_more_for_the_same_amplification_unless_it_is_small() -> None:
    """The mean way from part to part: what the docs advise rests on it."""
    place = np.arange(40)
    away = np.abs(place[:, None] - place[None, :])

    def way(gamma: float) -> float:
        return float(
            (distortion(40, gamma, "laplace")[0][:40, :40] * away).sum() / (uniform(41, gamma)[:40, :40] * away).sum()
        )

    assert way(4.0) < 1.0 < way(100.0)


def test_noise_of_a_spread_stays_near_and_says_how_near() -> None:
    for noise in ("laplace", "normal"):
        matrix, _ = distortion_of_spread(40, 0.05, noise)  # type: ignore[arg-type]
        place = np.arange(40)
        middle = matrix[20, :40]
        assert np.sqrt((middle * (place - 20) ** 2).sum()) == pytest.approx(2.0, abs=0.15)
        assert amplification(matrix) > 1e5
        assert 0.05 < certain_width(matrix) < 0.25
        assert (place[(np.cumsum(matrix[:40, 20] / matrix[:40, 20].sum()) > 0.025)][0]) >= 20 - 0.25 * 40
    assert certain_width(distortion(40, 1.0, "normal")[0]) == pytest.approx(0.95, abs=0.03)


def test_shapes_come_back_by_expectation_maximisation() -> None:
    """Agrawal and Srikant (2000) reconstruct a plateau and two triangles; their figures are not at hand, the shapes are
    from memory."""
    place = np.arange(40)
    plateau = np.where((place >= 10) & (place < 30), 1.0, 0.0)
    triangles = np.maximum(0, 10 - np.abs(place - 10)) + np.maximum(0, 10 - np.abs(place - 30))
    rng = np.random.default_rng(2000)
    for shape in (plateau, triangles):
        truth = np.append(shape / shape.sum(), 0.0)
        matrix, _ = distortion_of_spread(40, 0.1, "normal")
        values = rng.choice(41, 20_000, p=truth)
        counts = np.bincount(responses(values, matrix, rng), minlength=41)
        made = (reconstructed(counts, matrix, smooth=True), counts / 20_000)
        off, released = (np.abs(np.cumsum(shares - truth)).max() for shares in made)
        assert off < released / 2, (off, released)


@each("seed", seeds(200))
def test_knowing_the_shares_never_tells_more_than_is_allowed(seed: int) -> None:
    """Ties, values that nobody has, one value that nearly everybody has, beliefs of every size."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, rng.choice([2, 5, 50, 1000]), rng.integers(1, 40))
    rho1, rho2 = sorted(rng.uniform(0.01, 0.99, 2))
    groups = small_domains(counts, rho1, rho2)
    matrix = small_domain_matrix(counts, groups, rho1, rho2)
    assert sorted(one for group in groups for one in group) == list(range(counts.size))
    assert np.allclose(matrix.sum(axis=1), 1)
    assert worst_known_belief(counts, matrix, rho1) <= rho2 + 1e-9


def test_many_values_keep_a_share_of_rho2_where_response_keeps_hardly_any() -> None:
    """Chaytor and Wang (2010): what small domains are for. 1,000 equally frequent values, from 10 to 50 %."""
    counts = np.full(1000, 30)
    matrix = small_domain_matrix(counts, small_domains(counts, 0.1, 0.5), 0.1, 0.5)
    assert matrix[0, 0] == pytest.approx(0.5)
    assert uniform(1000, 9.0)[0, 0] == pytest.approx(9 / 1008)
    assert worst_known_belief(counts, matrix, 0.1) == pytest.approx(0.5)
    assert amplification(matrix) == float("inf")
