"""Columns as numbers within public bounds; nothing here depends on the data as a whole.

A number is clamped to its domain and scaled to [-1, 1]; a category is a position among its declared values, or one
column of 0 and 1 for each value but the first. A record with a missing or non-public value in a wanted column is left
out; that depends on this record alone, so one person still changes one row. The first row of each person counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.types import Bools, Floats, Ints
from querygate.custody.extract.raw_tables import floats_of, texts_of
from querygate.custody.policy import ColumnPolicy, Policy

LARGEST_CATEGORY = 200
ROUNDING = 1e-9
"""So that a number at the edge of a part is in the upper one, despite rounding."""

_ARROW = {"integer": pa.int64(), "number": pa.float64(), "date": pa.date32(), "timestamp": pa.timestamp("us")}


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """One column as the policy declares it."""

    name: str
    low: float = 0.0
    high: float = 0.0
    values: tuple[str, ...] = ()  # of a category
    type: str = "category"

    @classmethod
    def of(cls, column: ColumnPolicy) -> PublicColumn:
        """ExtractRefused QG605 if the policy does not declare the possible values."""
        if column.is_numeric:
            if column.low is None or column.high is None or not column.low < column.high:
                raise _undeclared(column.name, "a domain of more than one value", "domain = [low, high]")
            return cls(column.name, float(column.low), float(column.high), type=str(column.type))
        values = ("false", "true") if column.type == "boolean" else tuple(sorted(column.values))
        if not 2 <= len(values) <= LARGEST_CATEGORY:
            raise _undeclared(column.name, f"2 to {LARGEST_CATEGORY} values", "values = [...]")
        return cls(column.name, values=values)

    @property
    def is_number(self) -> bool:
        return not self.values

    @property
    def terms(self) -> tuple[str, ...]:
        """Its columns in a design."""
        return (self.name,) if self.is_number else tuple(f"{self.name}={value}" for value in self.values[1:])

    def natural(self, scaled: float) -> float:
        """A value in [-1, 1] in the column's unit."""
        return self.low + (scaled + 1) / 2 * (self.high - self.low)

    @property
    def half(self) -> float:
        """The column's units per unit of the scaled value."""
        return (self.high - self.low) / 2

    def scaled(self, raw: pa.ChunkedArray) -> Floats:
        """In [-1, 1]; NaN where missing."""
        laid: Floats = np.clip((floats_of(raw) - self.low) / self.half - 1, -1.0, 1.0)
        return laid

    def places(self, raw: pa.ChunkedArray) -> Ints:
        """The position among its values; -1 if missing or not declared."""
        place = {value: at for at, value in enumerate(self.values)}
        return np.array([-1 if text is None else place.get(text, -1) for text in texts_of(raw)], dtype=np.int64)

    def is_known(self, raw: pa.ChunkedArray) -> Bools:
        known: Bools = ~np.isnan(floats_of(raw)) if self.is_number else self.places(raw) >= 0
        return known

    def design(self, raw: pa.ChunkedArray) -> Floats:
        """One row for each record, one column for each term."""
        if self.is_number:
            return self.scaled(raw)[:, None]
        found: Floats = (self.places(raw)[:, None] == np.arange(1, len(self.values))).astype(np.float64)
        return found


def public_columns(policy: Policy, names: Sequence[str]) -> tuple[PublicColumn, ...]:
    return tuple(PublicColumn.of(policy.column(name)) for name in names)


def one_row_each(table: pa.Table, person: str) -> pa.Table:
    """The first selected row of each person."""
    if not person:
        return table
    _, first = np.unique(np.array(texts_of(table[person]), dtype=object).astype(str), return_index=True)
    return table.take(pa.array(np.sort(first)))


def complete_rows(table: pa.Table, columns: Sequence[PublicColumn]) -> pa.Table:
    """The records that have a public value in each of these columns."""
    known = np.ones(table.num_rows, dtype=np.bool_)
    for column in columns:
        known &= column.is_known(table[column.name])
    return table.filter(pa.array(known))


def design_of(table: pa.Table, columns: Sequence[PublicColumn]) -> Floats:
    return np.concatenate([column.design(table[column.name]) for column in columns], axis=1)


def cells_of(table: pa.Table, column: PublicColumn, parts: int) -> tuple[Ints, tuple[str, ...]]:
    """The cell of each record, and the name of each cell; the last cell is for missing values."""
    raw = table[column.name]
    if not column.is_number:
        places = column.places(raw)
        return np.where(places < 0, len(column.values), places), (*column.values, "missing")
    known, scaled = column.is_known(raw), np.nan_to_num(column.scaled(raw))
    places = np.minimum(((scaled + 1) / 2 * parts + ROUNDING).astype(np.int64), parts - 1)
    ends = [column.natural(2 * at / parts - 1) for at in range(parts + 1)]
    labels = [f"{low:g} to {high:g}" for low, high in pairwise(ends)]
    return np.where(known, places, parts), (*labels, "missing")


def _undeclared(name: str, what: str, key: str) -> ExtractRefused:
    return ExtractRefused(
        "QG605",
        f"The policy does not declare {what} for {name}, and bounds are never taken from the data.",
        f"Leave out the column, or ask the custodian to publish with {key} in [columns.{name}].",
    )


def drawn_values(column: PublicColumn, codes: Ints, parts: int, rng: np.random.Generator) -> pa.Array:
    """A value for each cell: a number is drawn uniformly within its part; the last cell is missing."""
    if not column.is_number:
        texts = np.array([*column.values, None], dtype=object)[codes]
        return pa.array(texts, pa.string())
    missing, width = codes == parts, column.high - column.low
    low, high = (column.low + (codes + end) * width / parts for end in (0, 1))
    kind = _ARROW[column.type]
    if kind == pa.float64():
        return pa.array(low + rng.random(codes.size) * (high - low), mask=missing)
    first = np.ceil(low - ROUNDING).astype(np.int64)
    last = np.where(codes >= parts - 1, np.int64(column.high), np.ceil(high - ROUNDING).astype(np.int64) - 1)
    whole = np.minimum(rng.integers(first, np.maximum(first, last) + 1), np.int64(column.high))
    return pa.array(whole.astype(np.int32) if kind == pa.date32() else whole, mask=missing).cast(kind)
