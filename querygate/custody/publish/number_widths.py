"""How sharp the answers about each sensitive number are as it is published, and as it could be published instead.

Widths are those of the mean and of the variance over all records, as a researcher would be answered; leaks are what the
choice reveals about single members. All figures are about intervals and classes; none is a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.types import Cells, ClassCells, Ints, Range
from querygate.custody.columns.value_codes import NumberCodes, bin_codes, grid_codes
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.moment_rules import LEAST_K_EXACT, has_moments
from querygate.custody.publish.sensitive_numbers import members_of, moments_of, own_intervals
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise.class_moments import Members, MomentRelease
from querygate.stats import STATISTICS
from querygate.stats.knowledge.class_statistics import CLASS_STATISTICS

AFFORDABLE = 300_000
"""With more distinct values of classes, only the choice itself is measured."""


MOST_RECORDS = 2_000_000
"""With more records, values are not read again to describe alternatives that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Width:
    """The widths of the ranges of the mean and the variance over all records."""

    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class NumberReport:
    """A sensitive number: how it is published, its widths by form (`bins`, `hull, rounded`, ...), and leaks.

    `told` and `told_variance` are the shares of classes that publish a sum and a variance. `narrow` is the share of
    classes whose raw hull is below the guard. `residual` is the least range that is left for a member of a class when
    all others pool their values; None where no sums are told.
    """

    column: str
    chosen: str
    guard: float
    widths: Mapping[str, Width]
    told: float
    told_variance: float
    narrow: float
    residual: float | None


def describe_numbers(state: PublicationState) -> tuple[NumberReport, ...]:
    """A report on every sensitive number that can be averaged; for very large tables, on those that publish sums."""
    if state.rows > MOST_RECORDS and not state.moments:
        return ()
    return tuple(_describe(state, column) for column in state.policy.published if has_moments(column))


def _describe(state: PublicationState, column: ColumnPolicy) -> NumberReport:
    wanted = state.policy.anonymise.class_moments
    members = members_of(state, column)
    chosen = _name(str(column.carry), wanted)
    told = state.moments.get(column.name)
    widths = {chosen: overall_width(members, told)}
    if members.label.size <= AFFORDABLE:
        for carry, other in _alternatives(state, column, members):
            for kind in ("none", "rounded", *(["exact"] if state.policy.k >= LEAST_K_EXACT else [])):
                name = _name(carry, kind)
                if name not in widths and (kind == "none" or column.guard):
                    known = None if kind == "none" else moments_of(other, column, kind, state.policy.k)
                    widths[name] = overall_width(other, known)
    hull = members.greatest(members.value) - members.least(members.value)
    classes = max(state.classes, 1)
    return NumberReport(
        column=column.name,
        chosen=chosen,
        guard=float(column.guard or 0),
        widths=widths,
        told=0.0 if told is None else float(told.kept.sum()) / classes,
        told_variance=0.0 if told is None else float((~np.isnan(told.var_low)).sum()) / classes,
        narrow=float((hull < (column.guard or 0)).mean()) if hull.size else 0.0,
        residual=None if told is None or not told.kept.any() else float(told.residual[told.kept].min()),
    )


def _name(carry: str, moments: str) -> str:
    return carry if moments == "none" else f"{carry}, {moments}"


def _alternatives(state: PublicationState, column: ColumnPolicy, members: Members) -> Iterator[tuple[str, Members]]:
    """The same classes with the number carried in other ways. Making it part of the box would change the classes."""
    profile, k = state.profiles[column.name], state.policy.k
    for carry in ("bins", "hull", "univariate"):
        if carry == column.carry:
            yield carry, members
            continue
        if carry == "univariate" and not column.guard:
            continue
        numbers: NumberCodes = grid_codes(column)
        if carry == "bins":
            width = max(2 * (column.grid or 1), column.guard or 0)
            bins = bin_codes(replace(column, carry="bins", bins=width))
            counts: Ints = np.bincount(bins.of(profile.values), profile.counts, bins.size).astype(np.int64)
            numbers = bins.merged(bins.joined(counts, k))
        elif carry == "univariate":
            try:
                numbers = own_intervals(column, profile, k)
            except ConfigError:  # there are none, so nobody can choose them
                continue
        yield carry, members_of(state, column, numbers, carry)
    if column.carry == "joint":
        yield "joint", members


def overall_width(members: Members, told: MomentRelease | None) -> Width:
    """Widths of the ranges of mean and variance over all records."""
    if not members.label.size:
        return Width(0.0, 0.0)
    new = np.ones(members.label.size, dtype=np.bool_)
    new[1:] = (np.diff(members.label) != 0) | (np.diff(members.low) != 0)
    starts = np.flatnonzero(new)
    size, low, high = np.add.reduceat(members.count, starts), members.low[starts], members.high[starts]
    cells = Cells(low, high, size, size, members.whole)
    found = [STATISTICS.get(name).range(cells) for name in ("avg", "var_pop")]
    if told is not None and told.kept.any():
        group = members.group[starts]
        sums = [np.bincount(group, size * end, told.classes.size) for end in (low, high)]
        slack = 1e-12 * np.abs(np.stack(sums)).max(axis=0)
        classes = ClassCells(
            low, high, low, high, size, size, size, group,
            np.where(told.kept, told.sum_low, sums[0] - slack), np.where(told.kept, told.sum_high, sums[1] + slack),
            told.var_low, told.var_high, members.whole, apart=True,
        )  # fmt: skip
        sharper = [CLASS_STATISTICS[name](classes) for name in ("avg", "var_pop")]
        found = [plain if other is None else _both(plain, other) for plain, other in zip(found, sharper, strict=True)]
    return Width(*((r.high or 0.0) - (r.low or 0.0) for r in found))


def _both(a: Range, b: Range) -> Range:
    low, high = max(a.low or 0.0, b.low or 0.0), min(a.high or 0.0, b.high or 0.0)
    return Range(low, max(low, high))
