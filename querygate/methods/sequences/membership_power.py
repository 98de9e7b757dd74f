"""How many people both tests find in frequencies that would be released, tried on the people themselves.

A half by chance is the pool. Of the others, one half is what the attacker knows of the population, and the rest are
the outsiders. All that varies is released, or what a guard lets pass for that pool. A pool of half the people is easier
to attack than all of them; an attacker with better knowledge of the population is stronger than the one tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.sequences.alignment import Alignment
from querygate.methods.sequences.frequency_guard import FrequencyGuard, released_sites
from querygate.methods.sequences.membership_tests import TESTS, power
from querygate.methods.sequences.site_frequencies import SiteFrequencies, allele_shares, site_frequencies

SPLITS = 10
LEAST_PEOPLE, MOST_PEOPLE, MOST_SITES = 80, 2_000, 5_000
"""With fewer people there are no 20 outsiders; with more, a sample is tried, for time and memory."""


@dataclass(frozen=True, slots=True)
class PowerFound:
    """The share of members found at 5 % false positives, by each test, on average over the splits."""

    homer: float
    likelihood_ratio: float


def measured_power(
    alignment: Alignment, guard: FrequencyGuard | None, rng: np.random.Generator, splits: int = SPLITS
) -> PowerFound | None:
    """None where there are too few people to tell."""
    if alignment.sequences < LEAST_PEOPLE:
        return None
    found = [_split(alignment, guard, rng) for _ in range(splits)]
    mean = np.mean(found, axis=0)
    return PowerFound(float(mean[0]), float(mean[1]))


def _split(alignment: Alignment, guard: FrequencyGuard | None, rng: np.random.Generator) -> list[float]:
    people = rng.permutation(alignment.sequences)[:MOST_PEOPLE]
    members, others = people[: people.size // 2], people[people.size // 2 :]
    known, outsiders = others[: others.size // 2], others[others.size // 2 :]
    pool = site_frequencies(_some(alignment, members))
    sites = _released(pool, guard)
    if not sites.size:
        return [0.0 for _ in TESTS]
    released = pool.other[sites]
    population = _smoothed(_shares(alignment, known, pool, sites))
    inside, outside = (_shares(alignment, rows, pool, sites) for rows in (members, outsiders))
    return [power(test(inside, released, population), test(outside, released, population)) for test in TESTS.values()]


def _released(pool: SiteFrequencies, guard: FrequencyGuard | None) -> Ints:
    if guard is not None:
        return released_sites(pool, guard)
    varied = pool.varied
    return varied[np.linspace(0, varied.size - 1, min(varied.size, MOST_SITES)).astype(np.int64)]


def _some(alignment: Alignment, rows: Ints) -> Alignment:
    return Alignment(alignment.codes[rows], ("",) * rows.size, alignment.lattice)


def _shares(alignment: Alignment, rows: Ints, pool: SiteFrequencies, sites: Ints) -> Floats:
    part = Alignment(alignment.codes[np.ix_(rows, sites)], ("",) * rows.size, alignment.lattice)
    return allele_shares(part, pool.common[sites])


def _smoothed(shares: Floats) -> Floats:
    """Frequencies of a sample of the population, none of them 0 or 1: half a person more on either side."""
    known = (~np.isnan(shares)).sum(axis=0)
    smoothed: Floats = (np.nansum(shares, axis=0) + 0.5) / (known + 1)
    return smoothed
