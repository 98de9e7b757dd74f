"""Compares records of a new version of views with earlier versions: which frame cells belong together, and who came or
left.

Everything is certified inside a frame cell, so people of one cell of an earlier version may not be in two of the new
one: such cells are joined. Either nobody or at least k people came to a cell, since the two counts differ by them; and
nobody has left it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from querygate.core.count_text import counted
from querygate.core.types import Bools, Ints
from querygate.custody.publish.step_state import PublicationState
from querygate.custody.publish.view_records import rules_of, units_of
from querygate.custody.publish.view_versions import refusal
from querygate.custody.verify.earlier_views import ABSENT, EarlierUnit, EarlierVersion, stacked
from querygate.methods.views import EarlierColumn, EarlierViews, QuasiIdentifier, RecordTable

MOST_NAMED = 3
"""The most frame cells that a refusal names."""


def in_order(versions: Sequence[EarlierVersion], rows: Ints) -> tuple[EarlierVersion, ...]:
    """The same in the order of records instead of rows."""

    def unit(one: EarlierUnit) -> EarlierUnit:
        ends = {name: (low[rows], high[rows]) for name, (low, high) in one.ends.items()}
        sums = {name: (least[:, rows], most[:, rows]) for name, (least, most) in one.sums.items()}
        return EarlierUnit(one.labels[:, rows], one.bin[rows], ends, sums)

    return tuple(
        replace(
            one,
            frame=one.frame[rows],
            counts=one.counts[:, rows],
            units={name: unit(told) for name, told in one.units.items()},
        )
        for one in versions
    )


def joined_cells(
    whole: RecordTable, cells: Sequence[Ints], combination: Ints, versions: Sequence[EarlierVersion]
) -> list[Ints]:
    """The combinations of each frame cell, cells joined that share people of one frame cell of an earlier version; and
    those that would lie over each other then. `combination` is by record.
    """
    component = _components(_cell_of(cells)[combination], len(cells), versions)
    joined: dict[int, list[Ints]] = {}
    for rows, name in zip(cells, component.tolist(), strict=True):
        joined.setdefault(name, []).append(rows)
    found = [np.concatenate(parts) for parts in joined.values()]
    while len(found) < len(cells) and (pair := _overlapping(whole, found)) is not None:
        one, other = pair
        found[one] = np.concatenate([found[one], found.pop(other)])
    return found


def _overlapping(whole: RecordTable, cells: Sequence[Ints]) -> tuple[int, int] | None:
    """Two cells that no quasi-identifier separates, by their intervals and values."""
    boxes = np.concatenate([_admitted(column, cells) for column in whole.quasi], axis=1)
    ends = np.cumsum([0, *(column.size + 1 for column in whole.quasi)])
    for other in range(1, len(cells)):
        common = boxes[:other] & boxes[other]
        meets = np.logical_and.reduce([common[:, a:b].any(axis=1) for a, b in pairwise(ends.tolist())])
        if meets.any():
            return int(np.argmax(meets)), other
    return None


def _admitted(column: QuasiIdentifier, cells: Sequence[Ints]) -> Bools:
    """Cells x codes, missing values last: which codes a class in the cell may have."""
    if column.levels:  # a class may be published with whole nodes
        return np.ones((len(cells), column.size + 1), dtype=np.bool_)
    found = np.zeros((len(cells), column.size + 1), dtype=np.bool_)
    for place, rows in enumerate(cells):
        codes = np.unique(column.codes[rows])
        found[place, codes] = True  # -1 is the last
        known = codes[codes >= 0]
        if column.ordered and known.size:
            found[place, known[0] : known[-1] + 1] = True
    return found


def _cell_of(cells: Sequence[Ints]) -> Ints:
    """The frame cell of each combination."""
    found = np.zeros(sum(rows.size for rows in cells), dtype=np.int64)
    for place, rows in enumerate(cells):
        found[rows] = place
    return found


def _components(own: Ints, cells: int, versions: Sequence[EarlierVersion]) -> Ints:
    """The component of each new cell; `own` is that of each record."""
    links, begin = [], cells
    for version in versions:
        here = version.frame != ABSENT
        links.append(np.unique(np.stack([own[here], version.frame[here] + begin]), axis=1))
        begin += max(int(version.frame.max(initial=0)), *version.gone, 0) + 1
    pairs = np.concatenate(links, axis=1)
    graph = csr_array((np.ones(pairs.shape[1], dtype=np.int8), (pairs[0], pairs[1])), shape=(begin, begin))
    found: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return found[:cells]


def check_people(
    state: PublicationState,
    whole: RecordTable,
    cells: Sequence[Ints],
    combination: Ints,
    versions: Sequence[EarlierVersion],
) -> None:
    """Refuse if anybody left a frame cell, or if fewer than k people came to one."""
    for version in versions:
        still = set(np.unique(version.frame).tolist())
        left = sum(number for frame, number in version.gone.items() if frame in still)
        if left:
            raise refusal(
                [version.number],
                f"{counted(left, 'person was', 'people were')} removed from frame cells of version {version.number} "
                "in which others remain, and the difference between the two versions is about them",
                "publish their records again, if they were left out by mistake",
            )
    least = min([state.policy.k, *(one.k for one in versions)])
    own = _cell_of(cells)[combination]
    people = np.bincount(own, minlength=len(cells))
    for version in versions:
        newcomers = np.bincount(own[version.frame == ABSENT], minlength=len(cells))
        few = np.flatnonzero((newcomers > 0) & (newcomers < np.minimum(least, people)))
        if few.size:
            came = int(newcomers[few].sum())
            names = [_described(state, whole, cells[place]) for place in few[:MOST_NAMED].tolist()]
            more = f" and {few.size - MOST_NAMED:,} more" if few.size > MOST_NAMED else ""
            raise refusal(
                [version.number],
                f"{counted(came, 'person was', 'people were')} added to frame cells with fewer than k = {least} "
                f"newcomers since version {version.number} ({'; '.join(names)}{more}), and the difference between the "
                "two versions is about them",
                f"wait until at least {least} people have been added to each of these cells, and leave the newcomers "
                "out of the source until then",
            )


def _described(state: PublicationState, whole: RecordTable, rows: Ints) -> str:
    """A frame cell by the public cuts around it."""
    parts = []
    for name, cuts in rules_of(state.policy).frame:
        column, codes = state.policy.column(name), whole.column(name).codes[rows]
        if column.type not in ("integer", "number") or not cuts or not (codes >= 0).any():
            continue
        ends = state.numbers[name].low[[int(codes[codes >= 0].min()), int(codes.max())]].tolist()
        below, above = bisect_right(cuts, ends[0]), bisect_right(cuts, ends[1])
        begin = f"from {cuts[below - 1]:g}" if below else ""
        end = f"below {cuts[above]:g}" if above < len(cuts) else ""
        parts.append(" ".join(filter(None, (name, begin, end))) if begin or end else f"any {name}")
    return ", ".join(parts) or "the whole table"


def earlier_views(state: PublicationState, versions: Sequence[EarlierVersion], here: Bools) -> EarlierViews:
    """What all versions publish about some records, in the order of the policy's units."""
    columns = []
    for unit in units_of(state.policy):
        names = [column.name for column in unit.columns]
        numbers = [column.name for column in unit.columns if column.is_numeric]
        told = stacked(versions, names, numbers, here.size).of(here)
        columns.append(EarlierColumn(told.labels, told.bins, told.low, told.high, told.least, told.most))
    counts = np.concatenate([version.counts for version in versions])[:, here]
    return EarlierViews(counts, tuple(columns), min([state.policy.k, *(one.k for one in versions)]))
