"""Classes of an earlier version that a new one takes over as they are, because nothing has changed in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints


@dataclass(frozen=True, slots=True)
class CarriedClasses:
    """All classes of `version` but those that are `gone`: somebody in them came back changed, or not at all.

    >>> CarriedClasses(1, 8, 60, np.array([2, 5]), 9).numbers(3)
    array([ 2,  5, 10])
    """

    version: int
    classes: int  # that are carried over
    records: int  # in these
    gone: Ints  # numbers of classes, in rising order
    last: int  # the greatest number of a class of that version

    def numbers(self, made: int) -> Ints:
        """For so many classes that are made anew, numbers that no carried class has."""
        free = self.gone[:made]
        return np.concatenate([free, np.arange(made - free.size) + self.last + 1]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class CarriedProof:
    """What was measured of a whole version of which some classes were carried over: counts in its two files, and
    whether carried classes are what they were in the earlier version.
    """

    carried: CarriedClasses
    same_cells: bool
    same_rows: bool
    uneven: int  # classes of which cells, sizes and raw rows are not equally many
    cells: int
    told: int  # records in all cells
    smallest: int
    largest: int
    least_in_bin: Mapping[int, int]  # by index of a number: records of the rarest of its intervals
    width: Mapping[str, float]  # mean width of a cell, per numeric column
