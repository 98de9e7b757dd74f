"""Versions combined: whom an attacker who has read several versions of one dataset can distinguish.

Somebody who knows a person's quasi-identifiers finds the person's class in every version, and can follow a record from
one version to the next by its other values. What all versions leave together is therefore a *group*: the people whose
classes are the same in every version, where being absent from a version counts as a class of its own. A version that
divides a group of the earlier ones tells its *parts* apart, and each part must keep what a class has to keep. A group
that stays whole is told no further, whatever its size (Byun et al., SDM 2006; Xiao, Tao, "m-invariance", SIGMOD 2007;
Fung et al., EDBT 2008). But the difference between two versions tells the old and the new secrets of those who stayed
and whose secrets changed, so these are a part too.

This measures; it shares no code with the methods that make classes.

>>> import numpy as np
>>> then, now, people = np.array([[0], [0], [1]]), np.array([5, 6, 6]), np.array([4, 2, 3])
>>> found = judge(ClassHistory(then, now, people, np.ones(3, bool)), k=3)  # two of class 0 went elsewhere
>>> found.smallest, found.divided, found.keeps(few_changes=False)
(2, SmallParts(parts=1, people=2), False)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from querygate.core.publications.version_overlap import ClassHistory, ValueChanges
from querygate.core.types import Bools, Ints

ABSENT = -1
"""The class of somebody who is not in a version."""


class SmallParts(NamedTuple):
    """Parts that break a promise of classes, and the people in them."""

    parts: int
    people: int


NONE = SmallParts(0, 0)


@dataclass(frozen=True, slots=True)
class OverlayVerdict:
    """What the new version reveals beyond the earlier ones.

    `smallest`: the fewest people who were in one group and are in one class now (0: nobody was here before). Too small,
    or too much alike: parts of groups that the new version `divided` between its classes; those who `left` a group, and
    those they left behind; those who `came`; those who stayed and whose secrets `changed`.
    """

    smallest: int
    divided: SmallParts
    left: SmallParts
    came: SmallParts
    changed: SmallParts = NONE

    def keeps(self, *, few_changes: bool) -> bool:
        """Is everybody hidden? With `few_changes`, only from those who do not know who came, who left and who
        changed."""
        return not self.divided.parts and (
            few_changes or not (self.left.parts or self.came.parts or self.changed.parts)
        )


def judge(met: ClassHistory, k: int) -> OverlayVerdict:
    """Compare the new version with the earlier ones."""
    histories, history = _distinct(met.earlier)
    new = (met.earlier == ABSENT).all(axis=1)
    gone = met.now == ABSENT
    stayed = ~new & ~gone
    classes = np.bincount(history[stayed], minlength=len(histories))[history]
    was_left = np.bincount(history[gone], minlength=len(histories))[history] > 0
    small = ~(met.kept & (met.people >= k))
    return OverlayVerdict(
        int(met.people[stayed].min()) if stayed.any() else 0,
        _count(met, small & stayed & (classes > 1)),
        _count(met, small & ~new & was_left & (classes > 0) & (gone | (classes == 1))),
        _count(met, small & new),
        _changed(met, k),
    )


def _changed(met: ClassHistory, k: int) -> SmallParts:
    if met.changes is None:
        return NONE
    found = met.changes
    told = np.where((found.people > 0) & ~(found.kept & (found.people >= k)), found.people, 0).max(axis=1, initial=0)
    return SmallParts(int((told > 0).sum()), int(told.sum()))


def only(met: ClassHistory, versions: Sequence[int]) -> ClassHistory:
    """The new version with these earlier ones alone, by their places.

    Entries become one where nothing tells them apart any more. Of such it is known that they keep what one of them
    keeps: more people have no fewer values.
    """
    table = np.column_stack([met.earlier[:, list(versions)], met.now])
    there = (table != ABSENT).any(axis=1)
    entries, which = _distinct(table[there])
    people = np.bincount(which, met.people[there], len(entries)).astype(np.int64)
    kept = np.bincount(which, met.kept[there], len(entries)) > 0
    changes = None
    if met.changes is not None:
        by_version = [
            [np.bincount(which, figures[there, v], len(entries)) for v in versions]
            for figures in (met.changes.people, met.changes.kept)
        ]
        changes = ValueChanges(np.stack(by_version[0], axis=1).astype(np.int64), np.stack(by_version[1], axis=1) > 0)
    return ClassHistory(entries[:, :-1], entries[:, -1], people, kept, changes)


def pairwise(met: ClassHistory, k: int) -> tuple[OverlayVerdict, ...]:
    """The new version over each earlier one by itself."""
    return tuple(judge(only(met, [version]), k) for version in range(met.earlier.shape[1]))


def in_the_way(met: ClassHistory, k: int, *, few_changes: bool) -> tuple[int, ...]:
    """Places of earlier versions without which the others and the new one keep what they have to: those that do not go
    with the new one, or, where that is not enough, all.
    """
    versions = range(met.earlier.shape[1])
    against = {v for v in versions if not judge(only(met, [v]), k).keeps(few_changes=few_changes)}
    rest = [v for v in versions if v not in against]
    if rest and not judge(only(met, rest), k).keeps(few_changes=few_changes):
        return tuple(versions)
    return tuple(sorted(against))


def _distinct(table: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of a table, and which of them each row is. Packed into one number, they sort much faster."""
    key = np.zeros(len(table), dtype=np.int64)
    for column in table.T:
        values, code = np.unique(column, return_inverse=True)
        key = np.unique(key * values.size + code.reshape(-1), return_inverse=True)[1].reshape(-1)
    _, first = np.unique(key, return_index=True)
    return table[first], key


def _count(met: ClassHistory, which: Bools) -> SmallParts:
    return SmallParts(int(which.sum()), int(met.people[which].sum()))
