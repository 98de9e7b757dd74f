"""Classes of records with public knowledge about them, read from any kind of column and checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import Bools, Cells, Floats, Ints
from querygate.stats.inputs import Column, Counts, read_counts, read_ends
from querygate.stats.numerics import EXACT, UNIT, exact_sum


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of `size` members with values in [low, high], between `least` and `most` of them selected.

    The selection is by other columns: any of the members may be among the selected. `make_classes` makes and checks.
    """

    low: Floats | Ints
    high: Floats | Ints
    size: Ints
    least: Ints
    most: Ints
    sum_low: Floats | Ints | None = None
    sum_high: Floats | Ints | None = None
    squares_low: Floats | Ints | None = None
    squares_high: Floats | Ints | None = None
    tight: bool = False
    integer: bool = False

    @property
    def cells(self) -> Cells:
        """The same classes without the knowledge."""
        return Cells(self.low, self.high, self.least, self.most, self.integer)

    @property
    def whole(self) -> Bools:
        """Which classes are selected with all their members for certain."""
        return np.equal(self.least, self.size)

    @property
    def sums(self) -> tuple[Floats | Ints, Floats | Ints]:
        """Both ends of the cells of the sums, where they are known."""
        if self.sum_low is None or self.sum_high is None:
            raise ValueError("the sums of these classes are not known")
        return self.sum_low, self.sum_high

    @property
    def squares(self) -> tuple[Floats | Ints, Floats | Ints]:
        """Both ends of the cells of the sums of squares, where they are known."""
        if self.squares_low is None or self.squares_high is None:
            raise ValueError("the sums of squares of these classes are not known")
        return self.squares_low, self.squares_high

    @property
    def reach(self) -> float:
        """The largest magnitude of an end."""
        return float(max(np.max(np.abs(self.low), initial=0), np.max(np.abs(self.high), initial=0)))

    def part(self, chosen: Bools) -> Classes:
        """Some of the classes."""
        sums, squares = (self.sum_low, self.sum_high), (self.squares_low, self.squares_high)
        first, last = (None if column is None else column[chosen] for column in sums)
        small, large = (None if column is None else column[chosen] for column in squares)
        columns = (self.low[chosen], self.high[chosen], self.size[chosen], self.least[chosen], self.most[chosen])
        return Classes(*columns, first, last, small, large, self.tight, self.integer)

    def mirrored(self) -> Classes:
        """The classes of -x, so that a lower end is the upper end of the mirror image."""
        first = None if self.sum_high is None else -self.sum_high
        last = None if self.sum_low is None else -self.sum_low
        return replace(self, low=-self.high, high=-self.low, sum_low=first, sum_high=last)


def make_classes(
    lo: Column,
    hi: Column = None,
    counts: Counts = None,
    *,
    sizes: Counts = None,
    sums: Column = None,
    squares: Column = None,
    tight: bool = False,
    integer: bool = False,
) -> Classes:
    """Classes from columns of any kind, as in `querygate.stats.api.one_column`; a ValueError says what is impossible.

    `sizes` are the numbers of members, the largest counts if left out. `sums` and `squares` are one number per class,
    or a pair (low, high) of columns where they were published as cells.
    """
    if tight and sums is not None:
        raise ValueError("give sums or tight, not both: each range is guaranteed, so intersect the two")
    if squares is not None and sums is None:
        raise ValueError("sums of squares need the sums")
    low, high = read_ends(lo, hi, integer=integer)
    least, most = read_counts(counts, low.size)
    size = most if sizes is None else read_counts(sizes, low.size)[0]
    first, last = (None, None) if sums is None else _cell(sums, integer)
    small, large = (None, None) if squares is None else _cell(squares, integer)
    classes = Classes(low, high, size, least, most, first, last, small, large, tight, integer)
    _check_sizes(classes)
    return _check_sums(classes)


def _cell(column: Column, integer: bool) -> tuple[Floats | Ints, Floats | Ints]:
    """Both ends of a public cell; a number is a cell of its own."""
    pair = column if isinstance(column, tuple) and len(column) == 2 and np.ndim(column[0]) == 1 else (column, column)
    return read_ends(*pair, integer=integer)


def _check_sizes(classes: Classes) -> None:
    limit = EXACT if classes.integer else math.inf
    if not classes.reach * max(exact_sum(classes.size), 1) < limit:
        raise ValueError("sums must be finite, and below 2^53 where values are whole numbers")
    if np.any(classes.most > classes.size):
        raise ValueError("a class has fewer members than its count")
    if classes.tight and np.any((classes.size < 2) & (classes.low < classes.high)):
        raise ValueError("a tight class of one member has one value, so equal ends")


def _check_sums(classes: Classes) -> Classes:
    """Sums that the ends allow, cut to what they allow."""
    first, last, size = classes.sum_low, classes.sum_high, classes.size
    if first is None or last is None:
        return classes
    if any(column is not None and column.size != size.size for column in (first, classes.squares_low)):
        raise ValueError("there is one sum per class")
    slack = 0 if classes.integer else 4 * UNIT * classes.reach * size
    lowest, highest = size * classes.low - slack, size * classes.high + slack
    if np.any(last < lowest) or np.any(first > highest):
        raise ValueError("a sum is not possible with the ends of its class")
    if classes.squares_high is not None:
        if np.any(first != last):
            raise ValueError("sums of squares need exact sums")
        if np.any(classes.squares_high * size < first.astype(np.float64) ** 2 * (1.0 - 8 * UNIT)):
            raise ValueError("a sum of squares is below what the sum of its class needs")
        return classes
    return replace(classes, sum_low=np.maximum(first, lowest), sum_high=np.minimum(last, highest))
