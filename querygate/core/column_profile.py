"""What a look over a source shows of its columns: figures for the custodian, from which a policy is proposed.

Figures are of raw data. They may be shown to its custodian and to nobody else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from querygate.core.publications.vault_ports import Source
from querygate.core.types import Floats

BLANK, UNMEASURED = "blank", "not measured"
"""The patterns of texts that usually stand for no value, and of those that do so among numbers."""


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """One column. Numbers of values are exact and count records; shares are of a sample of the values that are there.

    `readable` says how many values can be read as each type of a policy. `low` and `high` are the ends of a number
    column, in days since 1970-01-01 those of a date and in microseconds those of a timestamp, None of anything else.
    `middle`, `spread` and `step` are the median of a number column, its standard deviation and the step that its values
    are multiples of (0 if there is none). `sample` has a value of each sampled record, in the same order in all
    columns: the number, the day or the moment, or of anything else its place among all; NaN where it is missing.
    """

    name: str
    rows: int
    missing: int = 0
    distinct: int = 0
    readable: Mapping[str, int] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    values: tuple[tuple[str, int], ...] = ()  # each value with its records, where there are few
    matches: Mapping[str, float] = field(default_factory=dict)  # share of values that are such a text, by pattern
    contains: Mapping[str, float] = field(default_factory=dict)  # share of values that have such a text inside
    words: float = 0.0  # mean words of a value
    largest: int = 0  # records that have the most frequent value
    middle: float | None = None
    spread: float | None = None
    step: float = 0.0
    blanks: tuple[str, ...] = ()  # texts, of all values, that usually stand for no value
    unmeasured: tuple[str, ...] = ()  # texts that do so where all others are numbers or beyond a limit of detection
    censored: int = 0  # records that are beyond a limit of detection, where all that is known of others is a number
    outermost: tuple[str, ...] = ()  # of a number column, the texts of a few least and a few greatest values
    sample: Floats = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)

    @property
    def known(self) -> int:
        return self.rows - self.missing

    def all_are(self, kind: str) -> bool:
        """Can every value be read as this type?"""
        return self.known > 0 and self.readable.get(kind, 0) == self.known


class Surveyor(Protocol):
    """Looks over a source, or the chosen columns: the sampled records are the same. `patterns` are regular expressions
    (RE2) by name.
    """

    def __call__(
        self, source: Source, patterns: Mapping[str, str], chosen: Collection[str] | None = None
    ) -> tuple[ColumnFigures, ...]: ...


def with_changed(figures: Iterable[ColumnFigures], changed: Iterable[ColumnFigures]) -> tuple[ColumnFigures, ...]:
    """The figures where some columns were looked over again, or are new: these come last."""
    found = {c.name: c for c in figures} | {c.name: c for c in changed}
    return tuple(found.values())
