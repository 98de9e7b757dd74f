"""Records and people laid over the lattice of a policy's quasi-identifiers, with Safe Harbor on it.

A missing value is a cell of its own on each axis, which no policy merges with another: nobody can publish "90 or
unknown". The search does not see these cells; `StudyWithMissing` adds them to whatever it asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.safe_harbor import OLD
from querygate.core.types import Array, Bools, Floats, Ints
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy_search.axes import Axis, looks_like, make_axis
from querygate.methods.policy_search import LatticeAttribute, LatticeCubes, LatticePolicy, PolicyLattice, safe_harbor

MOST_CELLS = 2**22
"""Cells of a cube: two of them, and what is remembered of sums, are held in memory."""


class StudyWithMissing(LatticeCubes):
    """A study whose cubes have one more cell on each axis, for missing values, that is always kept apart."""

    def __init__(self, lattice: PolicyLattice, file: Ints, population: Ints, interest: Floats | None = None) -> None:
        wide = PolicyLattice(tuple(LatticeAttribute(a.name, tuple(range(len(a) + 1))) for a in lattice.attributes))
        self._study = LatticeCubes(wide, file, population, interest=interest)
        self._own = np.zeros(wide.length, dtype=np.bool_)  # the bits of the narrow lattice
        for place in wide.places:
            self._own[place.start : place.stop - 1] = True
        known = tuple(slice(0, size) for size in lattice.shape)
        self.lattice, self.gamma, self.records = lattice, self._study.gamma, self._study.records
        self.file, self.population = file[known], population[known]

    def _planes(self, kept: Bools) -> tuple[Floats, ...]:
        wide = np.ones(self._own.size, dtype=np.bool_)
        wide[self._own] = kept
        return self._study._planes(wide)


@dataclass(frozen=True)
class LatticeStudy:
    """A file and a population over the axes of a policy. People who have a value that is not public are left out."""

    axes: tuple[Axis, ...]
    study: LatticeCubes
    people: int
    outside: int

    @property
    def lattice(self) -> PolicyLattice:
        return self.study.lattice


def lay_out(
    columns: Sequence[ColumnPolicy],
    records: Population,
    people: Population,
    order: Mapping[str, Sequence[str]] | None = None,
    *,
    fixed: bool,
    interest: Floats | None = None,
) -> LatticeStudy:
    """Count both over the axes of the columns; `interest` is a weight for each record. ConfigError where a record has a
    value that is not public.
    """
    axes = tuple(make_axis(column, people, (order or {}).get(column.name, ()), fixed=fixed) for column in columns)
    cells = int(np.prod([float(axis.size + 1) for axis in axes]))
    if cells > MOST_CELLS:
        raise ConfigError(
            "QG801",
            f"The values of {', '.join(axis.column.name for axis in axes)} give {cells:,} combinations, more than "
            f"{MOST_CELLS:,}.",
            "Name fewer columns, or give some of them edges, groups or a wider grid.",
        )
    file, strange = _cube(axes, records)
    for name, count in strange.items():
        if count:
            raise ConfigError(
                "QG802",
                f"Column {name}: {counted(count, 'record has', 'records have')} a value that is not public.",
                "Widen the domain, declare the values in `values`, or correct the source.",
            )
    population, _ = _cube(axes, people)
    if not file.any():
        raise ConfigError("QG802", "The source has no records.", "Name a source that contains data.")
    if not (population[file > 0] > 0).any():
        raise ConfigError(
            "QG802",
            "Nobody in the population matches any record.",
            "Spell its values as the source does, and name the count column if a row stands for several people.",
        )
    sought = None if interest is None else _cube(axes, records, interest)[0]
    study = StudyWithMissing(PolicyLattice(tuple(axis.attribute for axis in axes)), file, population, sought)
    total = int(people.persons.sum())
    return LatticeStudy(axes, study, total, total - int(population.sum()))


def _cube(axes: Sequence[Axis], people: Population, weights: Floats | None = None) -> tuple[Array, dict[str, int]]:
    """People, or their weights, by cell, and how many have no cell on each axis."""
    places = [axis.places(people) for axis in axes]
    strange = {axis.column.name: int(people.persons[place < 0].sum()) for axis, place in zip(axes, places, strict=True)}
    known = np.logical_and.reduce([place >= 0 for place in places])
    added = people.persons if weights is None else weights
    found = np.zeros([axis.size + 1 for axis in axes], dtype=added.dtype)
    np.add.at(found, tuple(place[known] for place in places), added[known])
    return found, strange


# -- Safe Harbor -------------------------------------------------------------------------------------------------------


def harbor(ground: LatticeStudy, year: int) -> tuple[LatticePolicy, dict[str, str]]:
    """Safe Harbor on the ground, and what it does to each column; `year` is that of the release."""
    does = {axis.column.name: _treatment(axis) for axis in ground.axes}
    kept = [kept_by(axis, does[axis.column.name], year) for axis in ground.axes]
    return ground.lattice.policy(np.concatenate(kept)), does


def _treatment(axis: Axis) -> str:
    found = looks_like(axis.column, [value for group in axis.members for value in group])
    if found is None:
        return "unchanged"
    return "drop" if found.treatment == "zip3" and axis.attribute.kind != "zip" else found.treatment


def kept_by(axis: Axis, treatment: str, year: int) -> Bools:
    """Which boundaries of an axis Safe Harbor keeps. Ages in a category cannot be recognised, and stay."""
    attribute, all_of_them = axis.attribute, np.ones(axis.size - 1, dtype=np.bool_)
    if treatment == "drop":
        return ~all_of_them
    if attribute.kind == "zip":
        return safe_harbor(PolicyLattice((attribute,)), age=None).kept
    if attribute.kind == "category":
        return all_of_them
    if treatment == "age":
        return safe_harbor(PolicyLattice((attribute,)), age=attribute.name).kept
    return attribute.highs[:-1] > year - OLD if treatment == "birth year" else all_of_them
