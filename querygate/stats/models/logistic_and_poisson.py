"""The maximum of the likelihood of a model of grouped counts, enclosed for every table that the ranges allow.

At the maximum the score sum x (y - n mu(x . b)) is zero. With coefficients b0 of a table in the middle, V an
approximate inverse of the information H0 = sum w0 x x' there, and b = b0 + d, for every linear function f

    f . d = (V f) . score(b0) + sum (w0 - w) (x . V f) (x . d) + (f - H0 V f) . d,

w the weights averaged between b0 and b. The first term is linear in the counts, so its range over the tables is exact;
the others are small (Krawczyk 1969, Rump 1983). If the bounds of |x . d| for all patterns imply smaller ones, they hold
a root of every table (Brouwer), and the only one there is, because the likelihood is concave.
Proof: docs/explanation/proofs/models.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from querygate.core.types import Floats
from querygate.stats.models.verified_numbers import Intervals, dot
from querygate.stats.numerics import gamma

_STEPS = 60
_GROWTHS = 40
_SWEEPS = 4
_FARTHEST = 30.0  # of a linear predictor: odds of ten trillion to one mean separation

Trouble = Literal["separated", "undetermined", "wide"]


@dataclass(frozen=True, slots=True)
class Link:
    """How the mean follows from the linear predictor, and how steeply.

    With `shares` the records of a pattern are `events` and `others` together; without, `others` is the whole exposure:
    records, or time at risk. `bend` is how much the slope changes at most; `grows` are the mean and its slope in
    doubles.
    """

    mean: Callable[[Intervals], Intervals]
    slope: Callable[[Intervals], Intervals]
    bend: Callable[[Intervals], Floats]
    grows: Callable[[Floats], tuple[Floats, Floats]]
    shares: bool


def _logistic_mean(predictor: Intervals) -> Intervals:
    one = Intervals.of(np.ones_like(predictor.low))
    return one.over(one + (-predictor).exp())


def _logistic_slope(predictor: Intervals) -> Intervals:
    """p (1 - p) = e / (1 + e)^2 with e = exp(-|x|), which rises with e up to 1."""
    near = np.where(
        (predictor.low <= 0) & (predictor.high >= 0), 0.0, np.minimum(np.abs(predictor.low), np.abs(predictor.high))
    )
    least, most = (Intervals.of(-away).exp() for away in (predictor.magnitude, near))
    one = Intervals.of(np.ones_like(near))
    low, high = (e.over((one + e).square()) for e in (least, most))
    return Intervals(low.low, np.minimum(high.high, 0.25))


def _grown_logistic(predictor: Floats) -> tuple[Floats, Floats]:
    mean = 1.0 / (1.0 + np.exp(-np.clip(predictor, -700, 700)))
    return mean, mean * (1 - mean)


def _grown_poisson(predictor: Floats) -> tuple[Floats, Floats]:
    mean = np.exp(np.clip(predictor, -700, 700))
    return mean, mean


def _logistic_bend(predictor: Intervals) -> Floats:
    """p (1 - p) (1 - 2 p) is at most 1 / (6 sqrt(3)) in magnitude."""
    return np.full(predictor.low.shape, 0.0962251)


def _poisson_bend(predictor: Intervals) -> Floats:
    return predictor.exp().high


def _ones(predictor: Intervals) -> Intervals:
    return Intervals.of(np.ones_like(predictor.low))


def _same(predictor: Floats) -> tuple[Floats, Floats]:
    return predictor, np.ones_like(predictor)


LOGISTIC = Link(_logistic_mean, _logistic_slope, _logistic_bend, _grown_logistic, shares=True)
POISSON = Link(Intervals.exp, Intervals.exp, _poisson_bend, _grown_poisson, shares=False)
POISSON_SHARES = Link(Intervals.exp, Intervals.exp, _poisson_bend, _grown_poisson, shares=True)
IDENTITY = Link(lambda x: x, _ones, lambda x: np.zeros_like(x.low), _same, shares=False)


@dataclass(frozen=True, slots=True)
class GroupedCounts:
    """Covariate patterns, each with its row of the design and the ranges of its counts or sums. For sums the means of
    patterns may be known better than from sums and records; for shares the number of records."""

    design: Floats
    events: Intervals
    others: Intervals
    link: Link
    means: Intervals | None = None
    records: Intervals | None = None

    @property
    def totals(self) -> Intervals:
        if not self.link.shares:
            return self.others
        both = self.events + self.others
        return both if self.records is None else both.met(self.records)

    def residuals(self, mean: Intervals) -> Intervals:
        """Observed minus expected, bounded in every way that the ranges allow."""
        one, totals = Intervals.of(np.ones_like(mean.low)), self.totals
        if self.link.shares:
            found = self.events * (one - mean) - self.others * mean
            if self.records is not None:
                found = found.met(self.events - totals * mean).met(totals * (one - mean) - self.others)
            return found
        found = self.events - self.others * mean
        return found if self.means is None else found.met(self.others * (self.means - mean))

    @property
    def middle(self) -> tuple[Floats, Floats]:
        """One table of real numbers, inside or nearly so."""
        events, totals = (part.low / 2 + part.high / 2 for part in (self.events, self.totals))
        return np.minimum(events, totals) if self.link.shares else events, totals


class Root(NamedTuple):
    """Where the coefficients of all tables are, about those of one of them, and the linear predictors of patterns."""

    centre: Floats
    box: Intervals
    predictor: Intervals


def likely_root(design: Floats, events: Floats, totals: Floats, link: Link) -> Floats | None:
    """The coefficients of one table in doubles, not proved; None where they diverge or are not determined."""
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        mean, slope = link.grows(design @ found)
        score = design.T @ (events - totals * mean)
        information = (design * (totals * slope)[:, None]).T @ design
        try:
            step = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            return None
        length = float(np.abs(design @ step).max(initial=0.0))
        if not np.isfinite(length):
            return None
        found = found + step * min(1.0, 3.0 / length if length and link is not IDENTITY else 1.0)
        if length <= 1e-13 * max(1.0, float(np.abs(design @ found).max(initial=0.0))):
            break
    if link is not IDENTITY and float(np.abs(design @ found).max(initial=0.0)) > _FARTHEST:
        return None
    return found


def find_root(table: GroupedCounts) -> Root | Trouble:
    """The coefficients of every table, or why they cannot be enclosed."""
    events, totals = table.middle
    if np.linalg.matrix_rank(table.design[totals > 0]) < table.design.shape[1]:
        return "undetermined"
    centre = likely_root(table.design, events, totals, table.link)
    if centre is None:
        return "separated"
    _, slope = table.link.grows(table.design @ centre)
    weights = totals * slope
    try:
        inverse = np.linalg.inv((table.design * weights[:, None]).T @ table.design).astype(np.float64)
    except np.linalg.LinAlgError:
        return "undetermined"
    if not np.isfinite(inverse).all():
        return "undetermined"
    return _Krawczyk(table, centre, (inverse + inverse.T) / 2, weights).root()


class _Krawczyk:
    """The operator about one centre, with a symmetric V. Its linear functions are the predictors of all patterns, then
    the coefficients."""

    def __init__(self, table: GroupedCounts, centre: Floats, inverse: Floats, weights: Floats) -> None:
        self._table, self._centre, self._weights = table, centre, weights
        design, size = table.design, centre.size
        self._functions = np.concatenate([design, np.eye(size)])
        self._predictor = dot(design, Intervals.of(centre))
        self._through = self._hat(inverse)
        mean = table.link.mean(self._predictor)
        self.moved = (self._through * table.residuals(mean)).total()
        self._reached = self._through.magnitude
        self._defect = self._inexactness(inverse)

    def _hat(self, inverse: Floats) -> Intervals:
        """x . V f, a row for each function f and a column for each pattern."""
        design, size = self._table.design, self._centre.size
        found = self._functions @ inverse.T @ design.T
        error = np.abs(self._functions) @ np.abs(inverse.T) @ np.abs(design.T) * gamma(4 * size + 8)
        return Intervals(found, found).wider(error)

    def _inexactness(self, inverse: Floats) -> Floats:
        """Bounds of |I - H0 V|, as V is not quite the inverse of H0."""
        design, size = self._table.design, self._centre.size
        pairs = Intervals.of(design[:, :, None]) * Intervals.of(design[:, None, :])
        information = (pairs * Intervals.of(self._weights[:, None, None])).total(axis=0)
        products = [dot(inverse, information[row]) for row in range(size)]
        return (Intervals.of(np.eye(size)) - Intervals.stack(products)).magnitude

    def root(self) -> Root | Trouble:
        patterns = self._weights.size
        if not (self._defect.sum(axis=1) * (1 + gamma(self._centre.size + 2)) < 0.5).all():
            return "undetermined"
        away = self._contracted()
        if away is None:
            return "wide"
        box = Intervals.of(self._centre) + self.moved.wider(self._rest(away))[slice(patterns, None)]
        predictor = self._predictor + self.moved.wider(self._rest(away))[slice(patterns)]
        return Root(self._centre, box, predictor)

    def _contracted(self) -> Floats | None:
        """Bounds of the functions that imply smaller ones, made smaller as long as that is worth it."""
        start: Floats = self.moved.magnitude
        away = start * 1.05 + 1e-12 * (1 + start)
        for _ in range(_GROWTHS):
            reached = np.nextafter(start + self._rest(away), np.inf)
            if not np.isfinite(reached).all():
                return None
            if (reached < away).all():
                for _ in range(_SWEEPS):
                    away = np.minimum(away, np.nextafter(start + self._rest(away), np.inf))
                return away
            away = np.maximum(away, reached * 1.05 + 1e-13)
            if self._table.link is not IDENTITY and float(away[: self._weights.size].max()) > _FARTHEST:
                return None
        return None

    def _rest(self, away: Floats) -> Floats:
        """Upper bounds of what is not linear in the counts, where |f . d| <= away for every function f."""
        patterns = self._weights.size
        by_pattern, by_coefficient = away[:patterns], away[patterns:]
        link, around = self._table.link, self._predictor.wider(by_pattern)
        slope, middle = link.slope(around), link.slope(self._predictor)
        turned = np.nextafter(link.bend(around) * by_pattern / 2, np.inf)  # the mean of the slope on the way
        slope = Intervals(
            np.maximum(slope.low, np.nextafter(middle.low - turned, -np.inf)),
            np.minimum(slope.high, np.nextafter(middle.high + turned, np.inf)),
        )
        changed = (self._table.totals * slope - Intervals.of(self._weights)).magnitude
        with np.errstate(invalid="ignore", over="ignore"):
            rest = self._reached @ (changed * by_pattern)
            rest = rest + np.abs(self._functions) @ (self._defect.T @ by_coefficient)
            rest = rest * (1 + gamma(2 * away.size + 16)) + 1e-300
        return np.where(np.isnan(rest), np.inf, rest)
