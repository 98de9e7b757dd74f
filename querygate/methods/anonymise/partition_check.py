"""The independent verifier: what a partition really guarantees, measured from its arrays alone.

It shares no code with the algorithms and trusts none of their results. Every function takes the class of each entry
(any integers), what the entry holds, and how many records it stands for; entries may be records, combinations or
triplets of what was written. Figures that come from logarithms or sums of shares are rounded to nine digits.

>>> import numpy as np
>>> classes, disease = np.array([7, 7, 7, 9, 9]), np.array([0, 1, 1, 0, 0])
>>> smallest_class(classes), distinct_values(classes, disease), largest_share(classes, disease)
(2, 1, 1.0)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from querygate.core.types import Floats, Ints

DIGITS = 9


def smallest_class(classes: Ints, counts: Ints | None = None) -> int:
    """Records in the smallest class: the k that was reached."""
    _, which = np.unique(classes, return_inverse=True)
    return int(np.bincount(which, counts).min())


def distinct_values(classes: Ints, values: Ints) -> int:
    """Fewest different values in a class: the l of distinct diversity, or the number of bins a class spans."""
    which, _, _ = _tally(classes, values, None)
    return int(np.bincount(which).min())


def entropy_l(classes: Ints, values: Ints, counts: Ints | None = None) -> float:
    """exp of the smallest entropy of a class: the l of entropy diversity."""
    which, _, tally = _tally(classes, values, counts)
    size = np.bincount(which, tally)
    share = tally / size[which]
    entropy = np.bincount(which, -share * np.log(share))
    return round(float(np.exp(entropy.min())), DIGITS)


def recursive_ratio(classes: Ints, values: Ints, counts: Ints | None = None, *, l: int) -> float:  # noqa: E741
    """Greatest r1 / (rl + ... + rm) of a class: recursive (c,l)-diversity holds for every c above it."""
    which, _, tally = _tally(classes, values, counts)
    order = np.lexsort((-tally, which))
    which, tally = which[order], tally[order]
    begin = np.searchsorted(which, np.arange(which[-1] + 1))
    rank = np.arange(which.size) - begin[which]
    tail = np.bincount(which, np.where(rank >= l - 1, tally, 0))
    return float(np.max(np.where(tail > 0, tally[begin] / np.maximum(tail, 1), np.inf)))


def largest_share(
    classes: Ints, values: Ints, counts: Ints | None = None, *, among: Collection[int] | None = None
) -> float:
    """Greatest share that one value has in a class: the alpha that is kept. `among` says which values are meant."""
    which, value, tally = _tally(classes, values, counts)
    share = tally / np.bincount(which, tally)[which]
    return float(np.max(share if among is None else share[np.isin(value, list(among))], initial=0.0))


def spared_people(classes: Ints, people: Ints, values: Ints) -> tuple[int, dict[int, float]]:
    """Of people who may have several values: the fewest of a class who do not have its commonest, and by value the
    greatest share of a class that has it.
    """
    fewest, greatest = int(people.size), dict[int, float]()
    for members in _members(classes):
        everybody = np.unique(people[members]).size
        pairs = np.unique(np.stack([values[members], people[members]]), axis=1)
        found, holders = np.unique(pairs[0], return_counts=True)
        fewest = min(fewest, everybody - int(holders.max()))
        for value, number in zip(found.tolist(), holders.tolist(), strict=True):
            greatest[value] = max(greatest.get(value, 0.0), number / everybody)
    return fewest, greatest


def closeness(
    classes: Ints,
    values: Ints,
    counts: Ints | None = None,
    *,
    ordered: bool = False,
    size: int | None = None,
    whole: Ints | None = None,
) -> float:
    """Greatest earth mover's distance of a class from the whole: the t that is kept.

    Ordered distances need values coded 0..size-1 (`size` is the greatest code + 1 unless told). `whole` is how many
    records have each value, where there are others than these.
    """
    which, value, tally = _tally(classes, values, counts)
    if not ordered and whole is None:
        value = np.unique(value, return_inverse=True)[1]  # a missing value may have a code below 0
    total = np.bincount(which, tally)
    of_all = np.bincount(value, tally, size or 0) if whole is None else whole
    domain = np.arange(of_all.size) if ordered else np.flatnonzero(of_all)
    moved, carried = np.zeros(total.size), np.zeros(total.size)
    for v in domain:
        here = value == v
        difference = np.bincount(which[here], tally[here], total.size) / total - of_all[v] / of_all.sum()
        carried = carried + difference if ordered else difference
        moved += np.abs(carried)
    return round(float(moved.max() / (max(1, domain.size - 1) if ordered else 2)), DIGITS)


def narrowest_hull(classes: Ints, low: Floats, high: Floats) -> float:
    """Width of the narrowest hull of a sensitive number in a class; nan is a missing value.

    A class without any value counts as width 0.
    """
    order = np.argsort(classes, kind="stable")
    begin = np.flatnonzero(np.diff(classes[order], prepend=classes[order][0] - 1))
    least = np.minimum.reduceat(np.where(np.isnan(low), np.inf, low)[order], begin)
    greatest = np.maximum.reduceat(np.where(np.isnan(high), -np.inf, high)[order], begin)
    width = np.zeros(begin.size)
    apart = greatest > least
    width[apart] = greatest[apart] - least[apart]
    return float(width.min())


def closeness_in_tree(
    classes: Ints, values: Ints, counts: Ints | None = None, *, levels: Ints, whole: Ints | None = None
) -> float:
    """Greatest earth mover's distance of a class from the whole along a tree; `levels[h][v]` is the ancestor of value
    v at height h. `whole` is how many records have each value, where there are others than these.

    On a tree it is the sum over its edges of their length times what has to cross them. Values whose common ancestor
    is at height h are h / height apart, so every edge is 1 / (2 height) long.
    """
    which, value, tally = _tally(classes, values, counts)
    total, height = np.bincount(which, tally), len(levels) - 1
    moved, of_all = np.zeros(total.size), np.bincount(value, tally) if whole is None else whole
    for level in levels[:-1]:
        for node in np.unique(level):
            here = level[value] == node
            share = np.bincount(which[here], tally[here], total.size) / total
            of_node = of_all[level[: of_all.size] == node].sum()
            moved += np.abs(share - of_node / of_all.sum()) / (2 * height)
    return round(float(moved.max()), DIGITS)


def distinct_numbers(classes: Ints, values: Floats) -> int:
    """Fewest different numbers in a class; nan is a missing value and no number."""
    return min(np.unique(values[members][~np.isnan(values[members])]).size for members in _members(classes))


def crowding(classes: Ints, values: Floats, counts: Ints | None = None, *, epsilon: float) -> float:
    """Greatest share of a class within epsilon of the value of one of its members.

    nan is a missing value, near other missing ones and far from every number.
    """
    records = np.ones(len(values), dtype=np.int64) if counts is None else counts
    greatest = 0.0
    for members in _members(classes):
        members = members[np.argsort(values[members])]  # nan comes last
        number, held = values[members], np.append(0, np.cumsum(records[members]))
        number = number[~np.isnan(number)]
        first, behind = np.searchsorted(number, number - epsilon), np.searchsorted(number, number + epsilon, "right")
        near = held[behind] - held[first]
        greatest = max(greatest, float(max(near.max(initial=0), held[-1] - held[number.size]) / held[-1]))
    return greatest


def guarded_share(classes: Ints, values: Ints, sets: Ints, counts: Ints, guarded: Sequence[Collection[int]]) -> float:
    """Greatest share of a class that has a value from the set that one of its members guards.

    Entries are records by value and by number of the set; `guarded` has the values of each set.
    """
    _, which = np.unique(classes, return_inverse=True)
    size, greatest = np.bincount(which, counts), 0.0
    for number, members in enumerate(guarded):
        inside = np.isin(values, list(members))
        wanted = np.unique(which[sets == number])
        share = (np.bincount(which[inside], counts[inside], size.size) / size)[wanted]
        greatest = max(greatest, float(share.max(initial=0.0)))
    return greatest


Side: TypeAlias = "tuple[float, float] | frozenset[int] | None"
"""What a box says of one column: an interval, a set of codes, or nothing."""


def fewest_matches(boxes: Iterable[Sequence[Side]], people: Sequence[Floats], persons: Ints) -> int:
    """Fewest people of a population whose values lie in one of the boxes: the k of k-map. nan is in no box."""
    least = int(persons.sum())
    for box in boxes:
        inside = np.ones(persons.size, dtype=np.bool_)
        for side, values in zip(box, people, strict=True):
            if isinstance(side, tuple):
                inside &= (values >= side[0]) & (values <= side[1])
            elif side is not None:
                inside &= np.isin(values, list(side))
        least = min(least, int(persons[inside].sum()))
    return least


def _members(classes: Ints) -> Iterator[Ints]:
    """The entries of each class."""
    order = np.argsort(classes, kind="stable")
    return iter(np.split(order, np.flatnonzero(np.diff(classes[order])) + 1))


def _tally(classes: Ints, values: Ints, counts: Ints | None) -> tuple[Ints, Ints, Ints]:
    """Each (class, value) that occurs with its records; classes numbered 0..m-1, in order of class and value."""
    order = np.arange(classes.size)
    step, rise = np.diff(classes), np.diff(values)
    if not ((step > 0) | ((step == 0) & (rise >= 0))).all():  # cells are written in this order
        order = np.lexsort((values, classes))
    classes, values = classes[order], values[order]
    which = np.cumsum(np.diff(classes, prepend=classes[:1]) != 0)
    begins = np.ones(order.size, dtype=np.bool_)
    begins[1:] = (np.diff(which) != 0) | (np.diff(values) != 0)
    records = np.ones_like(order) if counts is None else counts[order]
    begin = np.flatnonzero(begins)
    return which[begin], values[begin], np.add.reduceat(records, begin)
