"""Mondrian for a task (LeFevre, DeWitt, Ramakrishnan, "Workload-aware anonymization", KDD 2006): classes that keep a
target predictable from the quasi-identifiers.

Each node takes the feasible cut that leaves least to be known of the target: least entropy of a category (InfoGain
Mondrian), least variance of a number. Where no cut tells anything of it, the one that loses least in width, as long as
one does. Public cuts come first. Categories stand in the order of their mean target, in which a best division of two is
a cut (Breiman et al. 1984, for two classes and for numbers).

A class that is made for a sensitive target tells more of it: the policy has to require diversity of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.districts import districts
from querygate.methods.anonymise.division.mondrian import NO_GAIN, Progress, canonical, mondrian
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table, Target

TRIED = 12
"""Cuts of a node whose guards are asked, the best first."""


def mondrian_target(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k records in each, and every guard holds.

    The table has one row per record, and a target; without one this is Mondrian. Raises Infeasible if the table as a
    whole does not keep a promise.
    """
    if table.target is None:
        return mondrian(table, k, guards, progress=progress)
    district = districts(table, k, guards)
    order = np.argsort(district, kind="stable")
    waiting = np.split(order, np.flatnonzero(np.diff(district[order])) + 1)
    labels, classes, done = np.zeros(table.combinations, dtype=np.int64), 0, 0
    while waiting:
        rows = waiting.pop()
        parts = _divided(table, table.target, rows, k, guards)
        if parts is not None:
            waiting += parts
            continue
        labels[rows] = classes
        classes, done = classes + 1, done + rows.size
        if progress:
            progress(done / table.combinations)
    return canonical(table, labels)


@dataclass(frozen=True)
class _Cut:
    """A cut of a node: what is left to be known of the target, by how much widths fall, and the rows left of it."""

    unknown: float
    narrower: float
    left: Bools


def _divided(table: Table, target: Target, rows: Ints, k: int, guards: Sequence[Guard]) -> list[Ints] | None:
    """The two parts of the best cut whose parts keep every guard; None where there is none worth it."""
    if int(table.counts[rows].sum()) < 2 * k:
        return None
    now = target.unknown(rows, table.counts[rows])
    cuts = [cut for a in table.attributes for cut in _cuts(a, table.counts[rows], target, rows, k)]
    telling = sorted((c for c in cuts if now - c.unknown > NO_GAIN * max(1.0, now)), key=lambda c: c.unknown)
    narrowing = sorted((c for c in cuts if c.narrower > NO_GAIN), key=lambda c: -c.narrower)
    for cut in [*telling[:TRIED], *narrowing[:TRIED]]:
        if all(guard.classes(rows, (~cut.left).astype(np.int64), 2).all() for guard in guards):
            return [rows[cut.left], rows[~cut.left]]
    return None


def _cuts(attribute: Attribute, counts: Ints, target: Target, rows: Ints, k: int) -> Iterator[_Cut]:
    """The best cuts of an attribute for the target, and the best for its width."""
    codes = attribute.codes[rows]
    values, which = np.unique(codes, return_inverse=True)
    which = which.reshape(-1)
    if values.size < 2:
        return
    order = np.arange(values.size)
    if not attribute.ordered:
        order = np.lexsort((values, target.mean_by(rows, which, counts)))
        which = np.argsort(order)[which]
        values = values[order]
    held: Floats = np.cumsum(np.bincount(which, counts), dtype=np.float64)
    possible = np.flatnonzero((held[:-1] >= k) & (held[-1] - held[:-1] >= k))
    if not possible.size:
        return
    unknown = target.unknown_after(rows, which, counts)[possible]
    narrower = _narrower(attribute, values, held)[possible]
    best = {*np.argsort(unknown, kind="stable")[:TRIED].tolist(), int(np.argmax(narrower))}
    for at in sorted(best):
        yield _Cut(float(unknown[at]), float(narrower[at]), which <= possible[at])


def _narrower(attribute: Attribute, values: Ints, held: Floats) -> Floats:
    """For a cut after each of the values: by how much the weighted width of all records falls."""
    missing = values == NULL
    if attribute.ordered:
        lower, upper = attribute.edges
        low, high = np.where(missing, np.inf, lower[values]), np.where(missing, -np.inf, upper[values])
        ends = ((low, high), (low[::-1], high[::-1]))
        spans = [np.maximum.accumulate(most) - np.minimum.accumulate(least) for least, most in ends]
        widths = [np.maximum(span, 0.0) / (attribute.span or 1.0) for span in spans]
    else:
        number = np.arange(1, values.size + 1) - 0.0
        widths = [np.where(number > 1, number, 0.0) / attribute.span] * 2
    for width, side in zip(widths, (missing, missing[::-1]), strict=True):
        mixed = np.logical_or.accumulate(side) & np.logical_or.accumulate(~side)
        width[:] = np.where(mixed, 1.0, np.where(np.logical_and.accumulate(side), 0.0, width))
    left, right = widths[0], np.append(widths[1][::-1][1:], 0.0)
    found: Floats = attribute.weight * (held[-1] * left[-1] - held * left - (held[-1] - held) * right)
    return found
