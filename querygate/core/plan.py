"""What a statement asks of the store: group keys, measures, outputs. Built by `sql`, read by engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from querygate.core.predicate import Predicate, columns
from querygate.core.types import Cells


@dataclass(frozen=True, slots=True)
class Measure:
    """One selection of records and, unless only their number matters, the numeric column whose values are wanted."""

    column: str | None
    where: Predicate


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the answer: a group key (`source` indexes Plan.groups) or a statistic over Plan.measures."""

    name: str
    kind: Literal["key", "range"]
    source: int
    type: str
    statistic: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """ORDER BY one output of the plan."""

    output: int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement understood. Measure 0 is always the selection of the WHERE itself, which counts each group.

    `outputs` are in the order of the select list; those from `shown` on serve ORDER BY only.
    """

    dataset: str
    groups: tuple[str, ...]
    measures: tuple[Measure, ...]
    outputs: tuple[Output, ...]
    shown: int
    orders: tuple[Order, ...]
    limit: int | None
    canonical: str
    hash: str

    @property
    def columns(self) -> frozenset[str]:
        """Every column the statement needs from the store."""
        wheres = (columns(measure.where) for measure in self.measures)
        values = (measure.column for measure in self.measures if measure.column is not None)
        return frozenset(self.groups).union(values, *wheres)


@dataclass(frozen=True, slots=True)
class FetchedGroup:
    """Keys of one possible group and, for each measure of the plan, its cells.

    `free` tells for each measure whether every selection and every value that the cells allow is consistent with the
    store, so that a statistic that is sharp over the cells is sharp.
    """

    keys: tuple[str | None, ...]
    cells: tuple[Cells, ...]
    free: tuple[bool, ...]
