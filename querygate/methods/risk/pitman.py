"""The Ewens-Pitman model of how a sample falls into classes (Pitman 1995; Hoshino 2001).

Records arrive one after another. With i there, in u classes, the next founds a class with probability
(theta + u alpha)/(theta + i), and joins a class of j with probability (j - alpha)/(theta + i); 0 <= alpha < 1 and
theta > -alpha. The product of these over n records is the likelihood of class sizes, up to a constant:

    log L = sum_{i=1}^{u-1} log(theta + i alpha) - sum_{i=1}^{n-1} log(theta + i)
          + sum_j s_j sum_{l=1}^{j-1} log(l - alpha)

The expected number of classes of one record among N: by exchangeability N times the probability that the first record
stays alone, that is that N-1 others pass its class by, each with probability (theta + alpha + i - 1)/(theta + i):

    E S_1 = N prod_{i=1}^{N-1} (theta + alpha + i - 1)/(theta + i) ~ Gamma(theta+1)/Gamma(theta+alpha) N^alpha

Hoshino gives the last form; the product is exact, and right for small populations.

>>> import numpy as np
>>> round(expected_uniques(theta=10.0, alpha=0.0, people=1000), 3)  # Ewens: N theta/(theta + N - 1)
9.911
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from querygate.core.types import Floats, Ints

HIGHEST_ALPHA = 1 - 1e-6
LEAST_THETA = 1e-6
"""Of theta + alpha."""


def pitman_uniques(sizes: Ints, people: int) -> float | None:
    """The expected number of people alone in the population; None where the likelihood has no maximum inside.

    Requires: classes of at least one record, some alone and some not, else the maximum lies at the edge.
    """
    theta, alpha = _fitted(sizes)
    if not (np.isfinite(theta) and alpha < HIGHEST_ALPHA):
        return None
    return expected_uniques(theta, alpha, people)


def expected_uniques(theta: float, alpha: float, people: int) -> float:
    """The expected number of classes of one among so many people."""
    grown = gammaln(theta + alpha + people - 1) - gammaln(theta + alpha)
    return float(people * np.exp(grown - gammaln(theta + people) + gammaln(theta + 1)))


def _fitted(sizes: Ints) -> tuple[float, float]:
    """theta and alpha of maximal likelihood; nan where the search does not end.

    The search is in log(theta + alpha) and alpha, so that theta > -alpha throughout. Starting points are several,
    because the likelihood is flat along a ridge from (large theta, alpha 0) to (small theta, large alpha).
    """
    fit = _Likelihood(sizes)
    best, least = (np.nan, np.nan), np.inf
    for start in ((np.log(fit.classes), 0.1), (0.0, 0.5), (np.log(fit.records), 0.0), (0.0, 0.9)):
        limits = [(np.log(LEAST_THETA), np.log(fit.records) + 14), (0.0, HIGHEST_ALPHA)]
        found = minimize(fit.loss, start, jac=True, method="L-BFGS-B", bounds=limits)
        if found.success and found.fun < least and found.x[0] < limits[0][1]:
            least, best = found.fun, (float(np.exp(found.x[0]) - found.x[1]), float(found.x[1]))
    return best


class _Likelihood:
    """Minus the log-likelihood of class sizes and its gradient, for one record."""

    def __init__(self, sizes: Ints) -> None:
        self.size, self.count = np.unique(sizes, return_counts=True)
        self.records, self.classes = int(sizes.sum()), sizes.size
        self._i = np.arange(1, self.classes, dtype=np.float64)

    def loss(self, at: Floats) -> tuple[float, Floats]:
        alpha = float(at[1])
        shift = float(np.exp(at[0]))
        theta = shift - alpha
        founding = shift + (self._i - 1) * alpha
        value = np.log(founding).sum() - gammaln(theta + self.records) + gammaln(theta + 1)
        value += self.count @ (gammaln(self.size - alpha) - gammaln(1 - alpha))
        inverse = 1 / founding
        by_theta = inverse.sum() - digamma(theta + self.records) + digamma(theta + 1)
        by_alpha = inverse @ self._i - self.count @ (digamma(self.size - alpha) - digamma(1 - alpha))
        gradient = np.array([by_theta * shift, by_alpha - by_theta])
        return -float(value) / self.records, -gradient / self.records
