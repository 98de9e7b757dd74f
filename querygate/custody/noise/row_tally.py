"""The exact numbers of groups, from one pass over all raw rows, whatever a statement selects.

The policy limits the rows per person: further rows are left out, always the same ones, and rows without a known person
do not count. So the sensitivity that the noise is made for holds for any data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from querygate.bounds.interval_arithmetic import half_away
from querygate.core.noise_ports import ExactNumber, Rows, Tallied, Tally, WantedTally
from querygate.core.types import Bools, Floats, Ints
from querygate.custody.noise.row_values import TRUE, RowValues

AT_ONCE = 1 << 17
"""Rows processed together: few enough that intermediate results stay in the processor's cache."""


def tally_rows(tally: Tally, rows: Rows, rows_per_person: int, check: Callable[[], None]) -> Tallied:
    """Each wanted number for every group. `check` is called between parts of the work, and may stop it."""
    groups = list(itertools.product(*tally.values))
    kept = _kept(tally, rows, rows_per_person, check)
    cells = np.empty(rows.size, dtype=np.int64)
    totals = [np.zeros((_lanes(wanted), len(groups)), dtype=np.int64) for wanted in tally.wanted]
    for chosen, part in _parts(rows):
        values = RowValues(part)
        cells[chosen] = np.where(kept[chosen], _cells(tally, values, len(groups)), len(groups))
        for wanted, total in zip(tally.wanted, totals, strict=True):
            check()
            if wanted.figure != "distinct":
                total += _added(wanted, values, _meant(tally, wanted, values, cells[chosen], len(groups)), len(groups))
    for wanted, total in zip(tally.wanted, totals, strict=True):
        check()
        if wanted.figure == "distinct":  # equal values may be anywhere
            values = RowValues(rows)
            total += _distinct(wanted, values, _meant(tally, wanted, values, cells, len(groups)), len(groups))
    told = [_told(wanted, total) for wanted, total in zip(tally.wanted, totals, strict=True)]
    return {group: tuple(numbers[i] for numbers in told) for i, group in enumerate(groups)}


def first_rows(selected: Bools, persons: Ints, most: int) -> Bools:
    """The first `most` selected rows of each person; rows without a known person are left out.

    >>> first_rows(np.array([True, True, False, True, True]), np.array([-1, 0, 0, 0, 0]), 2)
    array([False,  True, False,  True, False])
    """
    before = np.concatenate([[0], np.cumsum(selected)])
    begin = np.searchsorted(persons, persons, side="left")
    kept: Bools = selected & (before[1:] - before[begin] <= most) & (persons >= 0)
    return kept


def _kept(tally: Tally, rows: Rows, most: int, check: Callable[[], None]) -> Bools:
    """The rows that count: those the statement selects, but no more per person than the policy allows."""
    selected = np.empty(rows.size, dtype=np.bool_)
    for chosen, part in _parts(rows):
        check()
        selected[chosen] = RowValues(part).truth(tally.where) == TRUE
    return selected if rows.persons is None else first_rows(selected, rows.persons, most)


def _parts(rows: Rows) -> Iterator[tuple[slice, Rows]]:
    for begin in range(0, rows.size, AT_ONCE):
        chosen = slice(begin, min(begin + AT_ONCE, rows.size))
        yield chosen, rows.part(chosen)


def _cells(tally: Tally, values: RowValues, outside: int) -> Ints:
    """The number of each row's group; `outside` for rows in no group."""
    cells: Ints = np.zeros(1, dtype=np.int64)
    lost: Bools = np.zeros(1, dtype=np.bool_)
    for key, known in zip(tally.keys, tally.values, strict=True):
        places = values.group_places(key, known)
        cells, lost = cells * len(known) + places, lost | (places == len(known))
    return np.where(lost, outside, cells)


def _meant(tally: Tally, wanted: WantedTally, values: RowValues, cells: Ints, outside: int) -> Ints:
    """The groups of the rows that one number is about, among the selected ones."""
    if wanted.where == tally.where:
        return cells
    return np.where(values.truth(wanted.where) == TRUE, cells, outside)


# -- one wanted number of all groups ---------------------------------------------------------------------------


def _lanes(wanted: WantedTally) -> int:
    """How many whole numbers are kept for each group: for a sum the number of rows, and their steps from the first
    one."""
    return {"sum": 2, "histogram": wanted.last - wanted.first + 1}.get(wanted.figure, 1)


def _added(wanted: WantedTally, values: RowValues, cells: Ints, groups: int) -> Ints:
    """What these rows add to each lane of each group."""
    if wanted.figure == "histogram":
        lanes = _lanes(wanted)
        places = _steps(wanted, values).astype(np.int64) * (groups + 1) + cells
        return np.bincount(places, minlength=lanes * (groups + 1)).reshape(lanes, groups + 1)[:, :groups]
    found = [np.bincount(cells, minlength=groups + 1)]
    if wanted.figure == "sum":  # whole numbers whose sum is below 2^53, so this is exact
        found.append(np.bincount(cells, weights=_steps(wanted, values), minlength=groups + 1).astype(np.int64))
    return np.stack(found)[:, :groups]


def _steps(wanted: WantedTally, values: RowValues) -> Floats:
    """The value of each row, in steps from the first one; arbitrary for NULL, whose row is in no group."""
    if wanted.value is None:
        raise TypeError("a sum has a value")
    numbers = np.nan_to_num(values.numbers(wanted.value) / wanted.step)
    return half_away(np.clip(numbers, wanted.first, wanted.last)) - wanted.first


def _distinct(wanted: WantedTally, values: RowValues, cells: Ints, groups: int) -> Ints:
    if wanted.value is None:
        raise TypeError("what is distinct is a value")
    codes, size = values.distinct_codes(wanted.value)
    return np.bincount(np.unique(cells * size + codes) // max(size, 1), minlength=groups + 1)[None, :groups]


def _told(wanted: WantedTally, total: Ints) -> Sequence[ExactNumber]:
    if wanted.figure == "histogram":
        return [_histogram(wanted, counts) for counts in total.T]
    if wanted.figure == "sum":
        rows, offsets = total.tolist()
        return [wanted.first * n + offset for n, offset in zip(rows, offsets, strict=True)]
    counts: list[int] = total[0].tolist()
    return counts


def _histogram(wanted: WantedTally, counts: Ints) -> dict[int, int]:
    held = np.flatnonzero(counts)
    return dict(zip((held + wanted.first).tolist(), counts[held].tolist(), strict=True))
