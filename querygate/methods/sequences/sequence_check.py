"""An independent check of a release: it knows letters and nothing of how groups were made.

Two promises: every sequence is identical to at least k - 1 others, and every letter still covers what stood there, so
that nothing is misstated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Bools

_COVERED: dict[str, str] = {one: one for one in "ACGT-"}
_COVERED |= {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"}
_COVERED |= {"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT", "?": "ACGT-"}


@dataclass(frozen=True, slots=True)
class SequenceCheck:
    """What was found. Places are counted from 1 and are all that is said of a sequence."""

    k: int
    sequences: int
    smallest: int
    """Sequences of the smallest class of identical ones."""
    exposed: int
    """Sequences identical to fewer than k - 1 others."""
    uncovered: int
    """Letters that no longer cover what stood there, or that are no letters of DNA."""
    first_uncovered: tuple[int, int] | None
    reshaped: int
    """Sequences that have lost or gained sites, or are missing or new altogether."""

    @property
    def holds(self) -> bool:
        return not (self.exposed or self.uncovered or self.reshaped)


def verify(original: Sequence[str], released: Sequence[str], k: int, *, n_may_be_gap: bool = False) -> SequenceCheck:
    """Of sequences in the same order. `n_may_be_gap`: N stands for a gap as well, as in published DNALA.

    >>> verify(["AAC", "GAC", "GAT"], ["RAC", "RAC", "GAT"], k=2).exposed
    1
    >>> verify(["AAC", "GAC"], ["KAC", "KAC"], k=2).first_uncovered
    (1, 1)
    """
    table = _covers(n_may_be_gap)
    sizes = Counter(released)
    reshaped = abs(len(original) - len(released))
    uncovered, first = 0, None
    for place, (before, after) in enumerate(zip(original, released, strict=False), 1):
        if len(before) != len(after):
            reshaped += 1
            continue
        wrong = np.flatnonzero(~table[_letters(after), _letters(before.upper())])
        uncovered += wrong.size
        if wrong.size and first is None:
            first = place, int(wrong[0]) + 1
    exposed = sum(size for size in sizes.values() if size < k)
    return SequenceCheck(k, len(released), min(sizes.values(), default=0), exposed, uncovered, first, reshaped)


def _letters(text: str) -> NDArray[np.uint32]:
    """Numbers of letters; whatever is not ASCII is 127, which no letter of DNA is."""
    return np.minimum(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32), 127)


def _covers(n_may_be_gap: bool) -> Bools:
    meanings = _COVERED | ({"N": "ACGT-"} if n_may_be_gap else {})
    table = np.zeros((128, 128), dtype=np.bool_)
    for after, wide in meanings.items():
        for before, narrow in meanings.items():
            table[ord(after), ord(before)] = set(narrow) <= set(wide)
    return table
