"""The population of a policy's [k_map]: read at publication, to count who fits the box of each class.

Errors name columns and counts, never a value: somebody may have named the wrong file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.errors import ConfigError
from querygate.core.ports import Source
from querygate.core.types import Floats, Ints
from querygate.policy import ColumnPolicy, Policy

_READ_AS = {"integer": pa.float64(), "number": pa.float64(), "date": pa.date32(), "timestamp": pa.timestamp("us")}
_BOOLEANS = {"true": "true", "t": "true", "1": "true", "yes": "true"} | {
    "false": "false",
    "f": "false",
    "0": "false",
    "no": "false",
}


@dataclass(frozen=True, slots=True)
class Population:
    """Kinds of people, by quasi-identifier, and how many there are of each.

    Numbers and days are as they are; a category's values are places in `texts`. nan is unknown.
    """

    values: Mapping[str, Floats]
    texts: Mapping[str, tuple[str, ...]]
    persons: Ints


def read_population(policy: Policy, open_beside: Callable[[str], Source]) -> Population | None:
    """The population that a policy names, if it names one."""
    wanted = policy.k_map
    if wanted is None:
        return None
    quasi = [c for c in policy.named("quasi-identifier") if not wanted.columns or c.name in wanted.columns]
    source = open_beside(wanted.population)
    names = [column.name for column in quasi] + ([wanted.count] if wanted.count else [])
    there = source.columns()
    if absent := [name for name in names if name not in there]:
        raise ConfigError(
            "QG801", f"k_map: {wanted.population} has no column {', '.join(absent)}.", f"Accepted: {', '.join(there)}."
        )
    with source.reading():
        table = pa.Table.from_batches(list(source.batches(names)))
    persons = _persons(table, wanted.count)
    values: dict[str, Floats] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for column in quasi:
        cells = table.column(column.name)
        if column.is_numeric:
            values[column.name] = _numbers(column.name, cells, _READ_AS[str(column.type)])
        else:
            values[column.name], texts[column.name] = _texts(column, cells)
    return _counted(values, texts, persons)


def _persons(table: pa.Table, count: str) -> Ints:
    if not count:
        return np.ones(table.num_rows, dtype=np.int64)
    persons = _numbers(count, table.column(count), pa.float64())
    wrong = int(np.count_nonzero(~((persons >= 0) & (persons == np.floor(persons)) & (persons < 2**53))))
    if wrong:
        raise ConfigError(
            "QG802", f"k_map.count: {wrong:,} rows do not say how many people they are.", "Give whole numbers from 0."
        )
    return persons.astype(np.int64)


def _numbers(name: str, cells: pa.ChunkedArray, kind: pa.DataType) -> Floats:
    try:
        read = pc.cast(cells, kind, safe=False)
        if kind != pa.float64():  # days or microseconds since 1970
            read = pc.cast(pc.cast(read, pa.int32() if kind == pa.date32() else pa.int64()), pa.float64())
    except pa.ArrowException:  # its text quotes the value
        raise ConfigError(
            "QG802", f"k_map: values of {name} in the population cannot be read as its type.", "Correct the file."
        ) from None
    return np.asarray(read.to_numpy(zero_copy_only=False), dtype=np.float64)


def _texts(column: ColumnPolicy, cells: pa.ChunkedArray) -> tuple[Floats, tuple[str, ...]]:
    words: list[Any] = pc.cast(cells, pa.string()).to_pylist()
    if column.type == "boolean":
        words = [None if word is None else _BOOLEANS.get(word.strip().lower()) for word in words]
    texts = tuple(sorted({word for word in words if word is not None}))
    place = {word: i for i, word in enumerate(texts)}
    return np.array([place.get(word, np.nan) for word in words], dtype=np.float64), texts


def _counted(values: dict[str, Floats], texts: dict[str, tuple[str, ...]], persons: Ints) -> Population:
    """Equal people together. Unknown values are all alike, which nan is not."""
    rows = np.nan_to_num(np.stack(list(values.values()), axis=1), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    kinds, which = np.unique(rows, axis=0, return_inverse=True)
    kinds = np.where(np.isinf(kinds), np.nan, kinds)
    counts = np.bincount(which.reshape(-1), persons, len(kinds)).astype(np.int64)
    return Population(dict(zip(values, kinds.T, strict=True)), texts, counts)
