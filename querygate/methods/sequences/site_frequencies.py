"""How frequent the less common alleles are at each site of an alignment.

A letter for two bases is somebody who has both, as genotypes are written; one for three or more says nothing.

>>> from querygate.methods.sequences import of_texts
>>> found = site_frequencies(of_texts(["AC", "AC", "RT", "GN"]))
>>> found.other.round(3).tolist(), found.known.tolist(), found.letters
([0.375, 0.333], [4, 3], ['A', 'C'])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.sequences.alignment import Alignment
from querygate.methods.sequences.letter_lattice import SETS

BASES = "ACGT-"


def _weights() -> Floats:
    """By set and base: the share of a person's alleles."""
    bits = (np.arange(SETS)[:, None] >> np.arange(len(BASES))) & 1
    sizes = bits.sum(axis=1, keepdims=True)
    return np.where((sizes == 1) | (sizes == 2), bits / np.maximum(sizes, 1), 0.0)


WEIGHTS = _weights()
TELLS: Bools = np.any(WEIGHTS > 0, axis=1)


@dataclass(frozen=True, slots=True)
class SiteFrequencies:
    """One figure for each site: the place of the most common base, the share of all others, and whose base is known.
    Where nobody's is known, the share is 0.
    """

    common: Ints
    other: Floats
    known: Ints

    @property
    def rarer(self) -> Floats:
        """The share of whichever is rarer, the common base or the others."""
        return np.minimum(self.other, 1 - self.other)

    @property
    def varied(self) -> Ints:
        """The sites at which people differ."""
        return np.flatnonzero(self.rarer > 0)

    @property
    def letters(self) -> list[str]:
        return [BASES[place] for place in self.common.tolist()]


def site_frequencies(alignment: Alignment) -> SiteFrequencies:
    by_base, known = np.zeros((len(BASES), alignment.sites)), np.zeros(alignment.sites, dtype=np.int64)
    for means in np.flatnonzero(TELLS).tolist():
        people = (alignment.codes == means).sum(axis=0)
        by_base += WEIGHTS[means][:, None] * people
        known += people
    common = by_base.argmax(axis=0)
    share = by_base[common, np.arange(alignment.sites)] / np.maximum(known, 1)
    return SiteFrequencies(common, np.where(known > 0, 1 - share, 0.0), known)


def allele_shares(alignment: Alignment, common: Ints) -> Floats:
    """Of each person at each site, the share of alleles other than the given base; NaN where it is not known."""
    shares = 1 - WEIGHTS[alignment.codes, common]
    shares[~TELLS[alignment.codes]] = np.nan
    return shares
