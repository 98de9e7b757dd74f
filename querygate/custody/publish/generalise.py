"""Classes to cells: boxes, hulls and codes as the physical columns of the store, and the store's tables.

Published column number i becomes c{i}_lo, c{i}_hi and c{i}_null, or c{i}_set. From here on nobody sees a value, only
public intervals and sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.types import Column, Ints
from querygate.custody.columns.hierarchies import nodes
from querygate.custody.columns.value_groups import with_values
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.number_rules import has_moments
from querygate.custody.publish.class_moments import (
    PER_CLASS,
    add_moments,
    moments_table,
    tells_missing_apart,
    without_values,
)
from querygate.custody.publish.publication_state import PublicationState, Step
from querygate.methods.anonymise import Intervals, ValueSets


def generalise(draft: PublicationState) -> None:
    """Boxes of the classes and codes of the other columns, as the physical columns of the cells."""
    draft.begin(Step.GENERALISE, "generalising")
    draft.let_table_go()
    apart = frozenset(c.name for c in draft.published if tells_missing_apart(draft, c))
    carried = [
        c for c in draft.published if c.role != "quasi-identifier" and (c.carry not in PER_CLASS or c.name in apart)
    ]
    classes, codes, counts = without_values(*draft.workshop.cells([c.name for c in carried]), apart)
    size = np.bincount(classes, counts).astype(np.int64)
    draft.cells = {"class": classes, "n": counts, "class_n": size[classes]}
    draft.number_of_cells = len(counts)
    by_name = {box.name: box for box in with_values(draft)}
    for index, column in enumerate(draft.published):
        box = by_name.get(column.name)
        if isinstance(box, ValueSets):
            nullable = _put_sets(draft, index, *box.numbered(), box.nulls, classes)
        elif isinstance(box, Intervals) and column.name in draft.trees:
            found = nodes(draft.trees[column.name], box, draft.texts[column.name])
            nullable = _put_sets(draft, index, *found, box.nulls, classes)
        elif column.name in draft.code_lists:
            draft.cells[f"c{index}_items"] = codes[column.name].astype(np.int32)
            told = draft.code_lists[column.name].in_cells(classes, codes[column.name], counts)
            draft.code_lists[column.name] = told
            nullable = False  # a missing list is an empty one
        elif column.name in apart:
            low, high, _ = _hull(draft, column)
            missing = np.where(codes[column.name] < 0, 2, 0)
            nullable = _put_box(draft, index, column, low[classes], high[classes], missing, np.arange(len(classes)))
        elif isinstance(box, Intervals):
            nullable = _put_box(draft, index, column, box.low, box.high, box.nulls, classes)
        elif column.carry == "hull":
            nullable = _put_box(draft, index, column, *_hull(draft, column), classes)
        elif column.is_numeric:
            value = codes[column.name]
            nullable = _put_box(draft, index, column, value, value, np.where(value < 0, 2, 0), np.arange(len(value)))
        else:
            nullable = _put_values(draft, index, column, codes[column.name])
        draft.columns.append(_published(draft, index, column, nullable))
    add_moments(draft)


def _hull(draft: PublicationState, column: ColumnPolicy) -> tuple[Ints, Ints, Ints]:
    """Least and greatest code of a sensitive number in each class, and whether values are missing."""
    low, high, missing = draft.workshop.class_codes(column.name)
    return low, high, np.where(high < 0, 2, missing > 0)


def _put_box(
    draft: PublicationState, index: int, column: ColumnPolicy, low: Ints, high: Ints, nulls: Ints, which: Ints
) -> bool:
    """Interval columns c{index}_lo, c{index}_hi and, where something is missing, c{index}_null."""
    numbers = draft.numbers[column.name]
    known = nulls != 2
    ends = [
        np.where(known, numbers_end[np.where(known, code, 0)] if numbers.size else 0, 0)
        for numbers_end, code in ((numbers.low, low), (numbers.high, high))
    ]
    nullable = bool((nulls > 0).any())
    for name, values in (("lo", ends[0]), ("hi", ends[1])):
        draft.cells[f"c{index}_{name}"] = pa.array(values[which], mask=~known[which])
    if nullable:
        draft.cells[f"c{index}_null"] = nulls[which].astype(np.int8)
    return nullable


def _put_sets(
    draft: PublicationState, index: int, numbers: Ints, sets: Sequence[Sequence[int]], nulls: Ints, classes: Ints
) -> bool:
    """A value-set column: equal sets share an id; NULL is a member with value id -1."""
    some = (nulls > 0).astype(np.int64)
    ids, which = np.unique(numbers * 2 + some, return_inverse=True)
    for set_id, key in enumerate(ids.tolist()):
        _add_set(draft, index, set_id, sorted(([-1] if key % 2 else []) + list(sets[key // 2])))
    draft.cells[f"c{index}_set"] = which.reshape(-1)[classes].astype(np.int32)
    return bool(some.any())


def _put_values(draft: PublicationState, index: int, column: ColumnPolicy, codes: Ints) -> bool:
    """A category carried per record: every value is a set of its own."""
    size = len(draft.texts[column.name])
    missing = bool((codes < 0).any())
    for value in range(size):
        _add_set(draft, index, value, [value])
    if missing:
        _add_set(draft, index, size, [-1])
    draft.cells[f"c{index}_set"] = np.where(codes < 0, size, codes).astype(np.int32)
    return missing


def _add_set(draft: PublicationState, index: int, set_id: int, members: list[int]) -> None:
    draft.pairs["column_id"] += [index] * len(members)
    draft.pairs["set_id"] += [set_id] * len(members)
    draft.pairs["value_id"] += members
    draft.pairs["alone"] += [len(members) == 1] * len(members)


def _published(draft: PublicationState, index: int, column: ColumnPolicy, nullable: bool) -> Column:
    made = draft.code_lists.get(column.name)
    return Column(
        name=column.name,
        index=index,
        role=column.role,
        type=column.type or "category",
        nullable=nullable,
        low=column.low,
        high=column.high,
        values=made.system.codes if made else draft.texts.get(column.name, ()),
        title=column.title,
        parents=made.system.parents if made else (),
        moments=draft.policy.anonymise.class_moments if has_moments(column) else "none",
        shared=draft.policy.anonymise.class_moments != "none" and has_moments(column) and column.carry in PER_CLASS,
    )


def code_sets(draft: PublicationState) -> dict[int, CodeSets]:
    """What the sets of each list of codes mean, by column."""
    index_of = {column.name: column.index for column in draft.columns}
    return {index_of[name]: made.sets for name, made in draft.code_lists.items()}


def tables(draft: PublicationState) -> dict[str, pa.Table]:
    """The store's tables: cells, the members of value sets, and the texts of values."""
    kinds = {"column_id": pa.int32(), "set_id": pa.int32(), "value_id": pa.int32(), "alone": pa.bool_()}
    index_of = {column.name: column.index for column in draft.columns}
    texts = [(index_of[name], i, text) for name, values in draft.texts.items() for i, text in enumerate(values)]
    column_ids, value_ids, words = zip(*texts, strict=True) if texts else ((), (), ())
    return {
        "cells": pa.table(draft.cells),
        **moments_table(draft),
        "set_value": pa.table({name: pa.array(draft.pairs[name], kind) for name, kind in kinds.items()}),
        "value_text": pa.table(
            {
                "column_id": pa.array(column_ids, pa.int32()),
                "value_id": pa.array(value_ids, pa.int32()),
                "text": pa.array(words, pa.string()),
            }
        ),
    }
