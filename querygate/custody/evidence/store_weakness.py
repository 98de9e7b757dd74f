"""The store report: what the published cells themselves reveal, before anybody asks.

Ranges are functions of the store, so an attacker can learn at most the store. k-anonymity does not prevent homogeneous
classes: if all members have one disease, or blood pressures within a few units, membership is enough to know
(homogeneity; Machanavajjhala et al. 2007, l-Diversity, TKDD 1(1)). This report counts such classes, column by column,
and shows the worst, from the published cells alone. For views it does so in every margin with the column, where that is
not withheld.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.block import (
    ALL_NULLS,
    MISSING,
    NO_NULLS,
    SOME_NULLS,
    Block,
    BlockColumn,
    CodeColumn,
    NumberColumn,
    SetColumn,
)
from querygate.core.dates import day_text, moment_text
from querygate.core.types import Bools, Column, Floats, Ints
from querygate.custody.evidence.class_reader import ClassedVersion, labels_of, margins_of

NARROW = 0.1
"""A class whose values lie within this share of the domain is called narrow."""

DOMINATED = 0.5
"""A class in which more than this share of the records have one published value is called dominated."""

SHOWN = 5


@dataclass(frozen=True, slots=True)
class WeakClass:
    """One class: what is known about its members, and what is published of their secret."""

    label: int
    records: int
    known: str
    published: str
    share: float


@dataclass(frozen=True, slots=True)
class Weakness:
    """One sensitive column. `narrowest` is a width for numbers, else the smallest number of values that a class
    allows."""

    column: str
    type: str
    classes: int
    one_value: int
    narrow: int
    narrowest: float
    dominated: int
    largest_share: float
    weakest: tuple[WeakClass, ...]


@dataclass(frozen=True, slots=True)
class _Measured:
    """Per class, by label: the width, the largest share of one value, and whether there is only one value."""

    width: Floats
    share: Floats
    exact: Bools
    narrow: Bools


def find_weaknesses(release: ClassedVersion, shown: int = SHOWN) -> list[Weakness]:
    """Every sensitive column of a version."""
    columns = (column for column in release.catalog.columns if not column.groups)
    secret = [column for column in columns if column.role in ("sensitive", "codes")]
    return [_weakness(release, column, shown) for column in secret]


@dataclass(frozen=True, slots=True)
class _Told:
    """A column in some classes: all of them, or those of one margin that do not withhold it."""

    margin: int | None
    block: Block
    labels: Ints
    measured: _Measured


def _weakness(release: ClassedVersion, column: Column, shown: int) -> Weakness:
    parts = [
        _told(release, column, margin)
        for margin in margins_of(release)
        if margin is None or column.name in release.catalog.margins[margin].sensitive
    ]
    part, at = (
        np.concatenate([of(place, one.labels.size) for place, one in enumerate(parts)])
        for of in (lambda place, size: np.full(size, place), lambda place, size: np.arange(size))
    )
    width, share, exact, narrow = (
        np.concatenate([getattr(one.measured, name) for one in parts]) for name in ("width", "share", "exact", "narrow")
    )
    order = np.lexsort((-share, width, ~exact))[:shown]
    return Weakness(
        column.name,
        column.type,
        int(width.size),
        int(exact.sum()),
        int(narrow.sum()),
        float(width.min(initial=np.inf)),
        int((share > DOMINATED).sum()),
        float(share.max(initial=0.0)),
        tuple(_describe(release, parts[part[i]], column, int(at[i]), float(share[i])) for i in order),
    )


def _told(release: ClassedVersion, column: Column, margin: int | None) -> _Told:
    block = release.by_class([column.name], margin)
    if margin is not None:
        block = block.take(np.flatnonzero(~_tells_nothing(block.columns[column.name], column)))
    labels, place = np.unique(labels_of(block), return_inverse=True)
    return _Told(margin, block, labels, _measured(block, column, place.reshape(-1), labels.size))


def _tells_nothing(held: BlockColumn, column: Column) -> Bools:
    """Rows that withhold the column: any value of its domain is possible."""
    if isinstance(held, NumberColumn):
        whole = (held.low == column.low) & (held.high == column.high)
        found: Bools = whole & (held.null == (SOME_NULLS if column.nullable else NO_NULLS))
        return found
    if isinstance(held, SetColumn):
        return np.asarray(held.dictionary.sizes == len(column.values) + column.nullable)[held.sets]
    return np.zeros(held.sets.size, dtype=np.bool_)


def _measured(block: Block, column: Column, place: Ints, classes: int) -> _Measured:
    size = np.bincount(place, block.n, classes).astype(np.float64)
    held = block.columns[column.name]
    if isinstance(held, NumberColumn):
        return _of_numbers(block.n, held, column, place, size)
    kinds = held.sets
    known = _exact_sets(held)
    share = np.zeros(classes)
    np.maximum.at(share, place, np.where(known[kinds], block.n / size[place], 0.0))
    values = _values_of_class(held, place)
    width = np.bincount(values, minlength=classes).astype(np.float64)
    exact = (share == 1.0) & (np.bincount(place, minlength=classes) == 1)
    return _Measured(width, share, exact, width <= 1)


def _of_numbers(n: Ints, held: NumberColumn, column: Column, place: Ints, size: Floats) -> _Measured:
    """The hull of a class without missing values; a class in which all are missing is homogeneous too."""
    told = held.null != ALL_NULLS
    low, high = np.full(size.size, np.inf), np.full(size.size, -np.inf)
    np.minimum.at(low, place[told], held.low[told].astype(np.float64))
    np.maximum.at(high, place[told], held.high[told].astype(np.float64))
    width = np.maximum(high - low, 0.0)
    share = np.zeros(size.size)
    np.maximum.at(share, place, n / size[place])
    mixed = np.bincount(place, held.null != NO_NULLS, size.size) > 0
    alone = np.bincount(place, minlength=size.size) == 1
    exact = alone & (width == 0) & (~mixed | (high < low))
    domain = float((column.high or 0) - (column.low or 0))
    return _Measured(width, share, exact, width <= NARROW * domain)


def _exact_sets(held: SetColumn | CodeColumn) -> Bools:
    """Sets that reveal the value: of one value, or of items with one code each."""
    if isinstance(held, SetColumn):
        return np.asarray(held.dictionary.sizes == 1)
    single = held.dictionary.sizes == 1
    starts, members = held.dictionary.starts, held.dictionary.members
    of_set = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    broad = np.bincount(of_set, ~single[members] if members.size else None, len(starts) - 1)
    return np.asarray(broad == 0)


def _values_of_class(held: SetColumn | CodeColumn, place: Ints) -> Ints:
    """The class of each distinct (class, value that it allows); of code lists, each distinct set is one."""
    if isinstance(held, CodeColumn):
        pairs = np.stack([place, held.sets], axis=1)
    else:
        times = held.dictionary.sizes[held.sets]
        rows = np.repeat(np.arange(len(place)), times)
        inside = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
        pairs = np.stack(
            [place[rows], held.dictionary.members[held.dictionary.starts[held.sets[rows]] + inside]], axis=1
        )
    return np.asarray(np.unique(pairs, axis=0)[:, 0])


# -- for people ------------------------------------------------------------------------------------------------


def _describe(release: ClassedVersion, told: _Told, column: Column, at: int, share: float) -> WeakClass:
    label, block = told.labels[at], told.block
    rows = np.flatnonzero(labels_of(block) == label)
    published = _text(block.take(rows), column)
    names = None if told.margin is None else release.catalog.margins[told.margin].quasi
    quasi = [
        one
        for one in release.catalog.columns
        if one.role == "quasi-identifier" and (names is None or one.name in names)
    ]
    known = release.by_class([one.name for one in quasi], told.margin)
    members = known.take(np.flatnonzero(labels_of(known) == label))
    box = ", ".join(f"{one.name} {_text(members, one)}" for one in quasi)
    return WeakClass(int(label), int(block.n[rows].sum()), box, published, share)


def _text(block: Block, column: Column) -> str:
    """What is published of a column in these rows together."""
    held = block.columns[column.name]
    if isinstance(held, NumberColumn):
        told = held.null != ALL_NULLS
        if not told.any():
            return "missing"
        ends = [_end(end, column) for end in (held.low[told].min(), held.high[told].max())]
        text = ends[0] if ends[0] == ends[1] else f"{ends[0]} .. {ends[1]}"
        return text if (held.null == NO_NULLS).all() else f"{text} or missing"
    if isinstance(held, CodeColumn):
        sets = len(np.unique(held.sets))
        return "one code list" if sets == 1 else f"{sets} code lists"
    members = np.unique(np.concatenate([_members(held, int(one)) for one in np.unique(held.sets)]))
    return _listed(["missing" if one == MISSING else held.dictionary.values[one] for one in members.tolist()])


def _members(held: SetColumn, chosen: int) -> Ints:
    return held.dictionary.members[held.dictionary.starts[chosen] : held.dictionary.starts[chosen + 1]]


def _listed(values: Sequence[str], most: int = 4) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return " | ".join(values[:most]) + more


def _end(value: float, column: Column) -> str:
    if column.type == "date":
        return day_text(int(value))
    if column.type == "timestamp":
        return moment_text(int(value))
    return f"{value:g}" if column.type == "number" else str(int(value))
