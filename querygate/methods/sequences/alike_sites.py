"""SNP binning within a sequence (Lin, Hewett, Altman, AMIA Annual Symposium 2002): at least B sites of each sequence
have the same letter.

The hierarchy is that of the paper: A and G are purines (R), C and T pyrimidines (Y), both are any base (N). Where a
letter stands at fewer than B sites, its parent takes the place of all that is below it, the rarest letter first. That
equal sequences stay equal is what lets it follow the grouping of sequences (their B').

>>> from querygate.methods.sequences.alignment import of_texts
>>> alike_sites(of_texts(["AAGCCC", "AAAACT"], None, TREE), 3).texts()
['RRRCCC', 'NNNNNN']
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences.alignment import Alignment
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.letter_lattice import ANY_BASE, ANYTHING, GAP, MEANS, SETS, TREE, Codes

_PARENT = np.zeros(SETS, dtype=np.uint8)
for _letter in "ACGT":
    _PARENT[MEANS[_letter]] = MEANS["R" if _letter in "AG" else "Y"]
_PARENT[MEANS["R"]] = _PARENT[MEANS["Y"]] = ANY_BASE
_PARENT[ANY_BASE] = _PARENT[GAP] = _PARENT[ANYTHING] = ANYTHING


def alike_sites(alignment: Alignment, least: int) -> Alignment:
    """The sequences with each of their letters at no fewer than `least` of their sites. BadSequences where they have
    fewer sites than that, or another lattice than the tree."""
    if alignment.lattice is not TREE:
        raise BadSequences("Sites can be made alike along a tree alone.", 'Choose lattice = "tree".')
    if alignment.sites < least:
        raise BadSequences(
            f"There are {alignment.sites:,} sites, and {least:,} of each sequence are to be alike.", "Lower `alike`."
        )
    rows, place = np.unique(alignment.codes, axis=0, return_inverse=True)
    made = np.stack([_alike(row, least) for row in rows])
    return Alignment(made[place.reshape(-1)], alignment.names, alignment.lattice)


def _alike(row: Codes, least: int) -> Codes:
    made = row.copy()
    while True:
        counts: Ints = np.bincount(made, minlength=SETS)
        rare = [int(one) for one in np.flatnonzero((counts > 0) & (counts < least))]
        if not rare:
            return made
        letter = min(rare, key=lambda one: (int(counts[one]), int(TREE.level[one]), one))
        parent = _PARENT[letter]
        made[made & ~parent == 0] = parent  # and all that is below it
