"""Aligned DNA sequences, generalised over the lattice of IUPAC letters until each is identical to others.

Pure: texts and arrays in, texts and arrays out.

>>> mice = of_texts(["ACGT", "TTTA", "ACGA", "TTTC"])
>>> generalised(mice, refined(mice, k=2)).texts()
['ACGW', 'TTTM', 'ACGW', 'TTTM']
"""

from __future__ import annotations

from querygate.methods.sequences.alignment import Alignment, generalised, loss, of_texts
from querygate.methods.sequences.alike_sites import alike_sites
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.baselines import at_random
from querygate.methods.sequences.frequency_check import FrequencyFaults, check_frequencies
from querygate.methods.sequences.frequency_guard import FrequencyGuard, frequent_sites, released_sites
from querygate.methods.sequences.letter_lattice import DNALA, IUPAC, LATTICES, TREE
from querygate.methods.sequences.membership_power import PowerFound, measured_power
from querygate.methods.sequences.membership_tests import TESTS, homer, likelihood_ratio, most_power, power, sites_within
from querygate.methods.sequences.refine import refined
from querygate.methods.sequences.sequence_check import verify
from querygate.methods.sequences.sequence_measures import explain_kept, measure
from querygate.methods.sequences.sequence_methods import METHODS
from querygate.methods.sequences.site_frequencies import SiteFrequencies, allele_shares, site_frequencies

__all__ = [
    # letters and sequences
    "DNALA",
    "TREE",
    "alike_sites",
    "IUPAC",
    "LATTICES",
    "Alignment",
    "BadSequences",
    "of_texts",
    # groups
    "METHODS",
    "at_random",
    "generalised",
    "refined",
    # what it cost, what is promised
    "explain_kept",
    "loss",
    "measure",
    "verify",
    # frequencies of alleles, and who is found in them
    "TESTS",
    "FrequencyFaults",
    "FrequencyGuard",
    "PowerFound",
    "SiteFrequencies",
    "allele_shares",
    "check_frequencies",
    "frequent_sites",
    "homer",
    "likelihood_ratio",
    "measured_power",
    "most_power",
    "power",
    "released_sites",
    "site_frequencies",
    "sites_within",
]
