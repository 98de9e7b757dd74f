"""How far the extract's distributions and correlations are from the original's.

>>> ks_distance(np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 6]))
0.5
>>> total_variation(np.array(["F", "F", "M", "M"]), np.array(["F", "M", "M", "M"]))
0.25
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Floats
from querygate.models.design import Columns, Levels, indicators, is_numeric, missing, texts


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
    labels, old = _numbers(before, levels, wanted)
    _, new = _numbers(after, levels, wanted)
    return Similarity(distances, labels, correlations(old), correlations(new))


def ks_distance(before: NDArray[Any], after: NDArray[Any]) -> float:
    """Kolmogorov-Smirnov: the largest distance of the distribution functions. A missing value is above all others."""
    sides = [np.sort(np.nan_to_num(x.astype(np.float64), nan=np.inf)) for x in (before, after)]
    places = np.unique(np.concatenate(sides))
    shares = [np.searchsorted(side, places, side="right") / side.size for side in sides]
    return float(np.abs(shares[0] - shares[1]).max())


def total_variation(before: NDArray[Any], after: NDArray[Any]) -> float:
    """Half the sum of the differences of the shares of each value, a missing one being a value of its own."""
    sides = []
    for values in (before, after):
        known = ~missing(values)
        found, counts = np.unique(texts(values[known]).astype(np.str_), return_counts=True)
        sides.append({None: float((~known).mean())} | dict(zip(found.tolist(), counts / values.size, strict=True)))
    keys = sides[0].keys() | sides[1].keys()
    return float(sum(abs(sides[0].get(key, 0.0) - sides[1].get(key, 0.0)) for key in keys) / 2)


def correlations(values: Floats) -> Floats:
    """Pearson's correlation of each pair of columns over the records that have both; 0 where a column is constant."""
    width = values.shape[1]
    found = np.eye(width)
    for i in range(width):
        for j in range(i):
            both = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
            x, y = values[both, i], values[both, j]
            x, y = x - (x.mean() if x.size else 0.0), y - (y.mean() if y.size else 0.0)
            scale = float(np.sqrt((x @ x) * (y @ y)))
            found[i, j] = found[j, i] = x @ y / scale if scale > 0 else 0.0
    return found


def _numbers(columns: Columns, levels: Levels, names: Sequence[str]) -> tuple[tuple[str, ...], Floats]:
    """Numbers as they are; a category as one column of 0 and 1 per level."""
    labels: list[str] = []
    parts: list[Floats] = [np.empty((len(next(iter(columns.values()))), 0))]
    for name in names:
        if name in levels:
            labels += [f"{name}[{level}]" for level in levels[name]]
            parts.append(indicators(name, columns[name], levels[name]))
        elif is_numeric(columns[name]):
            labels.append(name)
            parts.append(columns[name].astype(np.float64)[:, None])
    return tuple(labels), np.column_stack(parts)
