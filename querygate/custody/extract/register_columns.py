"""Quasi-identifiers that the register has: how the partition reads them, and how its parts are published.

A part is published with what its people have in common. Ends of ranges are values of people in the register, never
those of a record alone; if the policy has cells (`edges`, `groups`), nothing finer is published. Somebody with an
unknown or non-public value matches no published value of the column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from querygate.core.types import DISCRETE, Bools, Floats, Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.columns.population import Population
from querygate.custody.columns.value_codes import NumberCodes
from querygate.custody.extract.class_columns import ANY, Category, ClassColumn, Number, listed
from querygate.custody.extract.protected_records import Field, Side
from querygate.custody.extract.raw_tables import floats_of, texts_of
from querygate.custody.policy import ColumnPolicy
from querygate.methods.anonymise import ALL_NULLS, NO_NULLS, SOME_NULLS
from querygate.methods.policy_search import suggest
from querygate.methods.same_disease import Cell, Nodes, Quasi, ValueSpan
from querygate.methods.same_disease.quasi_ranges import node_name


@dataclass(frozen=True)
class RegisterColumn:
    """One column: both sides in the values used for parts, and the published form of parts."""

    column: ColumnPolicy
    quasi: Quasi
    records: NDArray[Any]
    people: NDArray[Any]  # by kind of people
    able: Bools  # kinds of people whose value may be published
    publish: Callable[[Sequence[Cell]], ClassColumn]

    @property
    def is_told(self) -> bool:
        """Has any record a value?"""
        return any(value is not None and value == value for value in self.records.tolist())

    def untold(self, parts: int) -> ClassColumn:
        """The column if no record has a value."""
        nothing = ValueSpan(None, None, True) if self.column.is_numeric else Nodes((), True)
        return self.publish([nothing] * parts)


def link(
    column: ColumnPolicy, raw: pa.ChunkedArray, register: Population, cells: NumberCodes | None, known: Sequence[str]
) -> RegisterColumn:
    """A column that the register has. `cells` are those of a number, `known` the public values of a category."""
    if column.is_numeric:
        return _number(column, floats_of(raw), register, cells)
    return _category(column, np.array(texts_of(raw), dtype=object), register, known)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _number(column: ColumnPolicy, records: Floats, register: Population, cells: NumberCodes | None) -> RegisterColumn:
    people, quasi = register.values[column.name], Quasi(column.name, "number")
    low, high = float(column.low or 0), float(column.high or 0)
    able: Bools = (people >= low) & (people <= high)
    if column.edges and cells is not None:
        places = [np.where(np.isnan(side), np.nan, cells.of(side)) for side in (records, people)]
        return RegisterColumn(column, quasi, places[0], places[1], able, partial(_of_cells, column, cells))
    held = np.unique(people[able & (register.persons > 0)])
    return RegisterColumn(column, quasi, records, people, able, partial(_of_spans, column, held))


def _of_cells(column: ColumnPolicy, cells: NumberCodes, told: Sequence[Cell]) -> Number:
    low, high, nulls = _ends(told)
    return Number(column, cells.low[low.astype(np.int64)], cells.high[high.astype(np.int64)], nulls)


def _of_spans(column: ColumnPolicy, held: Floats, told: Sequence[Cell]) -> Number:
    low, high, nulls = _ends(told)
    known = nulls != ALL_NULLS
    low = np.where(known, [_outward(column, held, end, -1) for end in low.tolist()], 0)
    high = np.where(known, [_outward(column, held, end, 1) for end in high.tolist()], 0)
    kind = np.int64 if column.type in DISCRETE else np.float64
    return Number(column, low.astype(kind), high.astype(kind), nulls)


def _ends(told: Sequence[Cell]) -> tuple[Floats, Floats, Ints]:
    spans = [cell for cell in told if isinstance(cell, ValueSpan)]
    low, high = (np.array([float(getattr(span, end) or 0) for span in spans]) for end in ("low", "high"))
    return low, high, np.array([_nulls(span.missing, span.low is None) for span in spans], dtype=np.int64)


def _outward(column: ColumnPolicy, held: Floats, end: float, side: int) -> float:
    """The end; if only records have that value, it is moved up to the next value of a person in the register, so that
    it is nobody's own."""
    place = int(np.searchsorted(held, end))
    if place < held.size and held[place] == end:
        return end
    beyond = place if side > 0 else place - 1
    if not 0 <= beyond < held.size:
        return float((column.high if side > 0 else column.low) or 0)
    neighbour = float(held[beyond])
    return neighbour - side if column.type in DISCRETE else math.nextafter(neighbour, -side * math.inf)


# -- categories --------------------------------------------------------------------------------------------------------


