"""A block spread over group keys: each row once for every group its records may belong to.

Inside a group more is known about the column of the key: its set or interval is cut to the values that lead to the key,
which usually decides conditions on it. A row whose values all lead to one key certainly belongs to that group
(`alone`); otherwise its records may belong to the group or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from querygate.bounds.expression_values import piece_range, result_places
from querygate.core.block import (
    ALL_NULLS,
    NO_NULLS,
    SOME_NULLS,
    Block,
    BlockColumn,
    Dictionary,
    NumberColumn,
    SetColumn,
)
from querygate.core.expression import Lookup, told_key
from querygate.core.frozen_classes import frozen
from querygate.core.types import Bools, Ints, Scalar

Keys: TypeAlias = "tuple[tuple[Lookup, tuple[Scalar, ...]], ...]"
"""Functions of one column each, with the values of the key in order."""


@frozen
class ExpandedRows:
    """Rows with their group. `keys` are the groups in order, each key as the position of its value; `members` are the
    rows of each group, and `place` is the group of each row."""

    block: Block
    alone: Bools
    keys: tuple[tuple[int, ...], ...]
    members: tuple[Ints, ...]
    place: Ints

    @property
    def nbytes(self) -> int:
        """Memory held by the arrays."""
        return self.block.nbytes + self.alone.nbytes + self.place.nbytes + sum(rows.nbytes for rows in self.members)


def spread(block: Block, keys: Keys) -> ExpandedRows:
    """Spread a block over keys."""
    placed: list[Ints] = []
    alone = np.ones(block.size, dtype=np.bool_)
    for by, listed in keys:
        place = {value: i for i, value in enumerate(listed)}
        by_result = np.array([place[told_key(result)] for result in by.results], dtype=np.int64)
        column = block.columns[by.column]
        if isinstance(column, SetColumn):
            rows, values, known = _cut_sets(by, column, by_result)
        else:
            rows, values, known = _cut_numbers(by, block.number(by.column), by_result)
        times = np.bincount(rows, minlength=block.size)
        block = block.take(rows).with_column(by.column, known)
        alone = alone[rows] & (times[rows] == 1)
        placed = [*(earlier[rows] for earlier in placed), values]
    return ExpandedRows(block, alone, *_grouped(placed, [len(listed) for _, listed in keys], block.size))


def _grouped(
    placed: Sequence[Ints], sizes: Sequence[int], rows: int
) -> tuple[tuple[tuple[int, ...], ...], tuple[Ints, ...], Ints]:
    """The distinct keys in order, the rows of each, and which of them each row has."""
    if not placed:
        return ((),), (np.arange(rows),), np.zeros(rows, dtype=np.int64)
    if prod(sizes) < 2**63:  # one number for the keys of a row sorts as they do, and much faster
        code = np.zeros(rows, dtype=np.int64)
        for place, size in zip(placed, sizes, strict=True):
            code = code * size + place
    else:
        code = np.unique(np.stack(placed, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(code, kind="stable")
    in_order = code[order]
    starts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1])) if rows else np.zeros(0, dtype=np.int64)
    first = order[starts]
    keys = zip(*(place[first].tolist() for place in placed), strict=True)
    which = np.zeros(rows, dtype=np.int64)
    which[order] = np.searchsorted(starts, np.arange(rows), side="right") - 1
    return tuple(keys), tuple(np.split(order, starts[1:])) if rows else (), which


def _cut_sets(by: Lookup, column: SetColumn, by_result: Ints) -> tuple[Ints, Ints, BlockColumn]:
    """Rows, their positions among the key's values, and the sets cut to the values that lead there."""
    dictionary = column.dictionary
    of_member = by_result[result_places(by, dictionary.values)][dictionary.members]
    of_set = np.repeat(np.arange(len(dictionary.sizes)), dictionary.sizes)
    order = np.lexsort((of_member, of_set))
    pairs = np.stack([of_set[order], of_member[order]], axis=1)
    new = np.ones(len(pairs), dtype=np.bool_)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    starts = np.append(np.flatnonzero(new), len(pairs))
    parts = Dictionary(dictionary.values, starts.astype(np.int64), dictionary.members[order])
    first = np.searchsorted(pairs[new][:, 0], np.arange(len(dictionary.sizes) + 1))
    times = np.diff(first)[column.sets]
    rows = np.repeat(np.arange(len(column.sets)), times)
    inside = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    part = first[column.sets[rows]] + inside
    return rows, pairs[new][part, 1], SetColumn(part, parts)


def _cut_numbers(by: Lookup, column: NumberColumn, by_result: Ints) -> tuple[Ints, Ints, BlockColumn]:
    """Rows, their positions among the key's values, and the hull of the pieces that lead there."""
    first, last = piece_range(by, column)
    times = np.where((column.null == ALL_NULLS) | (column.low > column.high), 0, last - first + 1)
    rows = np.repeat(np.arange(len(first)), times)
    piece = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    inner = by.starts[1:]
    before = inner - 1 if column.integer else np.nextafter(inner, -np.inf)
    low = np.where(piece == 0, column.low[rows], np.maximum(column.low[rows], by.starts[piece]))
    ends = np.append(before, column.high.max(initial=0)) if before.size else np.zeros(1, dtype=column.high.dtype)
    high = np.where(piece == len(inner), column.high[rows], np.minimum(column.high[rows], ends[piece]))
    missing = np.flatnonzero(column.null != NO_NULLS)
    state = np.concatenate([np.full(len(rows), NO_NULLS), np.full(len(missing), ALL_NULLS)])
    rows = np.concatenate([rows, missing])
    values = np.concatenate([by_result[piece], np.full(len(missing), by_result[-1])])
    low, high = np.concatenate([low, column.low[missing]]), np.concatenate([high, column.high[missing]])
    return _merged(rows, values, NumberColumn(low, high, state))


def _merged(rows: Ints, values: Ints, column: NumberColumn) -> tuple[Ints, Ints, BlockColumn]:
    """One row for each row and key: the hull of its pieces, with or without missing values."""
    order = np.lexsort((values, rows))
    rows, values, column = rows[order], values[order], column.take(order)
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(new)
    if len(starts) == len(rows):
        return rows, values, column
    top, bottom = (np.iinfo(np.int64).max, np.iinfo(np.int64).min) if column.integer else (np.inf, -np.inf)
    is_null = column.null == ALL_NULLS
    low = np.minimum.reduceat(np.where(is_null, top, column.low), starts)
    high = np.maximum.reduceat(np.where(is_null, bottom, column.high), starts)
    nulls, size = np.add.reduceat(is_null.astype(np.int64), starts), np.diff(np.append(starts, len(rows)))
    state = np.where(nulls == 0, NO_NULLS, np.where(nulls == size, ALL_NULLS, SOME_NULLS))
    held = low <= high
    return (
        rows[new],
        values[new],
        NumberColumn(np.where(held, low, column.low[new]), np.where(held, high, column.high[new]), state),
    )
