"""Frequencies that would be released, counted anew letter by letter by code that shares nothing with what made them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

BOTH = {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"}
SINGLE = frozenset("ACGT-")


@dataclass(frozen=True, slots=True)
class FrequencyFaults:
    """Numbers of sites that say something untrue, or that a guard should have kept back."""

    untrue: int
    rare: int
    power: float  # of the likelihood ratio, over all sites together

    def breaks(self, bound: float) -> bool:
        return bool(self.untrue or self.rare) or self.power > bound + 1e-9


def check_frequencies(
    texts: Sequence[str], released: Iterable[tuple[int, str, int, float]], *, rare: float, k: int
) -> FrequencyFaults:
    """`released`: site from 1, its common base, people known, and the share of other alleles, to four decimals.

    >>> check_frequencies(["AC", "AC", "RT", "GN"], [(1, "A", 4, 0.375)], rare=0.05, k=2).untrue
    0
    """
    untrue = scarce = 0
    apart = 0.0
    for site, base, known, share in released:
        alleles: Counter[str] = Counter()
        for text in texts:
            letter = text[site - 1].upper()
            alleles.update(BOTH.get(letter, letter * 2 if letter in SINGLE else ""))
        total = alleles.total()
        other = total - alleles[base]
        untrue += total != 2 * known or alleles[base] < max(alleles.values(), default=1)
        untrue += not math.isclose(other, share * total, rel_tol=0, abs_tol=6e-5 * max(1, total))
        fewest = min(other, alleles[base])
        scarce += fewest < rare * total - 1e-6 or fewest < 2 * k
        apart += 2 / max(1, total)
    normal = NormalDist()
    return FrequencyFaults(untrue, scarce, 1 - normal.cdf(normal.inv_cdf(0.95) - math.sqrt(apart)))