def _category(
    column: ColumnPolicy, records: NDArray[Any], register: Population, known: Sequence[str]
) -> RegisterColumn:
    groups = {value: str(number) for number, group in enumerate(column.groups) for value in group}
    public: Mapping[str, str] = groups or {value: value for value in known}
    texts = np.array([*(public.get(text) for text in register.texts[column.name]), None], dtype=object)
    places = register.values[column.name]
    places = np.where(np.isnan(places), len(texts) - 1, places).astype(np.int64)
    people = texts[places]
    able: Bools = np.array([text is not None for text in texts.tolist()], dtype=np.bool_)[places]
    told = np.array([None if text is None else public[text] for text in records.tolist()], dtype=object)
    quasi = _quasi(column, known)
    values = sorted({*people[able & (register.persons > 0)].tolist(), *told.tolist()} - {None})
    return RegisterColumn(column, quasi, told, people, able, partial(_of_nodes, column, quasi, values, known))


def _quasi(column: ColumnPolicy, known: Sequence[str]) -> Quasi:
    """Neighbours share a node; ZIP codes without a hierarchy are neighbours by their digits."""
    if column.hierarchy is not None:
        rows = rows_of(column, sorted(known))
        # Names of nodes may repeat; paths from the root do not.
        above = {row[0]: tuple("/".join(row[:height:-1]) for height in range(len(row) - 2, -1, -1)) for row in rows}
        return Quasi(column.name, "category", above=above)
    found = None if column.groups or column.type == "boolean" else suggest(column.name, list(known))
    return Quasi(column.name, "zip" if found is not None and found.treatment == "zip3" else "category")


def _of_nodes(
    column: ColumnPolicy, quasi: Quasi, values: Sequence[str], known: Sequence[str], told: Sequence[Cell]
) -> Category:
    """Each part as a value, as a node if it covers all values under it, or as a list of possible values."""
    nodes = _named_nodes(column, values, known)
    found: dict[Cell, tuple[tuple[str, ...], str]] = {}
    for cell in set(told):
        members = _under(quasi, cell, values)
        texts = sorted(v for one in members for v in (column.groups[int(one)] if column.groups else (one,)))
        if len(members) > 1 and frozenset(members) in nodes:
            name, texts = nodes[frozenset(members)]
            found[cell] = tuple(texts), name
        else:
            found[cell] = tuple(texts), listed(texts, len(known))
    nulls = [_nulls(cell.missing, not found[cell][0]) for cell in told]
    sets, labels = [found[cell][0] for cell in told], [found[cell][1] for cell in told]
    return Category(column, sets, labels, np.array(nulls, dtype=np.int64))


def _named_nodes(
    column: ColumnPolicy, values: Sequence[str], known: Sequence[str]
) -> dict[frozenset[str], tuple[str, list[str]]]:
    """By the values of people and records under it: the name of each node (the lowest with these values), and all
    public values under it. The root is *.
    """
    found = {frozenset(values): (ANY, sorted(known))}
    under: dict[str, set[str]] = {}
    for row in rows_of(column, sorted(known)):
        for node in row[1:]:
            under.setdefault(node, set()).add(row[0])
    for node, leaves in sorted(under.items(), key=lambda one: -len(one[1])):
        if node not in known:  # a value stands for itself
            found[frozenset(leaves.intersection(values))] = node, sorted(leaves)
    return found


def _under(quasi: Quasi, cell: Cell, values: Sequence[str]) -> list[str]:
    """The values in a cell."""
    if not isinstance(cell, Nodes) or not cell.nodes:
        return []
    last, wanted = max(level for level, _ in cell.nodes), set(cell.nodes)
    depth = len(next(iter(quasi.above.values()), ())) if quasi.kind != "zip" else 2

    def node(value: str, level: int) -> tuple[int, str]:
        return level, value if level == depth else node_name(quasi, value, level)

    return [value for value in values if any(node(value, level) in wanted for level in range(last + 1))]


def _nulls(missing: bool, all_of_them: bool) -> int:
    if not missing:
        return NO_NULLS
    return ALL_NULLS if all_of_them else SOME_NULLS


# -- combined with columns at their cells ------------------------------------------------------------------------------


@dataclass(frozen=True)
class RenumberedColumn:
    """A published column whose classes are not those of the extract: `number` has the class in this column for each."""

    column: ClassColumn
    number: Ints

    def fields(self) -> list[Field]:
        return self.column.fields()

    def arrays(self, classes: Ints) -> list[pa.Array]:
        return self.column.arrays(self.number[classes])

    def usable(self, classes: Ints) -> pa.Array:
        return self.column.usable(self.number[classes])

    def sides(self) -> list[Side]:
        found = self.column.sides()
        return [found[number] for number in self.number.tolist()]

    def strays(self, classes: Ints, raw: pa.Array) -> int:
        return self.column.strays(self.number[classes], raw)
