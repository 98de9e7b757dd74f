"""Code lists in a store: the codes of each item, and the items of each set that a cell may name.

    code_item(column_id, item_id, code)      a code in no item is suppressed; '': or none at all
    item_set(column_id, set_id, item_id)     set 0 is the empty one and has no row; every other has one at least

The codes that there are stand in the catalog. A store that has no code list has none of these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from querygate.core.block import MISSING, CodeSets
from querygate.core.types import Catalog, Column

CODE_TABLES = {"code_item": "column_id, item_id, code", "item_set": "column_id, set_id, item_id"}
"""Tables and their columns."""

NOTHING = ""
"""What stands for MISSING in an item; no code is empty."""


def code_columns(catalog: Catalog) -> list[Column]:
    """Lists that are told as sets of items."""
    return [column for column in catalog.columns if column.is_codes and not column.groups]


def write_code_sets(catalog: Catalog, given: Mapping[int, CodeSets]) -> dict[str, pa.Table]:
    """The tables of a catalog's code lists, by column index; none where it has no such column."""
    columns = code_columns(catalog)
    if sorted(given) != sorted(column.index for column in columns):
        raise ValueError("code sets are given for every code list of the catalog, and for nothing else")
    codes: list[tuple[int, int, str]] = []
    pairs: list[tuple[int, int, int]] = []
    for column in columns:
        told = given[column.index]
        _check(column, told)
        at = column.index
        entries = zip(told.entry_item.tolist(), told.entry_code.tolist(), strict=True)
        codes += [(at, item, told.codes[code] if code != MISSING else NOTHING) for item, code in entries]
        of_set = np.repeat(np.arange(len(told.starts) - 1), np.diff(told.starts))
        pairs += [(at, s, item) for s, item in zip(of_set.tolist(), told.members.tolist(), strict=True)]
    if not columns:
        return {}
    kinds = {"code_item": (pa.int32(), pa.int32(), pa.string()), "item_set": (pa.int32(),) * 3}
    return {
        table: pa.table(
            {
                name: pa.array([row[i] for row in rows], kinds[table][i])
                for i, name in enumerate(CODE_TABLES[table].split(", "))
            }
        )
        for table, rows in (("code_item", codes), ("item_set", pairs))
    }


def read_code_sets(column: Column, codes: Iterable[tuple[int, str]], pairs: Iterable[tuple[int, int]]) -> CodeSets:
    """From (item, code), and (set, item) in order."""
    place = {code: i for i, code in enumerate(column.values)} | {NOTHING: MISSING}
    entries = np.array(sorted((item, place[code]) for item, code in codes), dtype=np.int64).reshape(-1, 2)
    table = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    sets = int(table[:, 0].max(initial=0)) + 1
    starts = np.searchsorted(table[:, 0], np.arange(sets + 1)).astype(np.int64)
    told = CodeSets(column.values, entries[:, 0].copy(), entries[:, 1].copy(), starts, table[:, 1].copy())
    _check(column, told)
    return told


def _check(column: Column, told: CodeSets) -> None:
    """What is missing must not be read as an empty set: that would say that nobody has the codes."""
    sizes = np.diff(told.starts)
    if told.codes != column.values:
        raise ValueError(f"the codes of {column.name} are not those of its list")
    if not len(sizes) or sizes[0] or not sizes[1:].all():
        raise ValueError(f"of the sets of {column.name} the first is empty, and no other")
