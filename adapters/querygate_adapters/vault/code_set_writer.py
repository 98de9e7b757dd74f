"""The tables of a version's code lists, as a publication writes them: see `querygate_adapters/store/code_sets.py`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from querygate.core.block import MISSING, CodeSets
from querygate.core.types import Catalog
from querygate_adapters.store.code_sets import CODE_TABLES, NOTHING, check_code_sets, code_columns


def write_code_sets(catalog: Catalog, given: Mapping[int, CodeSets]) -> dict[str, pa.Table]:
    """The tables of a catalog's code lists, by column index; none where it has no such column."""
    columns = code_columns(catalog)
    if sorted(given) != sorted(column.index for column in columns):
        raise ValueError("code sets are given for every code list of the catalog, and for nothing else")
    codes: list[tuple[int, int, str]] = []
    pairs: list[tuple[int, int, int]] = []
    for column in columns:
        told = given[column.index]
        check_code_sets(column, told)
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
