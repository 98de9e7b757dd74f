"""Which published records may be those of somebody whose codes are known, counted over packed bits.

A published record matches a code when one of its items has it. Codes that are published of nobody tell nothing: whoever
knows one goes by the others.

>>> baskets = Baskets.of([[0, 1, 2], [3], [0, 2]], size=4)
>>> known = Baskets.of([[0, 1], [0, 3], []], size=4)
>>> matches(PublishedRecords.of(baskets, Items.unchanged(4)), known)
array([1, 0, 3])
>>> joined = PublishedRecords.of(baskets, Items(np.array([0, 0, 1, -1])))
>>> matches(joined, known), estimates(joined, known)
(array([2, 2, 3]), array([0.5, 0. , 3. ]))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from querygate.core.types import Array, Bools, Floats, Ints
from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.local_items import LocalItems

_BLOCK_BYTES = 1 << 26
"""What one block of records may take in memory; counts add up over blocks."""


@dataclass(frozen=True, eq=False)
class PublishedRecords:
    """What is published of each record, whether codes are recoded globally or locally.

    Item i says that a record has at least one of the codes groups[i]; items of one record share no code. `hidden` marks
    codes that are suppressed everywhere, and `silent` records of which codes may have been suppressed as a whole.
    """

    items: Baskets
    groups: tuple[tuple[int, ...], ...]
    hidden: Bools
    silent: Bools

    @classmethod
    def of(cls, baskets: Baskets, recoding: Items | LocalItems) -> PublishedRecords:
        if isinstance(recoding, Items):
            hidden = recoding.of == SUPPRESSED
            silent = np.zeros(baskets.records, dtype=np.bool_)
            return cls(recoding.publish(baskets), tuple(recoding.groups()), hidden, silent)
        silent = (np.diff(recoding.published.starts) == 0) & (recoding.suppressed > 0)
        return cls(recoding.published, recoding.groups, np.zeros(baskets.size, dtype=np.bool_), silent)

    @property
    def records(self) -> int:
        return self.items.records

    def sizes(self) -> Ints:
        """How many codes each item has."""
        return np.array([len(codes) for codes in self.groups], dtype=np.int64)


def matches(published: PublishedRecords, known: Baskets) -> Ints:
    """For each known set of codes, how many published records match all codes of it. A silent record matches any."""
    seen = _Seen.of(published, known, published.hidden)
    counts = np.zeros(known.records, dtype=np.int64)
    for first, last in _blocks(published.records, max(1, seen.items.size)):
        bits = seen.bits(published, first, last)
        for chosen, held in _folded(seen, bits, np.bitwise_and):
            counts[chosen] += np.bitwise_count(held).sum(axis=1, dtype=np.int64)
        counts[seen.idle] += last - first
    return counts


def estimates(published: PublishedRecords, asked: Baskets) -> Floats:
    """For each set of codes, how many records may be expected to have them all if all codes of an item are alike.

    A record with an item of s codes has each of them with probability 1/s, independently; one that is suppressed it has
    with probability 0.
    """
    seen = _Seen.of(published, asked, np.zeros_like(published.hidden))
    found = np.zeros(asked.records)
    for first, last in _blocks(published.records, 8 * max(1, seen.items.size)):
        shares = seen.shares(published, first, last)
        for chosen, held in _folded(seen, shares, np.multiply):
            found[chosen] += held.sum(axis=1)
        found[seen.idle] += last - first
    return found


@dataclass(frozen=True, eq=False)
class _Seen:
    """Known sets by the codes that count, and the published items that have these codes.

    Set i, those with most codes first, has the codes members[starts[i] : starts[i] + lengths[i]], as numbers of rows.
    Row c is the union of items[item_of[begin[c]:begin[c + 1]]]; of a code that no item has the row is empty.
    """

    order: Ints  # where set i stands among the known ones
    starts: Ints
    lengths: Ints
    members: Ints
    items: Ints
    item_of: Ints
    begin: Ints
    idle: Ints  # known sets without any code that counts

    @classmethod
    def of(cls, published: PublishedRecords, known: Baskets, ignored: Bools) -> _Seen:
        counts = ~ignored[known.members]
        lengths = np.bincount(known.of_record[counts], minlength=known.records)
        codes, members = np.unique(known.members[counts], return_inverse=True)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        starts = (np.cumsum(lengths) - lengths)[order]
        sizes = published.sizes()
        code = np.fromiter(chain.from_iterable(published.groups), dtype=np.int64, count=int(sizes.sum()))
        item = np.repeat(np.arange(sizes.size), sizes)
        wanted = np.isin(code, codes)
        by_code = np.argsort(code[wanted], kind="stable")
        items, item_of = np.unique(item[wanted][by_code], return_inverse=True)
        begin = np.searchsorted(code[wanted][by_code], np.append(codes, known.size))
        idle = np.flatnonzero(lengths == 0)
        return cls(order, starts, lengths[order], members, items, item_of, begin, idle)

    def held(self, published: PublishedRecords, first: int, last: int) -> Bools:
        """Which of the items each record of a block has: one row per item."""
        among = slice(int(published.items.starts[first]), int(published.items.starts[last]))
        member = published.items.members[among]
        record = np.repeat(np.arange(last - first), np.diff(published.items.starts[first : last + 1]))
        held = np.zeros((self.items.size, last - first), dtype=np.bool_)
        row = np.full(published.items.size, -1, dtype=np.int64)
        row[self.items] = np.arange(self.items.size)
        kept = row[member] >= 0
        held[row[member[kept]], record[kept]] = True
        return held

    def bits(self, published: PublishedRecords, first: int, last: int) -> Array:
        """For each code that counts, the records of a block that match it, eight to a byte."""
        packed = np.packbits(self.held(published, first, last), axis=1)
        rows = self._united(packed, np.bitwise_or)
        return rows | np.packbits(published.silent[first:last])

    def shares(self, published: PublishedRecords, first: int, last: int) -> Array:
        """For each code that counts, the share of it that each record of a block has."""
        sizes = published.sizes()[self.items]
        return self._united(self.held(published, first, last) / sizes[:, None], np.add)

    def _united(self, rows: Array, union: np.ufunc) -> Array:
        made = np.zeros((self.begin.size - 1, rows.shape[1]), dtype=rows.dtype)
        number = np.diff(self.begin)
        filled = np.flatnonzero(number)
        if number.max(initial=0) == 1:  # global recoding: no unions to make
            made[filled] = rows[self.item_of]
        elif filled.size:
            made[filled] = union.reduceat(rows[self.item_of], self.begin[filled], axis=0)
        return made


def _folded(seen: _Seen, rows: Array, join: np.ufunc) -> Iterator[tuple[Ints, Array]]:
    """The rows of the codes of each set joined, some sets at a time, with the places of the sets."""
    step = max(1, _BLOCK_BYTES // max(1, rows.shape[1] * rows.itemsize))
    for at in range(0, seen.order.size, step):
        starts, lengths = seen.starts[at : at + step], seen.lengths[at : at + step]
        held = rows[seen.members[starts]]
        for j in range(1, int(lengths[0])):
            more = int(np.searchsorted(-lengths, -j))  # sets with more than j codes stand in front
            join(held[:more], rows[seen.members[starts[:more] + j]], out=held[:more])
        yield seen.order[at : at + step], held


def _blocks(records: int, bytes_each: int) -> Iterator[tuple[int, int]]:
    step = max(8, _BLOCK_BYTES // bytes_each)
    return ((first, min(first + step, records)) for first in range(0, records, step))


def unchanged(baskets: Baskets) -> PublishedRecords:
    """The records as they are."""
    groups = tuple((code,) for code in range(baskets.size))
    return PublishedRecords(baskets, groups, np.zeros(baskets.size, np.bool_), np.zeros(baskets.records, np.bool_))
