"""Data sets on which a coefficient of a regression is large: every cell responds to the derivative of the coefficient.

Nothing that is guaranteed depends on this; it says how tight a bound is, and gives the multipliers that prove one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.regression.box_design import BoxDesign

_ROUNDS = 25
_GAIN = 1e-10  # relative gain that is worth a further round


class ReachedValue(NamedTuple):
    """A value of the functional that a data set has, and the row of multipliers (inverse Gram matrix times the
    functional) there."""

    value: float
    row: Floats


class _State(NamedTuple):
    taken: Ints
    x: Floats
    y: Floats


def climb(design: BoxDesign, functional: Floats) -> ReachedValue | None:
    """A data set with a large functional . coefficients; None where coefficients are not determined."""
    state = _State(design.most, design.middle, design.y)
    found = _solved(state, functional)
    for _ in range(_ROUNDS):
        if found is None:
            return None
        for every in (1, 2, 5, 20):
            trial = _respond(design, state, *found, every)
            better = _solved(trial, functional)
            if better is not None and functional @ better[0] > functional @ found[0] + _GAIN * abs(
                functional @ found[0]
            ):
                state, found = trial, better
                break
        else:
            break
    return ReachedValue(float(functional @ found[0]), found[1]) if found else None


def _solved(state: _State, functional: Floats) -> tuple[Floats, Floats] | None:
    """Coefficients, and the row of multipliers."""
    weighted = state.x * state.taken
    try:
        right = np.stack([weighted @ state.y, functional], axis=1)
        both = np.linalg.solve(weighted @ state.x.T, right).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    return (both[:, 0], both[:, 1]) if np.isfinite(both).all() else None


def _respond(design: BoxDesign, state: _State, coefficients: Floats, row: Floats, every: int) -> _State:
    """The derivative by y is z = row . x, by x_k it is row_k e - coefficient_k z, by the number of records z e."""
    z, e = row @ state.x, state.y - coefficients @ state.x
    slopes = row[:, None] * e - coefficients[:, None] * z
    x = design.middle + np.sign(slopes) * design.radius
    y = design.y + np.sign(row @ x) * design.y_radius
    gains = (row @ x) * (y - coefficients @ x)
    taken = np.where(gains > 0.0, design.most, design.least)
    if every > 1:
        moved = np.arange(y.size) % every == 0
        taken, y, x = np.where(moved, taken, state.taken), np.where(moved, y, state.y), np.where(moved, x, state.x)
    return _State(taken, x, y)
