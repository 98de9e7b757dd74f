"""How wide the guaranteed ranges of a policy's statistics would be under a partition: the same engine as answers use.

Counts use many conditions on the quasi-identifiers, drawn from what the policy makes public, never from the data. A
partition is as useful as its counts are certain: for each condition, the records of classes that straddle its border
may or may not be meant. The mean share of such records, over the same conditions for every partition, tells which
partition answers counts best.

Rounded class moments, which can narrow a range further, are not taken into account: a width here is never too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from querygate.core.types import IN_SQL, Bools, Cells, Floats, Ints, Range
from querygate.custody.policy import ColumnPolicy, Policy, StatisticPolicy
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise import ALL_NULLS, NO_NULLS, SOME_NULLS, Attribute, Intervals, Table, ValueSets, boxes
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells

CONDITIONS = 200
AT_ONCE = 20_000
"""Pairs of a condition and a class that are judged together: as many as fit into the processor's cache."""
SEED = 20060301  # any number will do, if it is the same for every partition and every publication


class ExpectedWidths:
    """Measures partitions of one table, which has a row for each record."""

    def __init__(self, state: PublicationState, statistics: Sequence[StatisticPolicy]) -> None:
        self.state, self.statistics = state, tuple(statistics)

    def widths(self, table: Table, labels: Ints) -> dict[str, float]:
        """The width of each statistic; of count, as a share of the records."""
        return self.of_parts([self.tally(table, labels)])

    def tally(self, table: Table, labels: Ints) -> PartTally:
        """What the widths follow from, of a table or of a part of one."""
        counted = any(statistic.kind == "count" for statistic in self.statistics)
        uncertain = self._workload.mean_width(table, labels) * table.records if counted else 0.0
        numbers = [statistic.columns for statistic in self.statistics if statistic.kind != "count"]
        sides = {name: self._ends(name, table, labels) for columns in numbers for name in columns}
        cells = {columns: _cells([sides[name] for name in columns]) for columns in numbers}
        return PartTally(table.records, uncertain, cells)

    def of_parts(self, parts: Sequence[PartTally]) -> dict[str, float]:
        """The widths over all records, which are in these parts."""
        return {str(statistic): self._width(statistic, parts) for statistic in self.statistics}

    def _width(self, statistic: StatisticPolicy, parts: Sequence[PartTally]) -> float:
        if statistic.kind == "count":
            return sum(part.uncertain for part in parts) / sum(part.records for part in parts)
        *ends, least, most = map(np.concatenate, zip(*(part.cells[statistic.columns] for part in parts), strict=True))
        cells = grouped(ends, least, most)
        if len(statistic.columns) > 1:
            return _wide(PAIR_STATISTICS.get(IN_SQL[statistic.kind]).range(PairCells(*cells)))
        low, high, least, most = cells
        column = self.state.policy.column(statistic.columns[0])
        told = Cells(low, high, least, most, integer=column.type == "integer")
        return _wide(STATISTICS.get(IN_SQL[statistic.kind]).range(told))

    def _ends(self, name: str, table: Table, labels: Ints) -> _Ends:
        """The interval of each record, as it would be published."""
        numbers = self.state.numbers[name]
        box = next((b for b in boxes(table, labels) if b.name == name), None)
        if isinstance(box, Intervals):
            low, high, nulls = box.low[labels], box.high[labels], box.nulls[labels]
        else:
            low = high = self._codes(name)
            nulls = np.where(low < 0, ALL_NULLS, NO_NULLS)
            if self.state.policy.column(name).carry == "hull":
                low, high, nulls = _hulls(low, labels)
        possible = nulls != ALL_NULLS
        ends = [
            np.append(ends, 0)[np.where(possible, code, -1)]
            for ends, code in ((numbers.low, low), (numbers.high, high))
        ]
        return _Ends(ends[0], ends[1], nulls == NO_NULLS, possible)

    def middles(self, name: str) -> Floats:
        """The value of each record, as far as its code tells; nan where it is missing."""
        attributes = self.state.table.attributes if self.state.table else ()
        codes = next((a.codes for a in attributes if a.name == name), None)
        codes = self._codes(name) if codes is None else codes
        numbers = self.state.numbers[name]
        middle = (numbers.low.astype(np.float64) + numbers.high) / 2
        return np.where(codes < 0, np.nan, middle[codes]) if numbers.size else np.full(codes.size, np.nan)

    def _codes(self, name: str) -> Ints:
        """The code of each record in a column that is carried by record."""
        if name not in self._known:
            row, code, _ = self.state.staging.counts_by_combination(name)
            self._known[name] = np.empty_like(code)
            self._known[name][row] = code
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, Ints]:
        return {}

    @cached_property
    def _workload(self) -> Workload:
        if self.state.table is None:
            raise ValueError("there is no table yet")
        return Workload(self.state.table.attributes, public_domains(self.state.policy.columns))


