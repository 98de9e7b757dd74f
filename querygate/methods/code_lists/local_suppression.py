"""k^m-anonymity by hiding codes in single records: elsewhere the same code is told.

Suppressing a code in all records (Vinterbo, Ohno-Machado, Dreiseitl, AMIA 2001) keeps counts of the others and costs
most of the codes; suppressing it in a number of records keeps more (Gkoulalas-Divanis, Loukides, tutorial at SIAM Data
Mining 2012). Silent suppression would be false here: a count would miss the record. So a record of which something is
hidden says so, by an item that stands for all codes that are hidden anywhere. Whoever knows a code finds the records
that tell it and those that may hide it.

Sets are settled from the smallest on. Of each rare set in a record the rarest code goes; hiding
makes other sets rare in turn, so this is repeated until none is. It ends, since every round hides something. Where
fewer than k records hide anything, the rarest code goes wholly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.km.km_supports import rare_sets
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.unprotectable import check_enough


def suppressed_locally(baskets: Baskets, levels: Sequence[Ints], k: int, m: int) -> LocalItems:
    """Codes as they are, hidden in some records, so that every set of up to m items is of k records or of none.

    The hierarchy is not asked.

    >>> made = suppressed_locally(Baskets.of([[0, 1], [0, 1], [0, 2], [0, 1, 2]], size=3), [], k=2, m=2)
    >>> [[made.groups[item] for item in items] for items in made.published.lists()]
    [[(0,), (1,)], [(0,), (1,)], [(0,), (1, 2)], [(0,), (1, 2)]]
    """
    check_enough(int(np.count_nonzero(np.diff(baskets.starts))), k)
    if m < 1:
        raise ValueError("m is at least 1")
    hidden = np.zeros(baskets.members.size, dtype=np.bool_)
    published = _published(baskets, hidden)
    while (rare := _rare(published, k, m)) is not None:
        if rare.tolist() == [[baskets.size]]:
            told = published.supports()[: baskets.size]
            hidden |= baskets.members == np.flatnonzero(told)[np.argmin(told[told > 0])]
        else:
            hidden |= _chosen(baskets, published, rare)
        published = _published(baskets, hidden)
    return _made(baskets, published, hidden)


def _rare(published: Baskets, k: int, m: int) -> Ints | None:
    """Sets that are too rare, of the smallest size that has any."""
    found = (rare_sets(published, size, k) for size in range(1, m + 1))
    return next((rare for rare in found if len(rare)), None)


def _chosen(baskets: Baskets, published: Baskets, rare: Ints) -> Bools:
    """Which entries go. The item of what is hidden cannot go, so its number is in no set too many."""
    often = published.supports()
    often[baskets.size] = published.records + 1
    goes: set[tuple[int, int]] = set()
    for itemset, records in zip(rare.tolist(), _holders(published, rare), strict=True):
        worst = min(itemset, key=lambda code: (often[code], code))
        goes.update((record, worst) for record in records)
    gone = np.array(sorted(goes), dtype=np.int64).reshape(-1, 2)
    size = baskets.size + 1
    return np.isin(baskets.of_record * size + baskets.members, gone[:, 0] * size + gone[:, 1])


def _holders(published: Baskets, rare: Ints) -> Iterator[list[int]]:
    """The records of each set; records of an item are the bits of a number, since most sets have few in common."""
    bits: dict[int, int] = {}
    by_item = np.argsort(published.members, kind="stable")
    records = published.of_record[by_item]
    ends = np.cumsum(published.supports())
    for item in np.unique(rare).tolist():
        row = np.zeros(published.records, dtype=np.bool_)
        row[records[ends[item - 1] if item else 0 : ends[item]]] = True
        bits[item] = int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")
    for itemset in rare.tolist():
        yield list(_places(reduce(and_, (bits[item] for item in itemset))))


def _places(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _published(baskets: Baskets, hidden: Bools) -> Baskets:
    """What is told of each record; where something is hidden the last item, which all other numbers stand before."""
    some = np.zeros(baskets.records, dtype=np.bool_)
    some[baskets.of_record[hidden]] = True
    record = np.concatenate([baskets.of_record[~hidden], np.flatnonzero(some)])
    item = np.concatenate([baskets.members[~hidden], np.full(int(some.sum()), baskets.size)])
    order = np.lexsort([item, record])
    starts = np.searchsorted(record[order], np.arange(baskets.records + 1))
    return Baskets(starts.astype(np.int64), item[order].astype(np.int64), baskets.size + 1)


def _made(baskets: Baskets, published: Baskets, hidden: Bools) -> LocalItems:
    rest = tuple(np.unique(baskets.members[hidden]).tolist())
    groups = [(code,) for code in range(baskets.size)] + [rest] * bool(rest)
    told = Baskets(published.starts, published.members, max(1, len(groups)))
    loss = hidden.mean() * (1.0 if len(rest) < 2 else len(rest) / baskets.size) if hidden.size else 0.0
    return LocalItems(told, tuple(groups), 0, float(loss))
