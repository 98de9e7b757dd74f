"""ORDER BY and LIMIT over ranges.

The order of two groups is certain only where their ranges do not meet, and a group may not exist at all. So the rows
are shown in a readable order, and LIMIT k keeps every group that may be among the first k: a row whose best
possible rank is k or better. One whose worst possible rank is within k too, and which certainly exists, is certain;
the others are marked as possible. Cutting the list to k rows would hide groups that belong there. OFFSET moves the
window: ranks from o + 1 to o + k. Without ORDER BY any group may come first, so all are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.plan import Order, Plan
from querygate.core.types import Bools, Floats, Group, Ints, Limited, Range, Scalar

HAVING = "HAVING keeps every group that may satisfy it; groups marked possible may not."


def arrange(groups: tuple[Group, ...], plan: Plan) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """The groups in order and within the limit, and notes on what that means."""
    if not plan.grouped:  # one row; LIMIT 0 shows none
        return (groups if plan.limit != 0 and not plan.offset else ()), _having_note(groups, plan)
    terms = [_term(groups, order, plan) for order in plan.orders]
    notes = _having_note(groups, plan)
    kept = np.arange(len(groups))
    if plan.limit is not None or plan.offset:
        first, last = plan.offset + 1, np.inf if plan.limit is None else plan.offset + plan.limit
        best, worst = _ranks(terms, np.array([group.certain for group in groups], dtype=np.bool_))
        surely = (best >= first) & (worst <= last)
        certain = [group.certain and bool(surely[i]) for i, group in enumerate(groups)]
        groups = tuple(replace(g, certain=c, first=c) for g, c in zip(groups, certain, strict=True))
        kept = np.flatnonzero((best <= last) & (worst >= first))
    keys = [key[kept] for term in reversed(terms) for key in (term.low + term.high, term.middle)]
    order = np.lexsort(keys) if keys else np.arange(len(kept))
    return tuple(groups[i] for i in kept[order]), notes


def find_limit(plan: Plan, shown: Sequence[Group]) -> Limited | None:
    """What LIMIT left open; None where it left nothing open."""
    told = [group.first for group in shown if group.first is not None]
    if all(told):
        return None
    last = None if plan.limit is None else plan.offset + plan.limit
    return Limited(plan.offset + 1, last, bool(plan.orders), told.count(True), told.count(False))


def _having_note(groups: tuple[Group, ...], plan: Plan) -> tuple[str, ...]:
    return (HAVING,) if plan.having is not None and not all(group.certain for group in groups) else ()


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """One ORDER BY term as an interval per group, smallest first.

    Ends are places in the order of all ends, so that whole numbers beyond 2^53 and infinities keep their order and
    NULL stands apart from both. `middle` is for the reader's order only.
    """

    low: Ints
    high: Ints
    middle: Floats

    def take(self, rows: Ints) -> OrderTerm:
        return OrderTerm(self.low[rows], self.high[rows], self.middle[rows])

    def apart(self, rows: Bools) -> int:
        """How many of these groups differ for certain: intervals that do not meet, as many as there are."""
        found, last = 0, np.iinfo(np.int64).min
        for i in sorted(np.flatnonzero(rows).tolist(), key=lambda i: int(self.high[i])):
            if self.low[i] > last:
                found, last = found + 1, int(self.high[i])
        return found


def _term(groups: tuple[Group, ...], order: Order, plan: Plan) -> OrderTerm:
    output = plan.outputs[order.output]
    if output.kind == "key":
        keys = [group.keys[output.source] for group in groups]
        return term_of_keys(keys, order.descending, order.nulls_first, plan.keys[output.source].order)
    position = [o for o in plan.outputs if o.kind == "range"].index(output)
    return term_of_ranges([group.ranges[position] for group in groups], order.descending, order.nulls_first)


def term_of_keys(
    keys: Sequence[Scalar], descending: bool, nulls_first: bool, order: Sequence[Scalar] = ()
) -> OrderTerm:
    """`order` are all values that keys may have, the least first, where it is not that of numbers or texts."""
    listed = order or sorted({key for key in keys if key is not None}, key=_natural)
    place = {text: i for i, text in enumerate(listed)}
    ranges = [Range.null() if key is None else Range.exact(place[key]) for key in keys]
    return term_of_ranges(ranges, descending, nulls_first)


def term_of_ranges(ranges: Sequence[Range], descending: bool, nulls_first: bool) -> OrderTerm:
    ends = [sorted(-e if descending else e for e in (r.low, r.high) if e is not None) for r in ranges]
    place = {end: i for i, end in enumerate(sorted({end for pair in ends for end in pair}), start=1)}
    null = 0 if nulls_first else len(place) + 1
    places = [[place[e] for e in pair] + [null] * r.may_be_null for pair, r in zip(ends, ranges, strict=True)]
    outermost = -np.inf if nulls_first else np.inf
    return OrderTerm(
        np.array([min(pair) for pair in places], dtype=np.int64),
        np.array([max(pair) for pair in places], dtype=np.int64),
        np.array([pair[0] / 2 + pair[-1] / 2 if pair else outermost for pair in ends], dtype=np.float64),
    )


def _natural(key: Scalar) -> tuple[bool, int | float, str]:
    """Numbers by size, whole ones beyond 2^53 too; texts by their characters."""
    return (True, key, "") if isinstance(key, (int, float)) else (False, 0, str(key))


def _ranks(terms: list[OrderTerm], certain: Bools) -> tuple[Ints, Ints]:
    """Best and worst possible rank of each group among those that exist."""
    size = len(certain)
    best, worst = np.ones(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    for i in range(size):
        surely, maybe = np.zeros(size, dtype=np.bool_), np.ones(size, dtype=np.bool_)
        if terms:
            surely, maybe, tied = ranks_before(terms, i)
            maybe |= tied
        surely[i] = maybe[i] = False
        best[i] += np.count_nonzero(surely & certain)
        worst[i] += np.count_nonzero(maybe)
    return best, worst


def ranks_before(terms: Sequence[OrderTerm], i: int) -> tuple[Bools, Bools, Bools]:
    """Which groups stand before group i for certain, which may, and which rank the same for certain: lexicographic
    over the terms."""
    size = len(terms[0].low)
    surely, maybe = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    tied = np.ones(size, dtype=np.bool_)  # equal for certain in all terms so far
    for term in terms:
        low, high = term.low, term.high
        same = (low == high) & (low[i] == high[i]) & (low == low[i])
        surely |= tied & (high < low[i])
        maybe |= tied & (low <= high[i]) & ~same
        tied &= same
    return surely, maybe, tied
