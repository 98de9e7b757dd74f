"""Where conditions on a version are decided for everybody, and which of its columns are known together.

Read from the published cells, a column at a time, so that a researcher sees before asking which questions are sharp: it
is what an explanation would tell of each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from weakref import WeakKeyDictionary

import numpy as np

from querygate.core.block import Block, SetColumn
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Bools, Catalog, Column
from querygate.gate.straddles import find_cuts, mixed_rows, set_members

MOST_TOGETHER = 10
"""Combinations that are told, the best first."""


@dataclass(frozen=True, slots=True)
class Together:
    """Columns that are known together for this share of the records: ordered ones up to the next cut."""

    columns: tuple[str, ...]
    decided: float


@dataclass(frozen=True, slots=True)
class Sharpness:
    """By column: the cuts that nobody straddles; values that no set has with others; the share of the records whose
    value is published by itself."""

    cuts: Mapping[str, tuple[int | float, ...]] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decided: Mapping[str, float] = field(default_factory=dict)
    together: tuple[Together, ...] = ()


_found: WeakKeyDictionary[PublishedVersion, Sharpness] = WeakKeyDictionary()
"""A version never changes."""


def find_sharpness(release: PublishedVersion, limits: Limits) -> Sharpness:
    """Nothing where every answer is noisy: the cells are not for telling then. Raises QG305."""
    if release.catalog.noisy_only:
        return Sharpness()
    known = _found.get(release)
    if known is None:
        known = _found[release] = _read(release, limits)
    return known


def _read(release: PublishedVersion, limits: Limits) -> Sharpness:
    catalog = release.catalog
    cuts, values, decided = {}, {}, {}
    for column in catalog.columns:
        if column.role == "public" or column.is_codes:
            continue
        blocks = [release.project([column.name], limits, (), margin) for margin in _margins_of(column, catalog)]
        blocks = [block for block in blocks if block.size]
        if blocks and column.is_numeric:
            cuts[column.name] = tuple(find_cuts(blocks, column.name).sharp)
        elif blocks:
            told = [block.category(column.name) for block in blocks]
            exact = set.union(*(_alone(each) for each in told))
            values[column.name] = tuple(value for value in column.values if value in exact)
            decided[column.name] = max(_share(b, ~mixed_rows(c)) for b, c in zip(blocks, told, strict=True))
    return Sharpness(cuts, values, decided, _together(release, cuts, limits))


def _margins_of(column: Column, catalog: Catalog) -> list[int | None]:
    """The margins that tell of a column, those of counts where it is in them; None stands for classes."""
    if not catalog.margins:
        return [None]
    found = [i for i, margin in enumerate(catalog.margins) if column.name in margin.columns]
    counts = [i for i in found if not catalog.margins[i].sensitive]
    return list(counts or found)


def _together(
    release: PublishedVersion, cuts: Mapping[str, tuple[int | float, ...]], limits: Limits
) -> tuple[Together, ...]:
    """Pairs of quasi-identifiers in classes; the columns of each view."""
    catalog = release.catalog
    if catalog.margins:
        counts = [(i, margin.quasi) for i, margin in enumerate(catalog.margins) if not margin.sensitive]
        found = [_known_together(release.project(names, limits, (), i), [names], cuts) for i, names in counts]
        listed = [one for each in found for one in each]
    else:
        names = tuple(column.name for column in catalog.columns if column.role == "quasi-identifier")
        listed = _known_together(release.project(names, limits), combinations(names, 2), cuts) if names else []
    return tuple(sorted(listed, key=lambda one: -one.decided)[:MOST_TOGETHER])


def _known_together(
    block: Block, groups: Iterable[tuple[str, ...]], cuts: Mapping[str, tuple[int | float, ...]]
) -> list[Together]:
    """An ordered column without a cut inside its domain is not known at all."""
    known: dict[str, Bools] = {}
    for name, column in block.columns.items():
        several = len(cuts.get(name, ())) > 1
        known[name] = ~mixed_rows(column) if isinstance(column, SetColumn) else np.full(block.size, several)
    every = np.ones(block.size, dtype=np.bool_)
    made = [Together(names, _share(block, np.logical_and.reduce([every, *map(known.get, names)]))) for names in groups]  # type: ignore[arg-type]
    return [one for one in made if len(one.columns) > 1 and one.decided > 0]


def _alone(column: SetColumn) -> set[str | None]:
    """Values that are in no set with another."""
    there = [set_members(column.dictionary, s) for s in np.unique(column.sets).tolist()]
    mixed = {value for one in there if len(one) > 1 for value in one}
    return {value for one in there for value in one} - mixed


def _share(block: Block, rows: Bools) -> float:
    """Of all records, rounded down: 1 means all of them."""
    total = int(block.n.sum())
    return int(block.n[rows].sum()) * 1000 // total / 1000 if total else 0.0
