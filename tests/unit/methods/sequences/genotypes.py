"""People of a population whose allele frequencies are known."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats
from querygate.methods.sequences import Alignment

A, BOTH, G = 1, 5, 4  # as sets: AA, AG, GG


def population(sites: int, rng: np.random.Generator, least: float = 0.05) -> Floats:
    """The share of G at each site."""
    return rng.uniform(least, 0.5, sites)


def people(number: int, shares: Floats, rng: np.random.Generator) -> Alignment:
    """Sites are independent, and so are the two alleles of a person."""
    copies = (rng.random((2, number, shares.size)) < shares).sum(axis=0)
    return Alignment(np.array([A, BOTH, G], dtype=np.uint8)[copies], ("",) * number)
