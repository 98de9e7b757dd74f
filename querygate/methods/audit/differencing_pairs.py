"""Pairs of query sets that differ in fewer than k places: the classic differencing attack, found in any log.

Places are divided into k buckets at random and each set is hashed in each bucket. Two sets that differ in fewer than k
places agree in at least one whole bucket (pigeonhole principle), so sets that share a hash are all the candidates there
can be: nothing is missed, whatever the number of sets.

>>> import numpy as np
>>> forties, and_51 = np.array([1, 1, 1, 0, 0], bool), np.array([1, 1, 1, 1, 0], bool)
>>> near_pairs(packed(np.stack([forties, and_51, ~forties])), np.array([4, 3, 3, 1, 9]), 5)
[(0, 1)]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from querygate.core.types import Bools, Ints

Bits = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

AT_ONCE = 4_096
"""Sets, or pairs, looked at together: what they need stays in the processor's cache."""


def packed(sets: Bools) -> Bits:
    """Sets as rows of bits, eight places to a byte."""
    return np.packbits(sets, axis=-1)


def near_pairs(sets: Bits, weights: Ints, k: int) -> list[tuple[int, int]]:
    """All pairs (i < j) of different sets whose symmetric difference holds fewer than k records.

    A place weighs at least one record, so such sets differ in fewer than k places. Sets are packed rows.
    """
    sizes, hashes = measured(sets, weights, k)
    found: list[npt.NDArray[np.int64]] = []
    for column in hashes.T:
        for pairs in _candidates(column, sizes, k):
            found += [_verified(sets, weights, k, pairs[i : i + AT_ONCE]) for i in range(0, len(pairs), AT_ONCE)]
    pairs = np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 2), dtype=np.int64)
    return [(int(i), int(j)) for i, j in pairs]


def nested_pairs(sets: Bools, weights: Ints, k: int) -> npt.NDArray[np.int64]:
    """All pairs (i < j) of different sets one of which is within the other and has fewer than k records less.

    They are near pairs too, but small sets that have nothing in common, of which GROUP BY makes any number, are all
    near each other. A set that another is within has the rarest of its places too, and there are few that have it.

    >>> groups = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], bool)
    >>> nested_pairs(groups, np.array([1, 1, 1]), 2).tolist(), len(near_pairs(packed(groups), np.array([1, 1, 1]), 3))
    ([[0, 3], [1, 3]], 5)
    """
    sizes = sets @ weights
    order = np.argsort(sizes, kind="stable")
    bits, size = packed(sets[order]), sizes[order]
    having = packed(sets[order].T)  # by place: the sets that have it
    often = sets.sum(axis=0)
    first, last = np.searchsorted(size, size, "right"), np.searchsorted(size, size + k, "left")
    found = [np.zeros((0, 2), dtype=np.int64)]
    for i in np.flatnonzero(first < last):
        places = np.flatnonzero(sets[order[i]])
        begin, end = first[i], last[i]
        others = np.arange(begin, end)
        if places.size:
            rarest = places[np.argmin(often[places])]
            there = np.unpackbits(having[rarest, begin // 8 : (end + 7) // 8])[begin % 8 :][: end - begin]
            others = others[there.astype(bool)]
        within = ~(bits[i] & ~bits[others]).any(axis=1)
        found.append(np.stack(np.broadcast_arrays(order[i], order[others[within]]), axis=1))
    return np.unique(np.sort(np.concatenate(found), axis=1), axis=0)


def measured(sets: Bits, weights: Ints, k: int) -> tuple[Ints, Words]:
    """Records of each set, and its hash in each of k buckets: the sum of a random word for each of its places.

    Eight places that share a byte share a bucket, so that a table by byte gives their sum at once.
    """
    width = sets.shape[1]
    random = np.random.default_rng(k)
    bucket = random.permutation(width) % k  # none is empty as long as there are k bytes
    order = np.argsort(bucket, kind="stable")
    filled, starts = np.unique(bucket[order], return_index=True)
    padded = np.zeros(8 * width, dtype=np.uint64)
    padded[: len(weights)] = weights
    records = _by_byte(padded)
    words = _by_byte(random.integers(0, 2**63, 8 * width, dtype=np.uint64))[order]
    sizes = np.zeros(len(sets), dtype=np.int64)
    hashes = np.zeros((len(sets), min(k, len(filled) + 1)), dtype=np.uint64)  # in an empty bucket all sets agree
    at = np.arange(width)
    step = max(1, AT_ONCE * 256 // width)
    for begin in range(0, len(sets), step):
        here = slice(begin, begin + step)
        sizes[here] = records[at, sets[here]].sum(axis=1).astype(np.int64)
        hashes[here, : len(filled)] = np.add.reduceat(words[at, sets[here][:, order]], starts, axis=1)
    return sizes, hashes


def _by_byte(words: Words) -> Words:
    """For each byte of a row of bits and each value of it, the sum of the words of the places it holds."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.uint64)
    sums: Words = words.reshape(-1, 8) @ bits.T
    return sums


def _candidates(column: Words, sizes: Ints, k: int) -> Iterator[npt.NDArray[np.int64]]:
    """Pairs with one hash in this bucket whose sizes differ by fewer than k: neighbours, then those one further ..."""
    order = np.lexsort((sizes, column))
    hashed, size = column[order], sizes[order]
    left = np.arange(len(order) - 1)
    step = 1
    while left.size:
        right = left + step
        near = (hashed[left] == hashed[right]) & (size[right] - size[left] < k)
        left = left[near]
        yield np.sort(np.stack([order[left], order[left + step]], axis=1), axis=1)
        step += 1
        left = left[left + step < len(order)]


def _verified(sets: Bits, weights: Ints, k: int, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Those that really differ, by fewer than k records."""
    apart = sets[pairs[:, 0]] ^ sets[pairs[:, 1]]
    places = np.bitwise_count(apart).sum(axis=1, dtype=np.int64)
    near = np.flatnonzero((places > 0) & (places < k))
    records = np.unpackbits(apart[near], axis=1, count=len(weights)) @ weights
    return pairs[near[records < k]]
