"""Random tables published as margins by hand: what a gate answers from them can be compared with the raw rows.

Classes come from certified views, or are any division of the records at all: ranges hold for both, as they rest on
nothing but what a margin says of its classes.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from querygate.core.types import Catalog, Column, Margin
from querygate.methods.views import (
    FrameColumn,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    TooFewPeople,
    ViewPlan,
    certified_views,
)
from querygate.site.open_gate import open_gate
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.version_writer import DuckDBVersionWriter
from tests.empty_site import empty_site
from tests.policies import make_column, make_policy
from tests.property.grammar import Writer, fields_of
from tests.property.random_cases import EPOCH, WORDS, Case, with_nulls
from tests.property.tally import Tally
from tests.property.truth import define

NUMBERS = ("integer", "number", "date")


@dataclass
class RawColumn:
    """One column by record, with public codes: a number lies in the interval of its code, -1 is missing."""

    name: str
    role: str
    type: str
    values: list[Any]
    texts: tuple[str, ...] = ()
    edges: list[Any] = field(default_factory=list)

    @cached_property
    def codes(self) -> list[int]:
        if self.type in NUMBERS:
            last = len(self.edges) - 2
            inner = self.edges[1:-1]
            return [-1 if v is None else min(last, int(np.searchsorted(inner, v, side="right"))) for v in self.numbers]
        return [-1 if v is None else self.texts.index(_text(v)) for v in self.values]

    @property
    def numbers(self) -> list[Any]:
        """Values on the axis of the store: dates are days."""
        return [(v - EPOCH).days if isinstance(v, dt.date) else v for v in self.values]

    @property
    def size(self) -> int:
        return max(1, len(self.edges) - 1 if self.type in NUMBERS else len(self.texts))

    @property
    def nullable(self) -> bool:
        return None in self.values

    def ends(self, code: int) -> tuple[Any, Any]:
        low, high = self.edges[code], self.edges[code + 1]
        return (low, high) if self.type == "number" or code == self.size - 1 else (low, high - 1)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- random tables -----------------------------------------------------------------------------------------------------


def random_raw(rng: random.Random, name: str, role: str, rows: int, kind: str | None = None) -> RawColumn:
    kind = kind or rng.choice(["integer", "integer", "number", "date", "category", "category", "boolean"])
    if kind == "boolean":
        return RawColumn(
            name, role, kind, with_nulls(rng, [rng.random() < 0.4 for _ in range(rows)]), ("false", "true")
        )
    if kind == "category":
        words = rng.sample(WORDS, rng.randint(1, 5))
        values = with_nulls(rng, rng.choices(words, weights=[2.0**-i for i in range(len(words))], k=rows))
        return RawColumn(name, role, kind, values, tuple(sorted(words)))
    if kind == "number":
        base, scale = rng.choice([0.0, 20.0, -7.5, 1e9]), rng.choice([1.0, 1e-3, 1e6])
        values = [round(base + scale * rng.uniform(-9, 9), rng.choice([0, 1, 15])) for _ in range(rows)]
        edges = sorted({base - scale * 10, base + scale * 10, *(base + scale * rng.randint(-9, 9) for _ in range(4))})
        edges = [min(edges[0], *values), *edges[1:-1], max(edges[-1], *values)]
        return RawColumn(name, role, kind, with_nulls(rng, values), edges=edges)
    base, spread = rng.choice([0, 40, -50, 18_000, *([2**50] if kind == "integer" else [])]), rng.choice([0, 1, 6, 60])
    values = [base + rng.randint(-spread, spread) for _ in range(rows)]
    inner = {rng.randint(base - spread, base + spread) for _ in range(rng.randint(0, 5))}
    edges = sorted({base - spread - rng.randint(1, 5), base + spread + rng.randint(1, 5), *inner})
    if kind == "date":
        values = [EPOCH + dt.timedelta(days=value) for value in values]
    return RawColumn(name, role, kind, with_nulls(rng, values), edges=edges)


@dataclass
class Design:
    """Views over quasi-identifiers, units of sensitive columns, and where each record is: frame cell, and the class of
    every margin; None where a view is silent on the unit in the record's frame cell, and then its class of counts."""

    views: list[tuple[str, ...]]
    units: list[tuple[str, ...]]
    frame: list[int]
    labels: dict[tuple[int, tuple[str, ...]], list[Any]]


