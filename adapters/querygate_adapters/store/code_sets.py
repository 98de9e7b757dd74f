"""Code lists in a store: the codes of each item, and the items of each set that a cell may name.

    code_item(column_id, item_id, code)      a code in no item is suppressed; '' means: or none at all
    item_set(column_id, set_id, item_id)     set 0 is the empty one and has no row; every other set has at least one

The public codes are in the catalog. A store without code lists has none of these tables.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from querygate.core.block import MISSING, CodeSets
from querygate.core.types import Catalog, Column

CODE_TABLES = {"code_item": "column_id, item_id, code", "item_set": "column_id, set_id, item_id"}
"""Tables and their columns."""

NOTHING = ""
"""Stands for MISSING in an item; no code is empty."""


def code_columns(catalog: Catalog) -> list[Column]:
    """Lists that are published as sets of items."""
    return [column for column in catalog.columns if column.is_codes and not column.groups]


def read_code_sets(column: Column, codes: Iterable[tuple[int, str]], pairs: Iterable[tuple[int, int]]) -> CodeSets:
    """From (item, code), and (set, item) in order."""
    place = {code: i for i, code in enumerate(column.values)} | {NOTHING: MISSING}
    entries = np.array(sorted((item, place[code]) for item, code in codes), dtype=np.int64).reshape(-1, 2)
    table = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    sets = int(table[:, 0].max(initial=0)) + 1
    starts = np.searchsorted(table[:, 0], np.arange(sets + 1)).astype(np.int64)
    told = CodeSets(column.values, entries[:, 0].copy(), entries[:, 1].copy(), starts, table[:, 1].copy())
    check_code_sets(column, told)
    return told


def check_code_sets(column: Column, told: CodeSets) -> None:
    """What is missing must not be read as an empty set: that would say that nobody has the codes."""
    sizes = np.diff(told.starts)
    if told.codes != column.values:
        raise ValueError(f"the codes of {column.name} are not those of its list")
    if not len(sizes) or sizes[0] or not sizes[1:].all():
        raise ValueError(f"of the sets of {column.name} the first is empty, and no other")
