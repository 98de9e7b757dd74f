"""Where isolated records are, in words: the shortest condition on known columns that selects exactly their places.

>>> import numpy as np
>>> describe_places(np.array([0, 1, 0], bool), {"age": [50, 51, 50], "sex": ["F", "F", "M"]})
'age = 51'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from querygate.core.types import Bools, SqlValue

MOST_COLUMNS = 3
MOST_LISTED = 3


def describe_places(places: Bools, columns: Mapping[str, Sequence[SqlValue]]) -> str:
    """A condition for these places. Fewest columns first; where no box fits, place by place, at most three of them."""
    if not places.any():
        return "nobody"
    arrays = {name: np.array([_text(value) for value in values], dtype=object) for name, values in columns.items()}
    inside = {name: sorted(set(values[places])) for name, values in arrays.items()}
    fits = {name: np.isin(values, inside[name]) for name, values in arrays.items()}
    for number in range(1, min(MOST_COLUMNS, len(arrays)) + 1):
        for names in combinations(arrays, number):
            if np.array_equal(np.logical_and.reduce([fits[name] for name in names]), places):
                return " AND ".join(_condition(name, places, columns[name]) for name in names)
    chosen = np.flatnonzero(places)
    listed = [" AND ".join(f"{name} = {arrays[name][i]}" for name in arrays) for i in chosen[:MOST_LISTED]]
    more = f" or {len(chosen) - MOST_LISTED} more" if len(chosen) > MOST_LISTED else ""
    return " or ".join(f"({one})" for one in listed) + more if len(chosen) > 1 else listed[0]


def _condition(name: str, places: Bools, values: Sequence[SqlValue]) -> str:
    """`age = 51`, `age IN (51, 53)`, or `age BETWEEN 51 AND 55` where nothing else lies between."""
    chosen = [values[i] for i in np.flatnonzero(places).tolist()]
    different = sorted(set(map(_text, chosen)))
    if len(different) == 1:
        return f"{name} IS NULL" if different[0] == "NULL" else f"{name} = {different[0]}"
    numbers = [value for value in chosen if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) == len(chosen):
        low, high = min(numbers), max(numbers)
        between = {v for v in values if isinstance(v, (int, float)) and low <= v <= high}
        if between == set(numbers) and len(between) > 2:
            return f"{name} BETWEEN {low} AND {high}"
        different = [_text(value) for value in sorted(set(numbers))]
    return f"{name} IN ({', '.join(different)})"


def _text(value: SqlValue) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, (bool, int, float)):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
