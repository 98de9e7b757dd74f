"""Who is in which class, as somebody reads it off the file of a version who knows everybody's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.written_store import WrittenStore
from tests.engine import reading

FAR = 1e9


def read_classes(opened: OpenSite, version: int, people: Mapping[str, Sequence[Any]], unit: str = "") -> Ints:
    """The class of each person in every margin of counts, or of a sensitive column (margins x people)."""
    path = version_file(opened.site.store / "t", version)
    catalog = WrittenStore(path).catalog()
    with reading(path) as file:
        members: dict[tuple[int, int], set[Any]] = {}
        for column, one, text in file.execute(
            "SELECT column_id, set_id, text FROM set_value LEFT JOIN value_text USING (column_id, value_id)"
        ).fetchall():
            members.setdefault((column, one), set()).add(text)
        found = []
        for number, margin in enumerate(catalog.margins):
            if margin.sensitive == ((unit,) if unit else ()):
                quasi = [column for column in catalog.columns if column.name in margin.quasi]
                ends = ", ".join(
                    f"c{c.index}_lo, c{c.index}_hi" if c.is_numeric else f"c{c.index}_set, NULL" for c in quasi
                )
                boxes = file.execute(f"SELECT DISTINCT class, {ends} FROM cells WHERE margin = {number}").fetchall()
                found.append([_class(boxes, quasi, members, one) for one in _rows(people)])
    return np.array(found)


def read_sums(opened: OpenSite, version: int, column: str, classes: Ints) -> tuple[Floats, Floats]:
    """The ends that are written for the sum of each of these classes; far out where there are none."""
    path = version_file(opened.site.store / "t", version)
    index = next(one.index for one in WrittenStore(path).catalog().columns if one.name == column)
    with reading(path) as file:
        found = file.execute(f"SELECT class, sum_lo, sum_hi FROM class_moment WHERE column_id = {index}").fetchall()
    ends = {name: (low, high) for name, low, high in found}
    low, high = (np.array([[ends.get(one, (-FAR, FAR))[end] for one in row] for row in classes]) for end in (0, 1))
    return low, high


def _rows(people: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(people, values, strict=True)) for values in zip(*people.values(), strict=True)]


def _class(
    boxes: Sequence[Any], quasi: Sequence[Any], members: Mapping[Any, set[Any]], person: Mapping[str, Any]
) -> int:
    fits = [
        box[0]
        for box in boxes
        if all(
            box[2 * i + 1] <= person[c.name] <= box[2 * i + 2]
            if c.is_numeric
            else person[c.name] in members[c.index, box[2 * i + 1]]
            for i, c in enumerate(quasi)
        )
    ]
    assert len(fits) == 1
    return int(fits[0])
