"""Compares what margins publish of a unit of sensitive columns with the raw rows: bins, histograms and cells of sums.

The bins of a column are the intervals or sets that its cells have. Where a class has one cell with any value of the
domain for every column of the unit, nothing is published about it: it is withheld there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from querygate.core.block import ALL_NULLS, MISSING, NO_NULLS, SOME_NULLS
from querygate.core.publications.vault_ports import RawColumn
from querygate.core.types import Array, Bools, Column, Floats, Ints
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.view_rules import value_unit
from querygate.custody.verify.margin_records import LocatedMargin, states
from querygate.custody.verify.verifier_types import Written, require
from querygate.methods.views.certificate_check import BinnedNumber, sum_ends

NOWHERE = -1
"""Stands for the bin of a value that no cell has."""

IS_EXACT = 2**53


@dataclass(frozen=True)
class UnitTold:
    """A unit over all records. `bin` is what is told of each; `told` says per margin which classes tell anything."""

    margins: tuple[LocatedMargin, ...]
    bin: Ints
    numbers: tuple[BinnedNumber, ...]
    meant: tuple[Ints, ...]
    """By column of the unit, which of its values each bin has."""
    told: tuple[Bools, ...]

    def is_told(self, margin: int) -> Bools:
        """By record."""
        found: Bools = self.told[margin][self.margins[margin].label]
        return found


@dataclass(frozen=True)
class _Bins:
    """A column's bins: that of each cell of all margins that tells anything, and of each record; 0 is a missing value,
    the others are in the order of values. Numbers have ends by bin.
    """

    cells: Ints
    records: Ints
    low: Array
    high: Array


def read_unit(
    written: Written,
    columns: Sequence[Column],
    margins: Sequence[LocatedMargin],
    read: Callable[[str], RawColumn],
    wanted: Mapping[str, ColumnPolicy],
    sum_cell: int,
    k: int,
) -> UnitTold:
    """What is published of the unit; QG803 if it does not agree with the raw rows."""
    raw = {column.name: read(column.name) for column in columns}
    name = " and ".join(column.name for column in columns)
    anything, bins = [], []
    for column in columns:
        _check_domain(column, raw[column.name])
        anything.append(_tells_nothing(written, column, margins))
    silent = np.logical_and.reduce(anything)
    for column in columns:
        make = _intervals if column.is_numeric else _sets
        bins.append(make(written, column, margins, ~silent, raw[column.name]))
    size, ends = margins[0].label.size, np.cumsum([one.place.size for one in margins])[:-1]
    told = tuple(_told_classes(*pair, name) for pair in zip(margins, np.split(silent, ends), strict=True))
    joint, meant = _joint([np.concatenate([own.records, own.cells]) for own in bins])
    for one, is_told, cells in zip(margins, told, np.split(joint[size:], ends), strict=True):
        _check_histogram(one, is_told, cells, joint[:size], name)
    numbers = []
    for place, column in enumerate(columns):
        if column.is_numeric:
            policy, has_sums = wanted[column.name], column.moments != "none"
            step = sum_cell if has_sums else 0
            number = replace(_number(policy, raw[column.name], bins[place], meant[place], step), fewest=k)
            if has_sums:
                _check_sums(written, column, margins, told, joint[:size], number, policy)
            numbers.append(number)
    return UnitTold(tuple(margins), joint[:size], tuple(numbers), tuple(meant), told)


def _check_domain(column: Column, raw: RawColumn) -> None:
    """If nothing is published, everybody's value must be in the domain."""
    require(column.nullable or not raw.missing.any(), f"missing values of {column.name} are declared")
    known = raw.values[~raw.missing]
    if not column.is_numeric:
        require(set(raw.texts) <= set(column.values), f"values of {column.name} are public")
    elif known.size:
        inside = column.low is not None and column.high is not None and column.low <= known.min()
        require(bool(inside and known.max() <= (column.high or 0)), f"values of {column.name} lie in its domain")


# -- bins --------------------------------------------------------------------------------------------------------------


def _all(margins: Sequence[LocatedMargin], name: str) -> Array:
    """A physical column over the cells of all margins."""
    parts = [np.ma.asarray(one.cells[name]) for one in margins]
    mask = np.concatenate([np.ma.getmaskarray(part) for part in parts])
    return np.ma.array(np.concatenate([np.ma.getdata(part) for part in parts]), mask=mask)


def _states(column: Column, margins: Sequence[LocatedMargin]) -> Ints:
    return np.concatenate([states(column, one.cells) for one in margins])


