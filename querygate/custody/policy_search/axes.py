"""Quasi-identifiers of a policy as attributes of a lattice of release policies.

Whole numbers of a small domain are published singly, dates by the year, other numbers by the cells of their public
grid, and categories by their public values; if the policy fixes cells (`edges`, `groups`), nothing finer is published.
Which values there are is public: from the policy or, where it is silent, from the population, and never from the
records.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from querygate.core.dates import DAY_US, date_of, day_of
from querygate.core.errors import ConfigError
from querygate.core.types import Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Number, closed, grid_edges
from querygate.custody.policy.toml_reader import show_value
from querygate.methods.policy_search import LatticeAttribute, Suggestion, cells, suggest, whole_numbers, zip_codes

SINGLY = 150
"""Whole numbers up to this many are published singly."""

ASKED = 19
"""Public values that are looked at to tell what a category is: they all differ, which in more of them would look like
unique codes."""


@dataclass(frozen=True)
class Axis:
    """A quasi-identifier, and the finest that a policy over the lattice shows of it.

    A number has the least value of each of its cells in `starts`; a category the values of each in `members`.
    """

    column: ColumnPolicy
    attribute: LatticeAttribute
    starts: tuple[Number, ...] = ()
    members: tuple[tuple[str, ...], ...] = ()

    @property
    def size(self) -> int:
        return len(self.attribute)

    @property
    def told(self) -> str:
        """How values are published, in words."""
        if self.column.edges or self.column.groups:
            return f"{self.size:,} cells of the policy"
        if self.members:
            return f"{self.size:,} values"
        if self.column.type in ("date", "timestamp"):
            return f"{self.size:,} years"
        return f"{self.size:,} {'single values' if self.attribute.kind == 'number' else 'cells of the grid'}"

    def places(self, people: Population) -> Ints:
        """The place of each kind of people; behind the last one if the value is missing, -1 if there is none."""
        values = people.values[self.column.name]
        missing = np.isnan(values)
        if self.members:
            place = {value: at for at, group in enumerate(self.members) for value in group}
            known = np.array([*(place.get(text, -1) for text in people.texts[self.column.name]), -1], dtype=np.int64)
            return np.where(missing, self.size, known[np.where(missing, -1, values).astype(np.int64)])
        low, high = float(self.column.low or 0), float(self.column.high or 0)
        found = np.searchsorted(np.array(self.starts, dtype=np.float64), values, side="right") - 1
        return np.where(missing, self.size, np.where((values >= low) & (values <= high), found, -1)).astype(np.int64)


def make_axis(column: ColumnPolicy, people: Population, order: Sequence[str] = (), *, fixed: bool) -> Axis:
    """The axis of a column. `order` is that of a category's values; with `fixed` the policy's cells are the finest."""
    if column.is_numeric:
        return _of_numbers(column, fixed=fixed)
    return _of_values(column, people, order, fixed=fixed)


def looks_like(column: ColumnPolicy, values: Sequence[str] = ()) -> Suggestion | None:
    """What kind of identifier of Safe Harbor a column may be, by its name, its type and its public values."""
    found = suggest(column.name, list(values or column.values)[:ASKED])
    if column.type in ("date", "timestamp") and (found is None or found.treatment not in ("birth year", "drop")):
        return Suggestion(column.name, "C", "year", "its type")
    return found


# -- numbers -----------------------------------------------------------------------------------------------------------


def _of_numbers(column: ColumnPolicy, *, fixed: bool) -> Axis:
    low, high = column.low or 0, column.high or 0
    if fixed and column.edges:
        starts = column.edges[:-1]
        if column.type in ("date", "timestamp"):
            return Axis(column, LatticeAttribute(column.name, _labels(column)), starts)
        return Axis(column, cells(column.name, [float(edge) for edge in column.edges]), starts)
    if column.type in ("date", "timestamp"):
        years = range(_year(column, low), _year(column, high) + 1)
        return Axis(column, whole_numbers(column.name, years[0], years[-1]), _year_starts(column, years))
    if column.type == "integer" and high - low < SINGLY:
        singles = range(int(low), int(high))  # the last cell holds the top of the domain too, as on a grid
        attribute = whole_numbers(column.name, singles[0], singles[-1], open_top=True)
        return Axis(column, attribute, tuple(singles))
    edges = grid_edges(column)
    return Axis(column, cells(column.name, [float(edge) for edge in edges]), tuple(edges[:-1]))


def _labels(column: ColumnPolicy) -> tuple[str, ...]:
    """The cells of dates, from the first to the last day of each."""
    kind, last = str(column.type), len(column.edges) - 2
    ends = (closed(kind, a, b, place == last) for place, (a, b) in enumerate(pairwise(column.edges)))
    return tuple(f"{show_value(kind, low)} to {show_value(kind, high)}" for low, high in ends)


def _year(column: ColumnPolicy, value: Number) -> int:
    days = int(value) if column.type == "date" else int(value) // DAY_US
    return date_of(days).year


def _year_starts(column: ColumnPolicy, years: range) -> tuple[Number, ...]:
    unit = 1 if column.type == "date" else DAY_US
    begins = [day_of(datetime.date(year, 1, 1)) * unit for year in years]
    return (column.low or 0, *begins[1:])


# -- categories --------------------------------------------------------------------------------------------------------


def _of_values(column: ColumnPolicy, people: Population, order: Sequence[str], *, fixed: bool) -> Axis:
    if fixed and column.groups:
        groups = _in_order(column.groups, order)
        return Axis(column, LatticeAttribute(column.name, tuple("/".join(group) for group in groups)), members=groups)
    values = public_values(column, people)
    kind = looks_like(column, values)
    if kind is not None and kind.treatment == "zip3":
        attribute = zip_codes(column.name, values)
        return Axis(column, attribute, members=tuple((str(value),) for value in attribute.values))
    ordered = [value for value in order if value in set(values)] or list(values)
    if not order and column.hierarchy is not None:
        way = {row[0]: tuple(reversed(row)) for row in rows_of(column, values)}
        ordered = sorted(values, key=lambda value: way.get(value, ()))
    return Axis(column, LatticeAttribute(column.name, tuple(ordered)), members=tuple((value,) for value in ordered))


def public_values(column: ColumnPolicy, people: Population) -> tuple[str, ...]:
    """The publicly known values of a category."""
    declared = column.values or (column.hierarchy and tuple(row[0] for row in column.hierarchy.rows))
    found = tuple(declared or people.texts.get(column.name, ()))
    if not found:
        raise ConfigError(
            "QG801",
            f"columns.{column.name}.values: neither the policy nor the population says which values exist.",
            "List them in `values`.",
        )
    return found


def _in_order(groups: Sequence[tuple[str, ...]], order: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    place: Mapping[str, int] = {value: at for at, value in enumerate(order)}
    return tuple(sorted(groups, key=lambda group: min(place.get(value, len(place)) for value in group)))
