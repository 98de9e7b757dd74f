"""Rules from public to sensitive codes, and items under which they tell little (PS-rules; Loukides, Gkoulalas-Divanis,
Shao, Knowl. Inf. Syst. 2013).

A rule is protected where at least k records, or none, hold what is known under the items, and at most a share c of
those hold all of what is secret. Sensitive codes are published as they are.

RBAT: all public codes begin as one item; items are split in two, as long as every rule stays protected. The paper finds
two unlike codes and gives the rest to the nearer one; here codes stand in the order of their hierarchy and an item is a
run of them, split where neighbours are most unlike, then where the halves are most even. So related codes stay together
and a split is found in one pass. Confidence may rise or fall as items are split: a split that fails is not the end of
an item before the next best ones have failed too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from querygate.core.count_text import counted
from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.confidence import above, check_share, sensitive_mask
from querygate.methods.code_lists.km.km_supports import Index
from querygate.methods.code_lists.subtrees import check_levels
from querygate.methods.code_lists.unprotectable import Unprotectable, check_enough

Run: TypeAlias = tuple[int, int]
Bytes: TypeAlias = NDArray[np.uint8]
TRIES = 16
"""Places where one item may be split before it stays whole."""


@dataclass(frozen=True)
class SensitiveRule:
    """Who is known to have all public codes `known` shall not be found, nor found to have all of `secret`."""

    known: tuple[int, ...]
    secret: tuple[int, ...]


def rbat(
    baskets: Baskets,
    rules: Sequence[SensitiveRule],
    k: int,
    confidence: float,
    levels: Sequence[Ints] | None = None,
    sensitive: Collection[int] = (),
) -> Items:
    """Items of public codes under which all rules are protected; without levels, codes are like those of near number.
    Codes that are secret in a rule stay as they are, and so do further `sensitive` ones.

    >>> baskets = Baskets.of([[0, 2], [1]], size=3)
    >>> rbat(baskets, [SensitiveRule((0,), (2,))], k=2, confidence=0.5).groups()
    [(0, 1), (2,)]
    """
    check_share("confidence", confidence)
    check_enough(baskets.records, k)
    secret = np.array(sorted({*sensitive, *(code for rule in rules for code in rule.secret)}), dtype=np.int64)
    is_secret = sensitive_mask(secret, baskets.size)
    known = np.array([code for rule in rules for code in rule.known], dtype=np.int64)
    if any(not rule.known for rule in rules) or sensitive_mask(known, baskets.size)[is_secret].any():
        raise ValueError("a rule has known codes, and no code is known in one rule and secret in another")
    order, gap = _likeness(baskets.size, levels)
    public = ~is_secret[order]
    place = np.empty(baskets.size, dtype=np.int64)
    place[np.concatenate([order[public], secret])] = np.arange(baskets.size)
    ordered = Index.of(Baskets(baskets.starts, place[baskets.members], baskets.size))
    placed = [SensitiveRule(tuple(place[list(rule.known)]), tuple(place[list(rule.secret)])) for rule in rules]
    runs = _Splitter(ordered, placed, k, confidence, _between(gap, public)).run()
    firsts = np.array(sorted(begin for begin, _ in runs) + list(range(baskets.size - secret.size, baskets.size)))
    return Items(np.searchsorted(firsts, place, side="right") - 1)


def _likeness(size: int, levels: Sequence[Ints] | None) -> tuple[Ints, Ints]:
    """Codes in an order in which those that are alike are near, and the height at which each meets the one before."""
    if levels is None:
        return np.arange(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    check_levels(levels)
    if levels[0].size != size:
        raise ValueError("a hierarchy has one place for each code")
    order = np.lexsort(levels).astype(np.int64)
    gap = np.zeros(size, dtype=np.int64)
    for level in levels:
        gap[1:] += level[order][1:] != level[order][:-1]
    return order, gap


def _between(gap: Ints, kept: Bools) -> Ints:
    """The height at which each code that is kept meets the one kept before: the largest on the way."""
    at = np.flatnonzero(kept)
    return np.maximum.reduceat(gap[: at[-1] + 1], np.concatenate([[0], at[:-1] + 1])) if at.size else at


class _Splitter:
    """Items as runs of public codes, and what rules say of them. Codes are numbered in order, public ones first."""

    def __init__(self, index: Index, rules: Sequence[SensitiveRule], k: int, confidence: float, gap: Ints) -> None:
        self.index, self.rules, self.k, self.confidence, self.gap = index, rules, k, confidence, gap
        self.weight = np.concatenate([[0], np.cumsum(index.supports())])
        self.secret = [self._all(rule.secret) for rule in rules]
        known = [(code, number) for number, rule in enumerate(rules) for code in set(rule.known)]
        self.touching = np.array(sorted(known), dtype=np.int64).reshape(-1, 2)
        self.bits: dict[Run, Bytes] = {}
        self.run_of: list[Run] = [(0, gap.size)] * gap.size

    def run(self) -> list[Run]:
        """The items in the end."""
        whole = (0, self.gap.size)
        if self.gap.size == 0:
            return []
        self.bits[whole] = self._any(whole)
        broken = sum(
            not self._protected(rule, secret, {}) for rule, secret in zip(self.rules, self.secret, strict=True)
        )
        if broken:
            raise Unprotectable(
                f"{counted(broken, 'rule stays', 'rules stay')} unprotected even if one item stands for all "
                "public codes.",
                "Allow more confidence or a smaller k, or leave out the secret codes of these rules.",
            )
        done, waiting = [], [whole]
        while waiting:
            item = waiting.pop()
            halves = self._split(item)
            waiting += halves
            if not halves:
                done.append(item)
        return done

    def _split(self, item: Run) -> list[Run]:
        """The halves of an item, if all rules stay protected when it is split; none otherwise."""
        first, last = np.searchsorted(self.touching[:, 0], item)
        touched = np.unique(self.touching[first:last, 1]).tolist()
        for cut in self._cuts(*item):
            halves = [(item[0], cut), (cut, item[1])]
            tried = {half: self._any(half) for half in halves}
            if all(self._protected(self.rules[number], self.secret[number], tried) for number in touched):
                del self.bits[item]
                self.bits |= tried
                for half in halves:
                    self.run_of[half[0] : half[1]] = [half] * (half[1] - half[0])
                return halves
        return []

    def _cuts(self, begin: int, end: int) -> list[int]:
        """Where to split a run: between the most unlike, then most evenly."""
        inside = np.arange(begin + 1, end)
        uneven = np.abs(2 * self.weight[inside] - self.weight[begin] - self.weight[end])
        cuts: list[int] = inside[np.lexsort((uneven, -self.gap[inside]))][:TRIES].tolist()
        return cuts

    def _protected(self, rule: SensitiveRule, secret: Bytes, tried: dict[Run, Bytes]) -> bool:
        """Is a rule protected, with the halves that are tried in place of the item they are of?"""
        held = np.full(secret.size, 255, dtype=np.uint8)
        for code in rule.known:
            half = next((half for half in tried if half[0] <= code < half[1]), None)
            held &= self.bits[self.run_of[code]] if half is None else tried[half]
        support, told = int(np.bitwise_count(held).sum()), int(np.bitwise_count(held & secret).sum())
        sure = bool(rule.secret) and bool(above(told, support, self.confidence))
        return support == 0 or (support >= self.k and not sure)

    def _any(self, run: Run) -> Bytes:
        """The records that hold a code of the run, as bits."""
        held = np.zeros(self.index.baskets.records, dtype=np.bool_)
        held[self.index.records[self.index.starts[run[0]] : self.index.starts[run[1]]]] = True
        return np.packbits(held)

    def _all(self, codes: tuple[int, ...]) -> Bytes:
        """The records that hold all codes, as bits."""
        held = np.zeros(self.index.baskets.records, dtype=np.int64)
        for code in set(codes):
            held[self.index.holders(code)] += 1
        return np.packbits(held == len(set(codes)))
