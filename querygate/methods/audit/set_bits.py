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

from querygate.core.types import Bools


def fingerprint(members: Bools) -> str:
    """128 bits that are equal for equal sets."""
    return hashlib.blake2b(np.packbits(members).tobytes(), digest_size=16).hexdigest()
