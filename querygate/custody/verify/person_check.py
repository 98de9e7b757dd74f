"""Counts people who have several rows in what was written: k people in every class and in every bin, and of every
guarded column no value that too many people of a class have. Shares no code with the guards that made it so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Array, Column, Ints
from querygate.custody.columns.value_codes import grid_codes
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.diversity_rules import least_values
from querygate.custody.verify.diversity_check import GuaranteeCheck, WrittenCells
from querygate.methods.anonymise import partition_check


@dataclass(frozen=True, slots=True)
class ClassPeople:
    """The people of each class: fewest and most."""

    fewest: int
    most: int


def count_people(release: WrittenCells, person: str) -> ClassPeople:
    box, raw, _ = release.raw(person)
    people = np.bincount(_distinct_pairs(box, _numbered(raw[person]))[0])
    return ClassPeople(int(people[people > 0].min()), int(people.max()))


def check_people(release: WrittenCells, policy: Policy) -> Iterator[GuaranteeCheck]:
    """Measures, for people, every guarantee that would follow from the rows if each person had only one."""
    for column in release.columns:
        if policy.column(column.name).carry == "bins":
            fewest = _fewest_in_bins(release, policy.person, column)
            yield GuaranteeCheck(f"k = {policy.k} people in each bin of {column.name}", "", fewest, fewest >= policy.k)
    yield from check_holders(release, policy)


def check_holders(release: WrittenCells, policy: Policy) -> Iterator[GuaranteeCheck]:
    """Check that no guarded column has a value that too many people of a class have."""
    for column in release.columns:
        wanted = policy.column(column.name)
        if not wanted.diversity or column.role != "sensitive":
            continue
        box, raw, _ = release.raw(policy.person, column.name)
        people, values = _numbered(raw[policy.person]), _values(release, wanted, column, raw[column.name])
        if wanted.spares_missing:
            asked = np.array([value is not None and value == value for value in raw[column.name].tolist()], np.bool_)
            box, people, values = box[asked], people[asked], values[asked]
            raw = {name: held[asked] for name, held in raw.items()}
        if not box.size:
            continue  # nobody was asked
        spared, shares = partition_check.spared_people(box, people, values)
        least = least_values(wanted.diversity) - 1
        texts = {} if column.is_numeric else dict(zip(values.tolist(), raw[column.name].tolist(), strict=True))
        is_rare = all(s <= d.most(texts.get(v)) for v, s in shares.items() for d in wanted.diversity)
        measure = f"people of a class without its commonest {column.name}"
        promise = f"diversity of {column.name} among people"
        yield GuaranteeCheck(promise, measure, spared, spared >= least and is_rare)


def _values(release: WrittenCells, wanted: ColumnPolicy, column: Column, raw: Array) -> Ints:
    """The raw values as numbers: each text its own, a number that of its bin or grid cell; missing is one."""
    if not column.is_numeric:
        return _numbered(raw)
    if wanted.carry == "bins":
        return _bins(release, column, raw)
    return np.where(np.isnan(raw), -1, grid_codes(wanted).of(raw)) + 1


def _bins(release: WrittenCells, column: Column, values: Array) -> Ints:
    """The written interval that each value lies in, by its low end; 0 of a missing value."""
    low = np.ma.asarray(release.cells[f"c{column.index}_lo"])
    edges = np.unique(low.compressed().astype(np.float64))
    return np.where(np.isnan(values), 0, np.searchsorted(edges, values, side="right"))


def _fewest_in_bins(release: WrittenCells, person: str, column: Column) -> int:
    """Fewest people in a bin that has any; a single bin has everybody, however few they are."""
    _, raw, _ = release.raw(person, column.name)
    bins = _bins(release, column, raw[column.name])
    known = bins > 0
    held = np.bincount(_distinct_pairs(bins[known], _numbered(raw[person])[known])[0])
    held = held[held > 0]
    everybody = np.unique(_numbered(raw[person])).size
    return int(held.min()) if held.size > 1 else everybody


def _numbered(values: Array) -> Ints:
    """Equal values, equal numbers; None and NaN are values like others."""
    texts = np.array([str(value) for value in values.tolist()], dtype=object)
    return np.unique(texts, return_inverse=True)[1].reshape(-1)


def _distinct_pairs(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    size = int(second.max(initial=0)) + 1
    pairs = np.unique(first * size + second)
    return pairs // size, pairs % size
