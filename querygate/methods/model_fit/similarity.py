"""How far the extract's distributions and correlations are from the original's.

>>> ks_distance(np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6]))
0.5
>>> total_variation(np.array(["F", "F", "M", "M"]), np.array(["F", "M", "M", "M"]))
0.25
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Array, Floats
from querygate.methods.model_fit.design_matrix import Columns, Levels, is_numeric, missing, texts

MOST_LEVELS = 20
"""Levels of a category whose correlations are reported."""

NOTHING = 1e-12
"""A variance, of columns that have 1, that is taken for none."""


@dataclass(frozen=True)
class Similarity:
    """Per column the distance of its distributions; for numbers and levels of categories both correlation matrices."""

    distances: dict[str, float]
    names: tuple[str, ...]
    before: Floats
    after: Floats

    @property
    def difference(self) -> Floats:
        """By how much each correlation changed."""
        return np.asarray(np.abs(self.after - self.before))

    @property
    def largest_difference(self) -> float:
        return float(self.difference.max(initial=0.0))


def similarity(before: Columns, after: Columns, levels: Levels, names: Sequence[str] | None = None) -> Similarity:
    """Compare the columns named, or all; those with levels are categories. Records need not be paired."""
    wanted = tuple(before) if names is None else tuple(names)
    distances = {
        name: (total_variation if name in levels or not is_numeric(before[name]) else ks_distance)(
            before[name], after[name]
        )
        for name in wanted
    }
    shown = {name: _frequent(before[name], levels[name]) for name in wanted if name in levels}
    labels, old = _numbers(before, levels, shown, wanted)
    _, new = _numbers(after, levels, shown, wanted)
    return Similarity(distances, labels, correlations(old), correlations(new))


def correlations_of(columns: Columns, levels: Levels) -> tuple[tuple[str, ...], Floats]:
    """Names and correlations of numbers and of the frequent levels of categories, of one table alone."""
    shown = {name: _frequent(columns[name], levels[name]) for name in columns if name in levels}
    labels, values = _numbers(columns, levels, shown, tuple(columns))
    return labels, correlations(values)


def ks_distance(before: Array, after: Array) -> float:
    """Kolmogorov-Smirnov: the largest distance of the distribution functions. A missing value is above all others."""
    sides = [np.sort(np.nan_to_num(x.astype(np.float64), nan=np.inf)) for x in (before, after)]
    places = np.unique(np.concatenate(sides))
    shares = [np.searchsorted(side, places, side="right") / side.size for side in sides]
    return float(np.abs(shares[0] - shares[1]).max())


def total_variation(before: Array, after: Array) -> float:
    """Half the sum of the differences of the shares of each value, a missing one being a value of its own."""
    sides = []
    for values in (before, after):
        known = ~missing(values)
        found, counts = np.unique(texts(values[known]).astype(np.str_), return_counts=True)
        sides.append({None: float((~known).mean())} | dict(zip(found.tolist(), counts / values.size, strict=True)))
    keys = sides[0].keys() | sides[1].keys()
    return float(sum(abs(sides[0].get(key, 0.0) - sides[1].get(key, 0.0)) for key in keys) / 2)


def correlations(values: Floats) -> Floats:
    """Pearson's correlation of each pair of columns over the records that have both; 0 where a column is constant.

    All pairs at once, as products of matrices: moments of a column over the records that have another one. Columns are
    centred first, so that little is lost in the differences; what is left of a constant one is below `NOTHING`.
    """
    there = np.isfinite(values)
    number = np.maximum(there.sum(axis=0), 1)
    filled = np.where(there, values, 0.0)
    centred = np.where(there, filled - filled.sum(axis=0) / number, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / number)
    scaled = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    mask = there.astype(np.float64)
    both = np.maximum(mask.T @ mask, 1.0)
    sums = scaled.T @ mask  # of the one that the row names, where the other is there too
    squares = (scaled**2).T @ mask - sums**2 / both
    products = scaled.T @ scaled - sums * sums.T / both
    scale = np.sqrt(np.maximum(squares, 0.0) * np.maximum(squares.T, 0.0))
    found = np.divide(products, scale, out=np.zeros_like(products), where=scale > NOTHING * both)
    np.fill_diagonal(found, 1.0)
    return np.asarray(np.clip(found, -1.0, 1.0))


def _frequent(values: Array, levels: tuple[str, ...]) -> tuple[str, ...]:
    """The levels that most records have, in their order; of thousands of them nobody could look at all pairs."""
    if len(levels) <= MOST_LEVELS:
        return levels
    found, counts = np.unique(texts(values[~missing(values)]).astype(np.str_), return_counts=True)
    most = set(found[np.argsort(-counts, kind="stable")[:MOST_LEVELS]].tolist())
    return tuple(level for level in levels if level in most)


def _numbers(columns: Columns, levels: Levels, shown: Levels, names: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """Numbers as they are; a category as one column of 0 and 1 per level that is shown."""
    labels: list[str] = []
    parts: list[Floats] = [np.empty((len(next(iter(columns.values()), ())), 0))]
    for name in names:
        if name in levels:
            labels += [f"{name}[{level}]" for level in shown[name]]
            parts.append(_hits(columns[name], shown[name]))
        elif is_numeric(columns[name]):
            labels.append(name)
            parts.append(columns[name].astype(np.float64)[:, None])
    return tuple(labels), np.column_stack(parts)


def _hits(values: Array, shown: Sequence[str]) -> Floats:
    text = texts(values)
    hits = np.stack([text == level for level in shown], axis=1) if shown else np.zeros((values.size, 0))
    return np.where(missing(values)[:, None], np.nan, hits)
