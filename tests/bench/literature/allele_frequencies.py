"""Who is found in allele frequencies: the tests of Homer et al. (2008) and Sankararaman et al. (2009), and the guard.

Simulated people, sites independent, frequencies of the population known exactly. The papers' own genotypes (HapMap,
WTCCC) may not be passed on. Homer et al. find people who are 0.1 % of a mixture with 10,000 to 50,000 SNPs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from querygate.methods.sequences import (
    TESTS,
    FrequencyGuard,
    allele_shares,
    most_power,
    power,
    released_sites,
    site_frequencies,
)
from tests.bench.literature import figure
from tests.unit.methods.sequences.genotypes import people, population

OUTSIDERS = 1_000


def rows() -> list[dict[str, Any]]:
    return [*_attacked(1_000, 20_000), *_attacked(200, 400)]


def _attacked(members: int, sites: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(1)
    shares = population(sites, rng)
    pool, others = people(members, shares, rng), people(OUTSIDERS, shares, rng)
    found = site_frequencies(pool)
    known = np.where(found.common == 0, shares, 1 - shares)
    inside, outside = (allele_shares(some, found.common) for some in (pool, others))
    guard = FrequencyGuard()
    for name, at in ((f"all {sites:,}", found.varied), ("guarded", released_sites(found, guard))):
        reach = most_power(found.known[at])
        for test, scored in TESTS.items():
            members_scores, others_scores = (
                scored(side[:, at], found.other[at], known[at]) for side in (inside, outside)
            )
            share = power(members_scores, others_scores)
            what = f"{members:,} people, {name} SNPs ({at.size:,}): {test}"
            met = share <= guard.power + 0.03 if name == "guarded" else share >= 0.95 if reach > 0.995 else None
            published = "not found" if name == "guarded" else "found" if reach > 0.995 else "a curve"
            yield figure(what, 100 * share, "%", f"{published}; theory {100 * reach:.1f} %", met=met)
