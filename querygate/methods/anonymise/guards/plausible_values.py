"""Values that mined rules leave possible for every member of a class (Injector: Li & Li, ICDE 2008).

What the data never show although chance would have shown it often, people may know: men do not have ovarian cancer. A
negative rule says of people with one or two values of other columns that they never have a sensitive value. Of the
values that occur in a class, so many have to be left for each of its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.guards.diversity import Sensitive


class PlausibleValues:
    """For each member of a class at least l of its values are possible by all negative rules.

    `conditions` have for each entry of `sensitive` a code of what is known of it, a row for each column. A rule counts
    where `expected` records or more would have the value if it had nothing to do with the conditions.
    """

    def __init__(self, sensitive: Sensitive, conditions: Sequence[Ints], l: int, expected: float) -> None:  # noqa: E741
        self.column, self.l = sensitive.column, l
        size = int(sensitive.combination.max(initial=-1)) + 1
        counted = sensitive.value < sensitive.size
        held = np.zeros((size, sensitive.size), dtype=np.bool_)
        held[sensitive.combination[counted], sensitive.value[counted]] = True
        self._held, self._allowed = held, np.ones((size, sensitive.size), dtype=np.bool_)
        for some in (*combinations(conditions, 1), *combinations(conditions, 2)):
            group, never = _never(np.stack(some), sensitive, expected)
            combination, which = np.unique(np.stack([sensitive.combination, group]), axis=1)
            np.logical_and.at(self._allowed, combination, ~never[which])

    @property
    def name(self) -> str:
        return f"{self.l} values of {self.column} that no mined rule excludes"

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        present = np.zeros((classes, self._held.shape[1]), dtype=np.bool_)
        np.logical_or.at(present, label, self._held[rows])
        left = np.count_nonzero(present[label] & self._allowed[rows], axis=1)
        fewest = np.full(classes, self._held.shape[1], dtype=np.int64)
        np.minimum.at(fewest, label, left)
        return (fewest >= self.l) | ~present.any(axis=1)


def _never(known: Ints, sensitive: Sensitive, expected: float) -> tuple[Ints, Bools]:
    """The group of each entry by what is known, and per group the values that it never has although it should."""
    _, group = np.unique(known, axis=1, return_inverse=True)
    group, counted = group.reshape(-1), sensitive.value < sensitive.size
    table = np.zeros((int(group.max(initial=-1)) + 1, sensitive.size))
    np.add.at(table, (group[counted], sensitive.value[counted]), sensitive.count[counted])
    chance = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(1.0, table.sum())
    return group, (table == 0) & (chance >= expected)
