"""An engine in plain Python, from first principles: what every real one is compared with.

A cell says: n records, each with a value in this interval (or missing), or with one of these values. The reference
reads the store file into Python objects, groups them by hand, and asks of every condition which truth values some
record of a cell can have, by trying the values that matter. It shares no code with the engines, nor with the array
work on their blocks.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from querygate.core.block import ALL_NULLS, Block, NumberColumn
from querygate.core.plan import FetchedGroup, Plan
from querygate.core.predicate import And, Atom, Const, Or, Predicate, columns
from querygate.core.types import Catalog
from tests.engine import reading

Keys = tuple[str | None, ...]
Rows = Counter[tuple]  # (what is known of each column, n, is it a whole class) -> how many such rows
Merged = dict[tuple[float, float], tuple[int, int]]  # interval -> (least, most)
Groups = dict[Keys, tuple[Merged, ...]]


@dataclass(frozen=True)
class Interval:
    """Values of a number in a cell. `missing`: 0 nobody's, 1 somebody's, 2 everybody's."""

    low: float
    high: float
    missing: int


@dataclass(frozen=True)
class Cell:
    """n records of a class of `whole` records, and what is known of each column."""

    known: Mapping[str, Interval | frozenset[str | None]]
    n: int
    label: int
    whole: int


class Reference:
    """The cells of one store file as Python objects."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self.catalog = catalog
        with reading(path) as database:
            texts = {(c, v): text for c, v, text in database.execute("SELECT * FROM value_text").fetchall()}
            sets: dict[tuple[int, int], set[str | None]] = defaultdict(set)
            for c, s, v in database.execute("SELECT column_id, set_id, value_id FROM set_value").fetchall():
                sets[c, s].add(None if v < 0 else texts[c, v])
            found = database.execute("SELECT * FROM cells")
            names = [column[0] for column in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        self.cells = [self._cell(row, sets) for row in rows]

    def _cell(self, row: dict, sets: Mapping[tuple[int, int], set[str | None]]) -> Cell:
        known: dict[str, Interval | frozenset[str | None]] = {}
        for column in self.catalog.columns:
            i = column.index
            if column.is_numeric:
                known[column.name] = _interval(row[f"c{i}_lo"], row[f"c{i}_hi"], row.get(f"c{i}_null", 0))
            else:
                known[column.name] = frozenset(sets[i, row[f"c{i}_set"]])
        return Cell(known, row["n"], row["class"], row["class_n"])

    # -- what an engine does -----------------------------------------------------------------------------------------

    def project(self, names: Collection[str]) -> Rows:
        """Cells that agree in these columns are one row; with tight edges only those of one class."""
        tight = self.catalog.tight
        return Counter(
            (tuple(cell.known[name] for name in sorted(names)), cell.n, cell.n == cell.whole if tight else None)
            for cell in self._grouped(names)
        )

    def _grouped(self, names: Collection[str]) -> Iterator[Cell]:
        together: dict[tuple, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            known = tuple((name, cell.known[name]) for name in sorted(names))
            together[known, cell.label if self.catalog.tight else None].append(cell)
        for (known, _), cells in together.items():
            yield Cell(dict(known), sum(cell.n for cell in cells), cells[0].label, cells[0].whole)

    # -- a plan --------------------------------------------------------------------------------------------------

    def fetch(self, plan: Plan) -> Groups:
        """For every possible group and measure: intervals, and how many records are selected at least and at most."""
        groups: dict[Keys, list[dict]] = defaultdict(lambda: [defaultdict(lambda: [0, 0]) for _ in plan.measures])
        for cell in self._grouped(plan.columns):
            names = [key.by.columns[0] for key in plan.keys]
            choices = [cell.known[name] for name in names]
            alone = all(len(choice) == 1 for choice in choices)
            for keys in itertools.product(*choices):
                view = View(self, cell, dict(zip(names, keys, strict=True)))
                if not names or view.bounds(plan.measures[0].where)[1] > 0:
                    self._add(plan, view, alone, groups[keys])
        merged = {keys: tuple(_merged(measure) for measure in measures) for keys, measures in groups.items()}
        return merged or ({} if plan.keys else {(): tuple({} for _ in plan.measures)})

    def _add(self, plan: Plan, view: View, alone: bool, measures: list[dict]) -> None:
        for measure, total in zip(plan.measures, measures, strict=True):
            least, most = view.bounds(measure.where)
            least = least if alone else 0
            hull = view.hull(measure.where, measure.values[0].columns[0]) if measure.values else (0, 0)
            if most > 0 and hull is not None:
                total[hull][0] += least
                total[hull][1] += most


@dataclass(frozen=True)
class View:
    """One cell, and in a GROUP BY one group: the values of the grouped columns are then given."""

    reference: Reference
    cell: Cell
    given: Mapping[str, str | None]

    def bounds(self, p: Predicate) -> tuple[int, int]:
        """The least and the most of the n records for which the condition is TRUE (Frechet)."""
        n = self.cell.n
        match p:
            case Const(truth):
                return (n, n) if truth == "true" else (0, 0)
            case Atom():
                return self._atom_bounds(p)
            case And(parts):
                least, most = zip(*(self.bounds(part) for part in parts), strict=True)
                return max(0, n - sum(n - a for a in least)), min(most)
            case Or(parts):
                least, most = zip(*(self.bounds(part) for part in parts), strict=True)
                return max(least), min(n, sum(most))

    def _atom_bounds(self, atom: Atom) -> tuple[int, int]:
        n, held = self.cell.n, self._held(atom)
        possible = {atom.at(value) for value in held}
        if possible == {"true"}:
            return n, n
        if "true" not in possible:
            return 0, 0
        somebody = self._certainly_there(atom.column)
        hits = sum(atom.at(value) == "true" for value in somebody)
        return hits, n - (len(somebody) - hits)

    def _held(self, atom: Atom) -> list:
        """Values of the column that stand for all a record of the cell can have, as far as the condition can tell."""
        if atom.column in self.given:
            return [self.given[atom.column]]
        held = self.cell.known[atom.column]
        if not isinstance(held, Interval):
            return list(held)
        missing = [None] if held.missing else []
        if held.missing == ALL_NULLS:
            return missing
        points = {held.low, held.high}
        for cut, _ in atom.true.cuts + atom.false.cuts:
            before = math.nextafter(cut, -math.inf) if isinstance(cut, float) else cut - 1
            points |= {point for point in (cut, before) if held.low <= point <= held.high}
        return [*sorted(points), *missing]

    def _certainly_there(self, name: str) -> list:
        """Values that a member surely has: two different ends of a whole class with tight edges, and a missing one."""
        column, held = self.reference.catalog.column(name), self.cell.known[name]
        tight = self.reference.catalog.tight and column is not None and column.role == "quasi-identifier"
        if not tight or not isinstance(held, Interval) or self.cell.n != self.cell.whole:
            return []
        return [held.low, held.high, *([None] if held.missing else [])] if held.low < held.high else []

    def hull(self, p: Predicate, name: str) -> tuple[float, float] | None:
        """An interval around the column's values in records for which the condition is TRUE; None: there is none."""
        held = self.cell.known[name]
        if not isinstance(held, Interval) or held.missing == ALL_NULLS:
            return None
        match p:
            case Atom(column=column) if column == name:
                values = [value for value in self._held(p) if value is not None and p.at(value) == "true"]
                return (min(values), max(values)) if values else None
            case And(parts):
                said = [self.hull(part, name) for part in parts if name in columns(part)]
                if None in said:
                    return None
                lows, highs = zip(*(said or [(held.low, held.high)]), strict=True)
                return (max(lows), min(highs)) if max(lows) <= min(highs) else None
            case Or(parts):
                found = [self.hull(part, name) for part in parts if self.bounds(part)[1] > 0]
                ends = [hull for hull in found if hull is not None]
                return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None
        return held.low, held.high


