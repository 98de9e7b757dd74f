"""How much a release risks: measures of re-identification and of what a class gives away about its members.

Re-identification by the three attackers of El Emam and Dankar ("Protecting privacy using k-anonymity", JAMIA 2008; El
Emam, "Guide to the De-Identification of Personal Health Information", 2013). The *prosecutor* knows that somebody is in
the data and guesses among the class: 1 / size. The *journalist* does not, and guesses among the people of a population
who match the class: 1 / people. The *marketer* wants many right guesses and no single one: the share of records that
guesses get right on average. Shares are of records, because it is people who are at risk, and not classes.

This measures; it shares no code with the methods that make classes.

>>> import numpy as np
>>> found = prosecutor(np.array([5, 5, 10]))
>>> found.greatest, round(found.average, 6), found.above[0.05]
(0.2, 0.15, 1.0)
>>> round(marketer(np.array([5, 5, 10]), people=np.array([10, 50, 100])), 6)
0.035
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints

THRESHOLDS = (1 / 20, 1 / 5)
"""Risks that data protection rules draw a line at: for data that anybody may have, and for a trusted few."""

LIKELY = 0.8
"""A share of a class from which a guess of its sensitive value is as good as knowledge."""


@dataclass(frozen=True, slots=True)
class Risk:
    """Of being found: the greatest, the mean over records, and the share of records above each threshold."""

    greatest: float
    average: float
    above: Mapping[float, float]


def prosecutor(sizes: Ints) -> Risk:
    """Of classes of these sizes. The average is the number of classes divided by that of records."""
    return _risk(sizes, sizes)


def journalist(sizes: Ints, people: Ints) -> Risk:
    """Of classes that so many people of a population match. One that nobody matches finds nobody."""
    return _risk(sizes, people)


def marketer(sizes: Ints, people: Ints | None = None) -> float:
    """The share of records that are matched with the right person, guessing in all classes.

    Without a population the attacker is thought to have a list of the very people in the data.
    """
    return _risk(sizes, sizes if people is None else people).average


def _risk(sizes: Ints, among: Ints) -> Risk:
    risk = np.divide(1.0, among, out=np.zeros(among.size), where=among > 0)
    records = int(sizes.sum())
    if not records:
        return Risk(0.0, 0.0, dict.fromkeys(THRESHOLDS, 0.0))
    above = {limit: float(sizes[risk > limit].sum() / records) for limit in THRESHOLDS}
    return Risk(float(risk.max()), float(risk @ sizes / records), above)


# -- what a class gives away ---------------------------------------------------------------------------------------


class Told(NamedTuple):
    """Classes that give something away, and the records in them."""

    classes: int
    records: int

    @classmethod
    def of(cls, which: Bools, sizes: Ints) -> Told:
        return cls(int(which.sum()), int(sizes[which].sum()))


def shared_values(classes: Ints, values: Ints, counts: Ints) -> tuple[Told, Told]:
    """Classes in which all members have one value, and those in which a single one holds a share of `LIKELY` or more.

    Entries are (class, value, records), classes 0..m-1; a missing value is a value.

    >>> import numpy as np
    >>> shared_values(np.array([0, 1, 1, 2, 2]), np.array([7, 7, 8, 7, 8]), np.array([3, 1, 1, 9, 1]))
    (Told(classes=1, records=3), Told(classes=2, records=13))
    """
    size: Ints = np.bincount(classes, counts).astype(np.int64)
    _, value = np.unique(values, return_inverse=True)
    pairs, which = np.unique(classes * (int(value.max(initial=0)) + 1) + value.reshape(-1), return_inverse=True)
    held = np.bincount(which.reshape(-1), counts)
    of = pairs // (int(value.max(initial=0)) + 1)
    greatest = np.zeros(size.size)
    np.maximum.at(greatest, of, held)
    there = size > 0
    return Told.of(there & (greatest == size), size), Told.of(there & (greatest >= LIKELY * size), size)


def narrow_hulls(sizes: Ints, low: Floats, high: Floats, width: float) -> Told:
    """Classes whose known values span less than `width`; nan where a class has none."""
    return Told.of(np.nan_to_num(high - low, nan=np.inf) < width, sizes)


# -- the shape of a distribution -----------------------------------------------------------------------------------


def quantiles(values: Floats, counts: Ints, shares: Sequence[float] = (0.25, 0.5, 0.75)) -> tuple[float, ...]:
    """The least value with at least each share of the records at or below it.

    >>> import numpy as np
    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.array([1, 2, 1]))
    (1.0, 1.0, 2.0)
    """
    if not values.size:
        return tuple(0.0 for _ in shares)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1 - 1e-12))
    return tuple(values[order][np.minimum(places, values.size - 1)].tolist())


def fence(values: Floats, counts: Ints) -> float:
    """Above it a value is an outlier: a box plot's upper fence (Tukey, "Exploratory Data Analysis", 1977)."""
    first, _, third = quantiles(values, counts)
    return third + 1.5 * (third - first)
