"""Counts by coarse parts, in SQL that all engines understand: the half of the coarse split that runs inside the engine.

Codes are whole numbers and never NULL (a missing value is -1), so parts are plain conditions on them. The engine is a
function from a statement to named arrays; for DuckDB and Spark it is one line each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from querygate.core.publications.coarse_parts import Fork, Parts
from querygate.core.types import Array, Ints
from querygate_adapters.store.column_arrays import ints

Query = Callable[[str], Mapping[str, Array]]


class CoarseCounts:
    """Counts over a table of codes. `code_of` names the column that holds the codes of each column of the policy."""

    def __init__(self, query: Query, table: str, code_of: Callable[[str], str], keys: Sequence[str]) -> None:
        self._query, self._table, self._code_of, self._keys = query, table, code_of, tuple(keys)

    def codes(self, column: str, parts: Parts) -> tuple[Ints, Ints, Ints]:
        """(part, code, records) for every code that occurs."""
        part, code = number_of(parts, self._code_of), self._code_of(column)
        found = self._query(f"SELECT {part} AS part, {code} AS code, COUNT(*) AS n FROM {self._table} GROUP BY 1, 2")
        return ints(found["part"]), ints(found["code"]), ints(found["n"])

    def combinations(self, parts: Parts) -> dict[int, int]:
        """The number of distinct keys in each part."""
        part, keys = number_of(parts, self._code_of), ", ".join(self._keys)
        different = f"SELECT DISTINCT {part} AS part, {keys} FROM {self._table}"
        found = self._query(f"SELECT part, COUNT(*) AS n FROM ({different}) AS different GROUP BY 1")
        return dict(zip(np.asarray(found["part"]).tolist(), np.asarray(found["n"]).tolist(), strict=True))


def number_of(parts: Parts, code_of: Callable[[str], str]) -> str:
    """SQL for the number of the part that a row is in.

    >>> number_of(Fork("age", ((-1, -1), (3, 9)), 0, 1), lambda column: f"x_{column}")
    'CASE WHEN (x_age = -1 OR x_age BETWEEN 3 AND 9) THEN 0 ELSE 1 END'
    """
    if isinstance(parts, int):
        return f"CAST({parts} AS INTEGER)"
    left, right = (_plain(side, code_of) for side in (parts.left, parts.right))
    return f"CASE WHEN {_goes_left(parts, code_of)} THEN {left} ELSE {right} END"


def within(parts: Parts, number: int, code_of: Callable[[str], str]) -> str:
    """SQL for whether a row is in one part.

    >>> within(Fork("age", ((0, 39),), 0, Fork("sex", ((1, 1),), 1, 2)), 2, lambda column: column)
    'NOT (age BETWEEN 0 AND 39) AND NOT (sex = 1)'
    """
    path = _path(parts, number)
    if path is None:
        raise ValueError(f"there is no part {number}")
    return " AND ".join(("" if left else "NOT ") + _goes_left(fork, code_of) for fork, left in path) or "TRUE"


def _path(parts: Parts, number: int) -> list[tuple[Fork, bool]] | None:
    """The forks on the way to a part, and whether it goes left there."""
    if isinstance(parts, int):
        return [] if parts == number else None
    for left in (True, False):
        further = _path(parts.left if left else parts.right, number)
        if further is not None:
            return [(parts, left), *further]
    return None


def _plain(parts: Parts, code_of: Callable[[str], str]) -> str:
    return str(parts) if isinstance(parts, int) else number_of(parts, code_of)


def _goes_left(fork: Fork, code_of: Callable[[str], str]) -> str:
    x = code_of(fork.column)
    runs = (f"{x} = {first}" if first == last else f"{x} BETWEEN {first} AND {last}" for first, last in fork.runs)
    return f"({' OR '.join(runs)})"
