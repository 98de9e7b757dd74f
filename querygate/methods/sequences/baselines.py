"""Baselines and coarser groups: pairs by chance, and bins."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences.alignment import Alignment, joins
from querygate.methods.sequences.bad_sequences import BadSequences, check_enough
from querygate.methods.sequences.distance_matrix import SequenceDistances


def at_random(alignment: Alignment, k: int, rng: np.random.Generator) -> Ints:
    """Groups of k by chance, the left-overs in the last: what grouping by distance is to be compared with.

    >>> np.bincount(at_random(Alignment(np.ones((5, 3), dtype=np.uint8), tuple("abcde")), 2, \
np.random.default_rng(1))).tolist()
    [2, 3]
    """
    check_enough(alignment.sequences, k)
    labels = np.empty(alignment.sequences, dtype=np.int64)
    labels[rng.permutation(alignment.sequences)] = np.arange(alignment.sequences) // k
    return np.minimum(labels, alignment.sequences // k - 1)


def binned(alignment: Alignment, bins: Ints | int, k: int = 2) -> Ints:
    """One group for each bin: given (the bin of each sequence), or so many made around sequences far from each other.

    A bin of fewer than k joins the bin with which it has most in common (fewest added steps), smallest first.

    >>> from querygate.methods.sequences.alignment import of_texts
    >>> binned(of_texts(["AAAA", "AAAC", "GGGG", "GGGC", "GGCC"]), np.array([7, 7, 3, 3, 5])).tolist()
    [1, 1, 0, 0, 0]
    """
    check_enough(alignment.sequences, k)
    given = _around(alignment, bins) if isinstance(bins, int) else bins
    if len(given) != alignment.sequences:
        raise BadSequences(
            f"There are {len(given):,} bins for {alignment.sequences:,} sequences.", "Name one bin per sequence."
        )
    labels: Ints = np.unique(given, return_inverse=True)[1].reshape(-1).astype(np.int64)
    level, closure = alignment.lattice.level, alignment.lattice.closure
    common, sizes = joins(alignment, labels), np.bincount(labels)
    levels = level[common].sum(axis=1)
    while True:
        small = int(np.argmin(np.where(sizes > 0, sizes, alignment.sequences + 1)))
        if sizes[small] >= k:
            return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
        joined = level[common | common[small]].sum(axis=1)
        added = (sizes + sizes[small]) * joined - sizes * levels
        added[sizes == 0] = added[small] = np.iinfo(np.int64).max
        other = int(np.argmin(added))
        labels[labels == small] = other
        common[other], levels[other] = closure[common[other] | common[small]], joined[other]
        sizes[other], sizes[small] = sizes[other] + sizes[small], 0


def _around(alignment: Alignment, bins: int) -> Ints:
    """The nearest of so many centres, each the sequence farthest from the centres before it.

    No choice of centres has less than half the greatest distance to a centre (Gonzalez, "Clustering to minimize the
    maximum intercluster distance", 1985).
    """
    if not 1 <= bins <= alignment.sequences:
        raise BadSequences(
            f"{bins:,} bins are not possible with {alignment.sequences:,} sequences.",
            "Use at least one bin, and at most one per sequence.",
        )
    far, every = SequenceDistances(alignment, kept=0), np.arange(alignment.sequences)
    labels = np.zeros(alignment.sequences, dtype=np.int64)
    least = far.between(every, every[:1])[:, 0]
    for centre in range(1, bins):
        away = far.between(every, np.array([np.argmax(least)]))[:, 0]
        labels[away < least] = centre
        least = np.minimum(least, away)
    return labels
