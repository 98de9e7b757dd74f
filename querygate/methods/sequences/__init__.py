"""Aligned DNA sequences, generalised over the lattice of IUPAC letters until each is identical to others.

Pure: texts and arrays in, texts and arrays out.

>>> made = release(read(">a\\nACGT\\n>b\\nTTTA\\n>c\\nACGA\\n>d\\nTTTC\\n"), k=2)
>>> made.alignment.texts()
['ACGW', 'TTTM', 'ACGW', 'TTTM']
"""

from __future__ import annotations

from querygate.methods.sequences.alignment import Alignment, generalised, loss, of_column, of_texts
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.baselines import at_random, binned
from querygate.methods.sequences.closest_first import closest
from querygate.methods.sequences.distance import SequenceDistances, least_possible
from querygate.methods.sequences.formats import read, read_clustal, read_fasta, write_clustal, write_fasta
from querygate.methods.sequences.letter_lattice import DNALA, IUPAC, LATTICES, LetterLattice
from querygate.methods.sequences.optimal_pairs import optimal
from querygate.methods.sequences.refine import refined
from querygate.methods.sequences.sequence_check import SequenceCheck, explain_verified, verify
from querygate.methods.sequences.sequence_measures import SequenceMeasures, explain_kept, measure
from querygate.methods.sequences.sequence_release import METHODS, SequenceMethod, SequenceRelease, release

__all__ = [
    # letters and sequences
    "DNALA",
    "IUPAC",
    "LATTICES",
    "LetterLattice",
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
    "SequenceMethod",
    "SequenceDistances",
    "at_random",
    "binned",
    "closest",
    "generalised",
    "optimal",
    "refined",
    "SequenceRelease",
    "release",
    # what it cost, what is promised
    "SequenceMeasures",
    "SequenceCheck",
    "explain_kept",
    "explain_verified",
    "least_possible",
    "loss",
    "measure",
    "verify",
]
