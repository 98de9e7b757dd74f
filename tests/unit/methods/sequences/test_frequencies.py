"""Allele frequencies: counted, guarded, and attacked by both published tests."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.methods.sequences import (
    TESTS,
    Alignment,
    BadSequences,
    FrequencyGuard,
    allele_shares,
    check_frequencies,
    frequent_sites,
    homer,
    likelihood_ratio,
    measured_power,
    most_power,
    of_texts,
    power,
    released_sites,
    site_frequencies,
    sites_within,
)
from tests.unit.methods.sequences.alignments import anything, woodmouse
from tests.unit.methods.sequences.genotypes import people, population


def lines(alignment: Alignment, sites: Ints) -> list[tuple[int, str, int, float]]:
    found = site_frequencies(alignment)
    return [(s + 1, found.letters[s], int(found.known[s]), round(float(found.other[s]), 4)) for s in sites.tolist()]


def test_homer_by_hand() -> None:
    """The worked statistic: D is 0.2, 0.1, 0.1 and -0.1; their mean 0.075 over its error 0.0629."""
    score = homer(np.array([[0, 1, 0.5, 0]]), np.array([0.1, 0.7, 0.5, 0.4]), np.array([0.3, 0.6, 0.4, 0.3]))
    assert score == pytest.approx(0.075 / np.sqrt(0.0475 / 3 / 4))


def test_likelihood_ratio_by_hand() -> None:
    score = likelihood_ratio(np.array([[0, 1, np.nan]]), np.array([0.2, 0.5, 0.9]), np.array([0.4, 0.25, 0.1]))
    assert score == pytest.approx(np.log(0.8 / 0.6) + np.log(0.5 / 0.25))


def test_somebody_of_whom_nothing_is_known_scores_nothing() -> None:
    nobody, share = np.full((1, 3), np.nan), np.full(3, 0.3)
    assert [float(test(nobody, share, share)[0]) for test in TESTS.values()] == [0, 0]
    assert homer(np.zeros((2, 1)), np.array([0.2]), np.array([0.4])).tolist() == [0, 0]  # no spread over one site


@pytest.mark.parametrize("seed", range(4))
def test_frequencies_are_those_counted_letter_by_letter(seed: int) -> None:
    alignment = anything(20, 30, seed, letters="ACGTRYBN-?")
    assert check_frequencies(alignment.texts(), lines(alignment, np.arange(30)), rare=0, k=0).untrue == 0


def test_the_check_sees_what_is_wrong() -> None:
    texts = ["AC", "AC", "RT", "GN"]
    assert check_frequencies(texts, [(1, "A", 4, 0.376)], rare=0.05, k=1).untrue == 1
    assert check_frequencies(texts, [(1, "G", 4, 0.625)], rare=0.05, k=1).untrue == 1
    assert check_frequencies(texts, [(2, "C", 4, 0.3333)], rare=0.05, k=1).untrue == 1
    assert check_frequencies(texts, [(2, "C", 3, 0.3333)], rare=0.05, k=2).rare == 1
    assert check_frequencies(texts, [(1, "A", 4, 0.375)], rare=0.05, k=1).breaks(0.1)


def test_members_are_found_as_theory_says_and_not_behind_the_guard() -> None:
    """300 people, frequencies of the population known exactly: the strongest attacker that the bound is about."""
    rng = np.random.default_rng(5)
    shares = population(1_500, rng)
    pool, others = people(300, shares, rng), people(1_000, shares, rng)
    found = site_frequencies(pool)
    for guard in (None, FrequencyGuard()):
        sites = found.varied if guard is None else released_sites(found, guard)
        known = np.where(found.common == 0, shares, 1 - shares)[sites]
        inside, outside = (allele_shares(some, found.common)[:, sites] for some in (pool, others))
        pooled = found.other[sites]
        attacked = [power(test(inside, pooled, known), test(outside, pooled, known)) for test in TESTS.values()]
        most = most_power(found.known[sites])
        if guard is None:
            assert min(attacked) > 0.5
            assert attacked[1] == pytest.approx(most, abs=0.06)
        else:
            assert most <= guard.power
            assert max(attacked) < guard.power + 0.05  # 300 people: a standard error of 0.017


def test_halves_of_the_records_show_it_too() -> None:
    rng = np.random.default_rng(6)
    records = people(240, population(900, rng), rng)
    before, after = (measured_power(records, guard, np.random.default_rng(0)) for guard in (None, FrequencyGuard()))
    assert before is not None
    assert after is not None
    assert min(before.homer, before.likelihood_ratio) > 0.3
    assert max(after.homer, after.likelihood_ratio) < 0.16


def test_rare_alleles_give_people_away_and_stay_out() -> None:
    """Everybody has one allele that nobody else has: no frequency of it is released, whatever is wanted."""
    size = 40
    own = of_texts(["".join("G" if at == one else "A" for at in range(size)) for one in range(size)])
    found = site_frequencies(own)
    assert released_sites(found, FrequencyGuard(), range(size)).size == 0
    shares = allele_shares(own, found.common)
    scores = likelihood_ratio(shares, found.other, np.full(size, 1e-3))
    assert power(scores, likelihood_ratio(np.zeros((100, size)), found.other, np.full(size, 1e-3))) == 1.0


def test_what_is_wanted_comes_first_within_the_bound() -> None:
    rng = np.random.default_rng(7)
    found = site_frequencies(people(100, population(60, rng, 0.2), rng))
    wanted = [59, 3, 3, 20, *range(60)]
    sites = released_sites(found, FrequencyGuard(), wanted).tolist()
    assert sites[:3] == [59, 3, 20]
    assert len(sites) == sites_within(0.1, 100) == 13
    assert len(released_sites(found, FrequencyGuard())) == 13


def test_woodmice_are_too_few_for_most_sites() -> None:
    found = site_frequencies(woodmouse())
    assert most_power(found.known[found.varied]) > 0.5
    assert released_sites(found, FrequencyGuard()).size == sites_within(0.1, 14) == 1


@pytest.mark.parametrize("texts", [["A"], ["AAA"] * 5, ["???"] * 5, ["NN", "--"], ["R"] * 9])
def test_nothing_to_tell(texts: list[str]) -> None:
    """One person, no differences, nothing known; all with both bases are half and half, and too few."""
    alignment = of_texts(texts)
    found = site_frequencies(alignment)
    assert released_sites(found, FrequencyGuard(k=5)).size == 0
    assert frequent_sites(found, FrequencyGuard(k=5)).size == 0
    assert measured_power(alignment, None, np.random.default_rng(0)) is None


@pytest.mark.parametrize("given", [{"power": 0.05}, {"power": float("nan")}, {"power": 1}, {"rare": 0}, {"rare": 0.5}])
def test_bounds_that_guard_nothing_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(BadSequences):
        FrequencyGuard(**given)