@dataclass(frozen=True)
class _Ends:
    """What would be published of a number for each record, and whether it may or must have a value."""

    low: Any
    high: Any
    certain: Bools
    possible: Bools


def _hulls(codes: Ints, labels: Ints) -> tuple[Ints, Ints, Ints]:
    """Least and greatest code in the class of each record, and whether values are missing there."""
    classes, known = int(labels.max()) + 1, codes >= 0
    low, high = np.full(classes, np.iinfo(np.int64).max), np.full(classes, -1)
    np.minimum.at(low, labels[known], codes[known])
    np.maximum.at(high, labels[known], codes[known])
    missing = np.bincount(labels[~known], minlength=classes) > 0
    nulls = np.where(high < 0, ALL_NULLS, np.where(missing, SOME_NULLS, NO_NULLS))
    return np.where(high < 0, -1, low)[labels], high[labels], nulls[labels]


@dataclass(frozen=True)
class PartTally:
    """What one part of a table adds to the widths: its records, how many of them are uncertain in a count on average,
    and by columns of a statistic the distinct intervals of its records, as `grouped` tells them.
    """

    records: int
    uncertain: float
    cells: Mapping[tuple[str, ...], list[Any]]


def _cells(sides: Sequence[_Ends]) -> list[Any]:
    certain = np.logical_and.reduce([side.certain for side in sides])
    possible = np.logical_and.reduce([side.possible for side in sides])
    return grouped([end for side in sides for end in (side.low, side.high)], certain, possible)


def grouped(ends: Sequence[Any], least: Any, most: Any) -> list[Any]:
    """The distinct intervals, each with the smallest and largest possible number of records: of single records, or of
    intervals that have these numbers.

    >>> low, high, least, most = grouped([np.array([1, 1, 5]), np.array([2, 2, 9])], np.ones(3, bool), np.ones(3, bool))
    >>> low, high, least, most
    (array([1, 5]), array([2, 9]), array([2, 1]), array([2, 1]))
    """
    key = np.zeros(least.size, dtype=np.int64)
    for values in ends:
        found, place = np.unique(values, return_inverse=True)
        key = np.unique(key * found.size + place.reshape(-1), return_inverse=True)[1].reshape(-1)
    first = np.unique(key, return_index=True)[1]
    numbers = (np.bincount(key, records).astype(np.int64) for records in (least, most))
    return [*(values[first] for values in ends), *numbers]


def _wide(found: Range) -> float:
    if found.low is None or found.high is None:
        return 0.0
    return float(found.high) - float(found.low)


def public_domains(columns: Sequence[ColumnPolicy]) -> dict[str, tuple[float, float]]:
    return {c.name: (float(c.low), float(c.high)) for c in columns if c.low is not None and c.high is not None}


def statistics_of(policy: Policy) -> tuple[StatisticPolicy, ...]:
    """The statistics by which partitions are judged: those that the policy names, or else counts and the mean of
    every published number."""
    named = (*policy.anonymise.statistics, *(statistic for statistic, _ in policy.anonymise.max_width))
    if named:
        return tuple(dict.fromkeys(named))
    means = (StatisticPolicy("mean", (c.name,)) for c in policy.columns if c.is_published and c.is_numeric)
    return (StatisticPolicy("count"), *means)


