"""The population of a policy's [k_map] or [release]: used to count the people who fit a published record.

Errors name columns and counts, never a value: somebody may have named the wrong file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Floats, Ints
from querygate.custody.policy import ColumnPolicy, Policy

_READ_AS = {"integer": pa.float64(), "number": pa.float64(), "date": pa.date32(), "timestamp": pa.timestamp("us")}
_BOOLEANS = {"true": "true", "t": "true", "1": "true", "yes": "true"} | {
    "false": "false",
    "f": "false",
    "0": "false",
    "no": "false",
}


@dataclass(frozen=True, slots=True)
class Population:
    """Kinds of people, by quasi-identifier, and the number of each.

    Numbers and days are plain; a category's values are positions in `texts`. NaN is unknown.
    """

    values: Mapping[str, Floats]
    texts: Mapping[str, tuple[str, ...]]
    persons: Ints


def read_population(policy: Policy, open_beside: Callable[[str], Source]) -> Population | None:
    """The population that a policy names, if it names one."""
    wanted = policy.k_map
    if wanted is None:
        return None
    return read_people("k_map", linked(policy, wanted.columns), wanted.population, wanted.count, open_beside)


def read_register(policy: Policy, open_beside: Callable[[str], Source]) -> Population | None:
    """The population that released records are looked up in, if the policy names one."""
    wanted = policy.release
    if wanted is None:
        return None
    return read_people("release", linked(policy, wanted.columns), wanted.population, wanted.count, open_beside)


def linked(policy: Policy, names: Collection[str]) -> list[ColumnPolicy]:
    """The quasi-identifiers with these names; all of them if none is named."""
    return [column for column in policy.named("quasi-identifier") if not names or column.name in names]


def read_people(
    key: str, quasi: Sequence[ColumnPolicy], file: str, count: str, open_beside: Callable[[str], Source]
) -> Population:
    """The kinds of people in a file; errors name the policy's table for it."""
    source = open_beside(file)
    names = [column.name for column in quasi] + ([count] if count else [])
    there = source.columns()
    if len(set(names)) < len(names):
        raise ConfigError(
            "QG801", f"{key}.count: {count} is a quasi-identifier.", "Name the column with the number of people."
        )
    if absent := [name for name in names if name not in there]:
        raise ConfigError(
            "QG801", f"{key}: {file} has no column {', '.join(absent)}.", f"Accepted: {', '.join(there)}."
        )
    with source.reading():
        table = source.batches(names).read_all()
    if not table.num_rows:
        raise ConfigError("QG802", f"{key}: {file} has no rows.", "Name a file that contains people.")
    return _counted(*_values(key, quasi, table), _persons(key, table, count))


def records_of(columns: Sequence[ColumnPolicy], raw: pa.Table) -> Population:
    """The records of a file in the same form: each is one person."""
    return Population(*_values("source", columns, raw), np.ones(raw.num_rows, dtype=np.int64))


def _values(
    key: str, columns: Sequence[ColumnPolicy], table: pa.Table
) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:
    values: dict[str, Floats] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for column in columns:
        cells = table.column(column.name)
        if column.is_numeric:
            values[column.name] = _numbers(key, column.name, cells, _READ_AS[str(column.type)])
        else:
            values[column.name], texts[column.name] = _texts(column, cells)
    return values, texts


def _persons(key: str, table: pa.Table, count: str) -> Ints:
    if not count:
        return np.ones(table.num_rows, dtype=np.int64)
    persons = _numbers(key, count, table.column(count), pa.float64())
    wrong = int(np.count_nonzero(~((persons >= 0) & (persons == np.floor(persons)) & (persons < 2**53))))
    if wrong:
        raise ConfigError(
            "QG802",
            f"{key}.count: {counted(wrong, 'row does', 'rows do')} not give a number of people.",
            "Use whole numbers, 0 or more.",
        )
    return persons.astype(np.int64)


def _numbers(key: str, name: str, cells: pa.ChunkedArray, kind: pa.DataType) -> Floats:
    try:
        read = pc.cast(cells, kind, safe=False)
        if kind != pa.float64():  # days or microseconds since 1970
            read = pc.cast(pc.cast(read, pa.int32() if kind == pa.date32() else pa.int64()), pa.float64())
    except pa.ArrowException:  # its message quotes the value
        raise ConfigError(
            "QG802", f"{key}: values of {name} in the population do not have its type.", "Correct the file."
        ) from None
    return np.asarray(read.to_numpy(zero_copy_only=False), dtype=np.float64)


def _texts(column: ColumnPolicy, cells: pa.ChunkedArray) -> tuple[Floats, tuple[str, ...]]:
    words: list[str | None] = pc.cast(cells, pa.string()).to_pylist()
    if column.type == "boolean":
        words = [None if word is None else _BOOLEANS.get(word.strip().lower()) for word in words]
    texts = tuple(sorted({word for word in words if word is not None}))
    place = {word: i for i, word in enumerate(texts)}
    return np.array([np.nan if word is None else place[word] for word in words], dtype=np.float64), texts


def _counted(values: dict[str, Floats], texts: dict[str, tuple[str, ...]], persons: Ints) -> Population:
    """Merges equal people. Unknown values are equal to each other, unlike NaN."""
    rows = np.nan_to_num(np.stack(list(values.values()), axis=1), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    kinds, which = np.unique(rows, axis=0, return_inverse=True)
    kinds = np.where(np.isinf(kinds), np.nan, kinds)
    counts = np.bincount(which.reshape(-1), persons, len(kinds)).astype(np.int64)
    return Population(dict(zip(values, kinds.T, strict=True)), texts, counts)
