"""A twin of a dataset: made-up rows that look like it, to write programs against before asking for the real thing.

They are drawn from the likely table of the published store (`likely_tables`), which is made of what is published and
nothing else. So a twin is a function of the store, the number of rows and the seed: whatever two raw tables with the
same store differ in, their twins are the same to the byte. Where the policy keeps parts of what is published from being
told (only noisy answers, small groups, answers that could be combined), they are drawn from the description alone.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from querygate.core.block import ALL_NULLS, MISSING, Block, BlockColumn, NumberColumn, SetColumn
from querygate.core.limits.deadline import check_deadline, within
from querygate.core.types import Catalog, Column, Ints, Principal
from querygate.estimates.column_pieces import TooManyPieces
from querygate.gate.described_rows import draw_described, whole_array
from querygate.gate.grant_check import granted_modes
from querygate.gate.query_state import INTERVAL, Gate

MOST_ROWS = 1_000_000
DEFAULT_ROWS = 1_000
DRAWN_FROM = "querygate.drawn_from"
DrawnFrom: TypeAlias = Literal["store", "description"]
_DIGITS = 6  # significant digits of a made-up number


@dataclass(frozen=True, slots=True)
class TwinWish:
    """Which dataset, how many rows, and the seed: with the same one the same rows come again."""

    dataset: str
    rows: int | None = None
    seed: int = 0


def write_twin(wish: TwinWish, principal: Principal, gate: Gate) -> pa.Table:
    """The twin as a table with the columns of the dataset, lists of codes apart; its metadata say what it was drawn
    from. It is put on record that it was fetched. Raises QG303 without any grant."""
    granted = granted_modes(principal, wish.dataset, gate.grants)
    release = gate.store.current(wish.dataset)
    catalog, rows = release.catalog, wish.rows or DEFAULT_ROWS
    drawn_from: DrawnFrom = "description"
    made = draw_described(catalog, rows, _random(wish.seed, 0, catalog))
    if INTERVAL in granted and _is_told_whole(catalog):
        with within(gate.clock_s, gate.limits.timeout_s), gate.turn.taken(), suppress(TooManyPieces):
            made = draw_rows(gate.likely.tables(release, gate.limits, check_deadline), catalog, rows, wish.seed)
            drawn_from = "store"
    body = {"version": catalog.version, "rows": made.num_rows, "seed": wish.seed, "drawn_from": drawn_from}
    gate.log.note("twin", user=principal.name, dataset=catalog.dataset, body=body)
    return made.replace_schema_metadata({DRAWN_FROM: drawn_from})


def _is_told_whole(catalog: Catalog) -> bool:
    """Whether the policy lets people ask for all that is published: a twin tells of it at once."""
    return INTERVAL in catalog.modes and not catalog.min_group and catalog.on_differencing == "alert"


def _random(seed: int, place: int, catalog: Catalog) -> np.random.Generator:
    return np.random.default_rng([seed, place, zlib.crc32(catalog.dataset.encode())])


def draw_rows(tables: list[Block], catalog: Catalog, rows: int, seed: int) -> pa.Table:
    """So many rows. The first table has the columns that the others share with it; each other one is drawn by itself
    and laid beside it in the order of those, so that what goes together in it still does."""
    drawn: dict[str, BlockColumn] = {}
    order: Ints | None = None
    rows = rows if tables[0].n.any() else 0
    for place, table in enumerate(tables):
        part = _draw(table, rows, _random(seed, place, catalog))
        shared = [name for name in tables[0].columns if name in part.columns]
        own = _order(part, shared)
        if order is None:
            order = own
        beside = np.empty(rows, dtype=np.int64)
        beside[order] = own
        for name, column in part.columns.items():
            if name not in drawn:
                drawn[name] = column.take(beside)
    columns = [column for column in catalog.columns if column.name in drawn]
    arrays = [_values(drawn[column.name], column) for column in columns]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def _draw(table: Block, rows: int, random: np.random.Generator) -> Block:
    """Rows of a table by their weights."""
    ends = np.cumsum(table.n.astype(np.float64))
    places = np.searchsorted(ends, random.random(rows) * ends[-1:].sum(), side="right")
    return table.take(np.minimum(places, ends.size - 1))


def _order(part: Block, shared: list[str]) -> Ints:
    """The rows by the columns that tables share."""
    keys = []
    for name in reversed(shared):
        column = part.columns[name]
        keys.append(column.low if isinstance(column, NumberColumn) else column.sets)
    return np.lexsort(keys) if keys else np.arange(part.size)


# -- values ----------------------------------------------------------------------------------------------------


def _values(found: BlockColumn, column: Column) -> pa.Array:
    if isinstance(found, SetColumn):
        return _texts(found, column)
    if not isinstance(found, NumberColumn):
        raise TypeError(f"{column.name} has no values of its own")
    missing = found.null == ALL_NULLS
    low, high = (-np.inf if column.low is None else column.low), (np.inf if column.high is None else column.high)
    numbers = np.clip(np.asarray(found.low, dtype=np.float64), low, high)
    numbers = np.where(missing, 0.0, numbers)
    if column.type == "number":
        return pa.array([float(f"{value:.{_DIGITS}g}") for value in numbers], pa.float64(), mask=missing)
    return whole_array(column, np.rint(numbers).astype(np.int64), missing)


def _texts(found: SetColumn, column: Column) -> pa.Array:
    """Each set has one value, or is missing."""
    dictionary = found.dictionary
    values = dictionary.members[dictionary.starts[found.sets]]
    texts = [None if value == MISSING else dictionary.values[value] for value in values.tolist()]
    if column.type == "boolean":
        return pa.array([None if text is None else text == "true" for text in texts], pa.bool_())
    return pa.array(texts, pa.string())


def _csv(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


TWIN_FORMATS: Mapping[str, tuple[str, Callable[[pa.Table], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", _csv),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}
