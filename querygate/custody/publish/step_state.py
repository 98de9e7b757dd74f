"""The state of a publication: what each step leaves for the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from querygate.core.files.file_digest import FileDigest
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.carried_classes import CarriedClasses
from querygate.core.publications.vault_ports import Combinations, Profile, StagingTables
from querygate.core.types import Column, Ints, Margin, Reference
from querygate.custody.code_lists.code_items import PublishedCodes
from querygate.custody.columns.value_codes import NumberCodes
from querygate.custody.policy import Policy
from querygate.custody.publish.method_trial import Trial
from querygate.methods.anonymise import Box, Hierarchy, Table
from querygate.methods.anonymise.class_moments import MomentRelease

if TYPE_CHECKING:
    from querygate.custody.publish.cell_tables import CellTables
    from querygate.custody.publish.number_widths import NumberReport
    from querygate.custody.publish.republication_guard import Republication
    from querygate.custody.publish.view_division import MadeViews
    from querygate.custody.publish.view_summary import ViewFigures
    from querygate.custody.verify.verify import Measurement, Written


class Step(Enum):
    """The steps of a publication that take time."""

    LOAD, CODE, DIVIDE, GENERALISE, WRITE, VERIFY = range(6)

    def reached(self, share: float) -> float:
        """The share of the whole that is done when this share of the step is done.

        >>> Step.DIVIDE.reached(0.5)
        0.325
        """
        return round(sum(TIMES[: self.value]) + TIMES[self.value] * share, 4)


TIMES = (0.06, 0.01, 0.51, 0.10, 0.04, 0.28)
"""The share of each step in the time of a publication of ten million records."""


class StepProgress:
    """Reports how far a publication is, by its current step."""

    def __init__(self, progress: Progress = no_progress) -> None:
        self._progress, self._step, self._text = progress, Step.LOAD, ""

    def begin(self, step: Step, text: str) -> None:
        self._step, self._text = step, text
        self.within(0.0)

    def say(self, text: str) -> None:
        """Report what the current step does now."""
        self._text = text
        self._progress(text)

    def within(self, share: float) -> None:
        """Report how much of the current step is done."""
        self._progress(self._text, self._step.reached(share))


_NO_LABELS: Ints = np.zeros(0, dtype=np.int64)
_LATER: Any = None  # a field that a later step fills


@dataclass(frozen=True)
class PublicationState:
    """The state of a publication. Each step returns a copy that knows more; the raw rows are in the staging tables."""

    policy: Policy
    staging: StagingTables
    progress: StepProgress
    references: tuple[Reference, ...] = ()
    is_extract: bool = False  # are records exported as they are? Then nobody queries for ranges, and boxes may overlap
    measures_risk: bool = True  # what views let others believe about people
    # read and coded
    rows: int = 0
    persons: int = 0
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    numbers: Mapping[str, NumberCodes] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)  # of categories with a hierarchy
    code_lists: Mapping[str, PublishedCodes] = field(default_factory=dict)
    # divided
    combinations: Combinations | None = None
    table: Table | None = None
    labels: Ints = field(default_factory=lambda: _NO_LABELS)
    classes: int = 0
    boxes: tuple[Box, ...] = ()
    loss: Mapping[str, float] = field(default_factory=dict)  # per quasi-identifier, the mean share that a class covers
    comparison: tuple[Trial, ...] = ()
    carried: CarriedClasses | None = None  # from an earlier version; all but the report is about the others then
    measured_before: Measurement | None = None  # of that version
    views: MadeViews | None = None  # in the place of classes; the staging tables have frame cells for these
    # beside earlier versions
    sticky: bool = False  # were classes made to keep those of earlier versions together?
    has_earlier: bool = False
    retire: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()  # versions of views that are certified together with this one
    alike: tuple[int, ...] = ()  # versions of views that must reveal exactly the same
    # generalised
    columns: tuple[Column, ...] = ()
    cells: Mapping[str, Any] | CellTables = field(default_factory=dict)  # tables of the store, or what makes them
    number_of_cells: int = 0
    moments: Mapping[str, MomentRelease] = field(default_factory=dict)  # of classes, by column
    margins: tuple[Margin, ...] = ()
    # written and verified
    written: Written = _LATER
    file: FileDigest | None = None
    measured: Measurement = _LATER
    number_reports: tuple[NumberReport, ...] = ()
    view_figures: ViewFigures | None = None
    versions: Republication | None = None

    @property
    def repeated(self) -> bool:
        """Do people have several rows?"""
        return self.persons < self.rows

    def without_table(self) -> PublicationState:
        """Once classes are final their boxes are enough; the table they were made of takes more than half of the
        memory."""
        return replace(self, table=None, combinations=None, labels=_NO_LABELS)

    def without_cells(self) -> PublicationState:
        """They are written."""
        return replace(self, cells={}, boxes=())

    def code_counts(self, column: str) -> Ints:
        """How many records of the whole table have each code of a column; missing values are counted last."""
        profile = self.profiles[column]
        if column in self.numbers:
            codes, size = self.numbers[column].of(profile.values), self.numbers[column].size
        else:
            texts = self.texts[column]
            codes, size = np.searchsorted(np.array(texts, dtype=object), profile.values), len(texts)
        return np.append(np.bincount(codes, profile.counts, size).astype(np.int64), profile.missing)
