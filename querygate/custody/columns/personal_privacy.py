"""What people guard: the texts of a wish column as sets of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.types import Array, Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.policy import NO_WISH, ColumnPolicy, DiversityPolicy

Wishes = tuple[Ints, tuple[frozenset[int], ...]]
"""The number of each record's set, and the values of every set."""


def read_wishes(
    column: ColumnPolicy, wanted: DiversityPolicy, texts: Sequence[str], own: Ints, wishes: Array
) -> Wishes:
    """What each record guards, by positions in `texts`. A record without a wish guards its own value, `own`."""
    place = {text: i for i, text in enumerate(texts)}
    groups = _groups(column, wanted, place)
    named = {wish: _members(wish, place, groups) for wish in {str(w) for w in wishes.tolist() if w is not None}}
    unknown = {wish for wish, members in named.items() if members is None}
    if unknown:
        raise ConfigError(
            "QG802",
            f"Column {wanted.by}: {counted(len(unknown), 'wish names', 'wishes name')} a value that "
            f"{column.name} does not have.",
            f"A wish is a value, a group of the policy, several of them separated by |, or {NO_WISH}.",
        )
    sets: dict[frozenset[int], int] = {}
    numbers = [
        sets.setdefault(frozenset([value]) if wish is None else named[str(wish)] or frozenset(), len(sets))
        for value, wish in zip(own.tolist(), wishes.tolist(), strict=True)
    ]
    return np.array(numbers, dtype=np.int64), tuple(sets)


def _groups(column: ColumnPolicy, wanted: DiversityPolicy, place: Mapping[str, int]) -> dict[str, frozenset[int]]:
    """The groups of the policy, and the nodes of the column's hierarchy by name, with all values under nodes of that
    name."""
    found: dict[str, set[int]] = {}
    for name, values in wanted.groups:
        found[name] = {place[value] for value in values if value in place}
    for leaf, *ancestors in rows_of(column, list(place)):
        for name in {*ancestors}:
            found.setdefault(name, set()).update([place[leaf]] if leaf in place else [])
    return {name: frozenset(members) for name, members in found.items()}


def _members(wish: str, place: Mapping[str, int], groups: Mapping[str, frozenset[int]]) -> frozenset[int] | None:
    if wish == NO_WISH and wish not in place:
        return frozenset()
    found: set[int] = set()
    for part in [wish] if wish in place else wish.split("|"):
        if part in place:
            found.add(place[part])
        elif part in groups:
            found |= groups[part]
        else:
            return None
    return frozenset(found)
