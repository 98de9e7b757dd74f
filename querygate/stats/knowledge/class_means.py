"""Ranges of means over cells whose classes have published sums, for many groups and readings at once.

A statement asks for the means of all its groups, each of several margins has a reading of each group, and each mean has
two ends. All of them are the largest mean of some selection under caps, so they are searched for together: see
`class_caps`. Proof: docs/explanation/proofs/class-sums.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from querygate.core.cell_stack import ClassStack
from querygate.core.types import Bools, ClassCells, Floats, Ints, Range
from querygate.stats.knowledge.class_caps import CapBounds, CapRows, joined, largest_capped_means
from querygate.stats.numerics import EXACT, UNIT, enclose, exact_sum, gamma, up


def class_mean(cells: ClassCells) -> Range | None:
    """Range of the mean as the database computes it; None where no class sums help.

    Ensures: every computed mean of a consistent, non-empty selection is in the range.
    """
    if not is_usable(cells) or not is_certain(cells):
        return None
    exact = is_exact(cells)
    whole = whole_sum(cells, exact)
    if whole is not None:
        ends = [Fraction(total, exact_sum(cells.size)) for total in whole]
        first, last = enclose(ends[0]), enclose(ends[1])
        return told_range(cells, [first.low, last.high], [float(ends[0]), float(ends[1])])
    low, high, attained = mean_ends(ClassStack.of_one(cells), exact, reached=cells.frame is None)
    return told_range(cells, [float(low[0]), float(high[0])], attained)


class ToldMean(NamedTuple):
    """The range of a mean, None where no class sums help; and whether it lies within the range from intervals and
    counts alone, apart from rounding. It need not if the rows of a class are not in the same order by both ends: see
    `_leaning`."""

    range: Range | None
    is_narrowest: bool


def class_means(stack: ClassStack) -> list[ToldMean]:
    """The same for many groups of margins, without attained values: other margins may exclude what one attains."""
    if stack.selections == 1 or not is_usable(stack.cells):
        return [ToldMean(None if each is None else class_mean(each), is_narrowest=False) for each in stack.parts()]
    cells, number = stack.cells, stack.selections
    exact, rising = is_exact(cells), _are_rising(stack)
    low, high, _ = mean_ends(stack, exact, reached=False)
    of = stack.selection[cells.group]
    certain = np.bincount(of, cells.least, number) > 0
    if cells.total_least is not None:
        certain |= np.bincount(stack.selection, cells.total_least, number) > 0
    told = zip(low.tolist(), high.tolist(), (certain & stack.is_told).tolist(), rising.tolist(), strict=True)
    found = [ToldMean(Range(a, b, None, None, sharp=False) if is_told else None, up) for a, b, is_told, up in told]
    is_whole = stack.is_told & (np.bincount(of, cells.least != cells.size, number) == 0)
    if exact and is_whole.any():  # everybody is selected: exact sums give an exact answer
        for i, each in enumerate(stack.parts()):
            if is_whole[i] and each is not None:
                found[i] = found[i]._replace(range=class_mean(each))
    return found


def _are_rising(stack: ClassStack) -> Bools:
    """In which groups are the rows of each class in the same order by all ends?"""
    cells = stack.cells
    falls = np.zeros(cells.group.size - 1, dtype=np.bool_)
    for ends in (cells.low, cells.high, cells.floor, cells.ceiling):
        falls |= ends[1:] < ends[:-1]
    found: Bools = np.ones(stack.selections, dtype=np.bool_)
    found[stack.selection[cells.group[1:][falls & (cells.group[1:] == cells.group[:-1])]]] = False
    return found


def _reaches_of(stack: ClassStack) -> Floats:
    """The largest magnitude of an end in each group."""
    ends = (stack.cells.floor, stack.cells.ceiling, stack.cells.low, stack.cells.high)
    far = np.abs(np.stack(ends)).max(axis=0).astype(np.float64)
    found = np.zeros(stack.selections)
    np.maximum.at(found, stack.selection[stack.cells.group], far)
    return found


def mean_ends(stack: ClassStack, exact: bool, *, reached: bool) -> tuple[Floats, Floats, list[float]]:
    """Both ends of each mean, and for the first the attained values, if requested."""
    found = largest_means(stack, exact, reached=reached)
    bound = found.bound
    if not exact:  # a database adds doubles in an order of its own
        part = up(gamma(exact_sum(stack.cells.most)) + 4 * UNIT)
        bound = bound + np.tile(np.nextafter(part * _reaches_of(stack), np.inf), 2)
    ends = np.nextafter(bound, np.inf)
    high, low = ends[: stack.selections], -ends[stack.selections :]
    return low, high, [-float(found.reached[stack.selections]), float(found.reached[0])]


def largest_means(stack: ClassStack, exact: bool, *, reached: bool) -> CapBounds:
    """The largest mean of each selection, then the largest of minus the values."""
    both = (capped(replace(stack, cells=each), exact) for each in (stack.cells, mirrored(stack.cells)))
    return largest_capped_means(joined(*both), reached=reached)


def capped(stack: ClassStack, exact: bool) -> CapRows:
    """Values against the sums of the classes; `exact` is whether whole numbers add up to doubles."""
    cells = stack.cells
    least, most = _leaning(cells)
    value, base = cells.high.astype(np.float64), cells.floor.astype(np.float64)
    spare = spare_of(cells.sum_high, base, cells, exact=exact)
    return CapRows(value, base, least, most, cells.group, spare, stack.selection, stack.selections).held()


def _leaning(cells: ClassCells) -> tuple[Ints, Ints]:
    """How many records of each row are selected if the largest are taken first, where the number selected of a class is
    known.

    Only for classes in which rows with larger values also have larger floors, so that the records left out have the
    smallest floors. Of rows with the same value those with the larger floor come first.
    """
    if cells.total_least is None or cells.total_most is None:
        return cells.least, cells.most
    value, floor, group = cells.high, cells.floor, cells.group
    same = group[1:] == group[:-1]
    order: Ints | slice = slice(None)
    mixed = np.zeros(cells.sum_low.size, dtype=np.bool_)
    if ((value[1:] < value[:-1]) | (floor[1:] < floor[:-1]))[same].any():
        order = slice(None, None, -1)
        if ((value[1:] > value[:-1]) | (floor[1:] > floor[:-1]))[same].any():
            order = np.lexsort((floor, value, group))
            falls = (np.diff(floor[order]) < 0) & (np.diff(group[order]) == 0)
            mixed[group[order][1:][falls]] = True
    at, free = group[order], (cells.most - cells.least)[order]
    upto = np.cumsum(free)
    last = (at != np.append(at[1:], -1)).nonzero()[0]
    by_class = np.zeros(cells.sum_low.size, dtype=np.int64)
    by_class[at[last]] = upto[last]
    larger = by_class[at] - upto
    taken = np.bincount(group, cells.least, cells.sum_low.size).astype(np.int64)
    found = []
    for counts, total in ((cells.least, cells.total_least), (cells.most, cells.total_most)):
        leaning = cells.least.copy()
        leaning[order] += np.minimum(np.maximum((total - taken)[at] - larger, 0), free)
        found.append(np.where(mixed[group], counts, leaning) if mixed.any() else leaning)
    return found[0], found[1]


def spare_of(total: Floats, base: Floats, cells: ClassCells, *, exact: bool = False) -> Floats:
    """total - sum(n base) of each class, rounded up. Sums of any order are off by u per term and magnitude."""
    least = np.bincount(cells.group, cells.size * base, total.size)
    if exact:
        return total - least
    size = np.bincount(cells.group, cells.size * np.abs(base), total.size) + np.abs(total)
    rows = np.bincount(cells.group, minlength=total.size)
    spare: Floats = np.nextafter(total - least + (2 * rows + 16) * UNIT * size, np.inf)
    return spare


def whole_sum(cells: ClassCells, exact: bool) -> tuple[int, int] | None:
    """Both ends of the sum of whole numbers if everybody is selected: classes add up without a search."""
    if not exact or not np.array_equal(cells.least, cells.size):
        return None
    number = cells.sum_low.size
    least, most = (np.bincount(cells.group, cells.size * end, number) for end in (cells.low, cells.high))
    low, high = np.maximum(cells.sum_low, least), np.minimum(cells.sum_high, most)
    return math.ceil(math.fsum(low.tolist())), math.floor(math.fsum(high.tolist()))


def told_range(cells: ClassCells, ends: Sequence[int | float], attained: Sequence[float]) -> Range:
    """A range with its attained values, where only the sums connect the values of a class."""
    certain = is_certain(cells)
    if ends[0] == ends[1]:
        return replace(Range.exact(ends[0]), may_be_null=not certain)
    alone = cells.apart and bool(np.isnan(cells.var_high).all()) and certain
    if not alone or not all(map(math.isfinite, attained)):
        return Range(ends[0], ends[1], None, None, sharp=False, may_be_null=not certain)
    close = 1e-12 * reach_of(cells)
    near = [abs(end - value) <= 1e-9 * abs(value) + close for end, value in zip(ends, attained, strict=True)]
    return Range(ends[0], ends[1], attained[0], attained[1], sharp=all(near))


# -- what cells allow ------------------------------------------------------------------------------------------------


def is_certain(cells: ClassCells) -> bool:
    """At least one record is certainly selected."""
    return bool(cells.least.any() or (cells.total_least is not None and cells.total_least.any()))


def is_usable(cells: ClassCells) -> bool:
    """At least one record can be selected, and ends are doubles."""
    if not cells.most.any() or not (np.isfinite(cells.sum_low).all() and np.isfinite(cells.sum_high).all()):
        return False
    reach = reach_of(cells)
    return math.isfinite(reach) and not (cells.integer and reach >= EXACT)


def is_exact(cells: ClassCells) -> bool:
    """Whole numbers whose sums are doubles."""
    return cells.integer and reach_of(cells) * exact_sum(cells.size) < EXACT


def reach_of(cells: ClassCells) -> float:
    """The largest magnitude of an end; not finite where one is not."""
    ends = np.concatenate((cells.floor, cells.ceiling, cells.low, cells.high))
    return float(np.maximum.reduce(np.abs(ends), initial=0))


def mirrored(cells: ClassCells) -> ClassCells:
    """The cells of -x, so that a lower end is the upper end of the mirror image."""
    return replace(
        cells,
        low=-cells.high,
        high=-cells.low,
        floor=-cells.ceiling,
        ceiling=-cells.floor,
        sum_low=-cells.sum_high,
        sum_high=-cells.sum_low,
    )
