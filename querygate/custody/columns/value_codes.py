"""From raw values to the codes that are published, and back to intervals and values.

A number's code is the position of its public interval; the policy fixes what a code means before the data is read. A
category's code is the position of its value in the dictionary. Sparse bins of a sensitive number are merged with their
neighbours until each holds at least k records or none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Profile
from querygate.core.types import DISCRETE, Array, Floats, Ints
from querygate.custody.policy import ColumnPolicy, bin_edges, closed, grid_edges


@dataclass(frozen=True, slots=True)
class NumberCodes:
    """Code c is the closed interval [low[c], high[c]]. Ends are int64 for whole numbers and dates, else float64."""

    low: Array
    high: Array

    @property
    def size(self) -> int:
        return len(self.low)

    def of(self, values: Array) -> Ints:
        return np.asarray(np.searchsorted(self.low, values, side="right"), dtype=np.int64) - 1

    def cuts(self, points: tuple[int | float, ...]) -> tuple[int, ...]:
        """The first code at or after each public cut that has something on both sides."""
        begins = {int(np.searchsorted(self.low, point)) for point in points}
        return tuple(sorted(c for c in begins if 0 < c < self.size))

    def joined(self, counts: Ints | Floats, least: int) -> Ints:
        """A new number for each code, so that neighbours with fewer than `least` records between them become one.

        From below, an interval is closed as soon as it holds `least`; the remainder at the top joins the last full one,
        and sparse ends reach to the end of the domain, so that no edge reveals an outlier. An empty code stays by
        itself unless it lies inside such a group: an empty bin reveals nothing.
        """
        groups: list[int] = []
        held, group, full = 0, -1, 0
        for count in counts.tolist():
            if held >= least or held == 0:
                full = group if held else full
                group, held = group + 1, 0
            groups.append(group)
            held += count
        if 0 < held < least:
            groups = [min(g, full) for g in groups]
        first, last = (int(place) for place in np.flatnonzero(counts)[[0, -1]]) if counts.any() else (0, 0)
        if 0 < counts[last] < least:
            groups = [min(g, groups[last]) for g in groups]
        if 0 < counts[first] < least:
            groups = [max(g, groups[first]) - groups[first] for g in groups]
        return np.array(groups, dtype=np.int64)

    def merged(self, groups: Ints) -> NumberCodes:
        """The codes after joining: each group from the low end of its first to the high end of its last."""
        first = np.flatnonzero(np.diff(groups, prepend=-1))
        last = np.append(first[1:], len(groups)) - 1
        return NumberCodes(self.low[first], self.high[last])


def grid_codes(column: ColumnPolicy) -> NumberCodes:
    return _from_edges(column, grid_edges(column))


def bin_codes(column: ColumnPolicy) -> NumberCodes:
    return _from_edges(column, bin_edges(column))


def exact_codes(column: ColumnPolicy, profile: Profile) -> NumberCodes:
    """Each value is its own interval: for tight class edges, and public columns."""
    values: Floats | Ints = np.asarray(profile.values, dtype=_kind(column))
    return NumberCodes(values, values)


def _from_edges(column: ColumnPolicy, edges: list[int | float]) -> NumberCodes:
    last = len(edges) - 2
    ends = [closed(str(column.type), edges[i], edges[i + 1], i == last) for i in range(len(edges) - 1)]
    kind = _kind(column)
    return NumberCodes(np.array([low for low, _ in ends], dtype=kind), np.array([high for _, high in ends], dtype=kind))


def _kind(column: ColumnPolicy) -> type:
    return np.int64 if column.type in DISCRETE else np.float64


WIDEST = (-(2**63) + 1, 2**63 - 1)
"""The range of whole numbers that can be negated; a public column without a domain has this one."""


FEW_CODES = 3
"""With at most this many distinct values outside the domain, these may be codes for missing values."""

MOST_CATEGORIES, FEW_CATEGORIES = 10_000, 1_000


def is_text(values: int, records: int) -> bool:
    """Are these too many values for a category? If most records have a unique value, the values are names."""
    return values > MOST_CATEGORIES or (values > FEW_CATEGORIES and values > records / 2)


def check_values(column: ColumnPolicy, profile: Profile) -> None:
    """Every value must be inside what the policy declares public. Errors say how many are not, never which."""
    problem = remedy = ""
    if column.is_numeric and len(profile.values):
        values: Floats | Ints = np.asarray(profile.values)
        widest = WIDEST if column.type in DISCRETE else (-np.finfo(np.float64).max, np.finfo(np.float64).max)
        low, high = (widest[i] if end is None else end for i, end in enumerate((column.low, column.high)))
        beyond = (values < low) | (values > high)
        outside, different = int(profile.counts[beyond].sum()), int(beyond.sum())
        problem = f"{counted(outside, 'value lies', 'values lie')} outside its domain" if outside else ""
        remedy = "Widen the domain, or correct the source."
        if different <= FEW_CODES:
            remedy += " If they are codes for missing values, such as 99, list them in `absent` of the column."
    elif column.hierarchy is None and not column.groups and is_text(len(profile.values), int(profile.counts.sum())):
        problem = f"with {len(profile.values):,} distinct values it is free text, not a category"
        remedy = "Withhold it, give it a hierarchy, or map it to a few categories in the source."
    elif column.values:
        unknown = ~np.isin(profile.values, np.array(column.values, dtype=object))
        outside = int(profile.counts[unknown].sum()) if len(profile.values) else 0
        problem = f"{counted(outside, 'value is', 'values are')} not among its declared values" if outside else ""
        remedy = "Declare them in `values`, or correct the source."
    if problem:
        raise ConfigError("QG802", f"Column {column.name}: {problem}.", remedy)
