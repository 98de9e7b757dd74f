"""Coarse cuts: what the first levels of Mondrian do, from nothing but how often each value of an attribute occurs.

A table of too many combinations to be held at once is cut by these first, and each part is then divided by itself. A
cut is the one of least own loss among those that leave at least a quarter of the records on both sides, so that parts
shrink quickly; as in Mondrian, public cuts come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.table import NULL, Attribute

SHARE = 0.25
"""The least share of records on either side of a cut, where there is such a cut."""


@dataclass(frozen=True, slots=True)
class CoarseCut:
    """A cut of one attribute: the codes that go left; -1 is a missing value."""

    attribute: str
    left: tuple[int, ...]
    public: bool
    gain: float  # records times weighted width that it takes from the attribute itself


def coarse_cuts(attributes: Sequence[Attribute], counts: Sequence[Ints], k: int) -> list[CoarseCut]:
    """One cut for each attribute that has any with k records on both sides; the best first.

    `counts` gives for each attribute how many records have each code; missing values are counted behind all others.

    >>> age = Attribute.ordered_by("age", np.zeros(0, dtype=int), edges=np.arange(0.0, 50, 10))
    >>> [cut.left for cut in coarse_cuts([age], [np.array([6, 0, 5, 5, 0])], k=5)]
    [(0,)]
    """
    found = [_cut(a, c, k) for a, c in zip(attributes, counts, strict=True)]
    return sorted((cut for cut in found if cut), key=lambda cut: (not cut.public, -cut.gain, cut.attribute))


def _cut(attribute: Attribute, counts: Ints, k: int) -> CoarseCut | None:
    codes = np.flatnonzero(counts)
    if not attribute.ordered:  # by falling frequency, as in Mondrian; missing values last
        codes = codes[np.lexsort((codes, -counts[codes], codes == attribute.size))]
    left = np.cumsum(counts[codes])[:-1]
    records = int(counts.sum())
    even = np.minimum(left, records - left)
    candidates = even >= k
    public = candidates & _is_public(attribute, codes)
    if public.any():
        candidates = public
    if not candidates.any():
        return None
    begin, end = _widths(attribute, codes), _widths(attribute, codes[::-1])[::-1]
    gain = records * begin[-1] - left * begin[:-1] - (records - left) * end[1:]
    wide = candidates & (even >= SHARE * records)
    at = int(np.where(wide, gain, -np.inf).argmax() if wide.any() else np.where(candidates, even, -1).argmax())
    goes_left = np.where(codes == attribute.size, NULL, codes)[: at + 1]
    return CoarseCut(attribute.name, tuple(goes_left.tolist()), bool(public.any()), attribute.weight * float(gain[at]))


def _is_public(attribute: Attribute, codes: Ints) -> Bools:
    """Whether a public cut lies behind each place; the border of missing values counts as one, as in Mondrian."""
    if not attribute.cuts:
        return np.zeros(max(0, codes.size - 1), dtype=np.bool_)
    region = np.searchsorted(np.sort(attribute.cuts), codes, side="right")
    region[codes == attribute.size] = -1
    return np.not_equal(region[1:], region[:-1])


def _widths(attribute: Attribute, codes: Ints) -> Floats:
    """Share of the domain that the codes up to and with each place cover."""
    is_null = codes == attribute.size
    number = np.cumsum(~is_null)
    if attribute.ordered:
        lower, upper = attribute.edges
        low = np.minimum.accumulate(np.where(is_null, np.inf, lower[codes]))
        high = np.maximum.accumulate(np.where(is_null, -np.inf, upper[codes]))
        width = np.where(number > 0, high - low, 0.0) / (attribute.span or 1.0)
    else:
        width = np.where(number > 1, number, 0) / attribute.span
    mixed = (np.cumsum(is_null) > 0) & (number > 0)
    return np.where(mixed, 1.0, width)
