"""Query sets: which places a condition selects, as bits, and what tells one set from another.

A *place* is a distinct combination of what an attacker may know of a record (its quasi-identifiers). Records of one
place can never be told apart by a condition on these, so a query set is a set of places, and BETWEEN, NOT, De Morgan
and arithmetic on the column all become the same set.

>>> import numpy as np
>>> young, old = np.array([1, 1, 0], bool), np.array([0, 0, 1], bool)
>>> fingerprint(young) == fingerprint(~old), fingerprint(young) == fingerprint(old)
(True, False)
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from querygate.core.types import Bools, Ints

Words = npt.NDArray[np.uint64]


def fingerprint(members: Bools) -> str:
    """128 bits that are equal for equal sets."""
    return hashlib.blake2b(np.packbits(members).tobytes(), digest_size=16).hexdigest()


def atoms(sets: Bools) -> tuple[Ints, Bools]:
    """The atom of each place, and the sets over atoms: places that are in the same sets are one atom.

    `sets` has a row for each set and a column for each place. Each set draws a random word, a place's signature is the
    sum of the words of the sets it is in, and places of equal signature are one atom. Two places of different atoms
    have equal signatures once in 2^64 tries; the sets over atoms are compared with the sets given, so that this shows.
    """
    number, places = sets.shape
    words: Words = np.random.default_rng(number).integers(0, 2**63, (number,), dtype=np.uint64)
    signatures = np.zeros(places, dtype=np.uint64)
    for i in range(number):
        signatures[sets[i]] += words[i]
    _, first, label = np.unique(signatures, return_index=True, return_inverse=True)
    label = label.reshape(-1).astype(np.int64)
    over = np.ascontiguousarray(sets[:, first])
    for i in range(number):
        if not np.array_equal(over[i, label], sets[i]):
            raise ArithmeticError("two different atoms have one signature")
    return label, over
