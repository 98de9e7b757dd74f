"""Which classes of a store a statement concerns, and which of them a user has in effect read out.

For each group of a statement a class is excluded, possible or certain. A user's statements distinguish two classes if
one of them treats the two differently. A class that is distinguished from every other has been *read out*: its cells
follow from combining the answers. That is not a disclosure, because the classes are published; it says how much of the
release a user has by now.

It uses published cells alone, like the interval path: no vault, no answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from itertools import product
from typing import Protocol

import numpy as np

from querygate.bounds import Membership, spread
from querygate.core.block import Block
from querygate.core.errors import Refusal
from querygate.core.expression import Lookup
from querygate.core.plan import Plan
from querygate.core.ports import Native, PublishedVersion
from querygate.core.types import Bools, Ints
from querygate.custody.evidence.replay import WIDE
from querygate.sql import understand


class ClassedVersion(PublishedVersion, Protocol):
    """A version whose cells can be read by class."""

    def by_class(self, names: Collection[str], margin: int | None = None) -> Block: ...


def margins_of(release: ClassedVersion) -> tuple[int | None, ...]:
    """The margins of a version of views, by number; for other versions just None, for all classes."""
    return tuple(range(len(release.catalog.margins))) or (None,)


class ClassReader:
    """Evaluates statements on the classes of one version. Results are cached by text."""

    def __init__(self, release: ClassedVersion, native: Native) -> None:
        self.release = release
        found = [np.unique(labels_of(release.by_class((), margin))) for margin in margins_of(release)]
        self.labels: Ints = np.sort(np.concatenate(found))
        self._margin = np.zeros(self.labels.size, dtype=np.int64)
        for place, labels in enumerate(found):
            self._margin[np.searchsorted(self.labels, labels)] = place
        self._native = native
        self._blocks: dict[tuple[frozenset[str], int | None], Block] = {}
        self._masks: dict[str, tuple[Bools, ...]] = {}
        self._concerned: dict[str, int | None] = {}

    def concerned(self, sql: str) -> int | None:
        """How many classes the condition of a statement may concern; None if it can no longer be read, or if no margin
        of the views has all its columns.
        """
        self._read(sql)
        return self._concerned[sql]

    def masks(self, sql: str) -> tuple[Bools, ...]:
        """Sets of classes that the statement distinguishes from the others."""
        self._read(sql)
        return self._masks[sql]

    def read_out(self, statements: Iterable[str]) -> int:
        """How many classes the statements together distinguish from every other class (of the margin)."""
        signature = np.zeros(self.labels.size, dtype=np.uint64)
        read = np.zeros(self._margin.max(initial=0) + 1, dtype=np.bool_)
        seen: set[bytes] = set()
        for sql in statements:
            for mask in self.masks(sql):
                word = blake2b(mask.tobytes(), digest_size=8).digest()
                if word not in seen:  # a repeated set adds nothing
                    seen.add(word)
                    signature[mask] += np.frombuffer(word, dtype=np.uint64)[0]
                    read[self._margin[mask]] = True
        pairs = np.stack([self._margin.astype(np.uint64), signature])
        (margin, _), times = np.unique(pairs, axis=1, return_counts=True)
        return int(((times == 1) & read[margin.astype(np.int64)]).sum())

    def _read(self, sql: str) -> None:
        if sql in self._masks:
            return
        self._masks[sql], self._concerned[sql] = (), None
        try:
            plan = understand(sql, self.release.catalog, self._native, WIDE)
            branches = [_innermost(branch) for branch in plan.branches]
            self._masks[sql] = tuple(mask for branch in branches for mask in self._told_apart(branch))
            possible = [int(one.sum()) for branch in branches for one in self._possible(branch)]
            self._concerned[sql] = min(possible, default=None)
        except Refusal:  # it is in the log, but refused today
            return

    def _possible(self, plan: Plan) -> Iterator[Bools]:
        for block in self._told(plan):
            yield self._any(block, Membership(block).counts(plan.measures[0].where)[1] > 0)

    def _told_apart(self, plan: Plan) -> Iterator[Bools]:
        """For each measure and group, the classes that may be selected and those selected whole.

        Keys that are conditions (CASE) are not followed; what they divide counts as one group.
        """
        for block, chosen in product(self._told(plan), plan.sets):
            keys = ((by, plan.keys[i].values) for i in chosen if isinstance(by := plan.keys[i].by, Lookup))
            rows = spread(block, tuple(keys))
            members = Membership(rows.block)
            for measure in plan.measures:
                least, most = members.counts(measure.where)
                whole = rows.alone & (least == rows.block.n)
                for group in rows.members:
                    here = np.zeros(rows.block.size, dtype=np.bool_)
                    here[group] = True
                    possible = self._any(rows.block, here & (most > 0))
                    yield possible
                    yield possible & ~self._any(rows.block, here & ~whole)

    def _told(self, plan: Plan) -> Iterator[Block]:
        """Cells with all columns of a statement; for views, from each margin that has them."""
        for margin in margins_of(self.release):
            if margin is None or plan.columns <= self.release.catalog.margins[margin].columns:
                if (plan.columns, margin) not in self._blocks:
                    self._blocks[plan.columns, margin] = self.release.by_class(plan.columns, margin)
                yield self._blocks[plan.columns, margin]

    def _any(self, block: Block, rows: Bools) -> Bools:
        """Classes with some row among those given."""
        found = np.zeros(self.labels.size, dtype=np.bool_)
        found[np.searchsorted(self.labels, labels_of(block)[rows])] = True
        return found


def labels_of(block: Block) -> Ints:
    if block.classified is None:
        raise ValueError("the block was not read by class")
    return block.classified.label


def _innermost(plan: Plan) -> Plan:
    while plan.inner is not None:
        plan = plan.inner
    return plan