# -- counts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A range of an ordered attribute, or a set of codes of a nominal one."""

    attribute: str
    low: float = 0.0
    high: float = 0.0
    codes: Bools | None = None


class Workload:
    """Conditions on up to two attributes each. `domains` are the public ends of numbers; hierarchies have their own."""

    def __init__(self, attributes: Sequence[Attribute], domains: Mapping[str, tuple[float, float]]) -> None:
        rng = np.random.default_rng(SEED)
        useful = [a for a in attributes if a.ordered or a.size > 1]
        self.queries = [
            [_condition(rng, useful[i], domains) for i in rng.permutation(len(useful))[:2].tolist()]
            for _ in range(CONDITIONS if useful else 0)
        ]

    def mean_width(self, table: Table, labels: Ints) -> float:
        """Mean over the queries of the width of the guaranteed count, as a share of all records.

        Conditions on attributes that the table does not have are left out.
        """
        records = np.bincount(labels, table.counts)
        found = {a.name: _Boxes.of(a, box) for a, box in zip(table.attributes, boxes(table, labels), strict=True)}
        at_once = max(1, AT_ONCE // records.size)
        uncertain = 0.0
        for first in range(0, len(self.queries), at_once):
            queries = self.queries[first : first + at_once]
            possible, certain = np.ones((2, len(queries), records.size), dtype=np.bool_)
            for name, box in found.items():
                asked = [(i, c) for i, query in enumerate(queries) for c in query if c.attribute == name]
                if asked:
                    which = [i for i, _ in asked]
                    meets, lies = box.judged([condition for _, condition in asked])
                    possible[which] &= meets
                    certain[which] &= lies
            uncertain += float(np.count_nonzero(possible & ~certain, axis=0) @ records)
        return uncertain / (table.records * max(1, len(self.queries)))


def _condition(rng: np.random.Generator, attribute: Attribute, domains: Mapping[str, tuple[float, float]]) -> Condition:
    if attribute.ordered:
        low, high = domains.get(attribute.name, (attribute.edges[0][0], attribute.edges[1][attribute.size - 1]))
        ends: Floats = np.sort(low + (high - low) * rng.random(2))
        return Condition(attribute.name, float(ends[0]), float(ends[1]))
    codes = np.zeros(attribute.size, dtype=np.bool_)
    codes[rng.permutation(attribute.size)[: int(rng.integers(1, attribute.size))]] = True
    return Condition(attribute.name, codes=codes)


@dataclass(frozen=True)
class _Boxes:
    """What the classes of a partition have of an attribute: ends, or sets of codes; and some value, or all values."""

    low: Floats
    high: Floats
    sets: ValueSets | None
    some: Bools
    all: Bools

    @classmethod
    def of(cls, attribute: Attribute, box: Intervals | ValueSets) -> _Boxes:
        some, every = box.nulls != ALL_NULLS, box.nulls == NO_NULLS
        if isinstance(box, ValueSets):
            return cls(np.zeros(0), np.zeros(0), box, some, every)
        first, last = attribute.tree.ancestors(box.low, box.high) if attribute.tree else (box.low, box.high)
        return cls(attribute.edges[0][first], attribute.edges[1][last], None, some, every)

    def judged(self, conditions: Sequence[Condition]) -> tuple[Bools, Bools]:
        """Per condition and class whether some, and whether all of its records can meet it. A missing value never does.

        The conditions are on this attribute, and on no more than one each.
        """
        if self.sets is not None:
            codes = np.array([c.codes for c in conditions], dtype=np.bool_)
            hits = np.zeros((len(conditions), self.sets.codes.size + 1), dtype=np.int32)
            np.cumsum(codes[:, self.sets.codes], axis=1, out=hits[:, 1:])
            number = hits[:, self.sets.starts[1:]] - hits[:, self.sets.starts[:-1]]
            return (number > 0) & self.some, (number == np.diff(self.sets.starts)) & self.all
        low, high = (np.array([getattr(c, end) for c in conditions])[:, None] for end in ("low", "high"))
        meets = (self.high >= low) & (self.low <= high)
        lies = (self.low >= low) & (self.high <= high)
        return meets & self.some, lies & self.all
