"""Confidence of what is known: of the records that hold it, the share that hold a sensitive code too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items

ROUNDING = 1e-9


def above(part: ArrayLike, whole: ArrayLike, share: float) -> Bools:
    """Is a part more than a share of the whole? A third of three is not more than 1/3.

    >>> above([1, 2], 3, 1 / 3)
    array([False,  True])
    """
    more: Bools = np.asarray(part) > share * np.asarray(whole) + ROUNDING
    return more


def check_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"{name} is a share between 0 and 1, without both")


def sensitive_mask(sensitive: Ints, size: int) -> Bools:
    """Which codes are sensitive."""
    if sensitive.size and (sensitive.min() < 0 or sensitive.max() >= size):
        raise ValueError("sensitive codes are numbers of codes")
    mask = np.zeros(size, dtype=np.bool_)
    mask[sensitive] = True
    return mask


def part_of(baskets: Baskets, codes: Bools) -> Baskets:
    """The same records with some of their codes alone."""
    kept = codes[baskets.members]
    upto = np.concatenate([[0], np.cumsum(kept)])
    return Baskets(upto[baskets.starts].astype(np.int64), baskets.members[kept], baskets.size)


def together(one: Baskets, other: Baskets) -> csr_array[np.int64]:
    """How many records hold each code of the one with each code of the other."""
    left, right = (
        csr_array(
            (np.ones(side.members.size, dtype=np.int64), side.members, side.starts), shape=(side.records, side.size)
        )
        for side in (one, other)
    )
    return csr_array(left.T @ right)


def without(suppressed: Bools) -> Items:
    """Every code on its own, but for the suppressed ones."""
    return Items(np.where(suppressed, SUPPRESSED, np.cumsum(~suppressed) - 1).astype(np.int64))
