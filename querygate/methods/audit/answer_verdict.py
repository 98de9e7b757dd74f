"""The decision before an answer: would it, with the answers given before, reveal something about fewer than k records?

A `Watch` holds the sets of one view that were answered. From structure alone, that is from which places each set has
and how many records each place holds, it says of new sets whether their totals would make known:

    small   a set of fewer than k records                                                       (T0)
    pair    what two sets do not share, where that is fewer than k; the whole is one of them    (T2, T4)
    linear  one atom of fewer than k records, by any combination of all sets                    (T3)
    tied    some combination of two atoms that are fewer than k records together                (T3)

Nothing here sees an answer or a secret, so that whoever knows the places could work out each decision beforehand: a
refusal tells them nothing (simulatability: Kenthapadi, Mishra, Nissim 2005). All tests are made whatever comes of them.

>>> import numpy as np
>>> watch = Watch(np.array([4, 6, 1, 20]), k=5)      # ages 40-45, 46-50, 51, 52 and more
>>> forties = np.array([1, 1, 0, 0], bool)
>>> watch.judge(forties).rule
''
>>> watch.take(forties, "q1")
>>> watch.judge(np.array([1, 1, 1, 0], bool))
LiveVerdict(rule='pair', records=1, other='q1')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.audit.differencing_pairs import packed
from querygate.methods.audit.linear_attack import zero
from querygate.methods.audit.null_space import NullSpace
from querygate.methods.audit.prime_field import PRIME, residues
from querygate.methods.audit.set_bits import fingerprint

Rule: TypeAlias = Literal["", "small", "pair", "linear", "tied", "cap"]

MOST_SETS = 1_500
"""Independent sets of one view. Beyond it a decision would take too long, so it is no longer made: fail closed."""


WHOLE, ITSELF = "(all)", "(itself)"
"""What a pair may be made with, other than an earlier query: everybody, or another group of the same statement."""


@dataclass(frozen=True, slots=True)
class LiveVerdict:
    """Which rule new sets break, if any; how many records would be singled out; for a pair, what it is made with."""

    rule: Rule = ""
    records: int = 0
    other: str = ""

    @property
    def isolates(self) -> bool:
        return bool(self.rule)


class Watch:
    """The sets of one view (a user, a project, everybody), as they are answered.

    `weights` are the records of each place. That the whole is known, as the number of records is public, is where a
    watch begins.
    """

    def __init__(self, weights: Ints, k: int, most: int = MOST_SETS) -> None:
        self.k, self.most = k, most
        self._weights = weights.astype(np.int64)
        self._equations = NullSpace(len(weights))
        self._known: dict[str, int] = {}  # fingerprint -> number of the set
        self._tags: list[str] = []
        self._bits = np.zeros((16, len(packed(weights > 0))), dtype=np.uint8)
        self._sizes = np.zeros(16, dtype=np.int64)
        self.take(np.ones(len(weights), dtype=np.bool_), WHOLE)

    @property
    def rank(self) -> int:
        """How many independent sets there are."""
        return self._equations.rank

    @property
    def is_full(self) -> bool:
        return self.rank >= self.most

    def judge(self, rows: Bools) -> LiveVerdict:
        """What answering these sets together would break. Nothing is changed."""
        new = np.atleast_2d(rows)[self._new(rows)]
        found = [
            self._small(new),
            self._pair(new),
            self._linear(new) if len(new) and not self.is_full else LiveVerdict(),
        ]
        if self.rank + len(new) > self.most and len(new):
            found.append(LiveVerdict("cap"))
        return next((one for one in found if one.isolates), LiveVerdict())

    def take(self, rows: Bools, tag: str | Sequence[str]) -> None:
        """The sets were answered, to this query, or each to its own. What is known already changes nothing."""
        new, rows = self._new(rows), np.atleast_2d(rows)
        if not self.is_full:
            self._equations.take(rows[new])
        for i in new:
            self._keep(rows[i], tag if isinstance(tag, str) else tag[i])

    # -- sets --------------------------------------------------------------------------------------------

    def _new(self, rows: Bools) -> list[int]:
        """Which sets are neither empty nor known; of equal ones the first."""
        kept: dict[str, int] = {}
        for i, row in enumerate(np.atleast_2d(rows)):
            mark = fingerprint(row)
            if mark not in self._known and row.any():
                kept.setdefault(mark, i)
        return list(kept.values())

    def _keep(self, row: Bools, tag: str) -> None:
        number = len(self._tags)
        if number == len(self._sizes):
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._bits[number], self._sizes[number] = packed(row), int(self._weights[row].sum())
        self._known[fingerprint(row)] = number
        self._tags.append(tag)

    def _small(self, rows: Bools) -> LiveVerdict:
        sizes = rows @ self._weights
        return LiveVerdict("small", int(sizes.min())) if len(rows) and sizes.min() < self.k else LiveVerdict()

    def _pair(self, rows: Bools) -> LiveVerdict:
        """Sets that differ by fewer than k records have sizes that differ by fewer than k: only those are compared."""
        bits, sizes = packed(rows), rows @ self._weights
        nearest = LiveVerdict()
        for i in range(len(rows)):
            past = np.flatnonzero(np.abs(self._sizes[: len(self._tags)] - sizes[i]) < self.k)
            others = np.concatenate([self._bits[past], bits[:i]])
            apart = others ^ bits[i]
            places = np.bitwise_count(apart).sum(axis=1, dtype=np.int64)
            near = np.flatnonzero(places < self.k)
            records = np.unpackbits(apart[near], axis=1, count=len(self._weights)) @ self._weights
            for j in np.flatnonzero(records < self.k)[:1]:
                other = self._tags[past[near[j]]] if near[j] < len(past) else ITSELF
                nearest = nearest if nearest.isolates else LiveVerdict("pair", int(records[j]), other)
        return nearest

    # -- equations ---------------------------------------------------------------------------------------

    def _linear(self, rows: Bools) -> LiveVerdict:
        """Does an atom, or some combination of two, become known that was not?"""
        after = self._equations.foresee(rows)
        records = np.bincount(after.label, self._weights).astype(np.int64)
        whole = np.bincount(after.label) == np.bincount(self._equations.label)[after.parent]
        small = zero(after.probes) & (records < self.k) & ~(zero(after.before) & whole)
        tied = _tied(after.probes, after.before, whole, records, self.k)
        if small.any():
            return LiveVerdict("linear", int(records[small].min()))
        return LiveVerdict("tied", tied) if tied else LiveVerdict()


def _tied(probes: Floats, before: Floats, whole: Bools, records: Ints, k: int) -> int:
    """Records of the smallest pair of atoms that is parallel in every null vector now, and was not; 0 for none.

    Within a group of parallel atoms those that were parallel before, and undivided, are one part. The smallest new pair
    is the smallest atom, and the smallest of another part.
    """
    usable = np.flatnonzero((records < k - 1) & (probes != 0).all(axis=0))
    shape = _shapes(probes[:, usable])
    order = np.lexsort((records[usable], shape))
    same = np.diff(shape[order]) == 0
    order = order[np.append(same, False) | np.insert(same, 0, False)] if same.any() else order[:0]
    usable, shape = usable[order], shape[order]
    old = _parts(before[:, usable], whole[usable])
    first = np.flatnonzero(np.diff(shape, prepend=-1))  # the smallest atom of each group
    of = np.repeat(first, np.diff(np.append(first, len(shape))))
    pairs = (records[usable] + records[usable[of]])[old != old[of]]
    return int(pairs.min()) if pairs.size and pairs.min() < k else 0


def _parts(before: Floats, whole: Bools) -> Ints:
    """Which atoms were parallel before: equal numbers. One that was divided, or was zero, is by itself."""
    alone = ~whole | (before == 0).any(axis=0)
    shape = -1 - np.arange(len(whole))
    shape[~alone] = _shapes(before[:, ~alone])
    return shape


def _shapes(probes: Floats) -> Ints:
    """What parallel columns share: the ratios of their entries, none of which is zero, as one number."""
    first = _inverses()[probes[0].astype(np.int64)]
    second, third = residues(probes[1:] * first).astype(np.int64)
    return np.asarray(second * 2**22 + third, dtype=np.int64)


@cache
def _inverses() -> npt.NDArray[np.float32]:
    """1 / x for each residue x. With a root g of the field, 1 / g^i = g^(p-1-i)."""
    factors = (2, 3, 5, 11, 31, 41)  # of p - 1 = 4,194,300
    root = next(g for g in range(2, PRIME) if all(pow(g, (PRIME - 1) // q, PRIME) != 1 for q in factors))
    powers = np.ones(1)
    while len(powers) < PRIME - 1:
        powers = np.concatenate([powers, residues(powers * pow(root, len(powers), PRIME))])[: PRIME - 1]
    found = np.zeros(PRIME, dtype=np.float32)  # which holds whole numbers below 2^24
    found[powers.astype(np.int64)] = np.roll(powers[::-1], 1)
    return found


__all__ = ["ITSELF", "WHOLE", "Rule", "LiveVerdict", "Watch"]
