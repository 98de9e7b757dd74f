"""Notes, sequences and payloads of an extract: made last, from texts that were carried along.

They are not quasi-identifiers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.progress import Progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.extract.identifier_forms import kind_of
from querygate.custody.extract.note_columns import Identifiers, make_notes
from querygate.custody.extract.payload_columns import make_payload
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import texts_of
from querygate.custody.extract.sequence_columns import make_sequences
from querygate.custody.note_tagger.trained_tagger import TrainedTagger
from querygate.custody.policy import ColumnPolicy, Policy

_WHOLE = re.compile(r"(\d+)\.0")


class Draw(Protocol):
    """Random numbers and keys for a purpose: reproducible for the same purpose, and only by us."""

    def __call__(self, purpose: str) -> np.random.Generator: ...

    def key(self, purpose: str) -> bytes: ...


def beside(policy: Policy) -> tuple[str, ...]:
    """Columns carried along unchanged: texts that will be released, and identifiers, which never are."""
    if not any(column.is_in_extracts for column in policy.columns):
        return ()
    return tuple(column.name for column in policy.columns if column.is_in_extracts or column.role == "identifier")


def with_texts(
    protected: ProtectedRecords,
    policy: Policy,
    person: str,
    selected: Callable[[str], Source],
    draw: Draw,
    progress: Progress,
    beside_policy: Path,
) -> ProtectedRecords:
    """The extract with these columns. `selected("")` has everybody in the dataset, for the identifiers in notes;
    taggers lie in the folder `beside_policy`."""
    wanted = [column for column in policy.columns if column.is_in_extracts]
    if not wanted or protected.beside is None:
        return protected
    raw = protected.beside
    table, fields = protected.table, list(protected.fields)
    notes, sequences, payloads = [], [], []
    identifiers = _identifiers(policy, person, raw, selected) if policy.named("note") else None
    for column in wanted:
        progress(f"preparing {column.name}")
        if identifiers is not None and column.role == "note":
            learned = _tagger(column, beside_policy)
            made, texts, note = make_notes(column, raw[column.name], identifiers, draw.key("notes"), progress, learned)
            notes.append(note)
        elif column.role == "payload":
            made, texts, payload = make_payload(column, raw[column.name], _texts(policy.named("identifier"), raw))
            payloads.append(payload)
        else:
            rng = draw(f"sequences {column.name}")
            made, texts, report = make_sequences(column, policy.k, raw[column.name], protected.classes, rng)
            sequences.append(report)
        fields.append(made)
        table = table.append_column(made.name, texts)
    return replace(
        protected,
        table=table,
        fields=tuple(fields),
        notes=tuple(notes),
        sequences=tuple(sequences),
        payloads=tuple(payloads),
        beside=None,
    )


def _tagger(column: ColumnPolicy, folder: Path) -> TrainedTagger | None:
    """The tagger that the policy was read with; another file of this name is refused."""
    if column.note is None or not column.note.tagger:
        return None
    path = folder / column.note.tagger
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        found = ""
    if found != column.note.tagger_hash:
        raise ExtractRefused(
            "QG605",
            f"{column.name}: the tagger beside the policy {'was changed' if found else 'cannot be read'}.",
            "Put the file back, or publish the dataset again.",
        )
    return TrainedTagger.read(path)


def _identifiers(policy: Policy, person: str, raw: pa.Table, selected: Callable[[str], Source]) -> Identifiers:
    columns = policy.named("identifier")
    if not columns:
        return Identifiers({}, {}, {})
    source = selected("")
    with source.reading():
        everybody = _texts(columns, source.batches([column.name for column in columns]).read_all())
    kinds = {column.name: kind_of(column, everybody[column.name]) for column in columns}
    return Identifiers(kinds, _texts(columns, raw), everybody, person)


def _texts(columns: Sequence[ColumnPolicy], table: pa.Table) -> Mapping[str, list[str | None]]:
    return {column.name: [_as_written(text) for text in texts_of(table[column.name])] for column in columns}


def _as_written(text: str | None) -> str | None:
    """A number as people write it: a file with floating-point numbers has 10234567.0 for 10234567.

    >>> _as_written("10234567.0"), _as_written("1.5"), _as_written("00112233")
    ('10234567', '1.5', '00112233')
    """
    whole = _WHOLE.fullmatch(text) if text is not None else None
    return text if whole is None else whole[1]
