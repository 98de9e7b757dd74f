"""Estimates of population uniqueness against populations whose uniqueness is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.core.types import Ints
from querygate.methods.risk.pitman import expected_uniques, pitman_uniques
from querygate.methods.risk.snb import shlosser, snb_uniques
from querygate.methods.risk.uniqueness import (
    PopulationUniqueness,
    Uniques,
    explain_uniqueness,
    pitman,
    population_uniqueness,
    sample_uniqueness,
    snb,
    zayatz,
)
from tests.seeds import cases
from tests.unit.methods.risk.populations import drawn, ewens_pitman, slide_negative_binomial, survey

REPETITIONS = 5


def median_error(population: Ints, fraction: float, method: str) -> float:
    """The median relative error over samples."""
    people, true = int(population.sum()), sample_uniqueness(population)
    found = []
    for seed in range(REPETITIONS):
        got = population_uniqueness(drawn(population, fraction, np.random.default_rng(seed)), people)
        by = {one.method: one.share for one in (*got.estimates, got.chosen)} | {"chosen": got.share}
        share = by[method]
        found.append(math.inf if share is None else share / true - 1)
    return float(np.median(np.abs(found)))


@pytest.mark.parametrize(
    ("fraction", "method", "error"),
    [(0.3, "snb", 0.08), (0.5, "snb", 0.05), (0.8, "snb", 0.05), (0.8, "zayatz", 0.05), (0.099, "chosen", 0.2)],
)
def test_slide_negative_binomial_population(fraction: float, method: str, error: float) -> None:
    assert median_error(slide_negative_binomial(np.random.default_rng(1)), fraction, method) < error


def test_pitman_population() -> None:
    population = ewens_pitman(np.random.default_rng(2))
    for fraction in (0.02, 0.05, 0.1, 0.5):
        assert median_error(population, fraction, "pitman") < 0.15


@pytest.mark.parametrize(
    ("fraction", "error"), [(0.02, 0.35), (0.05, 0.1), (0.099, 0.05), (0.3, 0.15), (0.5, 0.03), (0.8, 0.03)]
)
def test_the_rule_on_people(fraction: float, error: float) -> None:
    assert median_error(survey(np.random.default_rng(3)), fraction, "chosen") < error


def test_just_above_a_tenth_the_rule_errs_to_the_safe_side() -> None:
    """There the published rule leaves the Pitman model, which would still be right: nearly twice as high."""
    population = survey(np.random.default_rng(3))
    found = population_uniqueness(drawn(population, 0.12, np.random.default_rng(0)), int(population.sum()))
    assert found.share is not None
    assert 1.5 < found.share / sample_uniqueness(population) < 2
    assert median_error(population, 0.12, "pitman") < 0.05


def test_zayatz_is_too_high_for_small_samples() -> None:
    assert median_error(survey(np.random.default_rng(3)), 0.02, "zayatz") > 1


@pytest.mark.parametrize(("theta", "alpha"), [(5.0, 0.3), (40.0, 0.0), (-0.2, 0.5)])
def test_expected_uniques_against_the_process(theta: float, alpha: float) -> None:
    chance, people = np.random.default_rng(4), 300
    uniques = [(ewens_pitman(chance, theta, alpha, people) == 1).sum() for _ in range(300)]
    error = float(np.std(uniques) / math.sqrt(len(uniques)))
    assert abs(np.mean(uniques) - expected_uniques(theta, alpha, people)) < 4 * error


def test_expected_uniques_for_many_people_is_the_published_form() -> None:
    theta, alpha, people = 30.0, 0.4, 10**7
    published = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * people**alpha
    assert expected_uniques(theta, alpha, people) == pytest.approx(published, rel=1e-4)


def test_shlosser_finds_the_number_of_classes() -> None:
    population = slide_negative_binomial(np.random.default_rng(5))
    sample = drawn(population, 0.5, np.random.default_rng(6))
    assert shlosser(sample, 0.5) == pytest.approx(population.size, rel=0.03)


def test_snb_equations_hold_for_what_is_expected_of_the_model() -> None:
    """Expected numbers of classes of one and two records, summed up from their definition, give back S_1."""
    alpha, beta, classes, p = 0.7, 0.2, 100_000, 0.5
    size = np.arange(1, 200)
    share = np.exp([math.lgamma(alpha + j - 1) - math.lgamma(alpha) - math.lgamma(j) for j in size])
    share *= beta**alpha * (1 - beta) ** (size - 1)
    assert share.sum() == pytest.approx(1)
    expected = [
        classes
        * sum(s * math.comb(j, f) * p**f * (1 - p) ** (j - f) for j, s in zip(size.tolist(), share, strict=True))
        for f in range(1, 60)
    ]
    sample = np.repeat(np.arange(1, 60), np.round(expected).astype(np.int64))
    people = round(classes * float(share @ size))
    assert snb_uniques(sample, people) == pytest.approx(classes * beta**alpha, rel=0.02)


# -- edges ---------------------------------------------------------------------------------------------------------


def test_nobody_alone_in_the_sample() -> None:
    found = population_uniqueness(np.array([2, 2, 5]), 1000)
    assert [one.share for one in found.estimates] == [0.0, 0.0, 0.0]
    assert found.share == 0.0
    assert found.of_sample_uniques is None


def test_everybody_alone_in_the_sample() -> None:
    found = population_uniqueness(np.ones(50, dtype=np.int64), 1000)
    assert [one.share for one in found.estimates] == [1.0, 1.0, 1.0]


def test_the_whole_population_is_counted() -> None:
    found = population_uniqueness(np.array([1, 1, 2]), 4)
    assert (found.chosen, found.estimates, found.fraction) == (Uniques("counted", 0.5), (), 1.0)


def test_nothing() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert sample_uniqueness(nobody) == 0.0
    assert population_uniqueness(nobody, 0).share == 0.0
    assert population_uniqueness(nobody, 10).share == 0.0


def test_a_population_smaller_than_the_sample_is_no_population() -> None:
    with pytest.raises(ValueError, match="at least as many"):
        population_uniqueness(np.array([3, 3]), 5)


def test_equations_without_solution_give_none_and_a_reason() -> None:
    sizes = np.array([1, 1, 1, 40])  # no class of two
    found = snb(sizes, 100)
    assert found.share is None
    assert found.why
    assert population_uniqueness(sizes, 100).chosen.method == "zayatz"
    assert pitman_uniques(np.array([1, 1, 1, 40]), 100) is not None


def test_zayatz_by_hand() -> None:
    """Sample of 3 from 6: one alone, one pair; P(f=1 | F=1) = 1/2 and P(f=1 | F=2) = 2 x 3/6 x 3/5 = 3/5."""
    share = zayatz(np.array([1, 2]), 6).share
    assert share == pytest.approx((0.5 / (0.5 + 0.6)) / 3)


@settings(max_examples=cases(60))
@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(0, 5000))
def test_any_estimate_is_a_share(sizes: list[int], more: int) -> None:
    array = np.array(sizes, dtype=np.int64)
    found = population_uniqueness(array, int(array.sum()) + more)
    for one in (*found.estimates, found.chosen):
        assert one.share is None or 0.0 <= one.share <= 1.0
        assert (one.share is None) == bool(one.why)
    assert found.share is not None
    assert explain_uniqueness(found).endswith(".")


@settings(max_examples=cases(30))
@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.integers(2, 50))
def test_the_more_people_the_fewer_are_alone_by_pitman(sizes: list[int], times: int) -> None:
    array = np.array(sizes, dtype=np.int64)
    few, many = (pitman(array, int(array.sum()) * factor).share for factor in (2, 2 * times))
    assert (few is None) == (many is None)
    assert few is None or many is None or many <= few + 1e-9


def test_a_missing_estimate_is_told() -> None:
    text = explain_uniqueness(PopulationUniqueness(10, 100, 0.5, Uniques("snb", None, "no solution")))
    assert "cannot be estimated" in text
