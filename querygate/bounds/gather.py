"""A plan on a block: the cells of every possible group, for every measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from querygate.bounds.membership import Membership
from querygate.bounds.spread import Spread, spread
from querygate.bounds.values import value_bounds
from querygate.core.block import MISSING, Block
from querygate.core.plan import FetchedGroup, Measure, Plan
from querygate.core.predicate import is_free
from querygate.core.types import Cells, Ints


def gather(plan: Plan, block: Block, check: Callable[[], None] = lambda: None) -> list[FetchedGroup]:
    """Groups in the order of their keys, NULL last. A statement without GROUP BY has one group, whatever is in it.

    `check` is called now and then; it raises when the statement has had its time.
    """
    rows = spread(block, plan.groups)
    members = Membership(rows.block, check)
    measured = [_cells(measure, rows, members) for measure in plan.measures]
    free = tuple(_is_free(measure, plan, block) for measure in plan.measures)
    keys, which = rows.groups()
    if not plan.groups:
        return [FetchedGroup((), tuple(_part(cells, slice(None)) for cells in measured), free)]
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(keys) + 1))
    values = [block.category(name).dictionary.values for name in plan.groups]
    groups = []
    for g, key in enumerate(keys.tolist()):
        here = order[bounds[g] : bounds[g + 1]]
        if not measured[0].most[here].any():
            continue  # nobody can be there
        check()
        texts = tuple(None if v == MISSING else texts[v] for v, texts in zip(key, values, strict=True))
        groups.append(FetchedGroup(texts, tuple(_part(cells, here) for cells in measured), free))
    return groups


def _cells(measure: Measure, rows: Spread, members: Membership) -> Cells:
    """Count bounds and clipped values of one measure, a cell per row of the spread block."""
    least, most = members.counts(measure.where)
    least = np.where(rows.alone, least, 0)
    if measure.column is None:
        nothing = np.zeros_like(least)
        return Cells(nothing, nothing, least, most, integer=True)
    low, high = value_bounds(measure.where, members, measure.column)
    possible = low <= high
    return Cells(
        low, high, np.where(possible, least, 0), np.where(possible, most, 0), rows.block.number(measure.column).integer
    )


def _is_free(measure: Measure, plan: Plan, block: Block) -> bool:
    """Sharp bounds need each column in one atom, and no knowledge about the values beyond their intervals."""
    if measure.column is not None and block.number(measure.column).tight:
        return False
    return is_free(measure.where, plan.groups)


def _part(cells: Cells, rows: Ints | slice) -> Cells:
    """The cells of one group in which somebody may be."""
    low, high, least, most = cells.low[rows], cells.high[rows], cells.least[rows], cells.most[rows]
    held = most > 0
    return Cells(low[held], high[held], least[held], most[held], cells.integer)
