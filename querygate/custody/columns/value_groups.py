"""Categories with groups: values are coded by group, and a class is published with the values of whole groups.

The code of a value is the place of its group. The code of a value is the position of its group. Classes are made over
groups, so they reveal nothing about a value within its group; the sets that are written hold every value of each group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.custody.policy import ColumnPolicy
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise import Box, Intervals, ValueSets


def group_codes(column: ColumnPolicy, values: Iterable[object]) -> Ints:
    """The position of each value's group; -1 for none."""
    place = {value: number for number, group in enumerate(column.groups) for value in group}
    return np.array([place.get(str(value), -1) for value in values], dtype=np.int64)


def with_values(state: PublicationState) -> tuple[Box, ...]:
    """The boxes of the state, with the values of groups in place of groups."""
    return tuple(_of_values(state, state.policy.column(box.name), box) for box in state.boxes)


def _of_values(state: PublicationState, column: ColumnPolicy, box: Box) -> Box:
    if not column.groups:
        return box
    place = {text: i for i, text in enumerate(state.texts[column.name])}
    members = [np.array([place[value] for value in group], dtype=np.int64) for group in column.groups]
    held: list[Sequence[int]]
    if isinstance(box, Intervals):  # for a recoder, over the flat hierarchy
        held = [range(low, high + 1) if low >= 0 else () for low, high in zip(box.low, box.high, strict=True)]
    else:
        held = [box.of(label) for label in range(box.nulls.size)]
    codes = [np.sort(np.concatenate([members[g] for g in one])) if len(one) else members[0][:0] for one in held]
    starts = np.concatenate(([0], np.cumsum([one.size for one in codes]))).astype(np.int64)
    return ValueSets(box.name, starts, np.concatenate(codes), box.nulls)


def split_groups(column: ColumnPolicy, sets: Sequence[frozenset[str]]) -> int:
    """How many published sets of values contain only part of a group; for the verifier, on what was written."""
    return sum(1 for members in sets if any(0 < len(members.intersection(g)) < len(set(g)) for g in column.groups))
