"""A publication on its way: what each step leaves for the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from querygate.core.ports import Combinations, Profile, StagingTables
from querygate.core.progress import Progress
from querygate.core.types import Column, Ints, Reference
from querygate.custody.codes.code_items import PublishedCodes
from querygate.custody.columns.value_codes import NumberCodes
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.method_comparison import Trial
from querygate.methods.anonymise import Box, Hierarchy, Table
from querygate.methods.anonymise.class_moments import MomentRelease


class Step(Enum):
    """The steps of a publication."""

    LOAD, CODE, DIVIDE, GENERALISE, WRITE, VERIFY = range(6)

    def reached(self, share: float) -> float:
        """The share of the whole, when this share of the step is done.

        >>> Step.DIVIDE.reached(0.5)
        0.325
        """
        return round(sum(TIMES[: self.value]) + TIMES[self.value] * share, 4)


TIMES = (0.06, 0.01, 0.51, 0.10, 0.04, 0.28)
"""The share of each step in the time of a publication of ten million records."""


@dataclass
class PublicationState:
    """A publication on its way."""

    policy: Policy
    workshop: StagingTables
    progress: Progress
    _now: tuple[Step, str] = (Step.LOAD, "")
    rows: int = 0
    profiles: dict[str, Profile] = field(default_factory=dict)
    numbers: dict[str, NumberCodes] = field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    trees: dict[str, Hierarchy] = field(default_factory=dict)  # of categories with a hierarchy
    code_lists: dict[str, PublishedCodes] = field(default_factory=dict)
    combinations: Combinations | None = None
    table: Table | None = None
    labels: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    classes: int = 0
    loss: dict[str, float] = field(default_factory=dict)  # per quasi-identifier, the mean share that a class covers
    comparison: tuple[Trial, ...] = ()
    sticky: bool = False  # were classes made so that those of earlier versions stay together?
    boxes: tuple[Box, ...] = ()
    columns: list[Column] = field(default_factory=list)
    references: tuple[Reference, ...] = ()
    cells: dict[str, Any] = field(default_factory=dict)
    number_of_cells: int = 0
    told: dict[str, MomentRelease] = field(default_factory=dict)  # moments of classes, by column
    pairs: dict[str, list[Any]] = field(
        default_factory=lambda: {"column_id": [], "set_id": [], "value_id": [], "alone": []}
    )

    def begin(self, step: Step, text: str) -> None:
        self._now = step, text
        self.within(0.0)

    def say(self, text: str) -> None:
        """The present step goes on with something else."""
        self._now = self._now[0], text
        self.progress(text)

    def within(self, share: float) -> None:
        """So much of the present step is done."""
        step, text = self._now
        self.progress(text, step.reached(share))

    def let_table_go(self) -> None:
        """Once classes are final their boxes are enough; what they were made of is the larger half of the memory."""
        self.table, self.combinations, self.labels = None, None, np.zeros(0, dtype=np.int64)

    def let_cells_go(self) -> None:
        """They are written."""
        self.cells, self.boxes = {}, ()

    def code_counts(self, column: str) -> Ints:
        """How many records of the whole table have each code of a column; missing values are counted last."""
        profile = self.profiles[column]
        if column in self.numbers:
            codes, size = self.numbers[column].of(profile.values), self.numbers[column].size
        else:
            texts = self.texts[column]
            codes, size = np.searchsorted(np.array(texts, dtype=object), profile.values), len(texts)
        return np.append(np.bincount(codes, profile.counts, size).astype(np.int64), profile.missing)

    @property
    def published(self) -> tuple[ColumnPolicy, ...]:
        return tuple(column for column in self.policy.columns if column.is_published)
