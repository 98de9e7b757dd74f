"""The one statement every engine runs on the published cells, and its result as a block.

    SELECT c0_lo, c0_hi, c2_set, SUM(n) FROM cells GROUP BY ... ORDER BY ... NULLS LAST

Physical columns of column number i: c{i}_lo, c{i}_hi, and c{i}_null (0 none, 1 some, 2 all of the cell's values are
missing; absent where nothing is missing) for numbers; c{i}_set for categories; c{i}_items for code lists. A version of
views has the cells of all its margins in one table: `margin` and `frame` are the margin and the frame cell of each
cell, columns that are not in the margin are NULL, and `class` numbers are unique over all margins. The only constant in
the text is the number of a margin, so nothing can be injected; and the order is fixed, so that every engine gives the
same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from querygate.core.block import (
    MISSING,
    NO_NULLS,
    SOME_NULLS,
    Block,
    BlockColumn,
    ClassMoments,
    CodeColumn,
    CodeSets,
    Dictionary,
    NumberColumn,
    RowClasses,
    SetColumn,
)
from querygate.core.types import Array, Catalog, Column, Ints

Dictionaries: TypeAlias = "Mapping[int, Dictionary | CodeSets]"
"""What the ids of each column mean, by its index."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """In what engines differ about the one statement: how a column to group by is shown, how rows are counted, and what
    the table is called. A column without a value comes last everywhere; engines have different habits there.
    """

    cells: str = "cells"
    shown: Callable[[str], str] = str
    counted: str = "CAST(SUM(n) AS BIGINT) AS n"


PLAIN = Dialect()


def projection(
    catalog: Catalog,
    columns: Sequence[Column],
    *,
    by_class: bool = False,
    margin: int | None = None,
    dialect: Dialect = PLAIN,
) -> str:
    """The statement that groups cells by these columns, and by class if wanted.

    >>> sex = Column("sex", 0, "quasi-identifier", "category", False)
    >>> projection(Catalog("t", 1, "", 5, 9, (sex,)), [sex])
    'SELECT c0_set, CAST(SUM(n) AS BIGINT) AS n FROM cells GROUP BY c0_set ORDER BY c0_set NULLS LAST'
    """
    names = grouping(catalog, columns, by_class=by_class, margin=margin)
    of_margin = "" if margin is None else f" WHERE margin = {int(margin)}"
    told = ", ".join([*map(dialect.shown, names), dialect.counted])
    statement = f"SELECT {told} FROM {dialect.cells}{of_margin}"
    if not names:
        return statement
    return f"{statement} GROUP BY {', '.join(names)} ORDER BY {', '.join(f'{name} NULLS LAST' for name in names)}"


def grouping(
    catalog: Catalog, columns: Sequence[Column], *, by_class: bool = False, margin: int | None = None
) -> tuple[str, ...]:
    """The physical columns to group by, in the order of the result.

    The class is among them if it is wanted, or if edges are tight, since then each end belongs to a member of the
    class.
    """
    if bool(catalog.margins) != (margin is not None):
        raise ValueError("cells of views need a margin, and other cells have none")
    last = ("class", "class_n") if catalog.tight else ("class",) if by_class else ()
    there = (column for column in columns if _is_told(catalog, column, margin))
    frame = () if margin is None else ("frame",)
    return (*(name for column in there for name in stored(column)), *frame, *last)


def _is_told(catalog: Catalog, column: Column, margin: int | None) -> bool:
    return margin is None or column.name in catalog.margins[margin].columns


def stored(column: Column) -> tuple[str, ...]:
    """The physical columns of a published column; a list of codes with groups has none, because its groups are
    columns."""
    stem = f"c{column.index}"
    if column.groups:
        return ()
    if column.is_codes:
        return (f"{stem}_items",)
    if not column.is_numeric:
        return (f"{stem}_set",)
    return (f"{stem}_lo", f"{stem}_hi", f"{stem}_null") if column.nullable else (f"{stem}_lo", f"{stem}_hi")


def make_block(
    catalog: Catalog,
    columns: Sequence[Column],
    found: Mapping[str, Array],
    dictionaries: Dictionaries,
    moments: Mapping[str, ClassMoments] | None = None,
    margin: int | None = None,
    *,
    by_class: bool = False,
) -> Block:
    """The result of the projection (NumPy arrays by physical name) as a block; with moments it is grouped by class
    too."""
    n = np.asarray(found["n"], dtype=np.int64)
    made: dict[str, BlockColumn] = {}
    for column in columns:
        if not _is_told(catalog, column, margin):
            made[column.name] = _anything(column, len(n))
            continue
        stem = f"c{column.index}"
        if not column.is_numeric:
            ids = np.asarray(found[stored(column)[0]], np.int64)
            made[column.name] = _of_sets(ids, dictionaries[column.index])
            continue
        kind = np.int64 if column.is_discrete else np.float64
        ends = [_end(found[f"{stem}_{end}"], kind) for end in ("lo", "hi")]
        null = np.asarray(found[f"{stem}_null"], np.int64) if column.nullable else np.zeros(len(n), np.int64)
        tight = catalog.tight and column.role == "quasi-identifier"
        made[column.name] = NumberColumn(ends[0], ends[1], null, tight)
    whole = n == np.asarray(found["class_n"]) if catalog.tight else None
    told = frozenset(c.name for c in columns if c.moments != "none" and _is_told(catalog, c, margin))
    frame = None if margin is None else np.asarray(found["frame"], dtype=np.int64)
    classified = None
    if moments or by_class:
        classified = RowClasses(np.asarray(found["class"], dtype=np.int64), np.arange(len(n)), moments or {})
    return Block(n, made, whole, told, classified, frame)


def _anything(column: Column, rows: int) -> BlockColumn:
    """A column about which nothing is known: any value of its domain, or missing."""
    if column.is_codes:  # any code, or none
        return CodeColumn(np.zeros(rows, np.int64), CodeSets.of(column.values, [MISSING] * len(column.values), [[]]))
    if not column.is_numeric:
        members = range(MISSING if column.nullable else 0, len(column.values))
        return SetColumn(np.zeros(rows, np.int64), Dictionary.of(column.values, [(0, value) for value in members]))
    kind = np.int64 if column.is_discrete else np.float64
    low: Array = np.full(rows, column.low, kind)
    high: Array = np.full(rows, column.high, kind)
    return NumberColumn(low, high, np.full(rows, SOME_NULLS if column.nullable else NO_NULLS, np.int64))


def _of_sets(ids: Ints, meant: Dictionary | CodeSets) -> BlockColumn:
    return CodeColumn(ids, meant) if isinstance(meant, CodeSets) else SetColumn(ids, meant)


def _end(values: Array, kind: type[np.int64] | type[np.float64]) -> Array:
    """Zero where there is none; and only one kind of zero, since engines differ in whether -0.0 or 0.0 stands for
    both."""
    return np.asarray(np.ma.filled(values, 0), dtype=kind) + kind(0)
