"""Codes beside relational quasi-identifiers: (k, k^m)-anonymity (Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos,
ECML PKDD 2013).

Whoever knows the quasi-identifiers of somebody and up to m codes finds at least k records, or none. The classes of the
quasi-identifiers are given; codes are recoded in each class on its own, so that within the class every itemset of up to
m published items is held by at least k records or by none. A class in which fewer than k records have codes, or where
codes lose more than is allowed, is merged with the nearest one: by the places of classes among the quasi-identifiers
where they are told (the paper's merging by relational loss), by how alike their codes are otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.count_text import counted
from querygate.core.types import Floats, Ints
from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets
from querygate.methods.code_lists.km.km_refine import from_root
from querygate.methods.code_lists.local_items import LocalItems, members_of, recoded
from querygate.methods.code_lists.subtrees import Subtrees
from querygate.methods.code_lists.unprotectable import Unprotectable, check_enough


@dataclass(frozen=True)
class CodesInClasses:
    """Classes after merging, numbered in order of their first record, and what is published of the codes."""

    labels: Ints
    codes: LocalItems
    merged: int  # how many mergers it took


def codes_in_classes(
    baskets: Baskets,
    labels: Ints,
    levels: Sequence[Ints],
    k: int,
    m: int,
    centres: Floats | None = None,
    most_loss: float = 1.0,
) -> CodesInClasses:
    """Codes that are k^m-anonymous within each class. `centres` has a row for each label.

    `most_loss` bounds the loss of codes in a class, as far as merging can: one class of all may lose more.

    >>> baskets = Baskets.of([[0], [0], [1], [], [1], [1]], size=2)
    >>> levels = [np.arange(2), np.zeros(2, dtype=np.int64)]
    >>> made = codes_in_classes(baskets, np.array([0, 0, 1, 1, 2, 2]), levels, k=2, m=1)
    >>> made.labels, made.codes.published.lists(), made.codes.groups
    (array([0, 0, 1, 1, 1, 1]), [[0], [0], [1], [], [1], [1]], ((0,), (1,)))
    """
    _check(baskets, labels, centres, k, m)
    tree = Subtrees.of(levels)
    classes = _Classes(tree, tree.ordered(baskets), labels, centres, k, m)
    before = len(classes.records)
    while failing := classes.failing(most_loss):
        classes.merge(failing)
    first = {label: int(records.min()) for label, records in classes.records.items()}
    made = np.empty(baskets.records, dtype=np.int64)
    for number, label in enumerate(sorted(first, key=lambda one: first[one])):
        made[classes.records[label]] = number
    return CodesInClasses(made, recoded(tree, classes.baskets, classes.nodes()), before - len(first))


def _check(baskets: Baskets, labels: Ints, centres: Floats | None, k: int, m: int) -> None:
    if labels.shape != (baskets.records,) or labels.min(initial=0) < 0:
        raise ValueError("there is one label for each record, from 0 up")
    if centres is not None and (centres.ndim != 2 or len(centres) <= labels.max(initial=0)):
        raise ValueError("there is one row of centres for each label")
    sizes = np.bincount(labels)
    small = int(np.count_nonzero((sizes > 0) & (sizes < k)))
    if small:
        raise Unprotectable(
            f"{counted(small, 'class has', 'classes have')} fewer than k = {k:,} records.",
            "Form classes of k records first.",
        )
    check_enough(int(np.count_nonzero(np.diff(baskets.starts))), k)
    if m < 1:
        raise ValueError("m is at least 1")


class _Classes:
    """Records, cut and loss of each class. A class without a cut cannot be protected as it is: its loss is infinite."""

    def __init__(self, tree: Subtrees, baskets: Baskets, labels: Ints, centres: Floats | None, k: int, m: int) -> None:
        self.tree, self.baskets, self.k, self.m = tree, baskets, k, m
        self.records = {label: np.flatnonzero(labels == label) for label in np.unique(labels).tolist()}
        self.centre = {
            label: self._supports(records) if centres is None else centres[label]
            for label, records in self.records.items()
        }
        self.cut: dict[int, Ints] = {}
        self.loss = {label: self._settle(label) for label in self.records}

    def failing(self, most_loss: float) -> list[int]:
        """Classes that have to be merged, those that lose most first; none where there is one class alone."""
        found = [label for label, loss in self.loss.items() if loss > most_loss]
        return sorted(found, key=lambda label: -self.loss[label]) if len(self.loss) > 1 else []

    def merge(self, failing: list[int]) -> None:
        """Each of the classes with its nearest, no class with two if others are left: so that sizes stay even."""
        free = set(self.records)
        for one in failing:
            if one in free:
                other = self._nearest(one, sorted(free - {one} or self.records.keys() - {one}))
                free -= {one, other}
                self._join(one, other)

    def _nearest(self, label: int, others: list[int]) -> int:
        """The class whose centre is nearest, by the Euclidean distance."""
        apart = np.stack([self.centre[other] for other in others]) - self.centre[label]
        return int(others[np.argmin(np.square(apart).sum(axis=1))])

    def _join(self, one: int, other: int) -> None:
        a, b = self.records.pop(one), self.records[other]
        self.centre[other] = (a.size * self.centre.pop(one) + b.size * self.centre[other]) / (a.size + b.size)
        self.records[other] = np.sort(np.concatenate([a, b]))
        self.cut.pop(one, None)
        del self.loss[one]
        self.loss[other] = self._settle(other)

    def nodes(self) -> Ints:
        """The node that is published for each member."""
        made = np.full(self.baskets.members.size, SUPPRESSED, dtype=np.int64)
        for label, records in self.records.items():
            at, _ = members_of(self.baskets, records)
            made[at] = self.cut[label][self.baskets.members[at]]
        return made

    def _settle(self, label: int) -> float:
        """Cut the hierarchy for a class, and tell the loss."""
        records = self.records[label]
        at, record = members_of(self.baskets, records)
        held = self.baskets.members[at]
        if 0 < np.unique(record).size < self.k:
            return np.inf
        starts = np.searchsorted(record, np.arange(records.size + 1)).astype(np.int64)
        self.cut[label] = from_root(self.tree, Baskets(starts, held, self.baskets.size), self.k, self.m)
        return float(self.tree.loss[self.cut[label]][held].mean()) if held.size else 0.0

    def _supports(self, records: Ints) -> Floats:
        """Share of records that hold each code."""
        at, _ = members_of(self.baskets, records)
        return np.bincount(self.baskets.members[at], minlength=self.baskets.size) / records.size
