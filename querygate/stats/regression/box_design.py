"""The data of a regression as boxes, and the bound on which all its ranges rest.

Columns are moved to a centre (where there is an intercept) and scaled by powers of two, so that all numbers are at most
1. Each record is a box around `middle` with half-widths `radius`; between `least` and `most` records of a cell are
selected. `largest_sum` bounds the sum of (v . x)(y - x . b) over every data set. Proof:
docs/explanation/proofs/regression.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.numerics import centred, dot_bounds, gamma


@dataclass(frozen=True, slots=True)
class RegressionCells:
    """Cells of a regression: row k of x_low and x_high is column k of the explaining variables."""

    x_low: Floats
    x_high: Floats
    y_low: Floats
    y_high: Floats
    least: Ints
    most: Ints


@dataclass(frozen=True)
class BoxDesign:
    """Scaled boxes. Row 0 of `middle` is 1 where there is an intercept."""

    middle: Floats
    radius: Floats
    y: Floats
    y_radius: Floats
    least: Ints
    most: Ints
    centres: tuple[float, ...]  # of the columns, before scaling; 0 where they were not moved
    scales: tuple[float, ...]
    y_centre: float
    y_scale: float

    @property
    def columns(self) -> int:
        return int(self.middle.shape[0])

    @cached_property
    def reach(self) -> Floats:
        """The largest magnitude in each column."""
        largest: Floats = np.nextafter(np.max(np.abs(self.middle) + self.radius, axis=1), math.inf)
        return largest

    @cached_property
    def loose(self) -> list[int]:
        """Columns that are not known exactly."""
        return [k for k in range(self.columns) if self.radius[k].any()]

    def mirrored(self) -> BoxDesign:
        """The data with -y, so that lower ends are upper ends."""
        return replace(self, y=-self.y, y_centre=-self.y_centre)


def make_design(cells: RegressionCells, intercept: bool) -> BoxDesign:
    """Requires: finite ends below 10^100, at least one cell."""
    middles, radii, centres, scales = [], [], [], []
    if intercept:
        middles, radii, centres, scales = [np.ones(cells.y_low.size)], [np.zeros(cells.y_low.size)], [0.0], [1.0]
    for low, high in zip(cells.x_low, cells.x_high, strict=True):
        middle, radius, centre, scale = _scaled(low, high, cells.most, intercept)
        middles, radii, centres, scales = [*middles, middle], [*radii, radius], [*centres, centre], [*scales, scale]
    y, y_radius, y_centre, y_scale = _scaled(cells.y_low, cells.y_high, cells.most, intercept)
    columns = np.stack(middles), np.stack(radii)
    return BoxDesign(*columns, y, y_radius, cells.least, cells.most, tuple(centres), tuple(scales), y_centre, y_scale)


def _scaled(low: Floats, high: Floats, weights: Ints, moved: bool) -> tuple[Floats, Floats, float, float]:
    """Middle and half-width after moving and scaling, outwards; the power of two makes the scaling exact."""
    centre = float(np.average(low / 2 + high / 2, weights=weights)) if moved else 0.0
    low, high = centred(low, centre, -math.inf), centred(high, centre, math.inf)
    largest = max(float(np.max(np.abs(low))), float(np.max(np.abs(high))))
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0.0 else 1.0
    low, high = low / scale, high / scale
    middle = np.where(low == high, low, low / 2 + high / 2)
    radius = np.where(low == high, 0.0, np.nextafter(np.maximum(high - middle, middle - low), math.inf))
    return middle, radius, centre, scale


def largest_sum(design: BoxDesign, v: Floats, b: Floats, with_y: bool = True) -> float:
    """An upper bound of the sum of (v . x)(y - x . b) over every data set, with 0 for y on request.

    Ensures: not below the real maximum; equal to it up to rounding where x is exact.
    """
    with np.errstate(all="ignore"):
        values = _largest_terms(design, v, b, with_y) + _margin(design, v, b, with_y)
        taken = np.where(values > 0.0, design.most, design.least)
        bound = dot_bounds(taken, values).high
    return math.inf if math.isnan(bound) else bound


def _largest_terms(design: BoxDesign, v: Floats, b: Floats, with_y: bool) -> Floats:
    """The largest (v . x)(y - x . b) over each box: its value in the middle, its gain to first order, and an upper
    bound of its gain to second order."""
    z = _combined(design.middle, v, range(design.columns))
    e = -_combined(design.middle, b, range(design.columns))
    if with_y:
        e += design.y
    found = z * e
    if with_y:
        found += np.abs(z) * design.y_radius
    for k in design.loose:
        found += np.abs(v[k] * e - b[k] * z) * design.radius[k]
    if design.loose:
        along_b = _combined(design.radius, np.abs(b), design.loose)
        if with_y:
            along_b += design.y_radius
        found += _combined(design.radius, np.abs(v), design.loose) * along_b
        for k in design.loose:
            if v[k] * b[k] > 0.0:
                found -= v[k] * b[k] * design.radius[k] ** 2
    return found


def _combined(columns: Floats, weights: Floats, which: range | list[int]) -> Floats:
    """A linear combination, column by column: its error does not depend on any library."""
    total = np.zeros(columns.shape[1])
    for k in which:
        total += weights[k] * columns[k]
    return total


def _margin(design: BoxDesign, v: Floats, b: Floats, with_y: bool) -> float:
    """How far the terms may be off; each of their parts is at most V E, with V, E the reach of both factors."""
    reach_v = float(np.abs(v) @ design.reach)
    reach_e = float(np.abs(b) @ design.reach) + (2.0 if with_y else 0.0)
    return gamma(20 * design.columns + 64) * reach_v * reach_e * (1.0 + 1e-9) + 1e-300
