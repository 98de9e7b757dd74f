"""The likely tables of the versions being served: made from the published store when first asked for, and kept.

A version of classes has its cells; of views one table is fitted to all margins of counts, and one to those of each unit
of sensitive columns. Any statement is then answered over points of these. A version never changes, so neither does what
was made of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from querygate.core.block import Block
from querygate.core.expression import Ref
from querygate.core.frozen_classes import frozen
from querygate.core.margin_choice import choose_margins, part_of
from querygate.core.plan import Plan
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.predicate import columns, is_not_null, leaves
from querygate.core.types import Catalog
from querygate.estimates.column_pieces import TooManyPieces
from querygate.estimates.fitted_views import FittedTable, fit_table
from querygate.estimates.points import WeightedCells, make_points, merged_points

KEPT_BYTES = 64 * 2**20
"""Memory for the tables and points of one version."""

LINEAR = frozenset({"count", "sum", "avg"})
"""Statistics that are no other where points are put together at their mean."""

Key = tuple[object, ...]
Kept = TypeVar("Kept", Block, FittedTable)


@frozen
class PointSheet:
    """Aggregates of a plan, by their places in it, and the points that they are computed of."""

    plan: Plan
    places: tuple[int, ...]
    points: Block


@dataclass(slots=True)
class _OfVersion:
    """What was made of one version; a place that is None was too large to be made."""

    kept: dict[Key, Block | FittedTable | None] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Key, make: Callable[[], Kept]) -> Kept:
        with self.lock:
            if key in self.kept:
                known = self.kept[key]
                if known is None:
                    raise TooManyPieces
                return known  # type: ignore[return-value]  # a key is of one kind
        try:
            made = make()
        except TooManyPieces:
            with self.lock:
                self.kept[key] = None
            raise
        with self.lock:
            self.kept[key] = made
            while sum(each.nbytes for each in self.kept.values() if each is not None) > KEPT_BYTES:
                self.kept.pop(next(iter(self.kept)))
        return made

    def sheet(self, plan: Plan, places: tuple[int, ...], points: Block, key: Key) -> PointSheet:
        """These points, or far fewer that are as good for this plan."""
        averaged = _averaged_columns(plan)
        if averaged:
            points = self.get((*key, averaged), lambda: merged_points(points, averaged))
        return PointSheet(plan, places, points)


def _averaged_columns(plan: Plan) -> frozenset[str]:
    """Numbers of which nothing but counts, sums and means is asked for, and no condition but that they are known."""
    if any(one.family != "column" or one.statistic not in LINEAR for one in plan.aggregates):
        return frozenset()
    conditions = leaves(p for measure in plan.measures for p in (measure.where, *measure.splits))
    asked = {name for p in conditions for name in columns(p) if p != is_not_null(name)}
    asked |= {name for key in plan.keys for name in key.by.columns}
    values = [value for measure in plan.measures for value in measure.values]
    asked |= {name for value in values if not isinstance(value, Ref) for name in value.columns}
    plain = {value.column for value in values if isinstance(value, Ref) and value.type in ("integer", "number")}
    return frozenset(plain - asked)


class LikelyTables:
    """Points for any plan, of any version that is still open."""

    def __init__(self) -> None:
        self._versions: WeakKeyDictionary[PublishedVersion, _OfVersion] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def sheets(
        self, plan: Plan, release: PublishedVersion, limits: Limits, check: Callable[[], None]
    ) -> list[PointSheet]:
        """What the aggregates of a plan are computed of. Raises TooManyPieces."""
        with self._lock:
            version = self._versions.setdefault(release, _OfVersion())
        catalog = release.catalog
        if not catalog.margins:
            return _of_classes(plan, version, release, limits)
        found = []
        for choice in choose_margins(plan, catalog):
            unit, names = catalog.margins[choice.margins[0]].sensitive, choice.columns
            views = _Views(version, release, limits, check)
            points = version.get((unit, names), lambda: make_points(views.table(unit, names).cells(names)))  # noqa: B023
            found.append(version.sheet(choice.plan, choice.places, points, (unit, names)))
        return found

    def tables(self, release: PublishedVersion, limits: Limits, check: Callable[[], None]) -> list[Block]:
        """Points of everything that is published of a version, lists of codes apart: of classes one table, of views one
        of the counts and one of each unit of sensitive columns, all with the quasi-identifiers that fit."""
        with self._lock:
            version = self._versions.setdefault(release, _OfVersion())
        catalog = release.catalog
        if not catalog.margins:
            names = frozenset(column.name for column in catalog.columns if not column.is_codes)
            block = release.project(names, limits)
            return [make_points(WeightedCells(block, block.n.astype(np.float64)))]
        views, found = _Views(version, release, limits, check), []
        for unit in dict.fromkeys([(), *(margin.sensitive for margin in catalog.margins)]):
            table = views.table(unit, frozenset())
            found.append(make_points(table.cells(frozenset(table.names))))
        return found


def _of_classes(plan: Plan, version: _OfVersion, release: PublishedVersion, limits: Limits) -> list[PointSheet]:
    """A sheet for the aggregates that need the same columns, and first one that counts the groups: an aggregate has the
    same estimate whatever else is asked for."""
    places: dict[frozenset[str], list[int]] = {part_of(plan, ()).columns: []}
    for place in range(len(plan.aggregates)):
        places.setdefault(part_of(plan, (place,)).columns, []).append(place)
    found = []
    for names, of in places.items():
        part = part_of(plan, of)
        moments = names & {column.name for column in release.catalog.columns if column.moments != "none"}

        def points(names: frozenset[str] = names, moments: frozenset[str] = moments) -> Block:
            block = release.project(names, limits, moments)
            return make_points(WeightedCells(block, block.n.astype(np.float64)))

        key: Key = ("classes", names)
        found.append(version.sheet(part, tuple(of), version.get(key, points), key))
    return found


@frozen
class _Views:
    """The fitted tables of a version of views."""

    version: _OfVersion
    release: PublishedVersion
    limits: Limits
    check: Callable[[], None]

    def table(self, unit: tuple[str, ...], asked: frozenset[str]) -> FittedTable:
        """Over all quasi-identifiers of the views and the columns of the unit; without some that were not asked about,
        where all would make too large a table."""
        quasi = _quasi(self.release.catalog)
        spare = [name for name in quasi if name not in asked]
        while True:
            names = (*quasi, *unit)
            try:
                return self.version.get(("table", names), lambda: self._fit(unit, frozenset(names)))  # noqa: B023
            except TooManyPieces:
                if not spare:
                    raise
                quasi.remove(spare.pop())

    def _fit(self, unit: tuple[str, ...], names: frozenset[str]) -> FittedTable:
        counts: list[Block] = []
        of_unit: list[Block] = []
        for place, margin in enumerate(self.release.catalog.margins):
            if margin.sensitive in ((), unit):
                own = margin.columns & names
                moments = own & {c.name for c in self.release.catalog.columns if c.moments != "none"}
                block = self.release.project(own, self.limits, moments, place)
                (of_unit if margin.sensitive else counts).append(block)
        return fit_table(counts, of_unit, self.check)


def _quasi(catalog: Catalog) -> list[str]:
    return list(dict.fromkeys(name for margin in catalog.margins for name in margin.quasi))
