"""How many values of a quasi-identifier each class is told to have, by the written file.

Each of them occurs, as far as readers know, so in a class of n records none is that of more than n less the others.
"""

from __future__ import annotations

import numpy as np

from querygate.core.block import NO_NULLS
from querygate.core.types import Column, Ints
from querygate.custody.columns.value_codes import grid_codes
from querygate.custody.policy import ColumnPolicy
from querygate.custody.verify.margin_records import WrittenMargin, states
from querygate.custody.verify.promises import Written

ONLY_NULLS = 2


def told_values(written: Written, column: Column, wanted: ColumnPolicy, margin: WrittenMargin) -> Ints:
    """By class. Of a number these are its two ends, of values in groups the groups; missing is one more."""
    return _ends(column, wanted, margin) if column.is_numeric else _members(written, column, wanted, margin)


def _ends(column: Column, wanted: ColumnPolicy, margin: WrittenMargin) -> Ints:
    cells, edges = margin.cells, grid_codes(wanted).low
    low, high = (np.ma.getdata(cells[f"c{column.index}_{end}"])[margin.first] for end in ("lo", "hi"))
    places = [np.searchsorted(edges, end, side="right") for end in (low, high)]
    state = states(column, cells)[margin.first]
    return np.where(state == ONLY_NULLS, 1, 1 + (places[0] != places[1]) + (state != NO_NULLS))


def _members(written: Written, column: Column, wanted: ColumnPolicy, margin: WrittenMargin) -> Ints:
    set_id, value_id, texts = written.sets(column.index)
    group_of = {text: place for place, group in enumerate(wanted.groups) for text in group}
    kind = np.array([*(group_of.get(text, len(wanted.groups) + place) for place, text in enumerate(texts)), -1])
    told = np.unique(np.stack([set_id, kind[value_id]]), axis=1)[0]
    sets = np.ma.getdata(margin.cells[f"c{column.index}_set"])[margin.first]
    return np.searchsorted(told, sets, side="right") - np.searchsorted(told, sets, side="left")
