"""Turns classes into cells: boxes, hulls and codes as the physical columns of the store, and the store's tables.

Published column number i becomes c{i}_lo, c{i}_hi and c{i}_null, or c{i}_set. From here on there are no values, only
public intervals and sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.types import Bools, Column, Ints
from querygate.custody.columns.hierarchies import nodes
from querygate.custody.columns.value_groups import with_values
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.column_policy import ClassMoments
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.publish.sensitive_numbers import (
    PER_CLASS,
    class_moments,
    moments_table,
    tells_missing_apart,
    without_values,
)
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.custody.publish.view_cells import ViewTables, margins_of
from querygate.custody.publish.view_records import tells_sums
from querygate.methods.anonymise import Box, ValueSets


def generalise(state: PublicationState) -> PublicationState:
    """Boxes of the classes and codes of the other columns, as the physical columns of the cells."""
    state.progress.begin(Step.GENERALISE, "generalising")
    published = state.policy.published
    apart = frozenset(c.name for c in published if tells_missing_apart(state, c))
    carried = [c for c in published if c.role != "quasi-identifier" and (c.carry not in PER_CLASS or c.name in apart)]
    classes, codes, counts = without_values(*state.staging.cells([c.name for c in carried]), apart)
    size = np.bincount(classes, counts).astype(np.int64)
    cells = _Cells(state, classes, {"class": classes, "n": counts, "class_n": size[classes]})
    code_lists = dict(state.code_lists)
    by_name = {box.name: box for box in with_values(state)}
    columns = []
    for index, column in enumerate(published):
        box, made = by_name.get(column.name), code_lists.get(column.name)
        if made is not None:
            nullable = cells.put_items(index, codes[column.name])
            code_lists[column.name] = made.in_cells(classes, codes[column.name], counts)
        elif column.name in apart:
            nullable = cells.put_hull(index, column, codes[column.name] < 0)
        elif box is not None:
            nullable = cells.put_class(index, column, box)
        elif column.carry == "hull":
            nullable = cells.put_hull(index, column)
        else:
            nullable = cells.put_record(index, column, codes[column.name])
        if state.carried is not None:  # others may miss values too
            nullable = state.policy.answers.noisy_only or state.profiles[column.name].missing > 0
        columns.append(_published(state, index, column, nullable))
    if state.carried is not None:
        cells.columns["class"] = state.carried.numbers(state.classes)[classes]
    return replace(
        state,
        columns=tuple(columns),
        cells=cells.columns,
        number_of_cells=len(counts),
        sets=cells.sets,
        code_lists=code_lists,
        moments=class_moments(state),
    )


class _Cells:
    """Cells column by column. Each way to add a column says whether its values may be missing."""

    def __init__(self, state: PublicationState, classes: Ints, columns: dict[str, Any]) -> None:
        self._state, self._classes, self.columns = state, classes, columns
        self._hides = state.policy.answers.noisy_only  # whether anything is missing: every column may be, then
        self.sets: dict[str, list[Any]] = {"column_id": [], "set_id": [], "value_id": [], "alone": []}

    def put_items(self, index: int, codes: Ints) -> bool:
        self.columns[f"c{index}_items"] = codes.astype(np.int32)
        return False  # a missing list is an empty one

    def put_class(self, index: int, column: ColumnPolicy, box: Box) -> bool:
        """What all members of a class share."""
        if isinstance(box, ValueSets):
            return self._put_sets(index, *box.numbered(), box.nulls)
        if column.name in self._state.trees:
            found = nodes(self._state.trees[column.name], box, self._state.texts[column.name])
            return self._put_sets(index, *found, box.nulls)
        return self._put_box(index, column, box.low, box.high, box.nulls, self._classes)

    def put_hull(self, index: int, column: ColumnPolicy, missing: Bools | None = None) -> bool:
        """Smallest and largest code of a sensitive number in each class; `missing` if cells show missing values
        separately."""
        low, high, none = self._state.staging.class_codes(column.name)
        if missing is None:
            return self._put_box(index, column, low, high, np.where(high < 0, 2, none > 0), self._classes)
        nulls, every = np.where(missing, 2, 0), np.arange(self._classes.size)
        return self._put_box(index, column, low[self._classes], high[self._classes], nulls, every)

    def put_record(self, index: int, column: ColumnPolicy, codes: Ints) -> bool:
        """A value for each record: a number with its own interval, or a category of which every value is a set."""
        if column.is_numeric:
            return self._put_box(index, column, codes, codes, np.where(codes < 0, 2, 0), np.arange(len(codes)))
        size = len(self._state.texts[column.name])
        missing = self._hides or bool((codes < 0).any())
        for value in range(size):
            self._add_set(index, value, [value])
        if missing:
            self._add_set(index, size, [-1])
        self.columns[f"c{index}_set"] = np.where(codes < 0, size, codes).astype(np.int32)
        return missing

    def _put_box(self, index: int, column: ColumnPolicy, low: Ints, high: Ints, nulls: Ints, which: Ints) -> bool:
        """Interval columns c{index}_lo, c{index}_hi and, if values are missing, c{index}_null."""
        numbers = self._state.numbers[column.name]
        known = nulls != 2
        for name, end, code in (("lo", numbers.low, low), ("hi", numbers.high, high)):
            values = np.where(known, end[np.where(known, code, 0)] if numbers.size else 0, 0)
            self.columns[f"c{index}_{name}"] = pa.array(values[which], mask=~known[which])
        nullable = self._hides or bool((nulls > 0).any())
        if nullable:
            self.columns[f"c{index}_null"] = nulls[which].astype(np.int8)
        return nullable

    def _put_sets(self, index: int, numbers: Ints, sets: Sequence[Sequence[int]], nulls: Ints) -> bool:
        """A value-set column: equal sets share an id; NULL is a member with value id -1."""
        some = (nulls > 0).astype(np.int64)
        ids, which = np.unique(numbers * 2 + some, return_inverse=True)
        for set_id, key in enumerate(ids.tolist()):
            self._add_set(index, set_id, sorted(([-1] if key % 2 else []) + list(sets[key // 2])))
        self.columns[f"c{index}_set"] = which.reshape(-1)[self._classes].astype(np.int32)
        return self._hides or bool(some.any())

    def _add_set(self, index: int, set_id: int, members: list[int]) -> None:
        self.sets["column_id"] += [index] * len(members)
        self.sets["set_id"] += [set_id] * len(members)
        self.sets["value_id"] += members
        self.sets["alone"] += [len(members) == 1] * len(members)


def _published(state: PublicationState, index: int, column: ColumnPolicy, nullable: bool) -> Column:
    made = state.code_lists.get(column.name)
    return Column(
        name=column.name,
        index=index,
        role=column.role,
        type=column.type or "category",
        nullable=nullable,
        low=column.low,
        high=column.high,
        values=made.system.codes if made else state.texts.get(column.name, ()),
        title=column.title,
        parents=made.system.parents if made else (),
        rare=column.rare,
        order=column.order,
        cuts=state.policy.cuts_of(column),
        moments=state.policy.anonymise.class_moments if has_moments(column) else "none",
        shared=state.policy.anonymise.class_moments != "none" and has_moments(column) and column.carry in PER_CLASS,
    )


def code_sets(state: PublicationState) -> dict[int, CodeSets]:
    """The meaning of the sets of each list of codes, by column."""
    index_of = {column.name: column.index for column in state.columns}
    return {index_of[name]: made.sets for name, made in state.code_lists.items()}


def generalise_views(state: PublicationState) -> PublicationState:
    """Margins of frame cells, as the physical columns of the cells."""
    if state.views is None:
        raise ValueError("there are no views")
    state.progress.begin(Step.GENERALISE, "generalising")
    columns = []
    for index, column in enumerate(state.policy.published):
        nullable = state.policy.answers.noisy_only or state.profiles[column.name].missing > 0
        sums: ClassMoments = "rounded" if tells_sums(state, column) else "none"
        columns.append(replace(_published(state, index, column, nullable), moments=sums))
    made = ViewTables(state, columns)
    for cell in state.views.cells:
        made.add(cell.place, cell.margins)
    return replace(
        state,
        columns=tuple(columns),
        margins=margins_of(state),
        view_tables=made.tables(),
        number_of_cells=made.cells,
    )


def tables(state: PublicationState) -> dict[str, pa.Table]:
    """The store's tables: cells, the members of value sets, and the texts of values."""
    if state.views is not None:
        return {**state.view_tables, "value_text": _texts(state)}
    kinds = {"column_id": pa.int32(), "set_id": pa.int32(), "value_id": pa.int32(), "alone": pa.bool_()}
    return {
        "cells": pa.table(state.cells),
        **moments_table(state),
        "set_value": pa.table({name: pa.array(state.sets[name], kind) for name, kind in kinds.items()}),
        "value_text": _texts(state),
    }


def _texts(state: PublicationState) -> pa.Table:
    index_of = {column.name: column.index for column in state.columns}
    texts = [(index_of[name], i, text) for name, values in state.texts.items() for i, text in enumerate(values)]
    column_ids, value_ids, words = zip(*texts, strict=True) if texts else ((), (), ())
    return pa.table(
        {
            "column_id": pa.array(column_ids, pa.int32()),
            "value_id": pa.array(value_ids, pa.int32()),
            "text": pa.array(words, pa.string()),
        }
    )