def random_design(rng: random.Random, columns: Sequence[RawColumn], *, certified: bool) -> Design | None:
    quasi = [column.name for column in columns if column.role == "quasi-identifier"]
    sensitive = [column.name for column in columns if column.role == "sensitive"]
    frame = rng.choice(quasi)
    views: list[tuple[str, ...]] = []
    for _ in range(rng.choice([1, 2, 2, 2, 3])):
        view = {frame, *rng.sample(quasi, rng.randint(1, len(quasi)))}
        views.append(tuple(name for name in quasi if name in view))
    units: list[tuple[str, ...]] = []
    rest = rng.sample(sensitive, len(sensitive))
    while rest:
        size = rng.choice([1, 1, 2])
        units.append(tuple(rest[:size]))
        rest = rest[size:]
    if certified:
        return _certified(rng, columns, views, units, frame)
    return _uncertified(rng, columns, views, units)


def _uncertified(
    rng: random.Random, columns: Sequence[RawColumn], views: list[tuple[str, ...]], units: list[tuple[str, ...]]
) -> Design:
    """Any division of the records, in any frame: by some columns, or by chance."""
    rows = len(columns[0].values)
    by_name = {column.name: column for column in columns}

    def divided() -> list[Any]:
        if rng.random() < 0.5:
            return [rng.randrange(max(1, rows // 4)) for _ in range(rows)]
        names = rng.sample(sorted(by_name), rng.randint(1, 2))
        return list(zip(*(by_name[name].codes for name in names), strict=True))

    cells = divided()
    ids = {label: i for i, label in enumerate(dict.fromkeys(cells))}
    frame = [ids[label] for label in cells] if rng.random() < 0.8 else [0] * rows
    labels: dict[tuple[int, tuple[str, ...]], list[Any]] = {}
    for view in range(len(views)):
        for unit in [(), *units]:
            silent = {cell for cell in set(frame) if unit and rng.random() < 0.15}
            labels[view, unit] = [
                None if cell in silent else label for cell, label in zip(frame, divided(), strict=True)
            ]
    return Design(views, units, frame, labels)


def _certified(
    rng: random.Random, columns: Sequence[RawColumn], views: list[tuple[str, ...]], units: list[tuple[str, ...]],
    frame: str,
) -> Design | None:  # fmt: skip
    by_name = {column.name: column for column in columns}
    quasi = tuple(
        QuasiIdentifier(column.name, np.array(column.codes), column.size, ordered=column.type in NUMBERS)
        for column in columns
        if column.role == "quasi-identifier"
    )
    joint = []
    for unit in units:
        ids: dict[tuple[int, ...], int] = {}
        codes = [ids.setdefault(key, len(ids)) for key in zip(*(by_name[name].codes for name in unit), strict=True)]
        joint.append(SensitiveColumn("+".join(unit), np.array(codes, dtype=np.int64), max(1, len(ids))))
    cuts = tuple(range(1, by_name[frame].size))
    plan = ViewPlan(tuple(views), (FrameColumn(frame, cuts),), k=rng.choice([2, 3, 5]))
    try:
        release = certified_views(RecordTable(quasi, tuple(joint)), plan)
    except TooFewPeople:
        return None
    rows = len(columns[0].values)
    cell_of = [0] * rows
    labels: dict[tuple[int, tuple[str, ...]], list[Any]] = defaultdict(lambda: [None] * rows)
    for number, cell in enumerate(release.cells):
        for record in cell.records.tolist():
            cell_of[record] = number
        for view, unit in itertools.product(range(len(views)), [(), *units]):
            found = cell.labels(view, "+".join(unit) or None)
            target = labels[view, unit]
            if found is not None:
                for record, label in zip(cell.records.tolist(), found.tolist(), strict=True):
                    target[record] = label
    return Design(views, units, cell_of, dict(labels))


# -- the store ---------------------------------------------------------------------------------------------------------


class MarginStore:
    """The tables of a version, cell by cell."""

    def __init__(self, columns: Sequence[RawColumn], design: Design, step: float) -> None:
        self.columns, self.design, self.step = columns, design, step
        self.index = {column.name: i for i, column in enumerate(columns)}
        self.margins = [
            Margin(view, quasi, unit) for view, quasi in enumerate(design.views) for unit in [(), *design.units]
        ]
        self.cells: list[dict[str, Any]] = []
        self.moments: list[tuple[Any, ...]] = []
        self.sets: dict[int, dict[frozenset[int], int]] = defaultdict(dict)
        self.classes = 0
        for place in range(len(self.margins)):
            self._put(place)

    def _put(self, place: int) -> None:
        margin, design = self.margins[place], self.design
        own, counts = design.labels[margin.view, margin.sensitive], design.labels[margin.view, ()]
        classes: dict[Any, list[int]] = defaultdict(list)
        for record, (cell, label, other) in enumerate(zip(design.frame, own, counts, strict=True)):
            classes[cell, label is None, other if label is None else label].append(record)
        for (cell, silent, _), records in classes.items():
            label, self.classes = self.classes, self.classes + 1
            boxed = {name: self._box(name, records) for name in margin.quasi}
            if silent and margin.sensitive:
                told = [(records, {name: self._anything(name) for name in margin.sensitive})]
            else:
                told = list(self._bins(margin.sensitive, records))
                self._add_sums(margin.sensitive, records, label)
            for held, found in told:
                physical = {k: v for each in (*boxed.values(), *found.values()) for k, v in each.items()}
                whose = {"margin": place, "frame": cell, "class": label, "class_n": len(records), "n": len(held)}
                self.cells.append(whose | physical)

    def _bins(self, unit: tuple[str, ...], records: list[int]) -> Iterator[tuple[list[int], dict[str, dict[str, Any]]]]:
        by_bin = defaultdict(list)
        codes = {name: self.columns[self.index[name]].codes for name in unit}
        for record in records:
            by_bin[tuple(codes[name][record] for name in unit)].append(record)
        for held in by_bin.values():
            yield held, {name: self._box(name, held) for name in unit}

    def _box(self, name: str, records: list[int]) -> dict[str, Any]:
        """Hull or set of the codes of some records."""
        i = self.index[name]
        column = self.columns[i]
        codes = {column.codes[record] for record in records}
        if column.type not in NUMBERS:
            return {f"c{i}_set": self._set(i, codes)}
        known = codes - {-1}
        null = 2 if not known else int(-1 in codes)
        low, high = (column.ends(min(known))[0], column.ends(max(known))[1]) if known else (None, None)
        return {f"c{i}_lo": low, f"c{i}_hi": high} | ({f"c{i}_null": null} if column.nullable else {})

    def _anything(self, name: str) -> dict[str, Any]:
        i = self.index[name]
        column = self.columns[i]
        if column.type not in NUMBERS:
            return {f"c{i}_set": self._set(i, {*range(len(column.texts)), *([-1] if column.nullable else [])})}
        ends = {f"c{i}_lo": column.edges[0], f"c{i}_hi": column.edges[-1]}
        return ends | ({f"c{i}_null": 1} if column.nullable else {})

    def _set(self, index: int, codes: set[int]) -> int:
        return self.sets[index].setdefault(frozenset(codes), len(self.sets[index]))

    def _add_sums(self, unit: tuple[str, ...], records: list[int], label: int) -> None:
        for name in unit:
            column = self.columns[self.index[name]]
            if column.type not in ("integer", "number"):
                continue
            values = [Fraction(column.values[record]) for record in records if column.values[record] is not None]
            if values:
                cell = math.floor(sum(values) / Fraction(self.step))
                ends = [Fraction(self.step) * cell, Fraction(self.step) * (cell + 1)]
                low, high = math.nextafter(float(ends[0]), -math.inf), math.nextafter(float(ends[1]), math.inf)
                self.moments.append((self.index[name], label, len(values), low, high, None, None))

    def catalog(self, k: int) -> Catalog:
        made = []
        for i, column in enumerate(self.columns):
            low, high = (column.edges[0], column.edges[-1]) if column.type in NUMBERS else (None, None)
            summed = column.role == "sensitive" and column.type in ("integer", "number")
            known = (column.name, i, column.role, column.type, column.nullable, low, high, column.texts)
            made.append(Column(*known, moments="rounded" if summed else "none"))
        rows = len(self.columns[0].values)
        return Catalog("t", 1, "", k, rows, tuple(made), margins=tuple(self.margins))

    def tables(self) -> dict[str, pa.Table]:
        names = ["margin", "frame", "class", "class_n", "n"]
        kinds: dict[str, pa.DataType] = {name: pa.int64() for name in names}
        for i, column in enumerate(self.columns):
            if column.type not in NUMBERS:
                kinds[f"c{i}_set"] = pa.int32()
                continue
            end = pa.float64() if column.type == "number" else pa.int64()
            kinds |= {f"c{i}_lo": end, f"c{i}_hi": end} | ({f"c{i}_null": pa.int8()} if column.nullable else {})
        cells = {name: pa.array([cell.get(name) for cell in self.cells], kind) for name, kind in kinds.items()}
        members = [
            (i, number, code)
            for i, sets in self.sets.items()
            for codes, number in sets.items()
            for code in sorted(codes)
        ]
        texts = [(i, j, text) for i, column in enumerate(self.columns) for j, text in enumerate(column.texts)]
        made = {
            "cells": pa.table(cells),
            "set_value": _table(members, {"column_id": pa.int32(), "set_id": pa.int32(), "value_id": pa.int32()}),
            "value_text": _table(texts, {"column_id": pa.int32(), "value_id": pa.int32(), "text": pa.string()}),
        }
        sums = {name: pa.float64() for name in ("sum_lo", "sum_hi", "var_lo", "var_hi")}
        told = {"column_id": pa.int32(), "class": pa.int32(), "n": pa.int64(), **sums}
        return made | {"class_moment": _table(sorted(self.moments), told)}


def _table(rows: Sequence[tuple[Any, ...]], kinds: dict[str, pa.DataType]) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(kinds.items())})


# -- a case ------------------------------------------------------------------------------------------------------------


def publish_margins(columns: Sequence[RawColumn], design: Design, folder: Path, k: int = 2, step: float = 1.0) -> Case:
    """A site that serves the margins of this design, and the raw rows to compare with."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "t.parquet"
    types = {"integer": pa.int64(), "number": pa.float64(), "date": pa.date32(), "boolean": pa.bool_()}
    rows = pa.table({c.name: pa.array(c.values, types.get(c.type, pa.string())) for c in columns})
    pyarrow.parquet.write_table(rows, source)
    opened = open_gate(empty_site(folder / "site"))
    store = MarginStore(columns, design, step)
    with DuckDBVersionWriter(opened.site.store, opened.site.vault).publishing("t") as publication:
        staging = publication.staging()
        staging.load(open_source(str(source)), {column.name: column.type for column in columns})
        staging.close()
        publication.write(store.catalog(k), store.tables())
        publication.switch()
    truth = duckdb.connect()
    truth.register("t", rows)
    define(truth)
    tables = {column.name: _policy(column) for column in columns}
    return Case(make_policy("t", tables, k=k).parsed(), opened, truth)


def _policy(column: RawColumn) -> dict[str, Any]:
    if column.type not in NUMBERS:
        more = {"values": list(column.texts)} if column.type == "category" else {}
        return make_column(column.role, column.type, **more)
    low, high = column.edges[0], column.edges[-1]
    ends = [str(EPOCH + dt.timedelta(days=end)) for end in (low, high)] if column.type == "date" else [low, high]
    return make_column(column.role, column.type, ends)


def view_case(seed: int, folder: Path) -> Case | None:
    """A random table as margins; None where it has too few people for certified ones."""
    rng = random.Random(seed)
    rows = rng.choice([1, 5, 12, 40, 120])
    columns = [random_raw(rng, f"c{i}", "quasi-identifier", rows) for i in range(rng.randint(1, 4))]
    columns += [random_raw(rng, f"s{i}", "sensitive", rows) for i in range(rng.randint(1, 3))]
    design = random_design(rng, columns, certified=seed % 2 == 0)
    step = rng.choice([0.5, 3.0, 40.0])
    return None if design is None else publish_margins(columns, design, folder, step=step)


def try_views(seed: int, folder: Path, wanted: int) -> Tally:
    """Statements about one random table until so many are answered, or twice as many refused; most of them about
    sensitive columns that are linked."""
    tally = Tally()
    case = view_case(seed, folder)
    if case is None:
        return tally
    rng = random.Random(seed)
    fields = fields_of(case)
    margins = case.opened.store.current("t").catalog.margins
    quasi = {name for margin in margins for name in margin.quasi}
    while tally.answered < wanted and tally.asked < 3 * wanted:
        linked = {*quasi, *rng.choice(margins).sensitive}
        about = fields if rng.random() < 0.1 else [field for field in fields if field.name in linked]
        tally.try_(Writer(rng, about).question(), case)
    case.truth.close()
    tally.wrong = [f"table {seed}: {text}" for text in tally.wrong]
    return tally
