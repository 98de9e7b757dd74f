"""Measures the guarantees of sensitive columns in the classes of a margin that publish anything about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from querygate.core.publications.vault_ports import RawColumn
from querygate.core.types import Array, Bools, Column, Ints
from querygate.custody.policy import Policy
from querygate.custody.verify.diversity_check import WrittenCells, measure_guarantees, missing_values, published_values
from querygate.custody.verify.margin_records import LocatedMargin, ReadColumn
from querygate.custody.verify.person_check import check_holders
from querygate.custody.verify.verifier_types import FALLING, Written, require
from querygate.methods.anonymise import partition_check


@dataclass
class MarginGuards:
    """The worst figures of all margins so far, as in a measurement."""

    l: dict[str, int] = field(default_factory=dict)  # noqa: E741
    t: dict[str, float] = field(default_factory=dict)
    hull: dict[str, float] = field(default_factory=dict)
    kept: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _ToldRows:
    """The raw rows of each class that publishes anything."""

    label: Ints
    rows: Ints
    read: ReadColumn

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"]
    ) -> tuple[Ints, Mapping[str, Array], Ints]:
        values = {name: _values(self.read(name), self.rows) for name in columns}
        return self.label[self.rows], values, np.ones(self.rows.size, dtype=np.int64)


def _values(raw: RawColumn, rows: Ints) -> Array:
    """Numbers as floats with NaN, texts as objects with None."""
    if not raw.texts and raw.values.size:
        return np.where(raw.missing[rows], np.nan, raw.values[rows].astype(np.float64))
    return np.array([*raw.texts, None], dtype=object)[np.where(raw.missing[rows], -1, raw.values[rows])]


def measure_margin(
    written: Written,
    columns: Sequence[Column],
    margin: LocatedMargin,
    told: Bools,
    read: ReadColumn,
    policy: Policy,
    worst: MarginGuards,
) -> None:
    """Measure every guarantee of the columns in the classes that publish them (R1); QG803 if one is not kept."""
    here = told[margin.place]
    cells = {name: values[here] for name, values in margin.cells.items()} | {"class": margin.place[here]}
    rows = _ToldRows(margin.label, np.flatnonzero(told[margin.label]), read)
    release = WrittenCells(columns, cells, margin.place[here], written, rows)
    for column in columns:
        _measure(release, column, policy, worst)
    checks = [*measure_guarantees(release, policy, None), *(check_holders(release, policy) if policy.person else ())]
    for guarantee in checks:
        require(guarantee.holds, guarantee.promise)
        known = worst.kept.get(guarantee.measure, guarantee.figure)
        rises = guarantee.measure.startswith(FALLING)
        worst.kept[guarantee.measure] = min(known, guarantee.figure) if not rises else max(known, guarantee.figure)


def _measure(release: WrittenCells, column: Column, policy: Policy, worst: MarginGuards) -> None:
    wanted, name = policy.column(column.name), column.name
    missing = missing_values(column, release.cells, release.written)
    asked = ~missing if wanted.spares_missing else np.ones_like(missing)
    if not asked.any():
        return
    box, values = release.box[asked], published_values(column, release.cells)[asked]
    counts = np.asarray(release.cells["n"])[asked]
    found = partition_check.distinct_values(box, values)
    worst.l[name] = min(worst.l.get(name, found), found)
    far = partition_check.closeness(box, values, counts, ordered=column.is_numeric)
    worst.t[name] = max(worst.t.get(name, far), far)
    if not column.is_numeric or not wanted.guard:
        return
    box, raw, _ = release.raw(name)
    known = ~np.isnan(raw[name])
    if known.any():
        rows = known if wanted.spares_missing else np.ones_like(known)
        hull = partition_check.narrowest_hull(box[rows], raw[name][rows], raw[name][rows])
        worst.hull[name] = min(worst.hull.get(name, hull), hull)
        require(hull >= wanted.guard, f"the numeric guard of {name}")
        require(found >= 2, f"two bins of {name} in each class")
