"""ORDER BY and LIMIT over ranges.

The order of two groups is certain only where their ranges do not meet, and a group may not exist at all. So the rows
are shown in a readable order, and LIMIT k keeps every group that may be among the first k: a row whose best
possible rank is k or better. One whose worst possible rank is within k too, and which certainly exists, is certain;
the others are marked as possible. Cutting the list to k rows would hide groups that belong there.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from querygate.core.plan import Order, Plan
from querygate.core.types import Bools, Floats, Group, Ints, Range

NOTE = "LIMIT keeps every group that may be among the first {limit}; rows marked possible may not be."


def arrange(groups: tuple[Group, ...], plan: Plan) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """The groups in order and within the limit, and notes on what that means."""
    if not plan.groups:  # one row; LIMIT 0 shows none
        return (groups if plan.limit != 0 else ()), ()
    keys = [_keys(groups, order, plan) for order in plan.orders]
    notes: tuple[str, ...] = ()
    kept = np.arange(len(groups))
    if plan.limit is not None:
        best, worst = _ranks(keys, np.array([group.certain for group in groups], dtype=np.bool_))
        groups = tuple(replace(g, certain=g.certain and bool(worst[i] <= plan.limit)) for i, g in enumerate(groups))
        kept = np.flatnonzero(best <= plan.limit)
        if len(kept) > plan.limit or not all(groups[i].certain for i in kept):
            notes = (NOTE.format(limit=plan.limit),)
    # Readable: by the middle of each interval of places, which is the place itself where the order is certain.
    order = np.lexsort([(low + high)[kept] for low, high in reversed(keys)]) if keys else np.arange(len(kept))
    return tuple(groups[i] for i in kept[order]), notes


def _keys(groups: tuple[Group, ...], order: Order, plan: Plan) -> tuple[Ints, Ints]:
    """Sort keys as intervals of places, first place first; NULL is before or after everything as ORDER BY says.

    Places are ranks among all ends, compared as the exact numbers they are: doubles would tie large whole numbers.
    """
    output = plan.outputs[order.output]
    if output.kind == "key":
        texts = sorted({g.keys[output.source] for g in groups if g.keys[output.source] is not None}, key=str)
        place = {text: i for i, text in enumerate(texts)}
        ranges = [
            Range.null() if g.keys[output.source] is None else Range.exact(place[g.keys[output.source]]) for g in groups
        ]
    else:
        position = [o for o in plan.outputs if o.kind == "range"].index(output)
        ranges = [g.ranges[position] for g in groups]
    null = -math.inf if order.nulls_first else math.inf
    intervals = []
    for found in ranges:
        ends = [end for end in (found.low, found.high) if end is not None]
        ends = [-end for end in ends] if order.descending else ends
        ends += [null] if found.may_be_null else []
        intervals.append((min(ends), max(ends)))
    places = {end: i for i, end in enumerate(sorted({end for interval in intervals for end in interval}))}
    return (
        np.array([places[low] for low, _ in intervals], dtype=np.int64),
        np.array([places[high] for _, high in intervals], dtype=np.int64),
    )


def _ranks(keys: list[tuple[Ints, Ints]], certain: Bools) -> tuple[Floats, Floats]:
    """Best and worst possible rank of each group among those that exist."""
    size = len(certain)
    best, worst = np.ones(size), np.ones(size)
    for i in range(size):
        surely, maybe = _before(keys, i)
        surely[i] = maybe[i] = False
        best[i] += np.count_nonzero(surely & certain)
        worst[i] += np.count_nonzero(maybe)
    return best, worst


def _before(keys: list[tuple[Ints, Ints]], i: int) -> tuple[Bools, Bools]:
    """Which groups certainly stand before group i, and which may: lexicographic over the terms, ties either way."""
    size = len(keys[0][0])
    surely, maybe = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    tied = np.ones(size, dtype=np.bool_)  # equal for certain in all terms so far
    for low, high in keys:
        surely |= tied & (high < low[i])
        meets = tied & (low <= high[i]) & ~((low == high) & (low[i] == high[i]) & (low == low[i]))
        maybe |= meets
        tied &= (low == high) & (low[i] == high[i]) & (low == low[i])
    return surely, maybe | tied
