"""Which published ranges and sets a condition cuts through, and where it would not.

A *cut* of a number is written as the first value above it. A row of a block straddles a cut if it may have records on
both sides. So the records that straddle are a step function over the lower ends of the published ranges, and conditions
that end where it is 0 are decided for everybody. All of it is read from blocks: it is a function of the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from querygate.core.block import ALL_NULLS, MISSING, Block, Dictionary, NumberColumn, SetColumn
from querygate.core.types import Array, Bools, Ints


class PublishedRange(NamedTuple):
    """What is published of a column for so many records: two ends, or a set of values."""

    what: tuple[int | float, int | float] | tuple[str | None, ...]
    records: int


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where the ranges of a number begin, and how many records straddle each of these cuts."""

    at: Array
    records: Ints

    @property
    def sharp(self) -> list[int | float]:
        """The cuts that no record straddles."""
        found: list[int | float] = self.at[self.records == 0].tolist()
        return found

    def nearest(self, cut: int | float, most: float) -> list[int | float]:
        """The next cuts below and above that at most so many records straddle."""
        good = self.at[self.records <= most]
        place = int(np.searchsorted(good, cut))
        above = place + int(place < len(good) and good[place] == cut)
        found: list[int | float] = [*good[max(place - 1, 0) : place].tolist(), *good[above : above + 1].tolist()]
        return found


def straddling_rows(column: NumberColumn, cut: int | float) -> Bools:
    found: Bools = (column.null != ALL_NULLS) & (column.low < cut) & (column.high >= cut)
    return found


def find_cuts(blocks: Sequence[Block], name: str) -> Cuts:
    """The cuts of a number in blocks that tell of the same records: what one of them decides is decided."""
    columns = [block.number(name) for block in blocks]
    at = np.unique(np.concatenate([column.low[column.null != ALL_NULLS] for column in columns]))
    each = [_straddling(block.n, column, at) for block, column in zip(blocks, columns, strict=True)]
    return Cuts(at, np.minimum.reduce(each))


def _straddling(n: Ints, column: NumberColumn, at: Array) -> Ints:
    """How many records begin below each cut, without those that end below it too."""
    there = column.null != ALL_NULLS
    low, high, n = column.low[there], column.high[there], n[there]
    return _below(low, n, at) - _below(high, n, at)


def _below(ends: Array, n: Ints, at: Array) -> Ints:
    order = np.argsort(ends, kind="stable")
    total = np.concatenate([[0], np.cumsum(n[order])])
    return total[np.searchsorted(ends[order], at, side="left")].astype(np.int64)


# -- categories ------------------------------------------------------------------------------------------------------


def set_members(dictionary: Dictionary, number: int) -> frozenset[str | None]:
    """The values of one set, NULL as None."""
    members = dictionary.members[dictionary.starts[number] : dictionary.starts[number + 1]].tolist()
    return frozenset(None if value == MISSING else dictionary.values[value] for value in members)


def mixed_rows(column: SetColumn, values: frozenset[str] | None = None) -> Bools:
    """Rows whose records may be inside these values and outside of them; without values, may differ at all."""
    sets = column.dictionary
    mixed: Bools = sets.sizes > 1
    if values is not None and sets.sizes.size:
        wanted = [place for place, value in enumerate(sets.values) if value in values]
        inside = np.add.reduceat(np.isin(sets.members, wanted).astype(np.int64), sets.starts[:-1])
        mixed = (inside > 0) & (inside < sets.sizes)
    return mixed[column.sets]


def sharp_values(column: SetColumn, n: Ints, values: frozenset[str]) -> list[frozenset[str]]:
    """The least set around these values that no published set crosses, and the largest inside them."""
    there = [set_members(column.dictionary, s) for s in np.unique(column.sets[n > 0]).tolist()]
    wide, grown = values, True
    while grown:
        touched = frozenset(value for one in there if one & wide for value in one if value is not None)
        grown, wide = bool(touched - wide), wide | touched
    crossing = frozenset(value for one in there if one & values and one - values for value in one)
    return [found for found in (wide, values - crossing) if found and found != values]


# -- what straddles ----------------------------------------------------------------------------------------------------


def published_ranges(block: Block, name: str, rows: Bools) -> list[PublishedRange]:
    """The different ranges or sets of a column in these rows, those of most records first."""
    column, n = block.columns[name], block.n[rows]
    if isinstance(column, NumberColumn):
        ends = np.stack([column.low[rows], column.high[rows]])
        different, place = np.unique(ends, axis=1, return_inverse=True)
        records = np.bincount(place.ravel(), weights=n, minlength=different.shape[1])
        found = [PublishedRange((low, high), int(r)) for low, high, r in zip(*different.tolist(), records, strict=True)]
    elif isinstance(column, SetColumn):
        sets, place = np.unique(column.sets[rows], return_inverse=True)
        records = np.bincount(place.ravel(), weights=n, minlength=len(sets))
        values = (set_members(column.dictionary, s) for s in sets.tolist())
        texts = (tuple(sorted(each, key=lambda value: (value is None, value or ""))) for each in values)
        found = [PublishedRange(text, int(r)) for text, r in zip(texts, records, strict=True)]
    else:
        found = []
    return sorted(found, key=lambda one: (-one.records, str(one.what)))
