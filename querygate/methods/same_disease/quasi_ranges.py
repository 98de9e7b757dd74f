"""Quasi-identifiers of a population and of a file as ordered codes, and ranges of codes as values to publish.

Every kind of column becomes the numbers 0, 1, 2 ... of its values in an order in which neighbours belong together:
numbers and dates as they are, categories the most frequent first (so that rare ones meet), hierarchies such as ZIP
codes so that all values under a node stand side by side. A missing value comes last. Splitting is then the same for
all of them: a cut between two codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from querygate.core.types import Array, Ints

Kind = Literal["number", "age", "date", "birth", "category", "zip"]
Scalar: TypeAlias = "float | str"
Values: TypeAlias = Array

SPANNED = frozenset({"number", "age", "date", "birth"})
ZIP_LEVELS = (3, 4)
"""Digits of a ZIP code that stand for the areas above it."""


@dataclass(frozen=True, slots=True)
class Quasi:
    """A column that may be known from elsewhere, and what kind it is.

    Safe Harbor leaves a number or a category as it is, groups an age above 89, cuts a date to its year, a birth to its
    year with those above 89 on the day `on` in one group, and a ZIP code to three digits. `above` gives the nodes over
    each value of a category, the most general first, all values having as many.
    """

    name: str
    kind: Kind
    on: str = ""
    above: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind == "birth" and not self.on:
            raise ValueError(f"{self.name}: say on which day somebody is above 89")
        if self.above and self.kind != "category":
            raise ValueError(f"{self.name}: only a category has nodes above its values")
        if len({len(nodes) for nodes in self.above.values()}) > 1:
            raise ValueError(f"{self.name}: every value has as many nodes above it")
        paths = {tuple(nodes[: level + 1]) for nodes in self.above.values() for level in range(len(nodes))}
        if len({(len(path), path[-1]) for path in paths}) < len(paths):
            raise ValueError(f"{self.name}: a name stands for one node of its level")


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Numbers or dates (as ISO texts) from low to high, both included; low is None if all values are missing."""

    low: Scalar | None
    high: Scalar | None
    missing: bool = False

    def __str__(self) -> str:
        if self.low is None:
            return "missing"
        low, high = (one if isinstance(one, str) else f"{one:.15g}" for one in (self.low, self.high))
        text = low if low == high else f"{low} to {high}"
        return f"{text} or missing" if self.missing else text


@dataclass(frozen=True, slots=True)
class Nodes:
    """Values or nodes above values, each with its level: 0 is the most general, the last one that of the values."""

    nodes: tuple[tuple[int, str], ...]
    missing: bool = False

    def __str__(self) -> str:
        names = [name for _, name in self.nodes]
        return ", ".join([*names, "missing"] if self.missing else names)


Cell: TypeAlias = "ValueSpan | Nodes"


@dataclass(frozen=True, slots=True)
class ColumnCodes:
    """A column as codes: of the people, of the records, and what each code stands for."""

    quasi: Quasi
    people: Ints
    records: Ints
    values: Values  # of each code, without that of the missing
    size: int  # codes, with that of the missing
    levels: tuple[Ints, ...] = ()  # hierarchies: the number of the node over each code, the most general level first

    @property
    def missing(self) -> int:
        """The code of a missing value; none has it when it is the size."""
        return len(self.values)

    def depth(self) -> Ints:
        """For each cut (before code 1, 2 ...) the most general level that it divides."""
        depth = np.full(max(self.size - 1, 0), len(self.levels), dtype=np.int64)
        for level in range(len(self.levels) - 1, -1, -1):
            depth[self.levels[level][1:] != self.levels[level][:-1]] = level
        return depth

    def cell(self, present: Ints) -> tuple[Cell, int]:
        """The most detailed value to publish for the codes of a part (sorted, each once), and how many codes it has."""
        known = present[present < self.missing]
        missing = known.size < present.size
        if self.quasi.kind not in SPANNED:
            nodes, covered = self._cover(known)
            return Nodes(nodes, missing), covered + missing
        if not known.size:
            return ValueSpan(None, None, True), 1
        low, high = known[0], known[-1]
        return ValueSpan(_scalar(self.values[low]), _scalar(self.values[high]), missing), int(high - low) + 1 + missing

    def _cover(self, present: Ints) -> tuple[tuple[tuple[int, str], ...], int]:
        """The fewest nodes with these codes that reach over neither the first nor the last; of equals the deepest."""
        found, covered, at, last = [], 0, 0, len(self.levels)
        while at < present.size:
            code, end = int(present[at]), int(present[at]) + 1
            node = (last, str(self.values[code]))
            for level in range(last - 1, -1, -1):
                numbers = self.levels[level]
                first, behind = np.searchsorted(numbers, [numbers[code], numbers[code] + 1]).tolist()
                if first == code and end < behind <= present[-1] + 1:
                    node, end = (level, node_name(self.quasi, str(self.values[code]), level)), behind
            found.append(node)
            covered += end - code
            at = int(np.searchsorted(present, end))
        return tuple(found), covered


