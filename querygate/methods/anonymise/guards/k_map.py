"""k-map: a class is hidden among all people of the population who could be in it, not only among its members.

Sweeney, "k-anonymity: a model for protecting privacy", 2002 (k-map); El Emam, Dankar, "Protecting privacy using
k-anonymity", JAMIA 2008. Whoever looks up a person has a register, such as a list of voters. A class is found there by
its published box, so the people of the population whose values lie in the box are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.table import NULL, Attribute, Table

BLOCK = 1 << 21
"""Pairs of class and person in memory at once."""

NOWHERE = -1


class KMap:
    """The box of every class matches at least k people of the population.

    `people` gives, for some of the table's attributes, the values of distinct kinds of people: numbers on the axis of
    an ordered attribute, codes of a nominal one or of one with a tree; nan or -1 is unknown. `persons` counts them. A
    value that no code holds lies in a box that reaches across it. Somebody whose value is unknown is in no box, and a
    class in which all values of an attribute are missing cannot be looked up by it: there everybody matches.
    """

    def __init__(self, table: Table, people: Mapping[str, Floats], persons: Ints, k: int) -> None:
        self.k = k
        attributes = [a for a in table.attributes if a.name in people]
        places = np.stack([_places(a, people[a.name]) for a in attributes], axis=1)
        reachable = (places != NOWHERE).all(axis=1)
        places, kind = np.unique(places[reachable], axis=0, return_inverse=True)
        self._persons: Ints = np.bincount(kind.reshape(-1), persons[reachable], len(places)).astype(np.int64)
        self._all = int(persons.sum())
        self._columns = [_Column(a, place) for a, place in zip(attributes, places.T, strict=True)]

    @property
    def name(self) -> str:
        return f"{self.k}-map"

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        verdict = np.empty(classes, dtype=np.bool_)
        order = np.argsort(label, kind="stable")
        rows, label = rows[order], label[order]
        step = max(1, BLOCK // max(1, self._persons.size))
        for begin in range(0, classes, step):
            end = min(begin + step, classes)
            here = slice(*np.searchsorted(label, [begin, end]))
            verdict[begin:end] = self._matches(rows[here], label[here] - begin, end - begin) >= self.k
        return verdict

    def _matches(self, rows: Ints, label: Ints, classes: int) -> Ints:
        found = np.ones((classes, self._persons.size), dtype=np.bool_)
        unlinked = np.ones(classes, dtype=np.bool_)
        for column in self._columns:
            inside, missing = column.inside(rows, label, classes)
            found &= inside
            unlinked &= missing
        people: Ints = found @ self._persons
        return np.where(unlinked, self._all, people)


class _Column:
    """One attribute of the table, and where on it the kinds of people are."""

    def __init__(self, attribute: Attribute, place: Ints) -> None:
        self.attribute, self.place = attribute, place

    def inside(self, rows: Ints, label: Ints, classes: int) -> tuple[Bools, Bools]:
        """Per class and kind of people whether they are in the box, and the classes without any value."""
        codes = self.attribute.codes[rows]
        known = codes != NULL
        label, codes = label[known], codes[known]
        missing = np.bincount(label, minlength=classes) == 0
        if self.attribute.ordered:
            low, high = np.full(classes, self.attribute.size), np.full(classes, -1)
            np.minimum.at(low, label, codes)
            np.maximum.at(high, label, codes)
            if self.attribute.tree is not None:  # what is published is the node above
                low, high = self.attribute.tree.ancestors(np.where(missing, -1, low), high)
            inside = (2 * low[:, None] <= self.place) & (self.place <= 2 * high[:, None])
        else:
            present = np.zeros((classes, self.attribute.size), dtype=np.bool_)
            present[label, codes] = True
            inside = present[:, self.place]
        inside[missing] = True
        return inside, missing


def _places(attribute: Attribute, values: Floats) -> Ints:
    """Where values lie: 2c inside code c of an ordered attribute, 2c + 1 between c and the next; or the code."""
    if attribute.lower is None or attribute.upper is None or attribute.tree is not None:
        known = (values >= 0) & (values < attribute.size)
        return np.where(known, values * (2 if attribute.ordered else 1), NOWHERE).astype(np.int64)
    code = np.searchsorted(attribute.lower, values, side="right") - 1
    inside = (code >= 0) & (values <= attribute.upper[code])
    place = np.where(inside, 2 * code, 2 * code + 1)
    return np.where(np.isnan(values) | (code < 0), NOWHERE, place).astype(np.int64)
