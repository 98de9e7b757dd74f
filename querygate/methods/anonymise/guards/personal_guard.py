"""Personalised privacy: each person says what must not be inferred about them.

Xiao, Tao, "Personalized privacy preservation", SIGMOD 2006. A person's guarding node is here any set of values of the
sensitive column: one value, a group, several. Whoever finds the person's class infers a value of the set with the
share that the set has in the class; this share stays at most what was promised.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.guards.diversity import SLACK, Diversity, Sensitive


class PersonalGuard(Diversity):
    """In the class of each person at most `share` of the records have a value from that person's guarded set.

    `pairs` counts records by pair (value, set); `value` is the value of each pair and `guarded` the values of its set.
    Not monotone: a class without a wish may bring the very values that another class guards.
    """

    def __init__(self, pairs: Sensitive, value: Ints, guarded: Sequence[Collection[int]], share: float) -> None:
        super().__init__(pairs)
        self.share = share
        self._guarded_by = np.stack([np.isin(value, list(members)) for members in guarded]).astype(np.float64).T

    @property
    def name(self) -> str:
        return f"share at most {self.share} of what each person guards of {self.column}"

    def holds(self, counts: Floats) -> Bools:
        inferred: Floats = counts @ self._guarded_by  # class x pair: records with a value that this pair guards
        allowed: Floats = self.share * counts.sum(axis=1, keepdims=True) + SLACK
        verdict: Bools = ((counts == 0) | (inferred <= allowed)).all(axis=1)
        return verdict
