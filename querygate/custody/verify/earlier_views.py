"""What earlier versions of views reveal about the records of a new one, from their written files and raw rows.

People are recognised by the column that the policy names, or else records by all that both versions know of them. Every
record is then put into the classes of the earlier version by its published boxes, as the verifier does with any file:
class by class it must hold as many as it says. What cannot be compared so is said, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import RawColumn
from querygate.core.types import Array, Bools, Catalog, Column, Ints
from querygate.custody.policy import Policy
from querygate.custody.policy.event_tables import without_last_day
from querygate.custody.verify.code_group_check import listed_columns
from querygate.custody.verify.margin_records import (
    LocatedMargin,
    ReadColumn,
    WrittenMargin,
    find_frames,
    locate,
    read_margin,
)
from querygate.custody.verify.raw_combinations import DIVIDING, RawCombinations
from querygate.custody.verify.unit_figures import UnitTold, read_unit, whole_units
from querygate.custody.verify.verifier_types import MarginReader, Written
from querygate.methods.views.certificate_check import (
    NO_LEAST,
    NO_MOST,
    BinnedNumber,
    closed_ends,
)

ABSENT = -1
"""Instead of a class, a bin or a row: not in that version, or nothing is published about it there."""

FARTHEST = 2**61


class KeptVersion(Protocol):
    """An earlier version: its file in the store, and its rows in the vault."""

    number: int

    @property
    def written(self) -> Written: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def raw_column(self, column: str) -> RawColumn: ...


class Incomparable(ValueError):
    """Why it is not known what both versions reveal together, and what else can be done besides retiring one."""

    def __init__(self, reason: str, *options: str) -> None:
        super().__init__(reason)
        self.reason, self.options = reason, options


@dataclass(frozen=True)
class EarlierUnit:
    """What a version shows of a unit, by record of the new one: the class in each view (views x records), the bin, and
    for each number the ends of its bins and of the cells of its classes' sums (views x records), as closed_ends gives
    them. Newcomers have the bin that their value had then, where it had one.
    """

    labels: Ints
    bin: Ints
    ends: Mapping[str, tuple[Ints, Ints]]
    sums: Mapping[str, tuple[Ints, Ints]]


@dataclass(frozen=True)
class EarlierVersion:
    """A version by record of the new one. `gone` says by frame cell of it how many are not in the new one."""

    number: int
    k: int
    frame: Ints
    gone: Mapping[int, int]
    counts: Ints
    units: Mapping[frozenset[str], EarlierUnit]


@dataclass(frozen=True)
class EarlierMargins:
    """All margins of all versions that show a unit: classes and bins (margins x records), ends of bins (numbers x
    records), and ends of the cells of sums (numbers x margins x records).
    """

    labels: Ints
    bins: Ints
    low: Ints
    high: Ints
    least: Ints
    most: Ints

    def of(self, records: Ints | Bools) -> EarlierMargins:
        parts = (self.labels, self.bins, self.low, self.high, self.least, self.most)
        return EarlierMargins(*(part[..., records] for part in parts))


def read_earlier(kept: KeptVersion, policy: Policy, columns: Sequence[str], read: ReadColumn) -> EarlierVersion:
    """An earlier version, compared with the records that `read` gives, which have these columns. Raises
    Incomparable."""
    catalog = kept.written.catalog()
    _check_roles(kept.number, catalog, policy)
    before: ReadColumn = cache(kept.raw_column)
    place = _matched(kept, policy, columns, read, before)
    _check_values(kept.number, catalog, policy, place, read, before)
    try:
        with kept.written.margins() as margins:
            return _Reading(kept, catalog, policy, margins, before, read, place).read()
    except ConfigError:
        raise _disagrees(kept.number) from None


def _disagrees(version: int) -> Incomparable:
    return Incomparable(f"the raw rows of version {version} are not those that it was published of")


def stacked(
    versions: Sequence[EarlierVersion], unit: Sequence[str], numbers: Sequence[str], records: int
) -> EarlierMargins:
    """What versions show of a unit and its numbers."""
    labels, bins = [np.zeros((0, records), dtype=np.int64)], [np.zeros((0, records), dtype=np.int64)]
    sums = [np.zeros((2, len(numbers), 0, records), dtype=np.int64)]
    low, high = (np.full((len(numbers), records), end) for end in (-FARTHEST, FARTHEST))
    for version in versions:
        told = version.units.get(frozenset(unit))
        if told is not None:
            labels.append(told.labels)
            bins.append(np.broadcast_to(told.bin, told.labels.shape))
            for row, name in enumerate(numbers):
                begin, end = told.ends[name]
                low[row], high[row] = np.maximum(low[row], begin), np.minimum(high[row], end)
            of_numbers = [np.stack(told.sums[name]) for name in numbers]
            shape = len(numbers), 2, *told.labels.shape
            sums.append(np.array(of_numbers, dtype=np.int64).reshape(shape).swapaxes(0, 1))
    return EarlierMargins(np.concatenate(labels), np.concatenate(bins), low, high, *np.concatenate(sums, axis=2))


# -- whether they can be compared ----------------------------------------------------------------------------------


def _check_roles(version: int, catalog: Catalog, policy: Policy) -> None:
    """Check that each column is published in the same role and type as before, and linked to the same others."""
    if not catalog.margins:
        raise Incomparable(f"version {version} has classes over all quasi-identifiers, which views would expose")
    if catalog.persons:
        raise Incomparable(f"people have several rows in version {version}")
    now = {column.name: column for column in policy.published}
    for column in catalog.columns:
        other = now.get(column.name)
        if other is not None and (other.role != column.role or other.type != column.type):
            raise Incomparable(
                f"{column.name} was {column.role} of type {column.type} in version {version}, and is now {other.role} "
                f"of type {other.type}"
            )
    _check_code_groups(version, catalog, policy)
    groups = {name: group for group in (policy.views.linked if policy.views else ()) for name in group}
    for unit in {margin.sensitive for margin in catalog.margins}:
        for name in unit:
            if name in now and set(groups.get(name, (name,))) != set(unit):
                raise Incomparable(
                    f"{name} is linked to other columns than in version {version}",
                    f"leave views.linked as it was in version {version}",
                )


def _check_code_groups(version: int, catalog: Catalog, policy: Policy) -> None:
    """Check that a list of codes still has its earlier groups; there may be others, since separate groups are checked
    together."""
    now = {column.name: dict(column.groups) for column in listed_columns(policy, 0)}
    for column in catalog.columns:
        if column.groups and column.name in now and not dict(column.groups).items() <= now[column.name].items():
            raise Incomparable(
                f"groups of the codes of {column.name} in version {version} have different codes now, or are no "
                "longer published",
                f"leave the groups of views.codes.{column.name} as they were in version {version}, and add others",
            )


def _matched(kept: KeptVersion, policy: Policy, columns: Sequence[str], read: ReadColumn, before: ReadColumn) -> Ints:
    """By record its row in the earlier version, or ABSENT."""
    common = [name for name in columns if name in kept.columns]
    keys = [policy.person] if policy.person in common else common
    if not keys:
        raise Incomparable(f"version {kept.number} has no column in common with the new one")
    old, new = _keys([(before(name), read(name)) for name in keys], numbered=keys != [policy.person])
    if old.size != kept.written.catalog().rows:
        raise _disagrees(kept.number)
    if np.unique(old).size < old.size or np.unique(new).size < new.size:
        raise Incomparable(f"people have several rows in version {kept.number} or now")
    order = np.argsort(old)
    at = np.minimum(np.searchsorted(old[order], new), old.size - 1)
    place = np.where(old[order][at] == new, order[at], ABSENT)
    gone, came = old.size - int((place >= 0).sum()), int((place < 0).sum())
    if keys != [policy.person] and gone and came:
        raise Incomparable(
            f"{counted(gone, 'record')} of version {kept.number} changed or disappeared, {came:,} were not there "
            "before, and it is not known who is new and who only changed",
            'name the column that identifies persons: person = "..." above the first table, role identifier',
        )
    return place


def _keys(columns: Sequence[tuple[RawColumn, RawColumn]], *, numbered: bool) -> tuple[Ints, Ints]:
    """A number for every row of either side, equal where all columns are. With `numbered`, rows that are nothing but
    equal are counted, and the first is the first of the other side.
    """
    codes = np.stack([np.concatenate(_codes(old, new)) for old, new in columns])
    size = columns[0][0].missing.size
    _, key = np.unique(codes, axis=1, return_inverse=True)
    old, new = key.reshape(-1)[:size], key.reshape(-1)[size:]
    if not numbered:
        return old, new
    times = max(old.size, new.size) + 1
    return old * times + _counted(old), new * times + _counted(new)


def _counted(key: Ints) -> Ints:
    """How many equal ones are before each."""
    order = np.argsort(key, kind="stable")
    begin = np.append(True, np.diff(key[order]) != 0)
    first = np.maximum.accumulate(np.where(begin, np.arange(key.size), 0))
    found = np.empty(key.size, dtype=np.int64)
    found[order] = np.arange(key.size) - first
    return found


def _codes(old: RawColumn, new: RawColumn) -> tuple[Ints, Ints]:
    """Equal numbers for equal values of the two sides; -1 where missing."""
    values = [_plain(one, as_text=bool(old.texts or new.texts)) for one in (old, new)]
    _, place = np.unique(np.concatenate(values), return_inverse=True)
    parts = np.split(place.reshape(-1), [old.missing.size])
    return np.where(old.missing, -1, parts[0]), np.where(new.missing, -1, parts[1])


def _plain(raw: RawColumn, *, as_text: bool) -> Array:
    if raw.texts:
        return np.array([*raw.texts, ""], dtype=np.str_)[np.where(raw.missing, -1, raw.values)]
    values = np.where(raw.missing, 0, raw.values)
    return np.array([str(value).removesuffix(".0") for value in values.tolist()], np.str_) if as_text else values


def _check_values(
    version: int, catalog: Catalog, policy: Policy, place: Ints, read: ReadColumn, before: ReadColumn
) -> None:
    """Check that nobody's sensitive values have changed."""
    here = place != ABSENT
    changed: Bools = np.zeros(int(here.sum()), dtype=np.bool_)
    for column in policy.named("sensitive"):
        if catalog.column(column.name) is not None:
            old, new = _codes(before(column.name), read(column.name))
            changed |= old[place[here]] != new[here]
    if changed.any():
        raise Incomparable(
            f"sensitive values of {counted(int(changed.sum()), 'person', 'people')} differ from version {version}, "
            "and the difference between the two versions is about them",
            *without_last_day(policy),
        )


