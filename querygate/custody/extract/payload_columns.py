"""Columns of an extract that are released unchanged, such as the number of a sample, and what that means for people.

A payload is not changed, so nothing is guaranteed about it. The report counts how many people it singles out, and it
must not be an identifier under another name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ExtractRefused
from querygate.custody.extract.protected_records import Field
from querygate.custody.extract.raw_tables import texts_of
from querygate.custody.policy import ColumnPolicy

MEANING = "as in the source, unchanged"


@dataclass(frozen=True)
class PayloadReport:
    """Whom a payload singles out. `alone` are records with a value that no other record has."""

    column: str
    records: int
    missing: int
    different: int
    alone: int
    words: tuple[str, ...]


def make_payload(
    column: ColumnPolicy, raw: pa.ChunkedArray, identifiers: Mapping[str, Sequence[str | None]]
) -> tuple[Field, pa.Array, PayloadReport]:
    """The column of the extract, what it means, and whom it singles out."""
    texts = texts_of(raw)
    _check_unnamed(column.name, texts, identifiers)
    often = Counter(text for text in texts if text is not None)
    alone = sum(1 for number in often.values() if number == 1)
    missing = len(texts) - sum(often.values())
    words = (
        f"{column.name} is included unchanged: {counted(alone, 'record has a value', 'records have values')} that no "
        "other "
        f"record has ({alone / max(1, len(texts)):.0%}). Anyone who can look up {column.name} elsewhere finds these "
        "people and everything in their records; k protects only people known by other columns.",
    )
    report = PayloadReport(column.name, len(texts), missing, len(often), alone, words)
    return Field(column.name, column.name, MEANING, column.title), pa.array(texts, type=pa.string()), report


def _check_unnamed(name: str, texts: Sequence[str | None], identifiers: Mapping[str, Sequence[str | None]]) -> None:
    """Check that no record's payload equals one of its identifiers."""
    for identifier, values in identifiers.items():
        same = sum(
            1
            for text, value in zip(texts, values, strict=True)
            if text is not None and value is not None and text.strip().casefold() == value.strip().casefold()
        )
        if same:
            raise ExtractRefused(
                "QG605",
                f"{name}: {counted(same, 'record has', 'records have')} the same value as in the identifier "
                f"{identifier}.",
                f"Nothing was written. Leave out {name}, or use numbers in the source that mean nothing elsewhere.",
            )
