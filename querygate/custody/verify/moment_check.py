"""The verifier's checks of sensitive numbers: own intervals, and moments of classes against raw values.

It shares no code with what made them. Class by class, from the written cells and the raw values: each sum and variance
lies in its published cell, cells are public ones, enough members share them, and the range left for each member when
all others pool their values is measured again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

import numpy as np

from querygate.core.block import ALL_NULLS
from querygate.core.publications.vault_ports import VerifierCounts
from querygate.core.types import Array, Arrays, Catalog, Column, Ints
from querygate.custody.policy import ColumnPolicy, Policy

QUARTERS = (4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128)
"""How wide a cell of a sum may be, in quarters of the guard e."""

NEARLY = 1.0 - 1e-8


class MomentStore(Protocol):
    """A staged store file that may have moments."""

    def moments(self, column: int) -> Arrays: ...


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """A promise, and whether it is kept."""

    promise: str
    holds: bool


def check_intervals(column: Column, wanted: ColumnPolicy, k: int, cells: Arrays) -> Iterator[PromiseCheck]:
    """Check that each of a number's own intervals has k records, and none is narrower than its guard."""
    if wanted.carry != "univariate":
        return
    low, high = (np.ma.asarray(cells[f"c{column.index}_{end}"]) for end in ("lo", "hi"))
    known = ~np.ma.getmaskarray(low)
    ends, which = np.unique(np.stack([low.data[known], high.data[known]]), axis=1, return_inverse=True)
    if not ends.shape[1]:
        return
    held = np.bincount(which.reshape(-1), np.asarray(cells["n"])[known])
    widths = ends[1] - ends[0] + (1 if column.is_discrete else 0)
    yield PromiseCheck(f"k = {k} in each interval of {column.name}", bool(held.min() >= k))
    yield PromiseCheck(
        f"the intervals of {column.name} are as wide as its guard", bool(widths.min() >= (wanted.guard or 0) * NEARLY)
    )


def check_moments(
    written: MomentStore, catalog: Catalog, policy: Policy, cells: Arrays, staging: VerifierCounts
) -> Iterator[PromiseCheck]:
    """Check that published moments are true, and reveal nobody's value too closely."""
    for column in catalog.columns:
        if column.moments == "none":
            continue
        yield PromiseCheck(
            f"moments of {column.name} as the policy has them", column.moments == policy.anonymise.class_moments
        )
        told = written.moments(column.index)
        classes = dict(_classes(column, cells, staging))
        problems = _Problems(column, policy)
        for row in zip(*(np.ma.filled(np.ma.asarray(told[name]), np.nan).tolist() for name in _COLUMNS), strict=True):
            problems.look(classes.get(int(row[0])), *row[1:])
        yield from problems.found()
        labels = np.asarray(told["class"])
        yield PromiseCheck(f"one moment of {column.name} for a class", np.unique(labels).size == labels.size)


_COLUMNS = ("class", "n", "sum_lo", "sum_hi", "var_lo", "var_hi")


@dataclass(frozen=True, slots=True)
class Class:
    """Raw values of a class with their numbers of records, and the interval in which each is published."""

    values: Array
    counts: Ints
    low: Array
    high: Array
    published: int  # records with a known value, as the cells have it


def _classes(column: Column, cells: Arrays, staging: VerifierCounts) -> Iterator[tuple[int, Class]]:
    label, value, count = staging.class_values(column.name)
    null = np.asarray(cells.get(f"c{column.index}_null", np.zeros(len(cells["n"]), dtype=np.int64)))
    known = null != ALL_NULLS
    low, high = (np.asarray(np.ma.asarray(cells[f"c{column.index}_{end}"]).data)[known] for end in ("lo", "hi"))
    of, n = np.asarray(cells["class"])[known], np.asarray(cells["n"])[known]
    order = np.lexsort((low, of))
    low, high, of, n = low[order], high[order], of[order], n[order]
    labels = np.unique(label)
    raw = [*np.searchsorted(label, labels).tolist(), label.size]
    first, last = np.searchsorted(of, labels).tolist(), np.searchsorted(of, labels, side="right").tolist()
    for i, (a, b) in enumerate(pairwise(raw)):
        rows = slice(first[i], last[i])
        at = np.searchsorted(low[rows], value[a:b], side="right") - 1
        yield int(labels[i]), Class(value[a:b], count[a:b], low[rows][at], high[rows][at], int(n[rows].sum()))


