"""Data sets on which a statistic of two columns is large: every cell responds to the gradient of the statistic.

Nothing that is guaranteed depends on this; it says how tight a bound is, and where to start proving one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from querygate.core.limits.pace import is_time_up
from querygate.core.types import Floats, Ints
from querygate.stats.cover_proof import Form, Plane, best_points
from querygate.stats.numerics import exact_sum, tree_sum

_ROUNDS = 60
_MANY, _STEP = 8000, 8  # with more cells than these, each eighth cell is looked at first
_GAIN, _GAIN_MANY = 1e-9, 1e-6  # the least gain of a step, in units of the statistic


class PairMoments(NamedTuple):
    """Mean and population (co)variances of one data set."""

    mean_x: float
    mean_y: float
    var_x: float
    var_y: float
    covariance: float


Value: TypeAlias = Callable[[PairMoments], float]
Gradient: TypeAlias = Callable[[PairMoments], Form]


class _State(NamedTuple):
    """A data set: how many records of each cell, where they are, and its moments."""

    taken: Ints
    x: Floats
    y: Floats
    at: PairMoments


def climb(plane: Plane, value: Value, gradient: Gradient, unit: float) -> tuple[float, PairMoments | None]:
    """A data set with a large value. On many cells a sample of them says which gradient to respond to first."""
    many = plane.x_low.size > _MANY
    state = _start(plane, value, gradient, climb(plane.sample(_STEP), value, gradient, unit)[1] if many else None)
    if not math.isfinite(value(state.at)):
        return -math.inf, None
    needed = unit * (_GAIN_MANY if many else _GAIN)
    for _ in range(_ROUNDS):
        if is_time_up():
            break
        now, wanted = value(state.at), _response(plane, gradient(state.at), state.at)
        for every in (1, 2, 5, 20):
            trial = _moved(state, wanted, every)
            gain = value(trial.at) - now
            if gain > (-needed if many else needed):  # at a standstill smaller steps are tried if they cost little
                break
        if gain > 0.0:
            state = trial
        if gain <= needed:
            break
    return value(state.at), state.at


def _start(plane: Plane, value: Value, gradient: Gradient, guide: PairMoments | None) -> _State:
    """The response to a guide, or everything in the middle of its cell."""
    response = _response(plane, gradient(guide), guide) if guide is not None else None
    if response is not None:
        return response
    x, y = (plane.x_low + plane.x_high) / 2, (plane.y_low + plane.y_high) / 2
    state = _State(plane.most, x, y, _moments(plane.most, x, y))
    if math.isfinite(value(state.at)):
        return state
    return _response(plane, Form(0.0, 1.0, 0.0), state.at) or state


def _response(plane: Plane, form: Form, at: PairMoments) -> _State | None:
    """Each cell takes the point that the gradient prefers, and most or least records; None where no record remains."""
    best = best_points(plane, form, at.mean_x, at.mean_y)
    level = at.covariance * form.xy + form.xx * at.var_x + form.yy * at.var_y
    taken, x, y = plane.selection(best.values, level), best.x + at.mean_x, best.y + at.mean_y
    return _State(taken, x, y, _moments(taken, x, y)) if taken.any() else None


def _moved(state: _State, wanted: _State | None, every: int) -> _State:
    """The data set in which each n-th cell is moved."""
    if wanted is None or every == 1:
        return wanted or state
    moved = np.arange(state.x.size) % every == 0
    taken, x, y = (np.where(moved, new, old) for new, old in zip(wanted[:3], state[:3], strict=True))
    return _State(taken, x, y, _moments(taken, x, y)) if taken.any() else state


def _moments(taken: Ints, x: Floats, y: Floats) -> PairMoments:
    records = exact_sum(taken)
    mean_x, mean_y = tree_sum(taken * x)[0] / records, tree_sum(taken * y)[0] / records
    dx, dy = x - mean_x, y - mean_y
    weighted = taken * dx
    return PairMoments(
        mean_x,
        mean_y,
        tree_sum(weighted * dx)[0] / records,
        tree_sum(taken * dy * dy)[0] / records,
        tree_sum(weighted * dy)[0] / records,
    )
