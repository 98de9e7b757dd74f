"""A box that contains the coefficients of every data set: a verified solution of the normal equations.

With coefficients b0 of some data set in the middle, b = b0 + d for another one, and e = y - x . b0,

    g . d = sum (v . x) e + (g - G v) . d       for every g and v, because G d = sum x e,

G the Gram matrix of that data set. With v the rows of an approximate inverse of G the last term is small (Krawczyk
1969, Rump 1983), and the first is a sum whose range is known. Proof: docs/explanation/proofs/regression.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats
from querygate.stats.numerics import enclose
from querygate.stats.regression.box_design import BoxDesign, largest_sum

_SWEEPS = 3


class Start(NamedTuple):
    """Coefficients in the middle, an approximate inverse of their Gram matrix, and the largest distance of all
    others."""

    centre: Floats
    inverse: Floats
    away: list[Fraction]

    def range(self, design: BoxDesign, functional: Floats) -> tuple[float, float]:
        """The range of a linear function of the coefficients, outwards."""
        row = self.inverse @ functional
        low, high = _residual_sum(design, row, self.centre)
        rest = sum((m * a for m, a in zip(_remainder(design, row, functional), self.away, strict=True)), Fraction(0))
        middle = sum((Fraction(g) * Fraction(c) for g, c in zip(functional, self.centre, strict=True)), Fraction(0))
        return enclose(middle + low - rest).low, enclose(middle + high + rest).high


def start(design: BoxDesign) -> Start | None:
    """None where it cannot be proved that all data sets determine their coefficients."""
    weights = (design.least + design.most) / 2
    weighted = design.middle * weights
    try:
        inverse = np.linalg.inv(weighted @ design.middle.T).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    centre = inverse @ (weighted @ design.y)
    if not (np.isfinite(inverse).all() and np.isfinite(centre).all()):
        return None
    unit = np.eye(design.columns)
    sums = [_residual_sum(design, row, centre) for row in inverse]
    rests = [_remainder(design, row, unit[j]) for j, row in enumerate(inverse)]
    away = _away([max(abs(low), abs(high)) for low, high in sums], rests)
    return None if away is None else Start(centre, inverse, away)


def _residual_sum(design: BoxDesign, row: Floats, centre: Floats) -> tuple[Fraction, Fraction]:
    """The range of the sum of (v . x)(y - x . b0)."""
    low, high = -largest_sum(design, -row, centre), largest_sum(design, row, centre)
    return _exact(low), _exact(high)


def _remainder(design: BoxDesign, row: Floats, functional: Floats) -> list[Fraction]:
    """Upper bounds of |g_k - (G v)_k|."""
    found = []
    for k, g in enumerate(functional.tolist()):
        column = np.zeros(design.columns)
        column[k] = -1.0
        high = largest_sum(design, row, column, with_y=False)
        low = -largest_sum(design, -row, column, with_y=False)
        found.append(max(abs(Fraction(g) - _exact(low)), abs(Fraction(g) - _exact(high))))
    return found


_HUGE = Fraction(10) ** 400


def _exact(value: float) -> Fraction:
    """A bound as a fraction; an infinite one becomes a number that makes every proof fail."""
    return Fraction(value) if math.isfinite(value) else (_HUGE if value > 0 else -_HUGE)


def _away(sums: list[Fraction], rests: list[list[Fraction]]) -> list[Fraction] | None:
    """Bounds a of |d| from |d| <= s + M |d|. If M w < w for some w > 0 then |d| <= t w, t = max s / (w - M w): consider
    the largest |d_j| / w_j. Regularity of all Gram matrices follows from the same w."""
    size = len(sums)
    matrix = np.array([[float(min(m, Fraction(2))) for m in row] for row in rests])
    try:
        guess = np.linalg.solve(np.eye(size) - matrix, np.ones(size))
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(guess).all() and (guess > 0).all()):
        return None
    weights = [Fraction(w) for w in guess.tolist()]
    room = [w - _dot(row, weights) for w, row in zip(weights, rests, strict=True)]
    if min(room) <= 0:
        return None
    factor = max(s / r for s, r in zip(sums, room, strict=True))
    away = [factor * w for w in weights]
    for _ in range(_SWEEPS):
        away = [_rounded(min(a, s + _dot(row, away))) for a, s, row in zip(away, sums, rests, strict=True)]
    return away


def _dot(row: list[Fraction], column: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))


def _rounded(value: Fraction) -> Fraction:
    """Rounded up to few digits."""
    return Fraction(enclose(value).high)
