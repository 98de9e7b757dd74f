"""How many values of a quasi-identifier each class has according to the written file.

As far as readers know, each of them occurs, so in a class of n records no value can belong to more than n minus the
number of the other values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from querygate.core.block import NO_NULLS
from querygate.core.types import Array, Column, Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.columns.value_codes import grid_codes
from querygate.custody.policy import ColumnPolicy
from querygate.custody.verify.margin_records import WrittenMargin, states
from querygate.custody.verify.verifier_types import Written

ONLY_NULLS = 2


def told_values(written: Written, column: Column, wanted: ColumnPolicy, margin: WrittenMargin) -> Ints:
    """By class. Of a number these are its two ends, of values in groups the groups, of those with a hierarchy the
    nodes; missing is one more.
    """
    return _ends(column, wanted, margin) if column.is_numeric else _members(written, column, wanted, margin)


def _ends(column: Column, wanted: ColumnPolicy, margin: WrittenMargin) -> Ints:
    cells = margin.cells
    low, high = (np.ma.getdata(cells[f"c{column.index}_{end}"])[margin.first] for end in ("lo", "hi"))
    state = states(column, cells)[margin.first]
    differ = low != high if column.role == "public" else _cell(wanted, low) != _cell(wanted, high)
    return np.where(state == ONLY_NULLS, 1, 1 + differ + (state != NO_NULLS))


def _cell(wanted: ColumnPolicy, values: Array) -> Ints:
    """The position of the public cell in which each lies."""
    return np.searchsorted(grid_codes(wanted).low, values, side="right")


def _members(written: Written, column: Column, wanted: ColumnPolicy, margin: WrittenMargin) -> Ints:
    """The fewest kinds of values, groups or nodes that a set is made of, each of them whole."""
    set_id, value_id, texts = written.sets(column.index)
    names, place = np.unique(set_id, return_inverse=True)
    fewest = np.bincount(place.reshape(-1))
    for kind in _kinds(wanted, texts):
        kinds = np.array([*kind, max(kind, default=-1) + 1])  # a missing value is one by itself, and the last
        size = np.bincount(kinds)
        pairs, held = np.unique(place.reshape(-1) * size.size + kinds[value_id], return_counts=True)
        of_set = pairs // size.size
        whole = np.bincount(of_set[held < size[pairs % size.size]], minlength=names.size) == 0
        fewest = np.where(whole, np.minimum(fewest, np.bincount(of_set, minlength=names.size)), fewest)
    sets = np.ma.getdata(margin.cells[f"c{column.index}_set"])[margin.first]
    return np.asarray(fewest[np.searchsorted(names, sets)])


def _kinds(wanted: ColumnPolicy, texts: Sequence[str]) -> Iterator[list[int]]:
    """Of each text its group, and its node at each height; a text that is in none of them is one by itself."""
    groups = {text: group for group in wanted.groups for text in group}
    if groups:
        yield _numbered([groups.get(text, (text,)) for text in texts])
    rows = {row[0]: tuple(row) for row in rows_of(wanted, texts)}
    for height in range(1, min((len(row) for row in rows.values()), default=0)):
        yield _numbered([rows[text][height:] if text in rows else (text,) for text in texts])


def _numbered(names: Sequence[tuple[str, ...]]) -> list[int]:
    known: dict[tuple[str, ...], int] = {}
    return [known.setdefault(name, len(known)) for name in names]
