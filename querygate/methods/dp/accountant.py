"""What noisy answers cost and what has been spent, in exact numbers.

A release is paid in three currencies at once: epsilon and delta of differential privacy, and rho of zero-concentrated
differential privacy (Bun and Steinke 2016). All three add up, so totals are kept, and every accounting is read off
them. Neighbours are data that differ by one protected unit, added or removed.

Sums are fractions: a thousand times 0.1 is 100, neither more nor less. A float stands for the decimal that it is
written as, here and where noise is drawn, so that what is spent is what was declared.

>>> spent = Spent()
>>> for _ in range(1000):
...     spent = spent.plus(pure(0.1))
>>> spent.epsilon, spent.filtered(0.0), round(spent.filtered(1e-6), 2)
(Fraction(100, 1), 100.0, 20.98)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from querygate.core.budget_types import DELTA_PLACES, EPSILON_PLACES, Cost, Scope, SpentTotal
from querygate.methods.dp.exact_floats import at_least, exact

ROUNDING = 1e-12
"""Formulas of real numbers are computed in floats and taken larger by this part, which is far above their error."""


def pure(epsilon: float) -> Cost:
    """The cost of a release with delta 0: its rho is half the square (Bun and Steinke 2016, proposition 1.4)."""
    return Cost(epsilon, 0.0, at_least(exact(epsilon) ** 2 / 2))


def share(epsilon: float, number: int) -> float:
    """What each of so many releases may cost, so that together they cost no more.

    >>> share(0.1, 2), share(0.3, 3)
    (0.05, 0.09999999999999999)
    """
    part = epsilon / number
    return part if exact(part) * number <= exact(epsilon) else math.nextafter(part, 0.0)


@dataclass(frozen=True, slots=True)
class Spent:
    """Totals of releases, from which every accounting can be read. `rho` is None where it is not known."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction | None = Fraction(0)

    def plus(self, cost: Cost) -> Spent:
        rho = _rho(cost)
        return Spent(
            self.epsilon + exact(cost.epsilon),
            self.delta + exact(cost.delta),
            None if self.rho is None or rho is None else self.rho + rho,
        )

    def sequential(self, delta: float) -> float:
        """Basic composition: all epsilon, if the deltas are within this one (Dwork and Roth 2014, theorem 3.16)."""
        return at_least(self.epsilon) if self.delta <= exact(delta) else math.inf

    def concentrated(self, delta: float) -> float:
        """From rho to epsilon at this delta (Canonne, Kamath and Steinke 2020).

        The bound holds for every order alpha above 1, so the search for the best one need not be exact.
        """
        if self.rho == 0:
            return 0.0
        if self.rho is None or delta <= 0:
            return math.inf
        rho, tail = at_least(self.rho), -math.log(delta)
        middle = math.sqrt(tail / rho)  # alpha - 1 at the optimum of the simpler bound of Bun and Steinke 2016
        orders = (1 + middle * 2 ** (step / 16) for step in range(-64, 65))
        return max(0.0, _more(min(_epsilon_of(alpha, rho, tail) for alpha in orders)))

    def filtered(self, delta: float) -> float:
        """The epsilon at this delta if each cost was chosen in the light of the answers before: the truth at a gate.

        Sums of epsilon and delta can be stopped at a limit chosen beforehand, and so can sums of rho (Feldman and
        Zrnic 2021). Whoever may go on as long as either is within its limit has both deltas to pay: a run of answers
        that ends within the first limit is a run of the first filter, likewise the second, and the probabilities of
        the two kinds add up. So each has half of delta. Advanced composition in this form (Whitehouse and others 2023)
        is no better than rho.
        """
        _check_delta(delta)
        return min(self.sequential(delta / 2), self.concentrated(delta / 2))

    def fits(self, cost: Cost, limit_epsilon: float, limit_delta: float) -> bool:
        """May a release of this cost follow, so that all stay within the limits?"""
        return self.plus(cost).is_within(limit_epsilon, limit_delta)

    def is_within(self, limit_epsilon: float, limit_delta: float) -> bool:
        """Is all that was spent within the limits, by one of the two filters? Sums are compared exactly."""
        _check_delta(limit_delta)
        added_up = self.epsilon <= exact(limit_epsilon) and self.delta <= exact(limit_delta) / 2
        return added_up or self.concentrated(limit_delta / 2) <= limit_epsilon

    def left(self, limit_epsilon: float, limit_delta: float) -> float:
        """What is left of a limit of epsilon. With delta above 0 a release may cost less than its own epsilon."""
        used = self.filtered(limit_delta)
        return max(0.0, float(exact(limit_epsilon) - exact(used))) if math.isfinite(used) else 0.0


class ComposedAccounting:
    """Accounting for a ledger: the better of sums of epsilon and sums of rho, as far as delta allows."""

    def fits(self, total: SpentTotal, scope: Scope) -> bool:
        return _spent(total).is_within(scope.epsilon, scope.delta)

    def left(self, total: SpentTotal, scope: Scope) -> float:
        return _spent(total).left(scope.epsilon, scope.delta)


def _spent(total: SpentTotal) -> Spent:
    """Totals of a ledger. Without any rho, though something was spent, it is not known."""
    epsilon, delta = Fraction(total.epsilon, 10**EPSILON_PLACES), Fraction(total.delta, 10**DELTA_PLACES)
    rho = Fraction(total.rho, 10**EPSILON_PLACES) if total.rho or not total.epsilon else None
    return Spent(epsilon, delta, rho)


def _rho(cost: Cost) -> Fraction | None:
    """The rho of a cost. Where it is not given, it follows from epsilon alone if delta is 0, and is never nothing."""
    if cost.rho > 0:
        return exact(cost.rho)
    return exact(cost.epsilon) ** 2 / 2 if cost.delta == 0 else None


def _epsilon_of(alpha: float, rho: float, tail: float) -> float:
    return alpha * rho + (tail - math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha)


def _more(number: float) -> float:
    return number * (1 + ROUNDING) + ROUNDING


def _check_delta(delta: float) -> None:
    if not 0 <= delta < 1:
        raise ValueError(f"delta is at least 0 and below 1, not {delta}")
