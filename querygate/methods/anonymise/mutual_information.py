"""What classes reveal about values, in bits: mutual information as a measure of utility (Gionis, Tassa,
"k-Anonymization with minimal loss of information", TKDE 2009), and of the sensitive columns as well.

Of a quasi-identifier, the share of its own information that is left once it is published as what its class shows. Of a
sensitive column, the share that is known once the class is known: relations with the quasi-identifiers that can still
be studied, and at the same time what a class reveals. Small classes reveal much by chance alone.

>>> sex, shown = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
>>> entropy(sex), round(mutual_information(shown, sex), 3)
(1.0, 0.311)
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Ints


def entropy(values: Ints, counts: Ints | None = None) -> float:
    """Bits that are needed for one of the values; `counts` are the records that each entry stands for."""
    _, which = np.unique(values, return_inverse=True)
    held = np.bincount(which.reshape(-1), counts)
    share = held[held > 0] / held.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def mutual_information(one: Ints, other: Ints, counts: Ints | None = None) -> float:
    """Bits of one that the other reveals."""
    first, second = (np.unique(values, return_inverse=True)[1].reshape(-1) for values in (one, other))
    both = first * (int(second.max(initial=0)) + 1) + second
    return max(0.0, entropy(one, counts) + entropy(other, counts) - entropy(both, counts))


def share_told(told: Ints, values: Ints, counts: Ints | None = None) -> float:
    """The share of what is to be known of values that is known once `told` is; 1 where all values are the same."""
    whole = entropy(values, counts)
    return min(1.0, mutual_information(told, values, counts) / whole) if whole else 1.0
