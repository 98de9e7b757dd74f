"""What a copy of a version must have in common with the file it was made from: every bit."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from querygate.core.block import Block, ClassMoments, CodeSets, Dictionary, NumberColumn
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Array, Column, Ints
from querygate_adapters.store.cell_query import Dictionaries
from querygate_adapters.store.class_moments import wanted_columns

UNLIMITED = Limits(timeout_s=86_400.0, memory_mb=2**20)

Bits = list[bytes | tuple[str, ...]]


class WholeVersion(PublishedVersion, Protocol):
    """A version of which everything can be read."""

    @property
    def dictionaries(self) -> Dictionaries: ...

    def moments(self, column: Column) -> ClassMoments: ...


def is_same(one: WholeVersion, other: WholeVersion) -> bool:
    """Read whole, grouped to all columns, margin by margin, and compared bit by bit."""
    if one.catalog != other.catalog:
        return False
    columns = one.catalog.columns
    told = [column for column in columns if column.moments != "none"]
    if any(moment_bits(one.moments(column)) != moment_bits(other.moments(column)) for column in told):
        return False
    for margin in range(len(one.catalog.margins)) if one.catalog.margins else (None,):
        mine = [c.name for c in wanted_columns(one.catalog, [c.name for c in told], margin)]
        first, second = (
            block_bits(version.project([c.name for c in columns], UNLIMITED, mine, margin), version.dictionaries)
            for version in (one, other)
        )
        if first != second:
            return False
    return True


def moment_bits(told: ClassMoments) -> list[bytes]:
    columns = (told.label, told.n, told.sum_low, told.sum_high, told.var_low, told.var_high)
    return [column.tobytes() for column in columns]


def block_bits(block: Block, dictionaries: Dictionaries) -> Bits:
    beside = [block.whole, block.frame, None if block.classified is None else block.classified.label]
    arrays: list[Array] = [block.n, *(values for values in beside if values is not None)]
    for column in block.columns.values():
        arrays += [column.low, column.high, column.null] if isinstance(column, NumberColumn) else [column.sets]
    texts = []
    for _, meant in sorted(dictionaries.items()):
        arrays += [meant.starts, meant.members, *_entries(meant)]
        texts.append(meant.codes if isinstance(meant, CodeSets) else meant.values)
    return [*(np.ascontiguousarray(array).tobytes() for array in arrays), *texts]


def _entries(meant: Dictionary | CodeSets) -> list[Ints]:
    return [meant.entry_item, meant.entry_code] if isinstance(meant, CodeSets) else []
