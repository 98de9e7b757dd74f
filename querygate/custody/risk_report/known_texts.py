"""Who can be distinguished by lists of codes, sequences and notes, which are not quasi-identifiers but may be known
too.

Each record has a number for what a side shows of it: equal numbers mean the same text. Anyone who knows all codes of
somebody looks for the text that these are published as, and finds at most the records that have it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from querygate.core.types import Arrays, Catalog, Ints, Role
from querygate.custody.code_lists.public_codes import open_system
from querygate.custody.policy import CodesPolicy, ColumnPolicy, Policy

ROLES: tuple[Role, ...] = ("codes", "sequence", "note")

Texts = Mapping[str, Ints]
"""By column, a number for each record."""


def raw_texts(policy: Policy, raw: pa.Table) -> Texts:
    """The texts of raw records, for the columns that the table has; lists count as sets, however their codes are
    spelt."""
    there = [column for column in policy.named(*ROLES) if column.name in raw.column_names]
    return {
        column.name: _of_lists(column, raw[column.name]) if column.codes is not None else _of_texts(raw[column.name])
        for column in there
    }


def released_texts(policy: Policy, table: pa.Table) -> Texts:
    """The texts of released records, as they are; nothing for a column that was left out."""
    return {
        column.name: _of_texts(table[column.name])
        if column.name in table.column_names
        else np.zeros(table.num_rows, dtype=np.int64)
        for column in policy.named(*ROLES)
    }


def published_texts(policy: Policy, catalog: Catalog, cells: Arrays, classes: Ints) -> Texts:
    """Of a published version, where sets are published by class: which record of a class has which set does not matter
    here, so they are dealt out in order. Notes and sequences are not published.
    """
    order = np.argsort(np.asarray(cells["class"]), kind="stable")
    number = np.asarray(cells["n"], dtype=np.int64)[order]
    by_class = np.argsort(classes, kind="stable")
    found: dict[str, Ints] = {}
    for column in policy.named(*ROLES):
        found[column.name] = np.zeros(classes.size, dtype=np.int64)
        published = next((one for one in catalog.columns if one.name == column.name), None)
        if published is not None:
            sets = np.asarray(cells[f"c{published.index}_items"], dtype=np.int64)[order]
            found[column.name][by_class] = np.repeat(sets, number)
    return found


def _of_texts(column: pa.ChunkedArray) -> Ints:
    return _numbered(None if text is None else text.strip() for text in column.cast(pa.string()).to_pylist())


def _of_lists(column: ColumnPolicy, raw: pa.ChunkedArray) -> Ints:
    separator = (column.codes or CodesPolicy()).separator
    lists = [_split(one, separator) for one in raw.to_pylist()]
    texts = sorted({text for one in lists for text in one})
    place = dict(zip(texts, open_system(column).read(texts).codes.tolist(), strict=True))
    return _numbered(frozenset(text if place[text] < 0 else place[text] for text in one) for one in lists)


def _split(held: str | Sequence[str | None] | None, separator: str) -> list[str]:
    parts = held.split(separator) if isinstance(held, str) and separator else held if held is not None else ()
    texts = ([parts] if isinstance(parts, str) else parts) or ()
    return [text.strip() for text in texts if text is not None and text.strip()]


def _numbered(values: Iterable[object]) -> Ints:
    number: dict[object, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in values], dtype=np.int64)
