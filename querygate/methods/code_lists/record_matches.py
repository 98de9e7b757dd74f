"""Which published records may be those of somebody whose codes are known, counted over packed bits.

A published record matches a code when one of its items has it. Codes that are published of nobody tell nothing: whoever
knows one goes by the others.

>>> baskets = Baskets.of([[0, 1, 2], [3], [0, 2]], size=4)
>>> known = Baskets.of([[0, 1], [0, 3], []], size=4)
>>> matches(PublishedRecords.of(baskets, Items.unchanged(4)), known)
array([1, 0, 3])
>>> joined = PublishedRecords.of(baskets, Items(np.array([0, 0, 1, -1])))
>>> matches(joined, known), estimates(joined, known)
(array([2, 2, 3]), array([0.66666667, 0.        , 3.        ]))
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
        for chosen, held in _folded(seen, bits):
            counts[chosen] += np.bitwise_count(held).sum(axis=1, dtype=np.int64)
        counts[seen.idle] += last - first
    return counts


def estimates(published: PublishedRecords, asked: Baskets) -> Floats:
    """For each set of codes, how many records may be expected to have them all.

    An item of s codes stands for any of the 2^s - 1 sets of one or more of them, each as likely as another (Loukides et
    al. 2010): a record with the item has one given code with probability 2^(s-1) / (2^s - 1), and, having some, each
    further one with 1/2. Items are independent; a suppressed code a record has with probability 0.
    """
    seen = _Seen.of(published, asked, np.zeros_like(published.hidden))
    chance = np.append(0, 0.5 / (1 - 0.5 ** published.sizes()[seen.items]))
    found = np.zeros(asked.records)
    for first, last in _blocks(published.records, 8 * max(1, seen.items.size)):
        holder = seen.holders(published, first, last)
        for chosen, held in _chances(seen, holder, chance):
            found[chosen] += held.sum(axis=1)
        found[seen.idle] += last - first
    return found


@dataclass(frozen=True, eq=False)
class _Seen:
    """Known sets by the codes that count, and the published items that have these codes.

    Set i, those with most codes first, has the codes members[starts[i] : starts[i] + lengths[i]], as numbers of rows.
    Row c is the union of items[item_of[begin[c]:begin[c + 1]]]; of a code that no item has the row is empty. Narrower
    items stand behind wider ones.
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
        narrower = np.argsort(-sizes[items], kind="stable")
        items, item_of = items[narrower], np.argsort(narrower)[item_of]
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

    def holders(self, published: PublishedRecords, first: int, last: int) -> Array:
        """For each code that counts, the narrowest item by which each record of a block has it, from 1 up; 0 where none
        does.
        """
        number = np.arange(1, self.items.size + 1, dtype=np.int32)
        return self._united(self.held(published, first, last) * number[:, None], np.maximum)

    def _united(self, rows: Array, union: np.ufunc) -> Array:
        made = np.zeros((self.begin.size - 1, rows.shape[1]), dtype=rows.dtype)
        number = np.diff(self.begin)
        filled = np.flatnonzero(number)
        if number.max(initial=0) == 1:  # global recoding: no unions to make
            made[filled] = rows[self.item_of]
        elif filled.size:
            made[filled] = union.reduceat(rows[self.item_of], self.begin[filled], axis=0)
        return made


def _folded(seen: _Seen, rows: Array) -> Iterator[tuple[Ints, Array]]:
    """The records that match all codes of each set, some sets at a time, with the places of the sets."""
    for sets, codes in _steps(seen, rows):
        held = rows[codes[0]]
        for more in codes[1:]:
            held[: more.size] &= rows[more]
        yield sets, held


def _chances(seen: _Seen, holder: Array, chance: Floats) -> Iterator[tuple[Ints, Floats]]:
    """With which probability each record has all codes of each set. A code that comes by the item of one before it in
    the set adds a half.
    """
    shares = chance[holder]
    for sets, codes in _steps(seen, shares):
        held = shares[codes[0]]
        for j, more in enumerate(codes[1:], start=1):
            share, item = shares[more], holder[more]
            for earlier in codes[:j]:
                np.copyto(share, 0.5, where=item == holder[earlier[: more.size]])  # `held` is 0 where neither has one
            held[: more.size] *= share
        yield sets, held


def _steps(seen: _Seen, rows: Array) -> Iterator[tuple[Ints, list[Ints]]]:
    """Some sets at a time: their places, and their first codes, second codes and so on, longer sets in front."""
    step = max(1, _BLOCK_BYTES // max(1, rows.shape[1] * rows.itemsize))
    for at in range(0, seen.order.size, step):
        starts, lengths = seen.starts[at : at + step], seen.lengths[at : at + step]
        codes = [seen.members[starts[lengths > j] + j] for j in range(int(lengths[0]))]
        yield seen.order[at : at + step], codes


def _blocks(records: int, bytes_each: int) -> Iterator[tuple[int, int]]:
    step = max(8, _BLOCK_BYTES // bytes_each)
    return ((first, min(first + step, records)) for first in range(0, records, step))


def unchanged(baskets: Baskets) -> PublishedRecords:
    """The records as they are."""
    groups = tuple((code,) for code in range(baskets.size))
    return PublishedRecords(baskets, groups, np.zeros(baskets.size, np.bool_), np.zeros(baskets.records, np.bool_))
