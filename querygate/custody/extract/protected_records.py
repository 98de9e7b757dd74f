"""The result of every kind of extract: the records to be released, and what is needed to measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from querygate.core.extracts.extract_spec import Kind
from querygate.core.types import Ints
from querygate.custody.code_lists.code_items import CodeReport
from querygate.custody.publish.method_trial import Trial
from querygate.custody.verify.diversity_check import GuaranteeCheck

if TYPE_CHECKING:
    from querygate.custody.extract.note_columns import NoteReport
    from querygate.custody.extract.payload_columns import PayloadReport
    from querygate.custody.extract.sequence_columns import SequenceReport

Side: TypeAlias = "tuple[float, float] | frozenset[str] | None"
"""What a class says about a quasi-identifier: its range, its possible values, or nothing."""


@dataclass(frozen=True)
class Field:
    """A column of the extract: where it comes from and what its values mean. `labels` are those of a category."""

    name: str
    of: str
    meaning: str
    title: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProtectedRecords:
    """Records that may be released.

    `table` is the released table; record i of it belongs to class `classes[i]` and was made from row i of `raw` (of
    a synthetic record only its class was). `usable` are plain numbers and texts in place of ranges, for models.
    """

    kind: Kind
    method: str
    k: int
    table: pa.Table
    raw: pa.Table
    usable: pa.Table
    classes: Ints
    fields: tuple[Field, ...]
    rows: int  # selected records, including those left out
    loss: Mapping[str, float] = field(default_factory=dict)
    tried: tuple[Trial, ...] = ()
    kept: tuple[GuaranteeCheck, ...] = ()  # guarantees beyond k, measured
    parameters: Mapping[str, Any] = field(default_factory=dict)
    codes: tuple[CodeReport, ...] = ()  # on lists of codes
    notes: tuple[NoteReport, ...] = ()  # of free texts
    sequences: tuple[SequenceReport, ...] = ()  # of sequences
    payloads: tuple[PayloadReport, ...] = ()  # of payload columns
    beside: pa.Table | None = None  # raw texts in progress, with identifiers; never released
    sides: Mapping[str, Sequence[Side]] = field(default_factory=dict)  # by quasi-identifier what each class says of it

    @property
    def records(self) -> int:
        return int(self.table.num_rows)

    @property
    def left_out(self) -> int:
        return self.rows - self.records

    def shuffled(self, rng: np.random.Generator) -> ProtectedRecords:
        """The records in random order: the vault returns them in the order of their raw values."""
        order = rng.permutation(self.records)
        rows = pa.array(order)
        return replace(
            self,
            table=self.table.take(rows),
            raw=self.raw.take(rows),
            usable=self.usable.take(rows),
            classes=self.classes[order],
            beside=None if self.beside is None else self.beside.take(rows),
        )
