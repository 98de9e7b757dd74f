"""Cells as tables of the store: boxes, hulls and codes of classes as its physical columns, one range of classes after
the other.

Published column number i becomes c{i}_lo, c{i}_hi and c{i}_null, or c{i}_set. From here on there are no values, only
public intervals and sets. Sets are numbered in the order of their first use, so that a range needs to know nothing of
those that follow, and cells are the same however many ranges there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.publications.vault_ports import SomeClasses
from querygate.core.types import Bools, Column, Ints
from querygate.custody.code_lists.code_items import PublishedCodes
from querygate.custody.columns.hierarchies import nodes
from querygate.custody.columns.value_groups import with_values
from querygate.custody.policy import ColumnPolicy
from querygate.custody.publish.partition import make_attribute, quasi_identifiers
from querygate.custody.publish.range_plan import each_range
from querygate.custody.publish.sensitive_numbers import PER_CLASS, tells_missing_apart, without_values
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise import Box, Table, ValueSets, boxes


class CellTables:
    """The tables of the cells, and of the sets of values that these name."""

    def __init__(self, state: PublicationState) -> None:
        self._state, self._sets = state, SetNumbers()
        self.code_lists: dict[str, PublishedCodes] = dict(state.code_lists)
        self.number = 0

    def tables(self) -> dict[str, Iterable[pa.Table]]:
        """What sets there are is known once the cells have been read."""
        return {"cells": self._cells(), "set_value": (self._sets.table() for _ in range(1))}

    def held(self) -> dict[str, Any]:
        """The same in memory."""
        return {name: pa.concat_tables(parts) for name, parts in self.tables().items()}

    def _cells(self) -> Iterator[pa.Table]:
        for classes, rows in each_range(self._state):
            table = self._of(classes, rows)
            self.number += table.num_rows
            self._state.progress.within(classes.stop / max(1, self._state.classes))
            yield table

    def _of(self, classes: range, rows: SomeClasses) -> pa.Table:
        state = self._state
        apart = frozenset(c.name for c in state.policy.published if tells_missing_apart(state, c))
        label, codes, counts = without_values(*rows.cells(_carried(state, apart)), apart)
        made = _Cells(state, self._sets, label - classes.start, rows)
        size = np.bincount(made.classes, counts).astype(np.int64)
        named = label if state.carried is None else state.carried.numbers(state.classes)[label]
        made.columns |= {"class": named, "n": counts, "class_n": size[made.classes]}
        by_name = {box.name: box for box in with_values(_boxed(state, classes, rows))}
        for column, wanted in zip(state.columns, state.policy.published, strict=True):
            box, listed = by_name.get(column.name), self.code_lists.get(column.name)
            if listed is not None:
                made.put_items(column, codes[column.name])
                self.code_lists[column.name] = listed.in_cells(label, codes[column.name], counts)
            elif column.name in apart:
                made.put_hull(column, codes[column.name] < 0)
            elif box is not None:
                made.put_class(column, box)
            elif wanted.carry == "hull":
                made.put_hull(column)
            else:
                made.put_record(column, codes[column.name])
        return pa.table(made.columns)


def _carried(state: PublicationState, apart: frozenset[str]) -> list[str]:
    """The columns of which each record tells something of its own."""
    others = (column for column in state.policy.published if column.role != "quasi-identifier")
    return [column.name for column in others if column.carry not in PER_CLASS or column.name in apart]


def _boxed(state: PublicationState, classes: range, rows: SomeClasses) -> PublicationState:
    """With the boxes of these classes, which are those that the state has, or follow from their rows."""
    columns: Sequence[ColumnPolicy] = quasi_identifiers(state.policy)
    if state.boxes or not columns:
        return state
    label, codes, counts = rows.cells([column.name for column in columns])
    table = Table(tuple(make_attribute(state, column, codes[column.name]) for column in columns), counts)
    return replace(state, boxes=boxes(table, label - classes.start))


class SetNumbers:
    """The numbers of sets of values, by column: equal sets share one. NULL is a member with value id -1."""

    def __init__(self) -> None:
        self._numbers: dict[int, dict[tuple[int, ...], int]] = {}

    def number(self, column: int, members: Sequence[int], *, missing: bool) -> int:
        known = self._numbers.setdefault(column, {})
        return known.setdefault(tuple(sorted([*([-1] if missing else []), *members])), len(known))

    def table(self) -> pa.Table:
        rows = [
            (column, number, value, len(members) == 1)
            for column, sets in sorted(self._numbers.items())
            for members, number in sets.items()
            for value in members
        ]
        kinds = {"column_id": pa.int32(), "set_id": pa.int32(), "value_id": pa.int32(), "alone": pa.bool_()}
        columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ((), (), (), ())
        return pa.table({name: pa.array(values, kinds[name]) for name, values in zip(kinds, columns, strict=True)})


class _Cells:
    """Cells of some classes, which are numbered from 0 here, column by column."""

    def __init__(self, state: PublicationState, sets: SetNumbers, classes: Ints, rows: SomeClasses) -> None:
        self._state, self._sets, self.classes, self._rows = state, sets, classes, rows
        self.columns: dict[str, Any] = {}

    def put_items(self, column: Column, codes: Ints) -> None:
        self.columns[f"c{column.index}_items"] = codes.astype(np.int32)

    def put_class(self, column: Column, box: Box) -> None:
        """What all members of a class share."""
        if isinstance(box, ValueSets):
            self._put_sets(column, *box.numbered(), box.nulls)
        elif column.name in self._state.trees:
            found = nodes(self._state.trees[column.name], box, self._state.texts[column.name])
            self._put_sets(column, *found, box.nulls)
        else:
            self._put_box(column, box.low, box.high, box.nulls, self.classes)

    def put_hull(self, column: Column, missing: Bools | None = None) -> None:
        """Smallest and largest code of a sensitive number in each class; `missing` if cells show missing values
        separately."""
        low, high, none = self._rows.class_codes(column.name)
        if missing is None:
            self._put_box(column, low, high, np.where(high < 0, 2, none > 0), self.classes)
        else:
            nulls, every = np.where(missing, 2, 0), np.arange(self.classes.size)
            self._put_box(column, low[self.classes], high[self.classes], nulls, every)

    def put_record(self, column: Column, codes: Ints) -> None:
        """A value for each record: a number with its own interval, or a category of which every value is a set."""
        if column.is_numeric:
            self._put_box(column, codes, codes, np.where(codes < 0, 2, 0), np.arange(len(codes)))
            return
        size = len(self._state.texts[column.name])
        for value in range(size):
            self._sets.number(column.index, [value], missing=False)
        if column.nullable:
            self._sets.number(column.index, [], missing=True)
        self.columns[f"c{column.index}_set"] = np.where(codes < 0, size, codes).astype(np.int32)

    def _put_box(self, column: Column, low: Ints, high: Ints, nulls: Ints, which: Ints) -> None:
        """Interval columns c{i}_lo, c{i}_hi and, if values may be missing, c{i}_null."""
        numbers, stem = self._state.numbers[column.name], f"c{column.index}"
        known = nulls != 2
        for name, end, code in (("lo", numbers.low, low), ("hi", numbers.high, high)):
            values = np.where(known, end[np.where(known, code, 0)] if numbers.size else 0, 0)
            self.columns[f"{stem}_{name}"] = pa.array(values[which], mask=~known[which])
        if column.nullable:
            self.columns[f"{stem}_null"] = nulls[which].astype(np.int8)

    def _put_sets(self, column: Column, numbers: Ints, sets: Sequence[Sequence[int]], nulls: Ints) -> None:
        pairs, first, which = np.unique(numbers * 2 + (nulls > 0), return_index=True, return_inverse=True)
        given = np.empty(pairs.size, dtype=np.int32)
        for place in np.argsort(first).tolist():
            pair = int(pairs[place])
            given[place] = self._sets.number(column.index, sets[pair // 2], missing=bool(pair % 2))
        self.columns[f"c{column.index}_set"] = given[which.reshape(-1)][self.classes]


def texts_table(columns: Sequence[Column], texts: Mapping[str, Sequence[str]]) -> pa.Table:
    """The texts of values, by column and value id."""
    index_of = {column.name: column.index for column in columns}
    rows = [(index_of[name], i, text) for name, values in texts.items() for i, text in enumerate(values)]
    column_ids, value_ids, words = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "column_id": pa.array(column_ids, pa.int32()),
            "value_id": pa.array(value_ids, pa.int32()),
            "text": pa.array(words, pa.string()),
        }
    )
