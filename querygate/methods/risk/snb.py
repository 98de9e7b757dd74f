"""The slide negative binomial model of how a population falls into classes (Chen and Keller-McNulty 1998).

Class sizes are F = 1 + NB(alpha, beta), with generating function G(z) = z (beta/(1 - (1-beta) z))^alpha, so that
S_1 = K beta^alpha of K classes are unique. When everybody is drawn with probability p, a class leaves a sample of
generating function G(1 - p + p z), and its coefficients of z and z^2 give, with q = 1 - beta and d = q (1 - p),

    E s_1 = K p G'(1-p)      = K p (beta/(1-d))^alpha (1 + alpha d/(1-d))
    E s_2 = K p^2 G''(1-p)/2 = K p^2 alpha q beta^alpha (2 - (1-alpha) d) / (2 (1-d)^(alpha+2))

K is estimated first, as Chen and Keller-McNulty do, by Shlosser's estimator as modified by Haas and Stokes ("Estimating
the number of classes in a finite population", JASA 93, 1998); then alpha and beta solve the two equations. Their ratio
is free of K and, for a given beta, a quadratic in alpha with one positive root: what is left is one equation in beta.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from querygate.core.types import Ints

GRID = np.linspace(-16.0, 16.0, 257)
"""Values of log(beta/(1-beta)) between which roots are looked for."""


def snb_uniques(sizes: Ints, people: int) -> float | None:
    """The estimated number of people alone in the population; None where the equations have no solution.

    Of several solutions the one whose K classes hold closest to the population's people.
    """
    singles, pairs, drawn = int((sizes == 1).sum()), int((sizes == 2).sum()), sizes.sum() / people
    classes = shlosser(sizes, drawn)
    if not np.isfinite(classes) or not pairs:
        return None
    equation = _Equation(classes, singles, pairs, drawn)
    roots = [equation.alpha_beta(root) for root in _roots(equation)]
    if not roots:
        return None
    alpha, beta = min(roots, key=lambda root: abs(np.log(classes * (1 + root[0] * (1 - root[1]) / root[1]) / people)))
    return float(classes * beta**alpha)


def shlosser(sizes: Ints, drawn: float) -> float:
    """How many classes there are in the population, if each person was drawn with this probability.

    Shlosser: with A = sum_j (1-p)^j s_j and B = sum_j j p (1-p)^(j-1) s_j, classes that were missed are s_1 A/B, for
    E (K - u) and E s_1 are the same sums over the population, taken to be of the sample's shape. A sample is of another
    shape, and by how much shows when a sample is drawn from it: A/B becomes A'/B' with
    A' = sum_j (1-p)^j ((1+p)^j - 1) s_j and B' = sum_j j p^2 (1-p^2)^(j-1) s_j. Haas and Stokes therefore
    multiply by (A/B)/(A'/B').

    >>> import numpy as np
    >>> shlosser(np.ones(50, dtype=np.int64), 0.25)  # nobody shares anything: so many classes as people
    200.0
    """
    size, count = np.unique(sizes, return_counts=True)
    missed, once = count @ (1 - drawn) ** size, count @ (size * drawn * (1 - drawn) ** (size - 1))
    missed_again = count @ ((1 - drawn**2) ** size - (1 - drawn) ** size)
    once_again = count @ (size * drawn**2 * (1 - drawn**2) ** (size - 1))
    if not (once and missed_again):
        return float("nan")
    singles = float(count[size == 1].sum())
    return float(sizes.size + singles * (missed / once) ** 2 * once_again / missed_again)


class _Equation:
    """E s_1 - s_1 over the logit of beta, alpha being what the ratio of the two equations asks for."""

    def __init__(self, classes: float, singles: int, pairs: int, drawn: float) -> None:
        self.classes, self.singles, self.drawn = classes, singles, drawn
        self.ratio = 2 * pairs / (drawn * singles)

    def alpha_beta(self, logit: float) -> tuple[float, float]:
        """d alpha^2 + (2 - d - R d) alpha - R (1-d) = 0 with R = 2 (1-d) s_2 / (p q s_1)."""
        beta = 1 / (1 + np.exp(-logit))
        q = 1 / (1 + np.exp(logit))
        d = q * (1 - self.drawn)
        wanted = self.ratio * (1 - d) / q
        linear, last = 2 - d - wanted * d, wanted * (1 - d)
        # The root by its other form, which does not cancel where d is small.
        root = np.sqrt(linear**2 + 4 * d * last)
        alpha = 2 * last / (linear + root) if linear > 0 else (root - linear) / (2 * d)
        return float(alpha), float(beta)

    def __call__(self, logit: float) -> float:
        alpha, beta = self.alpha_beta(logit)
        d = (1 - beta) * (1 - self.drawn)
        expected = np.log(self.classes * self.drawn) + alpha * np.log(beta / (1 - d)) + np.log1p(alpha * d / (1 - d))
        return float(expected - np.log(self.singles))


def _roots(equation: _Equation) -> list[float]:
    values = np.array([equation(logit) for logit in GRID])
    crossing = np.flatnonzero(np.isfinite(values[1:]) & np.isfinite(values[:-1]) & (values[1:] * values[:-1] <= 0))
    return [float(brentq(equation, GRID[i], GRID[i + 1])) for i in crossing]
