"""The independent check of a same-disease file: its risk, counted on what is released, and that of Safe Harbor on the
same records.

It reads the columns of the extract like somebody with the register, and shares no code with the partition or with the
code that wrote the extract. Records with the same published values are a class; its people are those of the register
whose values fit. Where no value is published everybody fits; somebody with an unknown value fits no published one, as
in `querygate risk`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.types import Bools, Floats, Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy
from querygate.methods.policy_search import suggest, treated
from querygate.methods.same_disease import InstanceRisk, RuleClasses, instance_risk

BETWEEN = " | "
ANY = "*"
UNKNOWN = -1
_DATED = {"date": "datetime64[D]", "timestamp": "datetime64[us]"}


@dataclass(frozen=True, slots=True)
class FileRisk:
    """The risk of the released file, and for each record the people who match its class."""

    risk: InstanceRisk
    matches: Ints


def look_up(
    table: pa.Table, columns: Sequence[ColumnPolicy], people: Population, known: Mapping[str, Sequence[str]]
) -> FileRisk:
    """The figures of a file over the columns that the register has; `known` are the public values of categories."""
    told = [_told(table, column, people, known.get(column.name, ())) for column in columns]
    classes, which = np.unique(np.stack([one.codes for one in told], axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    fits = np.array([int(people.persons[_fitting(told, row)].sum()) for row in classes.tolist()], dtype=np.int64)
    held = np.bincount(which)
    order = np.lexsort((held, fits))  # the order of records must not show in the last digit of a sum
    return FileRisk(instance_risk(held[order], fits[order]), fits[which])


@dataclass(frozen=True, slots=True)
class _Told:
    """One column: the published form of each record, by number, and the values of the kinds of people.

    For a number the lowest and highest value; for a category whether each text of the register fits, followed by
    False for an unknown one. None means not published.
    """

    codes: Ints
    sides: Sequence[tuple[float, float] | Bools | None]
    values: Floats | Ints
    order: Ints | None  # people sorted by their numbers

    def between(self, code: int) -> Ints | None:
        """The kinds of people in a range of numbers."""
        side = self.sides[code]
        if self.order is None or not isinstance(side, tuple):
            return None
        first = int(np.searchsorted(self.values, side[0], sorter=self.order))
        return self.order[first : int(np.searchsorted(self.values, side[1], side="right", sorter=self.order))]

    def inside(self, code: int, among: Ints) -> Ints:
        """Those of these kinds of people who fit."""
        side, values = self.sides[code], self.values[among]
        if side is None:
            return among
        if isinstance(side, tuple):
            return among[(values >= side[0]) & (values <= side[1])]
        return among[side[values.astype(np.int64)]]


def _fitting(told: Sequence[_Told], row: Sequence[int]) -> Ints:
    """The kinds of people who fit a class: those in its narrowest range are checked one by one."""
    ranges = [found for one, code in zip(told, row, strict=True) if (found := one.between(code)) is not None]
    among = min(ranges, key=len, default=np.arange(told[0].values.size))
    for one, code in zip(told, row, strict=True):
        among = one.inside(code, among)
    return among


def _told(table: pa.Table, column: ColumnPolicy, people: Population, known: Sequence[str]) -> _Told:
    names = [f"{column.name}_low", f"{column.name}_high"] if column.is_numeric else [column.name]
    gaps = f"{column.name}_may_be_missing"
    read = [_values(table[name]) for name in (*names, *([gaps] if gaps in table.column_names else []))]
    numbers: dict[tuple[Any, ...], int] = {}
    codes = np.array([numbers.setdefault(row, len(numbers)) for row in zip(*read, strict=True)], dtype=np.int64)
    values = people.values[column.name]
    if column.is_numeric:
        ranges = [None if row[0] is None else (float(row[0]), float(row[1])) for row in numbers]
        return _Told(codes, ranges, values, np.argsort(values, kind="stable"))
    texts = people.texts[column.name]
    places = np.where(np.isnan(values), len(texts), values).astype(np.int64)
    return _Told(codes, [_fit(row[0], column, texts, known) for row in numbers], places, None)


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return list(column.to_pylist())


def _fit(text: str | None, column: ColumnPolicy, texts: Sequence[str], known: Sequence[str]) -> Bools | None:
    if text is None:
        return None
    members = _members(text, column, frozenset(known))
    return np.array([*(value in members for value in texts), False], dtype=np.bool_)


def _members(text: str, column: ColumnPolicy, known: frozenset[str]) -> frozenset[str]:
    """The values that a text stands for: itself, any, those under a node, or several."""
    if text in known:
        return frozenset((text,))
    if text == ANY:
        return known
    under = frozenset(row[0] for row in rows_of(column, sorted(known)) if text in row[1:])
    found = under or frozenset(text.split(BETWEEN))
    if not found <= known:
        raise ExtractRefused(
            "QG605",
            f"The extract contains a value of {column.name} that cannot be read back.",
            "Nothing was written. Report this fault to the makers of QueryGate.",
        )
    return found


# -- Safe Harbor on the same records -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Safe Harbor on raw records, looked up in the same register, and what it does to each column."""

    harbor: RuleClasses
    does: Mapping[str, str]

    @property
    def risk(self) -> InstanceRisk:
        return self.harbor.risk


