"""The published form of a quasi-identifier in each class, as columns that people and programs can read.

A number becomes two columns, its lowest and highest possible value; a category becomes one, with the value, the node of
its hierarchy, or its possible values. A missing value is an empty field; if only some members of a class miss it, an
additional column says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querygate.core.types import Bools, Ints
from querygate.custody.columns.hierarchies import nodes, rows_of
from querygate.custody.extract.protected_records import Field, Side
from querygate.custody.extract.raw_tables import numbers_of, texts_of
from querygate.custody.policy import ColumnPolicy
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise import ALL_NULLS, NO_NULLS, SOME_NULLS, Box, Hierarchy, Intervals

OR = " | "
"""Separates the possible values of a record."""

ANY = "*"
"""Stands for any value."""

_ARROW: dict[str, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


class ClassColumn(Protocol):
    """One quasi-identifier in all classes. Arrays have a value for each record, whose classes are given."""

    def fields(self) -> list[Field]: ...

    def arrays(self, classes: Ints) -> list[pa.Array]:
        """The released arrays, in the order of the fields."""

    def usable(self, classes: Ints) -> pa.Array:
        """A single value, as somebody with only the extract would choose it: the middle of a range, or the most
        frequent of several values, if there is just one.
        """

    def sides(self) -> list[Side]:
        """What each class says."""

    def strays(self, classes: Ints, raw: pa.Array) -> int:
        """How many records have a value outside their published one."""


def publish_column(state: PublicationState, column: ColumnPolicy, box: Box) -> ClassColumn:
    if column.name in state.numbers and isinstance(box, Intervals):
        numbers, known = state.numbers[column.name], box.nulls != ALL_NULLS
        low, high = (
            np.where(known, ends[np.where(known, codes, 0)], 0)
            if numbers.size
            else np.zeros(known.size, dtype=np.int64)
            for ends, codes in ((numbers.low, box.low), (numbers.high, box.high))
        )
        return Number(column, low, high, box.nulls)
    return _category(state, column, box)


def _category(state: PublicationState, column: ColumnPolicy, box: Box) -> Category:
    texts, tree, labels = state.texts[column.name], state.trees.get(column.name), None
    if tree is not None and isinstance(box, Intervals):
        number, members = nodes(tree, box, texts)
        labels = _node_labels(tree, box, rows_of(column, texts))
    elif isinstance(box, Intervals):  # from the flat hierarchy of a category without its own
        number = np.arange(box.low.size)
        members = [[*range(low, high + 1)] if low >= 0 else [] for low, high in zip(box.low, box.high, strict=True)]
    else:
        number, sets = box.numbered()
        members = [list(one) for one in sets]
    held = [tuple(texts[i] for i in members[n]) for n in number.tolist()]
    return Category(column, held, labels or [listed(one, len(texts)) for one in held], box.nulls)


def listed(values: Sequence[str], of: int) -> str:
    """The possible values of a record, out of all values of the column."""
    return ANY if 1 < len(values) == of else OR.join(values)


def columns_of(
    out: Sequence[ColumnPolicy], published: Mapping[str, ClassColumn], members: pa.Table, classes: Ints
) -> tuple[list[Field], list[pa.Array], dict[str, pa.Array]]:
    """All released columns: quasi-identifiers in published form, the others unchanged. Returns fields, arrays and
    usable values.
    """
    fields: list[Field] = []
    arrays: list[pa.Array] = []
    usable: dict[str, pa.Array] = {}
    for column in out:
        found = published.get(column.name)
        if found is not None:
            fields += found.fields()
            arrays += found.arrays(classes)
            usable[column.name] = found.usable(classes)
        else:
            raw = members[column.name]
            labels = (
                () if column.is_numeric else tuple(sorted({str(t) for t in raw.unique().to_pylist() if t is not None}))
            )
            fields.append(Field(column.name, column.name, f"{column.name}, unchanged", column.title, labels))
            arrays.append(raw)
            usable[column.name] = raw
    return fields, arrays, usable


def classes_seen(table: pa.Table, fields: Sequence[Field], published: Mapping[str, ClassColumn]) -> Ints:
    """The class of each record as a recipient sees it: by the texts and numbers in the extract."""
    names = [field.name for field in fields if field.of in published]
    key = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        place = np.asarray(table[name].combine_chunks().dictionary_encode("encode").indices, dtype=np.int64)
        key = np.unique(key * (int(place.max(initial=0)) + 1) + place, return_inverse=True)[1].reshape(-1)
    return key


def sides_seen(published: Mapping[str, ClassColumn], classes: Ints, seen: Ints) -> dict[str, list[Side]]:
    """What each class says about each quasi-identifier, for classes as recipients see them."""
    first = classes[np.unique(seen, return_index=True)[1]].tolist()
    found = {}
    for name, one in published.items():
        sides = one.sides()
        found[name] = [sides[label] for label in first]
    return found


def count_strays(published: Mapping[str, ClassColumn], members: pa.Table, classes: Ints) -> int:
    """How many values are outside their published form."""
    return sum(one.strays(classes, members[name]) for name, one in published.items())


class Number:
    """A lowest and a highest value for each class, as whole numbers if the column has those."""

    def __init__(self, column: ColumnPolicy, low: Any, high: Any, nulls: Ints) -> None:
        self.column, self.low, self.high, self.missing = column, low, high, MissingColumn(column, nulls)

    def fields(self) -> list[Field]:
        name, title = self.column.name, self.column.title
        low = Field(f"{name}_low", name, f"lowest value that {name} can have", title)
        high = Field(f"{name}_high", name, f"highest value that {name} can have", title)
        return [low, high, *self.missing.fields()]

    def arrays(self, classes: Ints) -> list[pa.Array]:
        kind, gone = _ARROW[str(self.column.type)], self.missing.all[classes]
        carrier = pa.int32() if kind == pa.date32() else pa.float64() if kind == pa.float64() else pa.int64()
        ends = [pa.array(end[classes], mask=gone).cast(carrier).cast(kind) for end in (self.low, self.high)]
        return [*ends, *self.missing.arrays(classes)]

    def usable(self, classes: Ints) -> pa.Array:
        middle = (self.low.astype(np.float64) + self.high) / 2
        return pa.array(middle[classes], mask=self.missing.all[classes])

    def sides(self) -> list[Side]:
        ends = zip(self.low.tolist(), self.high.tolist(), self.missing.all.tolist(), strict=True)
        return [None if gone else (low, high) for low, high, gone in ends]

    def strays(self, classes: Ints, raw: pa.Array) -> int:
        unknown = np.asarray(pc.is_null(raw))
        values = numbers_of(raw)
        outside = (values < self.low[classes]) | (values > self.high[classes])
        return int((~unknown & outside).sum()) + self.missing.strays(classes, unknown)


class Category:
    """A value, a node, or several values: for each class its values and their common name."""

    def __init__(
        self, column: ColumnPolicy, sets: Sequence[tuple[str, ...]], labels: Sequence[str], nulls: Ints
    ) -> None:
        self.column, self.sets, self.labels, self.missing = column, sets, labels, MissingColumn(column, nulls)

    def fields(self) -> list[Field]:
        name = self.column.name
        meaning = (
            f"{name}: a value, a group of values, several possible values separated by '{OR.strip()}', or {ANY} for any"
        )
        labels = tuple(sorted({text for text in self.labels if text}))
        return [Field(name, name, meaning, self.column.title, labels), *self.missing.fields()]

    def arrays(self, classes: Ints) -> list[pa.Array]:
        texts = np.array(self.labels, dtype=object)[classes]
        array = pa.array(texts, type=pa.string(), mask=self.missing.all[classes])
        return [array, *self.missing.arrays(classes)]

    def usable(self, classes: Ints) -> pa.Array:
        sizes = np.bincount(classes, minlength=len(self.sets))
        alone: Counter[str] = Counter()
        for values, size in zip(self.sets, sizes.tolist(), strict=True):
            if len(values) == 1:
                alone[values[0]] += size
        chosen = [max(values, key=lambda text: (alone[text], text)) if values else None for values in self.sets]
        texts = np.array([*chosen, None], dtype=object)[classes]
        return pa.array(texts, type=pa.string(), mask=self.missing.all[classes])

    def sides(self) -> list[Side]:
        return [frozenset(values) or None for values in self.sets]

    def strays(self, classes: Ints, raw: pa.Array) -> int:
        unknown = np.asarray(pc.is_null(raw))
        allowed = [frozenset(values) for values in self.sets]
        pairs = zip(texts_of(raw), classes.tolist(), strict=True)
        return sum(1 for text, c in pairs if text is not None and text not in allowed[c]) + self.missing.strays(
            classes, unknown
        )


class MissingColumn:
    """Whether the members of each class miss the value: none of them, some or all."""

    def __init__(self, column: ColumnPolicy, nulls: Ints) -> None:
        self.column, self.nulls = column, nulls
        self.all: Bools = nulls == ALL_NULLS

    def fields(self) -> list[Field]:
        name = self.column.name
        if not (self.nulls == SOME_NULLS).any():
            return []
        return [Field(f"{name}_may_be_missing", name, f"whether {name} may be missing in the source")]

    def arrays(self, classes: Ints) -> list[pa.Array]:
        return [pa.array((self.nulls == SOME_NULLS)[classes])] if self.fields() else []

    def strays(self, classes: Ints, unknown: Bools) -> int:
        return int((unknown & (self.nulls == NO_NULLS)[classes]).sum() + (~unknown & self.all[classes]).sum())


def _node_labels(tree: Hierarchy, box: Intervals, rows: Sequence[Sequence[str]]) -> list[str]:
    """The name of each class's node: its name in the hierarchy, at the level where all its leaves meet."""
    way = {row[0]: row for row in rows}
    first, last = tree.ancestors(box.low, box.high)
    labels = []
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        if low < 0:
            labels.append("")
            continue
        height = next(h for h, level in enumerate(tree.levels) if level[low] == level[high])
        labels.append(str(way[tree.leaves[low]][height]))
    return labels
