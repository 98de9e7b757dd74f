"""What views are made of: records with coded quasi-identifiers, and the public bins of their sensitive columns.

Codes run from 0 to size - 1, and NULL is a state of its own. Numbers are whole numbers of a public unit (a tenth of a
kilogram, a day), so every sum is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from querygate.core.types import Bools, Ints

NULL = -1
"""The code of a missing value."""

FINEST_SHARE = 720_720
"""Into so many parts a person is divided where the true number would be too large: every number up to 16 divides it."""


class ClassGuard(Protocol):
    """A further guarantee of every class of a sensitive column; the guards of an anonymiser are of this kind."""

    @property
    def name(self) -> str:
        """What is promised, for messages; no value of the data."""

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        """Per class whether it holds; `rows` are records and `label` says in which class each is."""


@dataclass(frozen=True)
class QuasiIdentifier:
    """One quasi-identifier by record; `prefer` are the codes just above a cut that questions are likely to follow.

    `levels` are those of a category's hierarchy above its values, the root last: the node of each code. A class has
    whole nodes of one height, 0 for values.
    """

    name: str
    codes: Ints
    size: int
    ordered: bool = False
    prefer: tuple[int, ...] = ()
    levels: tuple[Ints, ...] = ()

    def __post_init__(self) -> None:
        _check_codes(self.name, self.codes, self.size)
        if any(level.shape != (self.size,) for level in self.levels) or (self.levels and np.ptp(self.levels[-1])):
            raise ValueError(f"{self.name}: a level has a node for each code, and the last is the root")

    @property
    def top(self) -> int:
        """The height of the root; 0 where there is no hierarchy."""
        return len(self.levels)

    def lifted(self, codes: Ints, height: int) -> Ints:
        """The nodes of codes at a height; NULL stays."""
        if not height:
            return codes
        return np.where(codes == NULL, NULL, self.levels[height - 1][np.maximum(codes, 0)])


@dataclass(frozen=True)
class Measure:
    """A number behind the bins of a sensitive column: its values, and the least and greatest value of each bin.

    `low` above `high` says that records of this bin have no number. A person must keep bins that span `span`; sums are
    told as the cell of width `step` that holds them, and of fewer than `fewest` numbers as bins tell them. A step of 0:
    no sums are told.
    """

    values: Ints
    low: Ints
    high: Ints
    span: int
    step: int
    fewest: int = 1

    @cached_property
    def has_number(self) -> Bools:
        """By bin, the bin of NULLs last."""
        return np.append(self.low <= self.high, False)

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """Least and greatest value by bin; zero where there is none."""
        low, high = (np.where(self.has_number, np.append(side, 0), 0) for side in (self.low, self.high))
        return low, high

    @cached_property
    def widths(self) -> Ints:
        low, high = self.ends
        return high - low


@dataclass(frozen=True)
class SensitiveColumn:
    """One sensitive column, or several that stay together with joint bins; a category has no measures.

    `parts` says of each of several columns which of its own values a joint bin has: no value of any of them may be
    certain.
    """

    name: str
    codes: Ints
    size: int
    measures: tuple[Measure, ...] = ()
    guards: tuple[ClassGuard, ...] = ()
    parts: tuple[Ints, ...] = ()

    def __post_init__(self) -> None:
        _check_codes(self.name, self.codes, self.size)
        for measure in self.measures:
            _check_measure(self, measure)
        if any(part.shape != (self.size,) for part in self.parts):
            raise ValueError(f"{self.name}: a part has one value per bin")

    @cached_property
    def values(self) -> list[Ints]:
        """By column and bin, the bin of NULLs last, which of its values the bin has."""
        return [np.append(part, NULL) for part in self.parts] or [np.arange(self.size + 1)]

    @cached_property
    def bins(self) -> Ints:
        """The bin of each record; NULL is the last."""
        return np.where(self.codes == NULL, self.size, self.codes)


@dataclass(frozen=True)
class RecordTable:
    """Records. `persons` says whose each is, where a person may have several. Where the table is a part of a larger
    one, `shares` are the weights of its records and of a person there.
    """

    quasi: tuple[QuasiIdentifier, ...]
    sensitive: tuple[SensitiveColumn, ...]
    persons: Ints | None = None
    shares: tuple[Ints, int] | None = None

    def __post_init__(self) -> None:
        columns: Sequence[QuasiIdentifier | SensitiveColumn] = (*self.quasi, *self.sensitive)
        if not self.quasi or len({column.name for column in columns}) < len(columns):
            raise ValueError("a table has a quasi-identifier, and every column its own name")
        sizes = {column.codes.size for column in columns} | ({self.persons.size} if self.persons is not None else set())
        if len(sizes) > 1:
            raise ValueError("every column has one code per record")

    @property
    def records(self) -> int:
        return int(self.quasi[0].codes.size)

    def column(self, name: str) -> QuasiIdentifier:
        for column in self.quasi:
            if column.name == name:
                return column
        raise ValueError(f"{name} is not a quasi-identifier")

    @cached_property
    def _shares(self) -> tuple[Ints, int]:
        if self.shares is not None:
            return self.shares
        if self.persons is None:
            return np.ones(self.records, dtype=np.int64), 1
        _, person, times = np.unique(self.persons, return_inverse=True, return_counts=True)
        whole = math.lcm(*np.unique(times).tolist())
        whole = whole if whole <= FINEST_SHARE else FINEST_SHARE
        return whole // times[person.reshape(-1)], whole

    @property
    def weights(self) -> Ints:
        """What each record counts: a person's records share one person equally, so no sum exceeds the persons in it."""
        return self._shares[0]

    @property
    def person(self) -> int:
        """The weight of one person."""
        return self._shares[1]


def _check_codes(name: str, codes: Ints, size: int) -> None:
    if size < 1 or (codes.size and not (codes.min() >= NULL and codes.max() < size)):
        raise ValueError(f"{name}: codes run from -1 (missing) to size - 1")


def _check_measure(column: SensitiveColumn, measure: Measure) -> None:
    if not measure.low.shape == measure.high.shape == (column.size,) or measure.values.shape != column.codes.shape:
        raise ValueError(f"{column.name}: a measure has one value per record and two ends per bin")
    if measure.span < 0 or measure.step < 0:
        raise ValueError(f"{column.name}: neither a guard nor the width of sums is negative")
    low, high = measure.ends
    reach = int(np.abs(np.concatenate([low, high])).max()) + measure.step
    if reach * (column.codes.size + 1) >= 2**62:
        raise ValueError(f"{column.name}: sums of its values do not fit; take a coarser unit")
    held = measure.has_number[column.bins]
    values, bins = measure.values[held], column.bins[held]
    if not ((values >= low[bins]) & (values <= high[bins])).all():
        raise ValueError(f"{column.name}: a value lies outside its bin")