# -- what it tells -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    kept: KeptVersion
    catalog: Catalog
    policy: Policy
    margins: MarginReader
    before: ReadColumn
    now: ReadColumn
    place: Ints

    def read(self) -> EarlierVersion:
        written, columns = self.kept.written, self.catalog.columns
        by_unit: dict[tuple[str, ...], list[int]] = {}
        for number, margin in enumerate(self.catalog.margins):
            by_unit.setdefault(margin.sensitive, []).append(number)
        counts = [self._written(number) for number in by_unit.pop(())]
        quasi = [column.name for column in columns if column.role in DIVIDING]
        raw = RawCombinations.of(quasi, self.before, self.catalog.rows)
        of_raw = find_frames(written, counts, columns, raw)
        located = [locate(written, one, columns, raw, of_raw) for one in counts]
        frame = of_raw[raw.place]
        stays = np.zeros(self.catalog.rows, dtype=np.bool_)
        stays[self.place[self.place != ABSENT]] = True
        names, gone = np.unique(frame[~stays], return_counts=True)
        return EarlierVersion(
            self.kept.number,
            self.catalog.k,
            self._here(frame),
            dict(zip(names.tolist(), gone.tolist(), strict=True)),
            np.stack([self._here(one.label) for one in located]),
            {
                frozenset(unit): self._unit(
                    unit, [locate(written, self._written(number), columns, raw, of_raw) for number in numbers]
                )
                for unit, numbers in by_unit.items()
                if any(column.name in unit for column in self.policy.published)
            },
        )

    def _written(self, number: int) -> WrittenMargin:
        return read_margin(self.margins, self.catalog.margins[number], number, self.catalog.columns)

    def _here(self, by_row: Ints, absent: int = ABSENT) -> Ints:
        """By record of the new version."""
        return np.where(self.place != ABSENT, by_row[self.place], absent)

    def _unit(self, unit: tuple[str, ...], located: Sequence[LocatedMargin]) -> EarlierUnit:
        written, columns = self.kept.written, self.catalog.columns
        mine = [column for name in unit for column in columns if column.name == name]
        wanted = {column.name: self.policy.column(column.name) for column in mine}
        cell = self.policy.views.sum_cell if self.policy.views else 1
        try:
            told = read_unit(written, mine, located, self.before, wanted, cell, self.catalog.k)
        except ConfigError:
            raise Incomparable(
                f"sums of {' and '.join(unit)} are published in other cells than in version {self.kept.number}",
                f"leave domain, guard and views.sum_cell as they were in version {self.kept.number}",
            ) from None
        labels = [np.where(told.is_told(place), one.label, ABSENT) for place, one in enumerate(located)]
        bins = self._here(told.bin)
        if len(mine) == 1:
            bins = np.where(self.place != ABSENT, bins, self._by_value(mine[0], told))
        ends, sums, numeric = {}, {}, [column.name for column in mine if column.is_numeric]
        for name, number in zip(numeric, told.numbers, strict=True):
            known = (bins != ABSENT) & number.has_number[bins]
            ends[name] = np.where(known, number.low[bins], -FARTHEST), np.where(known, number.high[bins], FARTHEST)
            least, most = zip(*(self._sums(told, label, number) for label in labels), strict=True)
            sums[name] = np.stack(least), np.stack(most)
        return EarlierUnit(np.stack([self._here(label) for label in labels]), bins, ends, sums)

    def _sums(self, told: UnitTold, label: Ints, number: BinnedNumber) -> tuple[Ints, Ints]:
        """The sum that the version publishes for each record's class. That it was really written is checked where the
        unit is read.
        """
        least, most = np.full(label.size, NO_LEAST), np.full(label.size, NO_MOST)
        rows = np.flatnonzero(label != ABSENT)
        low, high = closed_ends(label[rows], told.bin[rows], replace(number, values=number.values[rows]))
        place = np.unique(label[rows], return_inverse=True)[1].reshape(-1)
        least[rows], most[rows] = low[place], high[place]
        return self._here(least, NO_LEAST), self._here(most, NO_MOST)

    def _by_value(self, column: Column, told: UnitTold) -> Ints:
        """The bin that each value of the new version had in this one, if that is certain."""
        raw = self.now(column.name)
        if not column.is_numeric:
            old, new = _codes(self.before(column.name), raw)
            bin_of = np.full(int(max(old.max(initial=0), new.max(initial=0))) + 2, ABSENT)
            bin_of[old] = told.bin
            return bin_of[new]
        if not told.numbers:
            return np.full(raw.missing.size, ABSENT)
        number = told.numbers[0]
        units = whole_units(self.policy.column(column.name), raw)
        bins = np.flatnonzero(number.has_number)
        at = np.maximum(np.searchsorted(number.low[bins], units, side="right") - 1, 0)
        before = np.maximum(at - 1, 0)
        inside = (number.low[bins][at] <= units) & (units <= number.high[bins][at])
        alone = (at == 0) | (number.high[bins][before] < units)  # a unit may be in two bins
        return np.where(inside & alone & ~raw.missing, bins[at], ABSENT) if bins.size else np.full(units.size, ABSENT)
