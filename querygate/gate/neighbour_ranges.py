"""LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTILE over groups whose order, and whose being there, may be open.

A group is a candidate for the place k before another if it may stand before it, no more than k - 1 groups stand between
them for certain and k - 1 may. The value at that place is one of the candidates', or NULL where so many groups need not
stand before. Groups that rank the same come in any order, so each of them may stand before the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Bools, Cells, Ints, Range
from querygate.gate.order_and_limit import OrderTerm, ranks_before

MOST_GROUPS = 1_500
"""Groups of a partition that are compared with each other, all with all."""


@dataclass(frozen=True)
class Neighbours:
    """The groups of one partition: which are there for certain, and what they are ordered by."""

    certain: Bools
    terms: list[OrderTerm]

    def __post_init__(self) -> None:
        if self.certain.size > MOST_GROUPS:
            raise UnsupportedSQL(
                "QG212",
                f"LAG, LEAD, FIRST_VALUE and LAST_VALUE work with at most {MOST_GROUPS:,} groups.",
                "Group by fewer columns, or in wider steps.",
            )

    @cached_property
    def _order(self) -> tuple[Bools, Bools, Bools]:
        """Whether the first group of a pair stands before the second: for certain, perhaps; or ranks the same."""
        size = self.certain.size
        shape = (size, size)
        surely, maybe, tied = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_), np.ones(shape, np.bool_)
        if self.terms:
            for i in range(size):
                surely[:, i], maybe[:, i], tied[:, i] = ranks_before(self.terms, i)
        maybe |= tied
        apart = ~np.eye(size, dtype=np.bool_)
        return surely & apart, maybe & apart, tied & apart

    def shifted(self, cells: Cells, back: int, default: Range) -> list[Range]:
        """The value of the group so many places before; after it, where that is less than 0."""
        surely, maybe, _ = self._order
        if back < 0:
            surely, maybe, back = surely.T, maybe.T, -back
        if back == 0:
            candidates = np.eye(self.certain.size, dtype=np.bool_)
            return self._hulls(cells, candidates, np.zeros(self.certain.size, np.bool_), default)
        least_between = _between(surely & self.certain[None, :], surely)
        most_between = _between(maybe, maybe)
        candidates = maybe & (least_between <= back - 1) & (most_between >= back - 1)
        least_before = (surely & self.certain[:, None]).sum(axis=0)
        return self._hulls(cells, candidates, least_before < back, default)

    def first(self, cells: Cells, *, last: bool) -> list[Range]:
        """The value of the first group of all; of the last one. The group itself is there, so there is one."""
        surely, _, _ = self._order
        surely = surely.T if last else surely
        free: Bools = (surely & self.certain[:, None]).sum(axis=0) == 0
        candidates = np.repeat(free[:, None], self.certain.size, axis=1)
        candidates &= ~surely.T  # none that stands behind the group itself for certain
        return self._hulls(cells, candidates, np.zeros(self.certain.size, np.bool_), Range.null())

    def last_peer(self, cells: Cells) -> list[Range]:
        """The value of the group itself, or of one that ranks the same: any of them may be the last."""
        surely, _, _ = self._order
        return self._hulls(cells, ~surely & ~surely.T, np.zeros(self.certain.size, np.bool_), Range.null())

    def tile(self, tiles: int) -> list[Range]:
        """The number of the group's part, where all groups in order are cut into so many of about the same size."""
        surely, maybe, _ = self._order
        low, high = 1 + (surely & self.certain[:, None]).sum(axis=0), 1 + maybe.sum(axis=0)
        others, most = self.certain.sum() - self.certain + 1, self.certain.size
        found = []
        for i in range(most):
            ends = _tile(int(low[i]), most, tiles), _tile(int(high[i]), max(int(others[i]), int(high[i])), tiles)
            found.append(_whole(*ends))
        return found

    def share(self, *, peers: bool) -> list[Range]:
        """PERCENT_RANK, which counts those before among all others; with `peers` CUME_DIST, which counts the group
        itself and those that rank the same too."""
        surely, maybe, tied = self._order
        certain = self.certain[:, None]
        before = (surely | tied if peers else surely) & certain
        perhaps = maybe if peers else maybe & ~tied
        behind = certain & (surely.T if peers else surely.T | tied)
        own, found = int(peers), []
        for i in range(self.certain.size):
            least, most = own + int(before[:, i].sum()), own + int(perhaps[:, i].sum())
            all_ = self.certain.size - 1 + own
            low = least / all_ if all_ else 0.0
            high = most / (most + int(behind[:, i].sum())) if most else 0.0
            found.append(Range(low, high, sharp=low == high))
        return found

    def _hulls(self, cells: Cells, candidates: Bools, none: Bools, default: Range) -> list[Range]:
        """The hull of the candidates' values; and the default, where there may be no candidate."""
        found = []
        for i in range(self.certain.size):
            who = np.flatnonzero(candidates[:, i])
            known = who[cells.most[who] > 0]
            ranges = [default] if none[i] or not who.size else []
            if known.size:
                null = bool((cells.least[known] == 0).any()) or known.size < who.size
                ranges.append(Range(cells.low[known].min().item(), cells.high[known].max().item(), may_be_null=null))
            elif who.size:
                ranges.append(Range.null())
            found.append(_joined(ranges))
        return found


def _between(first: Bools, second: Bools) -> Ints:
    """How many groups stand after one and before another, by pair."""
    counted: Ints = (first.astype(np.float32) @ second.astype(np.float32)).astype(np.int64)
    return counted


def _tile(place: int, groups: int, tiles: int) -> int:
    """As SQL cuts: the first parts have one group more, where they cannot all have the same."""
    size, larger = divmod(groups, tiles)
    if place <= larger * (size + 1):
        return (place - 1) // (size + 1) + 1
    return larger + (place - larger * (size + 1) - 1) // size + 1


def _whole(low: int, high: int) -> Range:
    return Range.exact(low) if low == high else Range(low, high, sharp=False)


def _joined(ranges: list[Range]) -> Range:
    known = [found for found in ranges if found.low is not None and found.high is not None]
    null = any(found.may_be_null for found in ranges)
    if not known:
        return Range.null()
    low, high = min(found.low for found in known), max(found.high for found in known)  # type: ignore[type-var]
    return Range(low, high, sharp=False, may_be_null=null)
