"""Secret conditions of a log as patterns of truth: the minterms into which they divide the records of a place.

>>> import numpy as np
>>> hiv, high = np.array([1, 0, 0, 0], bool), np.array([1, 1, 0, 0], bool)
>>> patterns([hiv, high])
array([[False, False],
       [False,  True],
       [ True,  True]])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Bools
from querygate.methods.audit.totals import Base, Pattern

MOST_MINTERMS = 64


def patterns(conditions: Sequence[Bools]) -> Bools | None:
    """Patterns of truth that records have, one a line, in order; None if there are too many.

    The first is the one in which nothing holds; where there is none, the one most records have. A condition that holds
    for nobody could hold for somebody, so there is one more pattern in which it does; likewise one that holds for all.
    """
    if not conditions:
        return np.zeros((1, 0), dtype=np.bool_)
    label = np.zeros(len(conditions[0]), dtype=np.int64)
    for condition in conditions:
        values, label = np.unique(2 * label + condition, return_inverse=True)
        if len(values) > MOST_MINTERMS:
            return None
    _, first, number = np.unique(label, return_index=True, return_counts=True)
    found = np.stack([condition[first] for condition in conditions], axis=1)
    order = np.lexsort(found.T[::-1])
    if found.any(axis=1).all():
        order = np.concatenate([[np.argmax(number)], order[order != np.argmax(number)]])
    found = found[order]
    for constant in np.flatnonzero(found.all(axis=0) | ~found.any(axis=0)):
        more = found[0].copy()
        more[constant] ^= True
        found = np.concatenate([found, more[None]])
    return found if len(found) <= MOST_MINTERMS else None


def name_minterms(found: Bools, names: Sequence[str]) -> tuple[str, ...]:
    """What holds in each, in words."""
    listed = []
    for truths in found:
        true = [name for name, truth in zip(names, truths, strict=True) if truth]
        false = [f"NOT ({name})" for name, truth in zip(names, truths, strict=True) if not truth]
        few = len(names) <= 3
        listed.append(" AND ".join([*true, *false] if few else [*true, "none of the other conditions"]))
    return tuple(listed)


def make_base(value: str, asked: dict[str, Pattern], names: Sequence[str], *, sizes_known: bool) -> Base:
    """Measures of a value: those asked for, everybody's, and each minterm's.

    Where the number of records of each place is known and only its division is not, everybody's is no news, and what
    one minterm lacks the others have: patterns are taken without the first minterm.
    """
    count = len(names)
    measures = dict(asked)
    units: list[Pattern] = [tuple(int(i == m) for i in range(count)) for m in range(count)]
    if sizes_known:
        units[0] = tuple(int(i > 0) for i in range(count))
    elif not any(pattern == (1,) * count for pattern in asked.values()):
        measures[value] = (1,) * count
    known = set(measures.values())
    for unit, name in zip(units, names, strict=True):
        if unit not in known and any(unit):
            held = f"NOT ({name})" if sizes_known and unit == units[0] else name
            measures.setdefault(f"{value} where {held}" if value else held, unit)
    return Base(measures, len(asked), tuple(f"{value} where {name}" if value and name else name for name in names))
