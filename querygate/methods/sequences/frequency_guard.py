"""Which allele frequencies may be released, so that whoever knows somebody's alleles hardly learns whether that person
is among those counted.

As in SecureGenome (Sankararaman et al. 2009): alleles that are rare stay out, and no more sites are released than keep
the likelihood ratio's power within a bound. The bound holds for all that is ever released about the same people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.membership_tests import LEVEL, sites_within
from querygate.methods.sequences.site_frequencies import SiteFrequencies


@dataclass(frozen=True, slots=True)
class FrequencyGuard:
    """`power`: at most this share of members is found, at 5 % false positives. `rare`: the least share, and `k` the
    least number of people, that both the common base and the others must stand for.
    """

    power: float = 0.1
    rare: float = 0.05
    k: int = 2

    def __post_init__(self) -> None:
        if not LEVEL < self.power < 1:
            raise BadSequences(
                "The power is not between guessing (0.05) and certainty (1).", "Use a bound such as 0.1."
            )
        if not 0 < self.rare < 0.5:
            raise BadSequences(
                "The share below which alleles are rare is not between 0 and 0.5.", "Use a share such as 0.05."
            )


def frequent_sites(frequencies: SiteFrequencies, guard: FrequencyGuard) -> Ints:
    """The sites where no allele is rare, and where at least half of the people are known."""
    rarer, known = frequencies.rarer, frequencies.known
    enough = known * 2 >= known.max(initial=0)
    return np.flatnonzero(enough & (rarer >= guard.rare) & (rarer * known >= guard.k - 1e-9))


def released_sites(frequencies: SiteFrequencies, guard: FrequencyGuard, wanted: Sequence[int] | None = None) -> Ints:
    """The sites to release, counted from 0: of those wanted the first that may be; otherwise spread evenly."""
    may = frequent_sites(frequencies, guard)
    if wanted is not None:
        frequent = set(may.tolist())
        may = np.array([site for site in dict.fromkeys(wanted) if site in frequent], dtype=np.int64)
    if not may.size:
        return may
    room = min(may.size, sites_within(guard.power, int(frequencies.known[may].min())))
    return may[:room] if wanted is not None else may[np.linspace(0, may.size - 1, room).astype(np.int64)]
