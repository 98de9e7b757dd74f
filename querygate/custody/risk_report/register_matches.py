"""How many people of a register match each class: by equal values, or by boxes.

What a class does not show cannot be looked up, so everybody matches it; a person whose own value is unknown matches no
class that tells it (as in `querygate.methods.anonymise.guards.k_map`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.risk import class_labels

Side: TypeAlias = "tuple[float, float] | frozenset[int] | None"
"""What is shown of a quasi-identifier: an interval, positions of values in the register, or nothing."""


def people_of_values(classes: Ints, people: Ints, persons: Ints) -> Ints:
    """People with the values of each class. Rows are classes, and kinds of people; columns codes, -1 unknown.

    >>> import numpy as np
    >>> people = np.array([[30, 0], [30, 1], [40, 1], [-1, 1]])
    >>> people_of_values(np.array([[30, 1], [-1, 1], [50, 0]]), people, np.array([1, 2, 4, 8])).tolist()
    [2, 14, 0]
    """
    found = np.zeros(len(classes), dtype=np.int64)
    pattern = (classes >= 0) @ (1 << np.arange(classes.shape[1], dtype=np.int64))
    for which in np.unique(pattern).tolist():
        told = [at for at in range(classes.shape[1]) if which >> at & 1]
        rows = np.flatnonzero(pattern == which)
        known = (people[:, told] >= 0).all(axis=1)
        label = class_labels(np.concatenate([classes[rows][:, told], people[known][:, told]]))
        counts = np.bincount(label[rows.size :], persons[known], int(label.max(initial=0)) + 1)
        found[rows] = counts[label[: rows.size]].astype(np.int64)
    return found


@dataclass(frozen=True, slots=True)
class BoxColumn:
    """One column: what each code tells, the code of each class, and the values of the kinds of people."""

    sides: Sequence[Side]
    codes: Ints
    people: Floats

    def inside(self, code: int, among: Ints) -> Ints:
        """Which of these kinds of people the code allows."""
        side = self.sides[code]
        if side is None:
            return among
        values = self.people[among]
        return among[_allowed(side, values)]


def _allowed(side: tuple[float, float] | frozenset[int], values: Floats) -> Bools:
    if isinstance(side, tuple):
        return (values >= side[0]) & (values <= side[1])
    return np.isin(values, list(side))


def people_in_boxes(columns: Sequence[BoxColumn], persons: Ints) -> Ints:
    """People in the box of each class.

    Classes that show the same of a column are looked up together, column by column, so that people are scanned once for
    each distinct beginning of a box. The last column is the one with the most different codes, and there intervals are
    counted by two look-ups in a running sum.

    >>> import numpy as np
    >>> age = BoxColumn([(20, 29), (30, 49)], np.array([0, 1, 1]), np.array([25.0, 31, 40, 40]))
    >>> sex = BoxColumn([frozenset({0}), None], np.array([0, 0, 1]), np.array([0.0, 0, 1, np.nan]))
    >>> people_in_boxes([age, sex], np.array([1, 2, 4, 8])).tolist()
    [1, 2, 14]
    """
    size = columns[0].codes.size
    found = np.zeros(size, dtype=np.int64)
    *ahead, last = sorted(columns, key=lambda column: np.unique(column.codes).size)
    waiting: list[tuple[int, Ints, Ints]] = [(0, np.arange(size), np.arange(persons.size))]
    while waiting:
        depth, classes, people = waiting.pop()
        if depth == len(ahead):
            found[classes] = _last(last, last.codes[classes], people, persons)
            continue
        for code, members in _by_code(ahead[depth].codes[classes]):
            waiting.append((depth + 1, classes[members], ahead[depth].inside(code, people)))
    return found


def _by_code(codes: Ints) -> list[tuple[int, Ints]]:
    order = np.argsort(codes, kind="stable")
    begins = np.flatnonzero(np.diff(codes[order], prepend=-1))
    parts = np.split(order, begins[1:])
    return [(int(codes[part[0]]), part) for part in parts if part.size]


def _last(column: BoxColumn, codes: Ints, among: Ints, persons: Ints) -> Ints:
    """People of these kinds that each code allows."""
    used, which = np.unique(codes, return_inverse=True)
    sides = [column.sides[code] for code in used.tolist()]
    counts = np.zeros(used.size, dtype=np.int64)
    ranged = [at for at, side in enumerate(sides) if isinstance(side, tuple)]
    values, weights = column.people[among], persons[among]
    if ranged:
        known = ~np.isnan(values)
        order = np.argsort(values[known])
        ordered, sums = values[known][order], np.concatenate([[0], np.cumsum(weights[known][order])])
        ends = np.array([sides[at] for at in ranged], dtype=np.float64)
        above = np.searchsorted(ordered, ends[:, 1], side="right")
        counts[ranged] = sums[above] - sums[np.minimum(np.searchsorted(ordered, ends[:, 0]), above)]
    for at, side in enumerate(sides):
        if not isinstance(side, tuple):
            counts[at] = weights.sum() if side is None else weights[_allowed(side, values)].sum()
    return counts[which.reshape(-1)]
