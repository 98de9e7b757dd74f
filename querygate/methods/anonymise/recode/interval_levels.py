"""Hierarchies that need no file: round intervals for a number, and value or `*` for a category.

>>> import numpy as np
>>> from querygate.methods.anonymise.table import Attribute
>>> age = Attribute.ordered_by("age", np.array([0]), edges=np.arange(18.0, 31.0))
>>> for level in interval_hierarchy(age).levels:
...     print(level)
[ 0  1  2  3  4  5  6  7  8  9 10 11]
[0 0 1 1 1 1 1 2 2 2 2 2]
[0 0 1 1 1 1 1 1 1 1 1 1]
[0 0 0 0 0 0 0 0 0 0 0 0]
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.anonymise.recode.hierarchy import Hierarchy
from querygate.methods.anonymise.table import Attribute

ROUND = (5, 10, 20, 100)
"""Steps of the grid that are joined; then 5, 10, 20, 100 times a hundred, and so on. Each divides the next, so that
intervals nest: 18, 15-19, 10-19, 0-19."""

SLACK = 1e-9
"""Room for rounding where an edge is divided by the step of the grid."""


def interval_hierarchy(attribute: Attribute, step: float | None = None) -> Hierarchy:
    """Codes of a number joined to ever wider intervals that begin at multiples of their width, up to the whole domain.

    `step` is that of the public grid; without it, the median distance of neighbouring edges, since the ends of a domain
    and public cuts stand off the grid. Where edges are public, so is the hierarchy.
    """
    if attribute.lower is None or attribute.upper is None:
        raise ValueError(f"{attribute.name}: only a number has intervals")
    lower = attribute.lower
    gaps = np.diff(lower)
    gaps = gaps[gaps > 0]
    step = step or (float(np.median(gaps)) if gaps.size else 1.0)
    place = np.floor(lower / step + SLACK)
    levels = [np.arange(attribute.size)]
    reach, times = float(place[-1] - place[0]) + 1, 1
    while times < reach:
        widths = [factor * times for factor in ROUND]
        levels += [_ranked(place // width) for width in widths if width < reach]
        times *= ROUND[-1]
    levels.append(np.zeros(attribute.size, dtype=np.int64))
    return Hierarchy(_names(lower, attribute.upper), tuple(levels))


def flat_hierarchy(size: int) -> Hierarchy:
    """For a category without a hierarchy: its value, or any."""
    return Hierarchy(tuple(map(str, range(size))), (np.arange(size), np.zeros(size, dtype=np.int64)))


def _ranked(rising: Floats) -> Ints:
    """Rising numbers as 0, 1, 2 ... without gaps."""
    return np.cumsum(np.diff(rising, prepend=rising[:1]) != 0)


def _names(lower: Floats, upper: Floats) -> tuple[str, ...]:
    ends = zip(lower.tolist(), upper.tolist(), strict=True)
    return tuple(f"{low:.15g}" if low == high else f"{low:.15g} to {high:.15g}" for low, high in ends)