_DOES = {
    "": "unchanged",
    "drop": "goes",
    "zip3": "three digits, 000 for areas with few people",
    "year": "year only",
    "birth year": "year only, 90 and over combined",
    "age": "90 and over combined",
}


def look_at_safe_harbor(columns: Sequence[ColumnPolicy], raw: pa.Table, people: Population, year: int) -> Yardstick:
    """The result of Safe Harbor on the records in the year of the release."""
    rows, kinds, loss, does = [], [], [], {}
    for column in columns:
        values, mine, theirs = _both(column, raw[column.name], people)
        groups, does[column.name] = _groups(column, values, mine, year)
        rows.append(groups[mine])
        kinds.append(groups[theirs])
        loss.append(_loss(groups[:-1], mine))
    records = np.stack(rows, axis=1)
    classes, class_of = np.unique(records, axis=0, return_inverse=True)
    class_of = class_of.reshape(-1)
    matching = _people_of(classes, np.stack(kinds, axis=1), people.persons)
    risk = instance_risk(np.bincount(class_of), matching)
    names = tuple(column.name for column in columns)
    return Yardstick(RuleClasses(names, class_of.astype(np.int64), risk, np.array(loss)), does)


def _both(column: ColumnPolicy, raw: pa.ChunkedArray, people: Population) -> tuple[list[Any], Ints, Ints]:
    """The values of both sides, and the position of each record's and each kind of people's value; the last is
    unknown."""
    if column.is_numeric:
        own = np.array([math.nan if value is None else float(value) for value in _values(raw)], dtype=np.float64)
        both = np.concatenate([own, people.values[column.name]])
        values = np.unique(both[~np.isnan(both)])
        places = np.where(np.isnan(both), values.size, np.searchsorted(values, both)).astype(np.int64)
        return values.tolist(), places[: own.size], places[own.size :]
    texts = raw.cast(pa.string()).to_pylist()
    theirs = people.texts[column.name]
    names = sorted({*(text for text in texts if text is not None), *theirs})
    place = {name: at for at, name in enumerate(names)}
    of_people = np.array([*(place[text] for text in theirs), len(names)], dtype=np.int64)
    kinds = people.values[column.name]
    mine = np.array([place.get(text, len(names)) for text in texts], dtype=np.int64)
    return names, mine, of_people[np.where(np.isnan(kinds), len(theirs), kinds).astype(np.int64)]


def _groups(column: ColumnPolicy, values: list[Any], mine: Ints, year: int) -> tuple[Ints, str]:
    """The group of each value, followed by the unknown one, and what was done."""
    is_text = not column.is_numeric and column.type != "boolean"
    sample = [values[place] for place in mine[:1000].tolist() if place < len(values)] if is_text else []
    found = suggest(column.name, sample)
    treatment: Any = "" if found is None else found.treatment
    if column.type in _DATED and treatment not in ("birth year", "year"):
        treatment = "year"
    alone = np.append(np.arange(len(values)), UNKNOWN)
    if not treatment:
        return alone, _DOES[""]
    told = _treated(column, values, treatment, year)
    if told is None and treatment == "age":  # groups of ages, and no ages
        return alone, _DOES[""]
    if told is None:
        return np.full(len(values) + 1, UNKNOWN, dtype=np.int64), _DOES["drop"]
    groups = np.unique(np.array(told, dtype=str), return_inverse=True)[1].reshape(-1)
    return np.append(groups, UNKNOWN), _DOES[treatment]


def _treated(column: ColumnPolicy, values: list[Any], treatment: Any, year: int) -> list[str] | None:
    if column.type in _DATED:
        values = list(np.array(values, dtype=np.int64).astype(_DATED[str(column.type)]))
    elif column.is_numeric and treatment != "age":
        values = [int(value) for value in values]
    try:
        told = treated(values, treatment, at=year)
    except ValueError:  # texts that are not dates, or not ages
        return None
    return None if told is None else [str(one) for one in told]


def _loss(groups: Ints, mine: Ints) -> float:
    """The mean share of the other values that a record may also have: all of them for a removed column."""
    known = mine[mine < groups.size]
    if groups.size < 2 or not known.size:
        return 0.0
    if (groups == UNKNOWN).all():
        return 1.0
    held = np.bincount(groups)[groups[known]] - 1
    return float(held.sum() / mine.size / (groups.size - 1))


def _people_of(classes: Ints, kinds: Ints, persons: Ints) -> Ints:
    """The people who match the groups of each class, in its published columns."""
    found = np.zeros(len(classes), dtype=np.int64)
    for told in np.unique(classes != UNKNOWN, axis=0):
        rows = np.flatnonzero(((classes != UNKNOWN) == told).all(axis=1))
        some = (kinds[:, told] != UNKNOWN).all(axis=1)
        both = np.concatenate([classes[rows][:, told], kinds[some][:, told]])
        label = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1) if told.any() else np.zeros(len(both), int)
        held = np.bincount(label[rows.size :], persons[some], int(label.max(initial=0)) + 1)
        found[rows] = held[label[: rows.size]].astype(np.int64)
    return found
