"""Aligned DNA sequences, generalised over the lattice of IUPAC letters until each is identical to others.

Pure: texts and arrays in, texts and arrays out.

>>> made = release(read(">a\\nACGT\\n>b\\nTTTA\\n>c\\nACGA\\n>d\\nTTTC\\n"), k=2)
>>> made.alignment.texts()
['ACGW', 'TTTM', 'ACGW', 'TTTM']
"""

from __future__ import annotations

from querygate.sequences.alignment import Alignment, generalised, loss, of_column, of_texts
from querygate.sequences.binning import at_random, binned
from querygate.sequences.closest import closest
from querygate.sequences.distance import Distances, least_possible
from querygate.sequences.formats import read, read_clustal, read_fasta, write_clustal, write_fasta
from querygate.sequences.lattice import DNALA, IUPAC, LATTICES, Lattice
from querygate.sequences.measures import Kept, explain_kept, measure
from querygate.sequences.optimal import optimal
from querygate.sequences.refine import refined
from querygate.sequences.refused import BadSequences
from querygate.sequences.release import METHODS, Method, Release, release
from querygate.sequences.verify import Verified, explain_verified, verify

__all__ = [
    # letters and sequences
    "DNALA",
    "IUPAC",
    "LATTICES",
    "Lattice",
    "Alignment",
    "BadSequences",
    "of_column",
    "of_texts",
    "read",
    "read_clustal",
    "read_fasta",
    "write_clustal",
    "write_fasta",
    # groups
    "METHODS",
    "Method",
    "Distances",
    "at_random",
    "binned",
    "closest",
    "generalised",
    "optimal",
    "refined",
    "Release",
    "release",
    # what it cost, what is promised
    "Kept",
    "Verified",
    "explain_kept",
    "explain_verified",
    "least_possible",
    "loss",
    "measure",
    "verify",
]