def _tells_nothing(written: Written, column: Column, margins: Sequence[LocatedMargin]) -> Bools:
    """Cells that may have any value of the column."""
    if column.is_numeric:
        low, high = (_all(margins, f"c{column.index}_{end}") for end in ("lo", "hi"))
        state = _states(column, margins) == (SOME_NULLS if column.nullable else NO_NULLS)
        same = (np.ma.getdata(low) == column.low) & (np.ma.getdata(high) == column.high)
        found: Bools = same & ~np.ma.getmaskarray(low) & ~np.ma.getmaskarray(high) & state
        return found
    whole = {*column.values, *([None] if column.nullable else [])}
    sets = _members(written, column)
    wide = [one for one, values in sets.items() if len(values) == len(whole) and set(values) == whole]
    return np.isin(np.ma.filled(_all(margins, f"c{column.index}_set"), MISSING), wide)


def _intervals(
    written: Written, column: Column, margins: Sequence[LocatedMargin], told: Bools, raw: RawColumn
) -> _Bins:
    name, state = column.name, _states(column, margins)
    ends = [_all(margins, f"c{column.index}_{end}") for end in ("lo", "hi")]
    has_ends = ~(np.ma.getmaskarray(ends[0]) | np.ma.getmaskarray(ends[1]))
    require(np.array_equal(has_ends, state != ALL_NULLS), f"missing values of {name} are declared")
    proper = has_ends & told
    require(bool((state[proper] == NO_NULLS).all()), f"missing values of {name} are told apart")
    low, high = (np.ma.getdata(end)[proper] for end in ends)
    lows, first, place = np.unique(low, return_index=True, return_inverse=True)
    highs, place = high[first], place.reshape(-1)
    apart = np.array_equal(highs[place], high) and bool((highs[:-1] < lows[1:]).all() and (lows <= highs).all())
    require(apart, f"bins of {name} are apart")
    codes = np.zeros(told.size, dtype=np.int64)
    codes[proper] = place + 1
    at = np.searchsorted(lows, raw.values, side="right").astype(np.int64)
    tops = np.append(highs[:1] * 0, highs) if lows.size else np.zeros(1)
    inside = (at > 0) & (raw.values <= tops[at])
    records = np.where(raw.missing, 0, np.where(inside, at, NOWHERE))
    return _Bins(codes, records, np.append(lows[:1] * 0, lows) if lows.size else np.zeros(1), tops)


def _sets(written: Written, column: Column, margins: Sequence[LocatedMargin], told: Bools, raw: RawColumn) -> _Bins:
    name, sets = column.name, np.ma.filled(_all(margins, f"c{column.index}_set"), MISSING)
    members = _members(written, column)
    order: dict[str | None, int] = {None: 0} | {text: i + 1 for i, text in enumerate(sorted(column.values))}
    ids, place = np.unique(sets[told], return_inverse=True)
    meant = [members.get(one, []) for one in ids.tolist()]
    require(all(len(one) == 1 and one[0] in order for one in meant), f"values of {name} are published one by one")
    codes = np.zeros(told.size, dtype=np.int64)
    codes[told] = np.array([order[one[0]] for one in meant], dtype=np.int64)[place.reshape(-1)]
    of_text = np.array([*(order[text] for text in raw.texts), 0], dtype=np.int64)  # the last is missing
    return _Bins(codes, of_text[np.where(raw.missing, -1, raw.values)], np.zeros(0), np.zeros(0))


def _members(written: Written, column: Column) -> dict[int, list[str | None]]:
    """The values of each set; None is a missing one."""
    set_ids, value_ids, texts = written.sets(column.index)
    found: dict[int, list[str | None]] = {}
    for one, value in zip(set_ids.tolist(), value_ids.tolist(), strict=True):
        found.setdefault(one, []).append(None if value == MISSING else texts[value])
    return found