def _merged(measure: Mapping) -> Merged:
    return {interval: (least, most) for interval, (least, most) in measure.items()}


def _interval(low: float, high: float, missing: int) -> Interval:
    """Where everybody's value is missing, the ends mean nothing."""
    return Interval(0, 0, ALL_NULLS) if missing == ALL_NULLS else Interval(low, high, missing)


def as_rows(block: Block) -> Rows:
    """What an engine returned, in the shape of the reference."""
    known = []
    for _, column in sorted(block.columns.items()):
        if isinstance(column, NumberColumn):
            ends = zip(column.low.tolist(), column.high.tolist(), column.null.tolist(), strict=True)
            known.append([_interval(*end) for end in ends])
        else:
            texts, starts, members = column.dictionary.values, column.dictionary.starts, column.dictionary.members
            sets = [
                frozenset(None if v < 0 else texts[v] for v in members[begin:end].tolist())
                for begin, end in itertools.pairwise(starts.tolist())
            ]
            known.append([sets[number] for number in column.sets.tolist()])
    whole = [None] * block.size if block.whole is None else block.whole.tolist()
    rows = zip(*known, strict=True) if known else [()] * block.size
    return Counter(zip(rows, block.n.tolist(), whole, strict=True))


def as_merged(fetched: list[FetchedGroup]) -> Groups:
    """What an engine returned, in the shape of the reference: equal intervals added up."""
    groups: Groups = {}
    for group in fetched:
        measures = []
        for cells in group.cells:
            total: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
            nothing = np.zeros_like(cells.least)
            low_, high_ = (cells.values[0].low, cells.values[0].high) if cells.values else (nothing, nothing)
            for low, high, least, most in zip(
                low_.tolist(), high_.tolist(), cells.least.tolist(), cells.most.tolist(), strict=True
            ):
                if most:
                    total[low, high][0] += least
                    total[low, high][1] += most
            measures.append(_merged(total))
        groups[group.keys] = tuple(measures)
    return groups


def contents(block: Block) -> list[bytes]:
    """The bytes of a block, column by column."""
    arrays = [block.n]
    for _, column in sorted(block.columns.items()):
        arrays += [column.low, column.high, column.null] if isinstance(column, NumberColumn) else [column.sets]
    return [array.tobytes() for array in arrays]
