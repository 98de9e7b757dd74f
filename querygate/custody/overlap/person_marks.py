"""Turns identifiers into marks that only holders of a shared secret can make, for use in the protocol."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate.custody.overlap.shared_secret import SharedSecret


def person_marks(source: Source, column: str, secret: SharedSecret) -> list[str]:
    """One mark for each person, whatever the number of their rows. Missing identifiers are ignored."""
    if column not in source.columns():
        raise ConfigError("QG802", "The source has no such column.", "Name the column of identifiers.")
    return sorted({secret.mark(one) for one in _identifiers(source, column)})


def _identifiers(source: Source, column: str) -> Iterator[str]:
    """Identifiers as texts, so that leading zeros stay; surrounding blanks and the encoding of accents do not
    matter."""
    with source.reading():
        for batch in source.batches([column]):
            for value in batch.column(0).to_pylist():
                text = "" if value is None else unicodedata.normalize("NFC", str(value)).strip()
                if text:
                    yield text
