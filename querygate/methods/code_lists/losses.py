"""What anonymising sets of codes costs: utility loss, errors of counts, and how much was suppressed or generalised.

>>> baskets = Baskets.of([[0, 1, 2], [3, 4, 5], [0, 2]], size=6)
>>> joined = Items(np.array([0, 0, 1, 2, 3, 4]))
>>> loss = published_loss(baskets, joined)
>>> loss.total == (3 * 2 + 2 + 1 + 1 + 1) / (63 * 3)
True
>>> errors = workload_errors(baskets, joined, Baskets.of([[0, 2], [3]], size=6))
>>> errors.actual, errors.estimated
(array([2, 1]), array([1.33333333, 1.        ]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.record_matches import PublishedRecords, estimates, matches, unchanged
from querygate.methods.code_lists.utility_loss import log_loss, total

FREQUENT = 0.1
"""The share of records in which a set of codes must be found to be asked for by default."""


# -- utility loss ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UtilityLoss:
    """UL of what is published, as a logarithm of base 2 since most such losses are smaller than any float; and of what
    is suppressed. A suppressed code counts as the item of all codes, so with its share of the records.
    """

    log2_published: float
    suppressed: float

    @property
    def total(self) -> float:
        """UL as a number, which may be 0 for its smallness; compare `log2_total`."""
        return math.exp2(self.log2_published) + self.suppressed

    @property
    def log2_total(self) -> float:
        return total([self.log2_published, math.log2(self.suppressed) if self.suppressed else -math.inf])


def published_loss(
    baskets: Baskets, recoding: Items | LocalItems, weight: Callable[[Sequence[int]], float] | None = None
) -> UtilityLoss:
    """UL = sum over items of (2^|item| - 1) / (2^M - 1) x weight x support / N (Loukides et al. 2010).

    M is the number of codes, N of records. The weight of an item is 1 unless told; `CodeTree.spread` makes codes that
    are far from each other in a hierarchy cost more, and a code that stands alone nothing.
    """
    published = PublishedRecords.of(baskets, recoding)
    supports = published.items.supports().tolist()
    losses = []
    for codes, support in zip(published.groups, supports, strict=False):  # without any item, Baskets still have one
        heavy = weight(codes) if weight else 1.0
        if heavy > 0:
            losses.append(log_loss(len(codes), support, baskets.records, baskets.size, heavy))
    gone = int(np.count_nonzero(_entry_sizes(baskets, published) == 0))
    return UtilityLoss(total(losses), gone / max(1, baskets.records))


# -- what was changed --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changes:
    """How many codes that occur, and how many entries (a code of a record), are suppressed or generalised.

    A code that is generalised of some records only counts as generalised. `mean_size` is the mean over published
    entries of the number of codes that their item has: 1 where nothing was changed.
    """

    codes: int
    codes_suppressed: int
    codes_generalised: int
    entries: int
    entries_suppressed: int
    entries_generalised: int
    mean_size: float

    @property
    def suppressed(self) -> float:
        """The share of entries that are suppressed."""
        return self.entries_suppressed / max(1, self.entries)

    @property
    def generalised(self) -> float:
        """The share of entries that are published with other codes."""
        return self.entries_generalised / max(1, self.entries)


def changes(baskets: Baskets, recoding: Items | LocalItems) -> Changes:
    """What became of the codes and of the entries."""
    published = PublishedRecords.of(baskets, recoding)
    sizes = _entry_sizes(baskets, published)
    gone, wide = sizes == 0, sizes > 1
    occurring, kept, joined = (
        np.bincount(baskets.members[some], minlength=baskets.size) > 0 for some in (slice(None), ~gone, wide)
    )
    return Changes(
        int(np.count_nonzero(occurring)),
        int(np.count_nonzero(occurring & ~kept)),
        int(np.count_nonzero(joined)),
        sizes.size,
        int(np.count_nonzero(gone)),
        int(np.count_nonzero(wide)),
        float(sizes[~gone].mean()) if sizes[~gone].size else 1.0,
    )


def _entry_sizes(baskets: Baskets, published: PublishedRecords) -> Ints:
    """For each entry, how many codes the item has as which it is published; 0 where it is not.

    Each item that has the code of an entry is looked up among the items of its record; of several that are there,
    the narrowest counts.
    """
    sizes = published.sizes()
    code = np.fromiter(chain.from_iterable(published.groups), dtype=np.int64, count=int(sizes.sum()))
    order = np.argsort(code, kind="stable")
    item = np.repeat(np.arange(sizes.size), sizes)[order]
    begin = np.searchsorted(code[order], np.arange(baskets.size + 1))
    number = np.diff(begin)[baskets.members]  # items that may be the one, for each entry
    inside = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
    candidate = item[np.repeat(begin[baskets.members], number) + inside]
    key = np.repeat(baskets.of_record, number) * published.items.size + candidate
    told = np.append(
        published.items.of_record * published.items.size + published.items.members, -1
    )  # rises, but for -1
    there = told[np.searchsorted(told[:-1], key)] == key
    entry = np.repeat(np.arange(baskets.members.size), number)[there]
    found = np.full(baskets.members.size, baskets.size + 1, dtype=np.int64)
    np.minimum.at(found, entry, sizes[candidate[there]])
    return np.where(found > baskets.size, 0, found)


# -- counts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkloadErrors:
    """True and estimated counts of records that have all codes of a set, query by query."""

    actual: Ints
    estimated: Floats

    @property
    def relative(self) -> Floats:
        """|actual - estimated| / actual; of a count of 0 the difference itself."""
        return np.abs(self.actual - self.estimated) / np.maximum(1, self.actual)

    @property
    def mean(self) -> float:
        """AvgRE; not a number where nothing is asked."""
        return float(self.relative.mean()) if self.actual.size else math.nan


def workload_errors(baskets: Baskets, recoding: Items | LocalItems, queries: Baskets | None = None) -> WorkloadErrors:
    """The errors of counts of records that have all codes of a query; by default of the frequent sets."""
    asked = frequent_sets(baskets) if queries is None else queries
    return WorkloadErrors(matches(unchanged(baskets), asked), estimates(PublishedRecords.of(baskets, recoding), asked))


def frequent_sets(baskets: Baskets, share: float = FREQUENT, longest: int = 3, most: int = 1000) -> Baskets:
    """Sets of up to `longest` codes that at least this share of records has, shorter ones first.

    Of each length the `most` frequent are kept, and longer sets are sought among their extensions alone (Agrawal &
    Srikant, VLDB 1994): where nearly every record has the same thirty codes, all their subsets would be frequent.
    """
    least = max(1, math.ceil(share * baskets.records - 1e-9))
    supports = baskets.supports()
    codes = np.flatnonzero(supports >= least)
    level = _most_frequent([(code,) for code in codes.tolist()], supports[codes], most)
    found: list[tuple[int, ...]] = []
    whole = unchanged(baskets)
    while level:
        found += level
        if len(level[0]) == longest:
            break
        known = set(level)
        longer = [
            (*one, last[-1])
            for one in level
            for last in level
            if one[:-1] == last[:-1] and one[-1] < last[-1] and _all_inside((*one, last[-1]), known)
        ]
        counts = matches(whole, Baskets.of(longer, baskets.size))
        kept = counts >= least
        level = _most_frequent(
            [one for one, good in zip(longer, kept.tolist(), strict=True) if good], counts[kept], most
        )
    return Baskets.of(found, baskets.size)


def _all_inside(candidate: tuple[int, ...], known: set[tuple[int, ...]]) -> bool:
    return all(candidate[:i] + candidate[i + 1 :] in known for i in range(len(candidate)))


def _most_frequent(found: list[tuple[int, ...]], supports: Ints, most: int) -> list[tuple[int, ...]]:
    chosen = np.sort(np.argsort(-supports, kind="stable")[:most])
    return [found[i] for i in chosen.tolist()]
