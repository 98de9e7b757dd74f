"""What the report on a version is made from: the served file, the raw rows, and the figures from publishing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from querygate.core.ports import Native, PublishedVersion
from querygate.core.publications.vault_ports import Source, StagingTables
from querygate.core.types import Arrays, Bools, Catalog, Column, Floats, Ints, Scalar
from querygate.custody.columns.population import Population
from querygate.custody.policy import Policy
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.publish.publish import Report
from querygate.custody.publish.view_risk import UnitRisk
from querygate.custody.publish_report.kept_report import KeptReport
from querygate.custody.verify.verify import Written
from querygate.custody.workload import Figure, Question
from querygate.custody.workload.preview_figures import RareValues
from querygate.custody.workload.trial_answers import asked_figures, ranges_of

PER_DAY = 86_400e6
"""Microseconds: timestamps are given in days, like dates."""


class VersionRows(Protocol):
    """The raw rows of the version. Aggregates come out of it, and a sample for the picture that shows raw values."""

    rows: int

    def truth(self, kind: str, columns: Sequence[str]) -> float | None: ...

    def counts(self, column: str) -> dict[str | None, int]: ...

    def hulls(self, column: str) -> tuple[Ints, Floats, Floats]: ...

    def far_out(self, column: str) -> int: ...

    def sample(self, columns: Sequence[str], most: int) -> tuple[Ints, Mapping[str, Floats]]: ...

    def classed(self, columns: Sequence[str]) -> tuple[Ints, pa.Table]:
        """The class of each row, and these columns in the same order."""

    def source(self, most: int) -> Source:
        """Up to this many of the rows, drawn by a fixed rule."""

    def staging(self) -> StagingTables:
        """An empty staging database that leaves nothing behind."""

    def by_group(self, dataset: str, sql: str) -> Mapping[tuple[Scalar, ...], float | None]: ...


class TrialVersion(Protocol):
    """A version that is not served."""

    @property
    def written(self) -> Written: ...

    @property
    def risk(self) -> tuple[UnitRisk, ...]:
        """Of views, what was measured while they were made."""

    def questions(self, number: int) -> tuple[Question, ...]:
        """The standing workload, or so many of it."""

    def figures(self, questions: Iterable[Question]) -> list[Figure]:
        """What it answers to questions."""

    def rare(self) -> tuple[RareValues, ...]: ...


class OnTrial(Protocol):
    """Publishes for as long as the result is in use; belief about people is measured on request."""

    def __call__(
        self, policy: Policy, source: Source, *, measures_risk: bool = False
    ) -> AbstractContextManager[TrialVersion]: ...


@dataclass
class ReportCase:
    """A published version, and everything the report may look at. `before` is the report on the version before."""

    policy: Policy
    published: Report
    written: Written
    release: PublishedVersion
    rows: VersionRows
    native: Native
    clock_s: Callable[[], float]
    population: Population | None = None
    before: KeptReport | None = None
    on_trial: OnTrial | None = None
    tables: RawTable | None = None  # of the policy file, where it is at hand
    folder: Path = Path()  # of that file

    def figures(self, questions: Iterable[Question]) -> list[Figure]:
        """What the version answers to questions."""
        answer = partial(ranges_of, release=self.release, native=self.native)
        return list(asked_figures(questions, self.catalog.dataset, answer, self.rows))

    def tried(
        self, policy: Policy, on_trial: OnTrial, *, measures_risk: bool = False
    ) -> AbstractContextManager[TrialVersion]:
        """Another policy for the same raw rows, on trial. Tables are already joined; withheld columns are missing."""
        source = self.rows.source(self.rows.rows)
        there = set(source.columns())
        columns = tuple(column for column in policy.columns if column.name in there)
        part = replace(policy.of_one_table(), columns=columns)
        return on_trial(part, source, measures_risk=measures_risk)

    @cached_property
    def catalog(self) -> Catalog:
        return self.written.catalog()

    @cached_property
    def quasi(self) -> tuple[Column, ...]:
        return tuple(column for column in self.catalog.columns if column.role == "quasi-identifier")

    @cached_property
    def cells(self) -> Arrays:
        """The cells as they are served, with `box`: the class as an outsider sees it."""
        return self.written.cells([column.index for column in self.quasi])

    @cached_property
    def box(self) -> Ints:
        return np.asarray(self.cells["box"], dtype=np.int64)

    @cached_property
    def counts(self) -> Ints:
        return np.asarray(self.cells["n"], dtype=np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """Records of each box; boxes are numbered from 0."""
        return np.bincount(self.box, self.counts).astype(np.int64)

    @cached_property
    def first(self) -> Ints:
        """A cell of each box: what is published of its quasi-identifiers is the same in all."""
        return np.unique(self.box, return_index=True)[1]

    def ends(self, column: Column) -> tuple[Floats, Floats, Bools]:
        """Of a number in each cell: low, high, and whether it is known there."""
        low, high = (np.ma.asarray(self.cells[f"c{column.index}_{end}"]) for end in ("lo", "hi"))
        return (
            np.asarray(low.data, dtype=np.float64),
            np.asarray(high.data, dtype=np.float64),
            ~np.ma.getmaskarray(low),
        )

    def nulls(self, column: Column) -> Ints:
        """In each cell: 0 where no value is missing, 1 where some may be, 2 where all are."""
        found = self.cells.get(f"c{column.index}_null")
        return np.zeros(self.box.size, dtype=np.int64) if found is None else np.asarray(found, dtype=np.int64)

    def box_hulls(self, column: str) -> tuple[Floats, Floats]:
        """Smallest and largest raw value in each box; NaN where it has none."""
        box_of = np.zeros(int(np.max(self.cells["class"])) + 1, dtype=np.int64)
        box_of[self.cells["class"]] = self.box
        classes, low, high = self.rows.hulls(column)
        ends = np.full(self.sizes.size, np.inf), np.full(self.sizes.size, -np.inf)
        np.fmin.at(ends[0], box_of[classes], low)
        np.fmax.at(ends[1], box_of[classes], high)
        return tuple(np.where(np.isfinite(end), end, np.nan) for end in ends)  # type: ignore[return-value]


def unit_of(column: Column) -> str:
    return "days" if column.type in ("date", "timestamp") else ""


def scale_of(column: Column) -> float:
    """What a width in the store is divided by for people."""
    return PER_DAY if column.type == "timestamp" else 1.0
