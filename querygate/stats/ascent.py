"""Data sets on which a statistic of two columns is large: every cell responds to the gradient of the statistic.

Nothing that is guaranteed depends on this; it says how tight a bound is, and where to start proving one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.stats.covering import Form, Plane, best_points
from querygate.stats.numerics import exact_sum, tree_sum

_ROUNDS = 60
_SAMPLE = 4000


class Moments(NamedTuple):
    """Mean and population (co)variances of one data set."""

    mean_x: float
    mean_y: float
    var_x: float
    var_y: float
    covariance: float


Value: TypeAlias = Callable[[Moments], float]
Gradient: TypeAlias = Callable[[Moments], Form]


def climb(plane: Plane, value: Value, gradient: Gradient) -> tuple[float, Moments | None]:
    """A data set with a large value. On many cells a sample of them says which gradient to respond to first."""
    step = plane.x_low.size // _SAMPLE
    guide = None
    if step > 4:
        guide = climb(plane.sample(step), value, gradient)[1]
    x, y = (plane.x_low + plane.x_high) / 2, (plane.y_low + plane.y_high) / 2
    state = _State(plane.most, x, y, _moments(plane.most, x, y))
    if guide is not None:
        state = _respond(plane, state, gradient(guide), guide, 1)
    elif not math.isfinite(value(state.at)):
        state = _respond(plane, state, Form(0.0, 1.0, 0.0), state.at, 1)
    if not math.isfinite(value(state.at)):
        return -math.inf, None
    for _ in range(_ROUNDS):
        now = value(state.at)
        for every in (1, 2, 5, 20):
            trial = _respond(plane, state, gradient(state.at), state.at, every)
            if value(trial.at) > now + 1e-9 * abs(now):
                state = trial
                break
        else:
            break
    return value(state.at), state.at


class _State(NamedTuple):
    """A data set: how many records of each cell, where they are, and its moments."""

    taken: Ints
    x: Floats
    y: Floats
    at: Moments


def _respond(plane: Plane, state: _State, form: Form, at: Moments, every: int) -> _State:
    """Cells take the point that the gradient wants, and most or least records: all cells, or each n-th one."""
    best = best_points(plane, form, at.mean_x, at.mean_y)
    level = at.covariance * form.xy + form.xx * at.var_x + form.yy * at.var_y
    taken, x, y = np.where(best.values > level, plane.most, plane.least), best.x + at.mean_x, best.y + at.mean_y
    if every > 1:
        moved = np.arange(x.size) % every == 0
        taken, x, y = (np.where(moved, new, old) for new, old in zip((taken, x, y), state[:3], strict=True))
    return _State(taken, x, y, _moments(taken, x, y)) if taken.any() else state


def _moments(taken: Ints, x: Floats, y: Floats) -> Moments:
    records = exact_sum(taken)
    mean_x, mean_y = tree_sum(taken * x)[0] / records, tree_sum(taken * y)[0] / records
    dx, dy = x - mean_x, y - mean_y
    return Moments(
        mean_x,
        mean_y,
        tree_sum(taken * dx * dx)[0] / records,
        tree_sum(taken * dy * dy)[0] / records,
        tree_sum(taken * dx * dy)[0] / records,
    )
