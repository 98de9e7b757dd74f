"""What adding and subtracting the figures of a version of views reveals, as far as its file alone shows.

A class of one view can share people with a class of another only if their boxes intersect. If some classes of one view
intersect only certain classes of the other, the former are inside the latter, and the difference of their sizes is
about exactly that many people. This module finds the smallest group that classes reveal in this way, or by themselves:
a least cut (see `least_difference`). How many people two classes really share is not in the file; the verifier checked
on the raw rows that no combination is about fewer than k people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from querygate.core.block import ALL_NULLS, NO_NULLS, Block, BlockColumn, NumberColumn, SetColumn
from querygate.core.types import Bools, Ints, Margin
from querygate.custody.evidence.class_reader import ClassedVersion, labels_of
from querygate.methods.audit.class_differences import least_difference


@dataclass(frozen=True, slots=True)
class MarginTold:
    """One margin: its columns, its number of classes, and the records of the smallest."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    classes: int
    smallest: int


@dataclass(frozen=True, slots=True)
class ViewsTold:
    """A version of views. `difference` is the smallest group that classes of two views reveal, alone or by their
    difference; None if there is only one view.
    """

    frames: int
    margins: tuple[MarginTold, ...]
    difference: int | None


def read_views(release: ClassedVersion) -> ViewsTold | None:
    """From the published cells alone; None for a version of classes over all quasi-identifiers."""
    margins = release.catalog.margins
    if not margins:
        return None
    told = [_margin(release, number, margin) for number, margin in enumerate(margins)]
    counts = {
        margin.view: release.by_class(margin.quasi, number)
        for number, margin in enumerate(margins)
        if not margin.sensitive
    }
    shared = {margin.view: set(margin.quasi) for margin in margins}
    found = [
        difference
        for one, other in combinations(sorted(counts), 2)
        for difference in _differences(counts[one], counts[other], shared[one] & shared[other])
    ]
    frames = np.unique(np.concatenate([_frames(block) for block in counts.values()]))
    return ViewsTold(int(frames.size), tuple(told), min(found, default=None))


def _margin(release: ClassedVersion, number: int, margin: Margin) -> MarginTold:
    block = release.by_class((), number)
    names, place = np.unique(labels_of(block), return_inverse=True)
    sizes = np.bincount(place.reshape(-1), block.n)
    return MarginTold(margin.quasi, margin.sensitive, int(names.size), int(sizes.min()) if sizes.size else 0)


def _frames(block: Block) -> Ints:
    if block.frame is None:
        raise ValueError("this block does not belong to a margin")
    return block.frame


def _differences(one: Block, other: Block, shared: Collection[str]) -> Iterator[int]:
    """The smallest group of each frame cell."""
    for frame in np.unique(_frames(one)).tolist():
        first, second = (block.take(np.flatnonzero(_frames(block) == frame)) for block in (one, other))
        if not (first.size and second.size):
            continue
        meet = np.ones((first.size, second.size), dtype=np.bool_)
        for name in shared:
            meet &= _meet(first.columns[name], second.columns[name])
        yield least_difference(meet, first.n, second.n)


def _meet(one: BlockColumn, other: BlockColumn) -> Bools:
    """For each pair of rows, whether a record can be in both."""
    if isinstance(one, NumberColumn) and isinstance(other, NumberColumn):
        known = np.logical_and.outer(one.null != ALL_NULLS, other.null != ALL_NULLS)
        known &= (one.low[:, None] <= other.high[None, :]) & (other.low[None, :] <= one.high[:, None])
        found: Bools = known | np.logical_and.outer(one.null != NO_NULLS, other.null != NO_NULLS)
        return found
    if isinstance(one, SetColumn) and isinstance(other, SetColumn):
        members = [_members(column) for column in (one, other)]
        return np.asarray(members[0] @ members[1].T > 0)
    return np.ones((_size(one), _size(other)), dtype=np.bool_)


def _members(column: SetColumn) -> Ints:
    """Rows x values, missing first: 1 where the value is in the row's set."""
    held = column.dictionary
    table = np.zeros((len(held.starts) - 1, len(held.values) + 1), dtype=np.int64)
    table[np.repeat(np.arange(len(held.starts) - 1), held.sizes), held.members + 1] = 1
    found: Ints = table[column.sets]
    return found


def _size(column: BlockColumn) -> int:
    return len(column.low) if isinstance(column, NumberColumn) else len(column.sets)
