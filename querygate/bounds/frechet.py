"""How many records of each frame cell a group has, from margins that lack some of its columns.

If a margin has only some of the columns, the records that satisfy its part of the condition are an upper bound. If no
margin has all columns, Fréchet's inequality gives a lower bound too.

If each of V conditions holds for n_v records of a frame cell, and all of them only where S does, which is so for at
most s records, then all of them hold at once for at least n_1 + ... + n_V - (V - 1) s. Each n_v comes from a margin
that has its columns, and so does s. Proof: docs/explanation/proofs/views-answers.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from weakref import WeakKeyDictionary

import numpy as np

from querygate.bounds.asked_parts import MOST_KEPT, AskedParts
from querygate.bounds.class_limits import Count
from querygate.bounds.frame_counts import Counted, FrameCounts
from querygate.core.block import Block
from querygate.core.plan import FetchedGroup, Measure, Plan
from querygate.core.predicate import Predicate, both
from querygate.core.types import Ints

_MOST_COVERS = 6
"""Collections of margins that are tried; each costs reading its margins."""

_MOST_TRIED = 4096
"""Collections that are considered: all of up to twelve margins; of more margins, the smaller ones."""

_NO_LIMIT = 2**62


_COUNTS: WeakKeyDictionary[Block, dict[tuple[tuple[Predicate, ...], int, int], FrameCounts]] = WeakKeyDictionary()
"""How many records have values in some columns, cached by block."""


@dataclass
class JointLimits:
    """The least and most records by frame cell that the groups of a plan have, according to several margins together;
    `known` are the columns of each margin. The groups themselves are read from the first `read` margins. `count` counts
    on a block by frame cell; `check` raises when the statement has had its time."""

    plan: Plan
    blocks: Sequence[Block]
    known: Sequence[frozenset[str]]
    read: int
    count: Count
    check: Callable[[], None]
    _read: dict[tuple[int, AskedParts], FrameCounts] = field(default_factory=dict)
    _covers: dict[AskedParts, list[tuple[int, ...]]] = field(default_factory=dict)
    _parts: dict[tuple[tuple[int, ...], Predicate], tuple[AskedParts, list[AskedParts]]] = field(default_factory=dict)

    def of(self, groups: Sequence[FetchedGroup], measure: Measure) -> tuple[Ints, Ints] | None:
        """For a selection in groups of one grouping set, a row each; None where their own margins already say as
        much."""
        asked, held = self._parts_of(groups[0].chosen, measure.where)
        around = [(each == asked, *self._counts(i, each, groups)) for i, each in enumerate(held) if i >= self.read]
        floors = [least for has_all, least, _ in around if has_all]
        if asked not in held:
            floors = [self._floor(groups, asked, cover) for cover in self._covers_of(asked)]
        if not around and not floors:
            return None
        shape = len(groups), self._frames
        nobody, no_limit = np.zeros(shape, dtype=np.int64), np.full(shape, _NO_LIMIT)
        return np.maximum.reduce([nobody, *floors]), np.minimum.reduce([no_limit, *(most for *_, most in around)])

    def _parts_of(self, chosen: tuple[int, ...], where: Predicate) -> tuple[AskedParts, list[AskedParts]]:
        """The parts of the groups' conditions, and those that each margin knows; once for all groups with the same
        conditions."""
        found = self._parts.get((chosen, where))
        if found is None:
            asked = AskedParts.of(self.plan, chosen, where)
            found = asked, [asked.within(self.plan, known) for known in self.known]
            self._parts[chosen, where] = found
        return found

    def _covers_of(self, asked: AskedParts) -> list[tuple[int, ...]]:
        """Found once for all groups with the same conditions."""
        if asked not in self._covers:
            self.check()
            self._covers[asked] = self._find_covers(asked)
        return self._covers[asked]

    def _find_covers(self, asked: AskedParts) -> list[tuple[int, ...]]:
        place = {item: 1 << bit for bit, item in enumerate((*asked.parts, *asked.keys))}
        within = (asked.within(self.plan, known) for known in self.known)
        return smallest_covers([sum({place[item] for item in (*own.parts, *own.keys)}) for own in within])

    def _floor(self, groups: Sequence[FetchedGroup], asked: AskedParts, cover: Sequence[int]) -> Ints:
        held = [asked.within(self.plan, self.known[i]) for i in cover]
        shared = asked.within(self.plan, frozenset.intersection(*(self.known[i] for i in cover)))
        held[0] = held[0].and_those_not_in(held, asked)
        least = sum(self._counts(i, each, groups)[0] for i, each in zip(cover, held, strict=True))
        most = np.minimum.reduce([self._counts(i, shared, groups)[1] for i in cover])
        found: Ints = np.maximum(least - (len(cover) - 1) * most, 0)
        return found

    def _counts(self, margin: int, asked: AskedParts, groups: Sequence[FetchedGroup]) -> tuple[Ints, Ints]:
        """Least and most records by frame cell for the given group keys and conditions."""
        counts = self._read.get((margin, asked))
        if counts is None:
            counts = self._read[margin, asked] = self._gathered(self.blocks[margin], asked)
        return counts.of([asked.keys_of(group) for group in groups])

    def _gathered(self, block: Block, asked: AskedParts) -> FrameCounts:
        if not asked.is_of_all:
            return self._read_by_frame(block, asked)
        kept = _COUNTS.setdefault(block, {})
        at = (asked.parts, asked.all_keys, self._frames)
        counts = kept.get(at)
        if counts is None:
            counts = self._read_by_frame(block, asked)
            if len(kept) < MOST_KEPT:
                kept[at] = counts
        return counts

    def _read_by_frame(self, block: Block, asked: AskedParts) -> FrameCounts:
        return self.count(Counted(self.plan.keys, asked.keys, both(asked.parts)), block, self._frames)

    @cached_property
    def _frames(self) -> int:
        return 1 + max(int(block.frame.max(initial=-1)) for block in self.blocks if block.frame is not None)


def smallest_covers(held: Sequence[int]) -> list[tuple[int, ...]]:
    """The smallest collections of two or more margins that cover as much as all of them together; the bits of a number
    say what each margin covers. If there are too many to consider, one small collection, found greedily.

    >>> smallest_covers([0b011, 0b100, 0b110])
    [(0, 1), (0, 2)]
    """
    if len(held) < 2:
        return []
    everything = reduce(or_, held)
    sizes = (itertools.combinations(range(len(held)), size) for size in range(2, len(held) + 1))
    tried = itertools.islice(itertools.chain.from_iterable(sizes), _MOST_TRIED)
    whole = [cover for cover in tried if reduce(or_, (held[i] for i in cover)) == everything]
    if whole:
        return [cover for cover in whole if len(cover) == len(whole[0])][:_MOST_COVERS]
    greedy: list[int] = []
    left = everything
    while left:
        greedy.append(max(range(len(held)), key=lambda i: (held[i] & left).bit_count()))
        left &= ~held[greedy[-1]]
    return [tuple(greedy)]