def _joint(codes: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """A number for each combination of codes, in order, and the code of each column in every combination."""
    order = np.lexsort(codes[::-1])
    sorted_codes = np.stack(codes)[:, order]
    is_new = np.append(True, (np.diff(sorted_codes, axis=1) != 0).any(axis=0))
    found = np.empty(order.size, dtype=np.int64)
    found[order] = np.cumsum(is_new) - 1
    return found, list(sorted_codes[:, is_new])


# -- histograms --------------------------------------------------------------------------------------------------------


def _told_classes(margin: LocatedMargin, silent: Bools, name: str) -> Bools:
    """Which classes publish anything about the unit. In a frame cell either all do, or none."""
    told = np.ones(margin.names.size, dtype=np.bool_)
    told[margin.place[silent]] = False
    cells = np.bincount(margin.place, minlength=margin.names.size)
    require(bool((told | (cells == 1)).all()), f"a class tells {name}, or nothing of it")
    frames, place = np.unique(margin.frame, return_inverse=True)
    held = np.bincount(place.reshape(-1), told, frames.size)
    classes = np.bincount(place.reshape(-1), minlength=frames.size)
    require(
        bool(((held == 0) | (held == classes)).all()), f"{name} is published in a whole frame cell, or withheld there"
    )
    return told


def _check_histogram(margin: LocatedMargin, told: Bools, cells: Ints, records: Ints, name: str) -> None:
    size = int(max(cells.max(initial=0), records.max(initial=0))) + 1
    mine, here = told[margin.label], told[margin.place]
    key, n = np.unique((margin.label * size + records)[mine], return_counts=True)
    published = (margin.place * size + cells)[here]
    order = np.argsort(published)
    holds = np.array_equal(published[order], key) and np.array_equal(np.asarray(margin.cells["n"])[here][order], n)
    require(holds, f"records by {name} in each class")


# -- sums --------------------------------------------------------------------------------------------------------------


def _number(policy: ColumnPolicy, raw: RawColumn, bins: _Bins, meant: Ints, sum_cell: int) -> BinnedNumber:
    """The number in whole units, with the ends of every joint bin; where it is missing low is above high."""
    unit, guard = value_unit(policy), policy.guard or 0
    has_number = meant > 0
    low, high = (np.where(has_number, _whole(end, unit)[meant], bare) for end, bare in ((bins.low, 1), (bins.high, 0)))
    # A value that was rounded down may be a unit less than its bin spans.
    span = int(guard // unit) - (1 if unit != 1 else 0)
    step = max(1, int(sum_cell * guard // unit)) if sum_cell else 0
    return BinnedNumber(whole_units(policy, raw), low, high, max(0, span), step)


def whole_units(policy: ColumnPolicy, raw: RawColumn) -> Ints:
    """Values in whole units; 0 where missing."""
    return np.where(raw.missing, 0, _whole(np.where(raw.missing, 0, raw.values), value_unit(policy)))


def _whole(values: Array, unit: int | float) -> Ints:
    if isinstance(unit, int) and values.dtype.kind == "i":
        return values // unit
    return np.floor(values / unit).astype(np.int64)


def _check_sums(
    written: Written,
    column: Column,
    margins: Sequence[LocatedMargin],
    told: Sequence[Bools],
    bins: Ints,
    number: BinnedNumber,
    policy: ColumnPolicy,
) -> None:
    """Every class that tells the column has the cell of its sum, and no other class has one."""
    given = written.moments(column.index)
    label, n = (np.asarray(given[part], dtype=np.int64) for part in ("class", "n"))
    low_end, high_end, *more = (
        np.ma.filled(np.ma.asarray(given[part], np.float64), np.nan)
        for part in ("sum_lo", "sum_hi", "var_lo", "var_hi")
    )
    require(bool(np.isnan(more).all()), f"no variances of {column.name} are published")
    found: list[tuple[Ints, Ints, Ints]] = []
    for margin, is_told in zip(margins, told, strict=True):
        mine = is_told[margin.label] & number.has_number[bins]
        held = np.bincount(margin.label[mine], minlength=margin.names.size)
        ends = sum_ends(margin.label[mine], bins[mine], replace(number, values=number.values[mine]))
        found.append((margin.names[held > 0], held[held > 0], np.array(ends, dtype=np.int64).reshape(-1, 2)))
    name, known, cells = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(name)
    counted = np.array_equal(label, name[order]) and np.array_equal(n, known[order])
    require(counted, f"sums of {column.name} are published for the classes that have any")
    unit = value_unit(policy)
    low, high = cells[order].T
    high = high + (n if unit != 1 else 0)
    holds = _are_at(low_end, low, unit, -1) and _are_at(high_end, high, unit, 1)
    require(holds, f"sums of {column.name} in their cells")


def _are_at(told: Floats, units: Ints, unit: int | float, way: int) -> bool:
    """Is each of these the given number of units? If doubles are too coarse for that, the next one outward is
    allowed."""
    exact = np.abs(units) < IS_EXACT
    if not (told[exact] == units[exact] * float(unit)).all():
        return False
    for end, number in zip(told[~exact].tolist(), units[~exact].tolist(), strict=True):
        right = Fraction(number) * Fraction(unit)
        nearest = [np.nextafter(float(right), side) for side in (-np.inf, np.inf)]
        if not (nearest[0] <= end <= nearest[1] and way * (Fraction(end) - right) >= 0):
            return False
    return True
