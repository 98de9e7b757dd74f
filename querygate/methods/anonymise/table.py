"""What an anonymiser works on: distinct combinations of coded quasi-identifiers, each with its number of records.

>>> import numpy as np
>>> sex = Attribute.nominal("sex", np.array([0, 1, 0]), size=2)
>>> age = Attribute.ordered_by("age", np.array([0, 0, 1]), edges=np.array([0.0, 40.0, 80.0]))
>>> Table((sex, age), counts=np.array([3, 2, 4])).records
9
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.recode.hierarchy import Hierarchy

NULL = -1
"""The code of a missing value: a state of its own, never dropped and never a number."""


class Infeasible(ValueError):
    """The whole table, as one class, does not keep a promise, so no partition can. `guarantee` names it."""

    def __init__(self, guarantee: str) -> None:
        super().__init__(f"the table as a whole does not satisfy {guarantee}")
        self.guarantee = guarantee


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier over the combinations.

    Ordered attributes (numbers, dates): code c stands for the interval from `lower[c]` to `upper[c]`; `cuts` are the
    codes c such that a public cut lies just below code c. Nominal attributes (categories): codes are names. A category
    with a hierarchy is ordered: codes are places of its leaves, and what is published is a node of its `tree`.
    `span` is what a width is divided by: the width of the domain, or the number of values of a category. `holds` tells
    how many values each code of a category stands for, where it is not one: what is lost is counted in values.
    """

    name: str
    codes: Ints
    size: int
    ordered: bool
    span: float
    lower: Floats | None = None
    upper: Floats | None = None
    weight: float = 1.0
    cuts: tuple[int, ...] = ()
    tree: Hierarchy | None = None
    holds: Ints | None = None
    pull: Floats | None = None  # a weight of its own for each row, for methods that look at single records

    def __post_init__(self) -> None:
        if self.size < 1 or self.weight <= 0 or self.span < 0:
            raise ValueError(f"{self.name}: size and weight are positive, span is not negative")
        if self.codes.size and not (self.codes.min() >= NULL and self.codes.max() < self.size):
            raise ValueError(f"{self.name}: codes run from -1 (missing) to size - 1")
        if self.ordered != (self.lower is not None) or self.ordered != (self.upper is not None):
            raise ValueError(f"{self.name}: an ordered attribute has lower and upper edges, a nominal one has none")
        for edges in (self.lower, self.upper):
            if edges is not None and not (edges.shape == (self.size,) and _is_rising(edges)):
                raise ValueError(f"{self.name}: one finite edge per code, in rising order")
        if self.cuts and not (self.ordered and all(0 < c < self.size for c in self.cuts)):
            raise ValueError(f"{self.name}: cuts are codes between 1 and size - 1 of an ordered attribute")
        if self.tree is not None and not (self.ordered and self.tree.size == self.size):
            raise ValueError(f"{self.name}: a hierarchy has one leaf per code of an ordered attribute")

    @classmethod
    def nominal(cls, name: str, codes: Ints, size: int, weight: float = 1.0) -> Attribute:
        """A category of `size` values."""
        return cls(name, codes, size, ordered=False, span=float(size), weight=weight)

    @classmethod
    def ordered_by(
        cls, name: str, codes: Ints, edges: Floats, cuts: tuple[int, ...] = (), weight: float = 1.0
    ) -> Attribute:
        """A number coded by a public edge list: code c is the half-open interval from edges[c] to edges[c + 1]."""
        lower, upper = edges[:-1], edges[1:]
        span = float(edges[-1] - edges[0])
        return cls(name, codes, lower.size, True, span, lower, upper, weight, cuts)

    @classmethod
    def hierarchical(cls, name: str, codes: Ints, tree: Hierarchy, weight: float = 1.0) -> Attribute:
        """A category with a hierarchy, coded by the places of its leaves.

        The line of leaves is as long as some nodes of the first level together; two thirds of it weigh as much as the
        whole of another attribute (measured: docs/decisions/0018).
        """
        line = tree.positions
        return cls(name, codes, tree.size, True, max(1.0, float(line[-1]) / 1.5), line, line, weight, tree=tree)

    @cached_property
    def edges(self) -> tuple[Floats, Floats]:
        """Lower and upper edge by code, and zero for a missing value, be it coded as -1 or as `size`."""
        none = np.zeros(self.size)
        lower, upper = (none if e is None else e for e in (self.lower, self.upper))
        return np.append(lower, 0.0), np.append(upper, 0.0)

    @cached_property
    def has_nulls(self) -> bool:
        return bool(self.codes.size and self.codes.min() == NULL)


@dataclass(frozen=True)
class Target:
    """What is to stay predictable of each row: the code of a category, 0..classes-1, or a number (`classes` is 0)."""

    values: Floats
    classes: int

    def unknown(self, rows: Ints, counts: Ints) -> float:
        """What is to be known of the rows together: entropy times records, or squares about the mean."""
        return float(self._left(self._sums(np.zeros_like(rows), rows, counts, 1))[0])

    def unknown_after(self, rows: Ints, place: Ints, counts: Ints) -> Floats:
        """The same of both sides of a cut after each place 0..n-1, added."""
        sums = np.cumsum(self._sums(place, rows, counts, int(place.max()) + 1), axis=0)
        both: Floats = self._left(sums) + self._left(sums[-1] - sums)
        return both

    def mean_by(self, rows: Ints, which: Ints, counts: Ints) -> Floats:
        """By place the mean target, or the share of the class that most rows are of."""
        sums = self._sums(which, rows, counts, int(which.max()) + 1)
        records = np.bincount(which, counts)
        part = sums[:, int(np.argmax(sums.sum(axis=0)))] if self.classes else sums[:, 1]
        mean: Floats = part / records
        return mean

    def _sums(self, place: Ints, rows: Ints, counts: Ints, places: int) -> Floats:
        """By place the records of each class; or records, sum and sum of squares."""
        values = self.values[rows]
        if self.classes:
            key = place * self.classes + values.astype(np.int64)
            held: Floats = np.bincount(key, counts, places * self.classes).astype(np.float64)
            return held.reshape(places, self.classes)
        parts = (np.ones_like(values), values, values**2)
        return np.stack([np.bincount(place, counts * part, places) for part in parts], axis=1)

    def _left(self, sums: Floats) -> Floats:
        if not self.classes:
            squares: Floats = sums[:, 2] - sums[:, 1] ** 2 / np.maximum(sums[:, 0], 1.0)
            return np.maximum(squares, 0.0)
        records = np.maximum(sums.sum(axis=1), 1.0)
        bits: Floats = records * np.log2(records) - (sums * np.log2(np.maximum(sums, 1.0))).sum(axis=1)
        return bits


def _is_rising(edges: Floats) -> bool:
    return bool(np.isfinite(edges).all() and (np.diff(edges) >= 0).all())


@dataclass(frozen=True)
class Table:
    """Distinct combinations of quasi-identifier codes. One combination is never divided between two classes.

    Without quasi-identifiers there is nothing to divide by: `one_class` makes the only class there can be. `target` is
    what methods for a task keep predictable.
    """

    attributes: tuple[Attribute, ...]
    counts: Ints
    target: Target | None = None

    def __post_init__(self) -> None:
        if any(a.codes.shape != self.counts.shape for a in self.attributes):
            raise ValueError("every attribute has one code per combination")
        if self.counts.size and self.counts.min() < 1:
            raise ValueError("every combination stands for at least one record")

    @property
    def combinations(self) -> int:
        return int(self.counts.size)

    @property
    def records(self) -> int:
        return int(self.counts.sum())
