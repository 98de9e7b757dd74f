"""Which classes of a store a statement concerns, and which of them somebody has in effect read out.

For each group of a statement a class is out of the question, possible or certain. Somebody's statements tell two
classes apart if one of them says something else of the two. A class that is told apart from every other one has been
*read out*: its cells are what is left when the answers are set against each other. That is no disclosure, for the
classes are what was published; it says how much of the release a user has by now.

Work on published cells alone, as in the interval path: no vault, no answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
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
    """A version whose cells can be had class by class."""

    def by_class(self, names: Collection[str]) -> Block: ...


class ClassReader:
    """Statements on the classes of one version. What was worked out for a text is kept."""

    def __init__(self, release: ClassedVersion, native: Native) -> None:
        self.release = release
        self.labels: Ints = np.unique(labels_of(release.by_class(())))
        self._native = native
        self._blocks: dict[frozenset[str], Block] = {}
        self._masks: dict[str, tuple[Bools, ...]] = {}
        self._concerned: dict[str, int | None] = {}

    def concerned(self, sql: str) -> int | None:
        """How many classes the condition of a statement may concern; None where it cannot be read any more."""
        self._read(sql)
        return self._concerned[sql]

    def masks(self, sql: str) -> tuple[Bools, ...]:
        """Sets of classes that the statement tells apart from the others."""
        self._read(sql)
        return self._masks[sql]

    def read_out(self, statements: Iterable[str]) -> int:
        """How many classes the statements, taken together, tell apart from every other class."""
        signature = np.zeros(self.labels.size, dtype=np.uint64)
        seen: set[bytes] = set()
        for sql in statements:
            for mask in self.masks(sql):
                word = blake2b(mask.tobytes(), digest_size=8).digest()
                if word not in seen:  # the same set again says nothing new
                    seen.add(word)
                    signature[mask] += np.frombuffer(word, dtype=np.uint64)[0]
        _, times = np.unique(signature, return_counts=True)
        return int((times == 1).sum()) if seen else 0

    def _read(self, sql: str) -> None:
        if sql in self._masks:
            return
        self._masks[sql], self._concerned[sql] = (), None
        try:
            plan = understand(sql, self.release.catalog, self._native, WIDE)
            branches = [_innermost(branch) for branch in plan.branches]
            self._masks[sql] = tuple(mask for branch in branches for mask in self._told_apart(branch))
            self._concerned[sql] = min(int(self._possible(branch).sum()) for branch in branches)
        except Refusal:  # it is in the log, and is refused today
            return

    def _possible(self, plan: Plan) -> Bools:
        block = self._block(plan)
        return self._any(block, Membership(block).counts(plan.measures[0].where)[1] > 0)

    def _told_apart(self, plan: Plan) -> Iterator[Bools]:
        """For each measure and group, the classes that may be there and those that are there as a whole.

        Keys that are conditions (CASE) are not followed; what they part counts as one group.
        """
        block = self._block(plan)
        for chosen in plan.sets:
            keys = [(by, plan.keys[i].values) for i in chosen if isinstance(by := plan.keys[i].by, Lookup)]
            rows = spread(block, keys)
            groups, which = rows.groups()
            members = Membership(rows.block)
            for measure in plan.measures:
                least, most = members.counts(measure.where)
                whole = rows.alone & (least == rows.block.n)
                for group in range(len(groups)):
                    here = which == group
                    possible = self._any(rows.block, here & (most > 0))
                    yield possible
                    yield possible & ~self._any(rows.block, here & ~whole)

    def _block(self, plan: Plan) -> Block:
        if plan.columns not in self._blocks:
            self._blocks[plan.columns] = self.release.by_class(plan.columns)
        return self._blocks[plan.columns]

    def _any(self, block: Block, rows: Bools) -> Bools:
        """Classes of which some row is among those given."""
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
