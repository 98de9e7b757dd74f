"""Guards for people who have several rows: a class has k people, and no sensitive value that too many of them have.

If each person has one row, these follow from the size of a class and its diversity. With several rows, k rows may be
one person's, and everybody may have both of two values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.guards.triplets import Triplets


@dataclass(frozen=True)
class PersonRows:
    """Which people have which values of a column, by combination: each triplet once. People and values are codes.

    Where missing values are spared, the value 0 is one, and no value that anybody has.
    """

    column: str
    combination: Ints
    person: Ints
    value: Ints
    spares_missing: bool = False


class PersonCount:
    """At least k distinct people."""

    def __init__(self, rows: PersonRows, k: int) -> None:
        self.name, self.k = f"k = {k} people", k
        self._people = int(rows.person.max(initial=0)) + 1
        self._held = Triplets(rows.column, rows.combination, rows.person, np.ones_like(rows.person))

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        label, person, _ = self._held.of(rows, label)
        return _people(label, person, self._people, classes) >= self.k


class ValueHolders:
    """Of the people of a class, at least `spare` do not have the value that most have; and no value is had by more than
    the share `most`, be it one for all or one for each. A class with l values of people who have one each spares l - 1.
    People without any value are left out where missing values are spared.
    """

    def __init__(self, rows: PersonRows, spare: int, most: float | Floats = 1.0) -> None:
        self.name = f"diversity of {rows.column} among people"
        self.spare, self._spares = spare, rows.spares_missing
        self._size = int(rows.value.max(initial=0)) + 1
        self.most: Floats = np.broadcast_to(np.asarray(most, dtype=np.float64), (self._size,))
        pairs, pair = np.unique(rows.person * self._size + rows.value, return_inverse=True)
        self._person, self._value = pairs // self._size, pairs % self._size
        self._people = int(rows.person.max(initial=0)) + 1
        self._held = Triplets(rows.column, rows.combination, pair.reshape(-1), np.ones_like(rows.person))

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        label, pair, _ = self._held.of(rows, label)
        if self._spares:
            known = self._value[pair] > 0
            label, pair = label[known], pair[known]
        people = _people(label, self._person[pair], self._people, classes)
        label, pair = np.divmod(np.unique(label * self._person.size + pair), self._person.size)
        values, holders = np.unique(label * self._size + self._value[pair], return_counts=True)
        label, value = np.divmod(values, self._size)
        commonest = np.zeros(classes, dtype=np.int64)
        np.maximum.at(commonest, label, holders)
        fine: Bools = commonest <= people - self.spare
        fine[label[holders > self.most[value] * people[label]]] = False
        fine |= people == 0
        return fine


def _people(label: Ints, person: Ints, people: int, classes: int) -> Ints:
    """The number of distinct people in each class."""
    return np.bincount(np.unique(label * people + person) // people, minlength=classes)