def node_name(quasi: Quasi, value: str, level: int) -> str:
    """The node over a value.

    >>> node_name(Quasi("zip", "zip"), "37203", 0)
    '372'
    """
    return value[: ZIP_LEVELS[level]] if quasi.kind == "zip" else quasi.above[value][level]


def code(quasi: Quasi, people: Values, records: Values, persons: Ints | None = None) -> ColumnCodes:
    """Both sides of a column in one set of codes; `persons` says how many people each row of them stands for."""
    values, numbers = _numbered(quasi, np.concatenate([np.asarray(people), np.asarray(records)]))
    known, order = len(values), np.arange(len(values))
    levels: tuple[Ints, ...] = ()
    if quasi.kind == "zip" or quasi.above:
        order, levels = _hierarchy(quasi, values)
    elif quasi.kind == "category":
        # By people and not by rows, so that the order of the categories says nothing about the file.
        held = np.bincount(numbers[: len(people)], persons, known + 1)[:known]
        order = np.argsort(-held, kind="stable")
    place = np.full(known + 1, known, dtype=np.int64)
    place[order] = np.arange(known)
    codes = place[numbers]
    missing = bool((numbers == known).any())
    if missing:
        levels = tuple(np.append(level, level.max(initial=-1) + 1) for level in levels)
    return ColumnCodes(quasi, codes[: len(people)], codes[len(people) :], values[order], known + missing, levels)


def _numbered(quasi: Quasi, column: Values) -> tuple[Values, Ints]:
    """The values in order, and the number of that of each row; a missing one has the number behind the last."""
    if quasi.kind in SPANNED:
        dated = quasi.kind in ("date", "birth")
        exact = column.astype("datetime64[D]") if dated else column.astype(np.float64)
        known = ~(np.isnat(exact) if dated else np.isnan(exact))
        values, places = np.unique(exact[known], return_inverse=True)
        numbers = np.full(exact.size, values.size, dtype=np.int64)
        numbers[known] = places.reshape(-1)
        return values, numbers
    seen: dict[str, int] = {}
    rows = [
        -1 if value is None or value != value else seen.setdefault(str(value), len(seen)) for value in column.tolist()
    ]
    names = np.array(list(seen), dtype=str)
    order = np.argsort(names, kind="stable")
    place = np.full(names.size + 1, names.size, dtype=np.int64)  # -1, the missing, is the last place
    place[order] = np.arange(names.size)
    return names[order], place[np.asarray(rows, dtype=np.int64)]


def _hierarchy(quasi: Quasi, values: Values) -> tuple[Ints, tuple[Ints, ...]]:
    """The order in which values of one node stand together, and the nodes over the values in that order, numbered."""
    above = len(ZIP_LEVELS) if quasi.kind == "zip" else len(next(iter(quasi.above.values())))
    unknown = [] if quasi.kind == "zip" else [value for value in values.tolist() if value not in quasi.above]
    if unknown:
        raise ValueError(f"{quasi.name}: {unknown[0]} is not in the hierarchy")
    paths = [(*(node_name(quasi, value, level) for level in range(above)), value) for value in values.tolist()]
    order = sorted(range(len(paths)), key=paths.__getitem__)
    levels = []
    for level in range(above):
        heads = [paths[at][level] for at in order]
        fresh = [int(one != two) for one, two in zip(heads[1:], heads, strict=False)]
        levels.append(np.concatenate([[0], np.cumsum(fresh)]).astype(np.int64)[: len(heads)])
    return np.asarray(order, dtype=np.int64), tuple(levels)


def _scalar(value: np.datetime64 | float) -> Scalar:
    return str(value) if isinstance(value, np.datetime64) else float(value)