def _without_rounding(group: Class) -> tuple[Fraction, Fraction]:
    """Sum and variance of a class: doubles are whole numbers of some power of two."""
    ratios = [x.as_integer_ratio() for x in group.values.tolist()]
    scale = max(below for _, below in ratios)
    units = [above * (scale // below) for above, below in ratios]
    counts = group.counts.tolist()
    n = sum(counts)
    total = sum(m * x for m, x in zip(counts, units, strict=True))
    squares = sum(m * x * x for m, x in zip(counts, units, strict=True))
    return Fraction(total, scale), Fraction(n * squares - total * total, (n * scale) ** 2)


class _Problems:
    """The problems of one column's moments, promise by promise."""

    def __init__(self, column: Column, policy: Policy) -> None:
        self.column, self.kind, self.k = column, policy.anonymise.class_moments, policy.k
        self.e = policy.column(column.name).guard or 0
        self.broken: set[str] = set()

    def found(self) -> Iterator[PromiseCheck]:
        for promise in ("counted", "true", "public", "shared by enough", "not too close to the values"):
            yield PromiseCheck(f"moments of {self.column.name} are {promise}", promise not in self.broken)

    def look(self, group: Class | None, n: float, low: float, high: float, var_low: float, var_high: float) -> None:
        if group is None or not group.counts.sum() == n == group.published:
            self.broken.add("counted")
            return
        told = not math.isnan(var_low)
        total, spread = _without_rounding(group)
        if not Fraction(low) <= total <= Fraction(high) or (
            told and not Fraction(var_low) <= spread <= Fraction(var_high)
        ):
            self.broken.add("true")
        if self.kind == "exact":
            least = 6 if told else 5
            if self._outside(group, low, high) < self.e * NEARLY:
                self.broken.add("not too close to the values")
        else:
            least = max(self.k, 6) if told else self.k
            if not self._is_public(low, high):
                self.broken.add("public")
            bands = (var_low, var_high, float(spread)) if told else None
            if self._left(group, float(total), low, high, int(n), bands) < self.e * NEARLY:
                self.broken.add("not too close to the values")
        if n < least:
            self.broken.add("shared by enough")

    def _is_public(self, low: float, high: float) -> bool:
        """A cell [q s, (q + 1) s) of one of the public steps, closed to the values that the column can have."""
        for quarters in QUARTERS:
            step = (
                Fraction(repr(self.e)) * quarters / 4 if isinstance(self.e, float) else Fraction(self.e * quarters, 4)
            )
            q = math.floor(Fraction(high) / step)
            first, last = q * step, (q + 1) * step
            if self.column.is_discrete:
                if (low, high) == (math.ceil(first), math.ceil(last) - 1):
                    return True
            elif (
                0 <= low - first <= abs(low) * 1e-15 + 1e-300
                and 0 < last - Fraction(high) <= abs(high) * 1e-15 + 1e-300
            ):
                return True
        return False

    def _left(
        self, group: Class, total: float, low: float, high: float, n: int, bands: tuple[float, float, float] | None
    ) -> float:
        """The least range left for a member when all others pool what they know."""
        unit = 1 if self.column.is_discrete else 0
        others = total - group.values
        first, last = np.maximum(low - others, group.low), np.minimum(high - others, group.high)
        if bands is None:
            return float((last - first).min()) + unit
        mean = others / (n - 1)
        rest = n * bands[2] - (n - 1) / n * (group.values - mean) ** 2
        near, far = (np.sqrt(np.maximum((n * v - rest) * n / (n - 1), 0.0)) for v in bands[:2])
        sides = [(mean + near, mean + far), (mean - far, mean - near)]
        if self.column.is_discrete:
            sides = [(np.ceil(a - 1e-6), np.floor(b + 1e-6)) for a, b in sides]
        parts = [np.clip(np.minimum(last, b) - np.maximum(first, a) + unit, 0, None) for a, b in sides]
        return float((parts[0] + parts[1]).min())

    def _outside(self, group: Class, low: float, high: float) -> float:
        """The least range left for a member if an attacker knows nobody's value."""
        unit = 1 if self.column.is_discrete else 0
        least, most = (group.counts * group.low).sum(), (group.counts * group.high).sum()
        first = np.maximum(group.low, low - (most - group.high))
        last = np.minimum(group.high, high - (least - group.low))
        return float((last - first).min()) + unit
