"""Mechanisms by name: a true number in, a noisy one out, with its cost and how far it may be off.

| name | noise | for | keeps | by |
|---|---|---|---|---|
| geometric | discrete Laplace | whole numbers | epsilon | Ghosh, Roughgarden and Sundararajan 2009 |
| geometric-truncated, geometric-folded | the same, then brought into [lower, upper] | whole numbers | epsilon | there |
| laplace | Laplace on a fine lattice | numbers | epsilon | Dwork, McSherry, Nissim and Smith 2006 |
| laplace-truncated, laplace-folded | the same, then brought into [lower, upper] | numbers | epsilon | there |
| snapping | the same, rounded to the power of two above its scale, truncated | numbers | epsilon | Mironov 2012 |
| gaussian-analytic | Gaussian on a fine lattice | numbers | epsilon, delta | Balle and Wang 2018 |
| gaussian-discrete | discrete Gaussian | whole numbers | epsilon, delta | Canonne, Kamath and Steinke 2020 |

To truncate is to show the nearer bound, to fold is to reflect at the bounds; both are done to the noisy number, and
cost nothing. They make answers look possible, and biased near the bounds. A value outside the bounds is clamped first.

>>> import random
>>> geometric = MECHANISMS.get("geometric")
>>> geometric.half_width(sensitivity=1, epsilon=0.1)
30.0
>>> noisy = geometric.release(400, sensitivity=1, epsilon=0.1, entropy=random.Random(7))
>>> noisy.low95 == noisy.value - 30 and noisy.high95 == noisy.value + 30
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from querygate.core.budget_types import Cost
from querygate.core.registry import Registry
from querygate.core.types import USUAL_MECHANISM
from querygate.methods.dp.accountant import pure
from querygate.methods.dp.exact_floats import at_least, exact, rounded_down, rounded_up
from querygate.methods.dp.gaussian_scale import check_gaussian, sigma_per_unit
from querygate.methods.dp.noise_scale import Noise, make_noise
from querygate.methods.dp.sampler import Entropy

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Noisy:
    """One released number. The true value (clamped, if there are bounds) lies within [low95, high95] in at least 95 of
    100 releases. `scale` is b of Laplace noise, sigma of Gaussian noise."""

    value: int | float
    mechanism: str
    scale: float
    low95: float
    high95: float


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Noise is added on a lattice; then what is shown is made of the noisy number. Only `value` is secret."""

    name: str
    family: Literal["laplace", "gaussian"]
    whole: bool = False  # for whole numbers only
    end: Literal["", "truncated", "folded"] = ""
    snapped: bool = False

    @property
    def approximate(self) -> bool:
        """Does it need delta > 0?"""
        return self.family == "gaussian"

    @property
    def bounded(self) -> bool:
        """Does it need bounds?"""
        return bool(self.end)

    def release(
        self,
        value: float | Fraction,
        *,
        sensitivity: float | Fraction,
        epsilon: float | Fraction,
        delta: float = 0.0,
        lower: float | None = None,
        upper: float | None = None,
        entropy: Entropy,
    ) -> Noisy:
        noise, off = _prepared(self, sensitivity, epsilon, delta, LEVEL)
        bounds = self._bounds(lower, upper)
        noisy = noise.add(_truncated(self._value(value), bounds), entropy)
        if self.snapped:
            noisy = round(noisy / noise.snap) * noise.snap
        shown = _folded(noisy, bounds) if self.end == "folded" else _truncated(noisy, bounds)
        low, high = _truncated(shown - off, bounds), _truncated(shown + off, bounds)
        told = int(shown) if self.whole else float(shown)
        return Noisy(told, self.name, noise.scale, rounded_down(low), rounded_up(high))

    def half_width(
        self,
        *,
        sensitivity: float | Fraction,
        epsilon: float | Fraction,
        delta: float = 0.0,
        level: float = LEVEL,
    ) -> float:
        """What is shown is off by no more than this with probability `level`, or a higher one."""
        if not 0 < level < 1:
            raise ValueError(f"level is between 0 and 1, not {level}")
        return rounded_up(_prepared(self, sensitivity, epsilon, delta, level)[1])

    def cost(self, *, epsilon: float, delta: float = 0.0) -> Cost:
        self.check(1, epsilon, delta)
        if not self.approximate:
            return pure(epsilon)
        return Cost(epsilon, delta, at_least(1 / (2 * exact(sigma_per_unit(epsilon, delta)) ** 2)))

    def check(self, sensitivity: float | Fraction, epsilon: float | Fraction, delta: float) -> None:
        """Is there noise for these? A ValueError says what is wrong."""
        if self._public(sensitivity, "sensitivity") <= 0:
            raise ValueError(f"sensitivity is above 0, not {sensitivity}")
        if not (math.isfinite(epsilon) and epsilon > 0):
            raise ValueError(f"epsilon is a number above 0, not {epsilon}")
        if not 0 <= delta < 1:
            raise ValueError(f"delta is at least 0 and below 1, not {delta}")
        if self.approximate:
            check_gaussian(float(epsilon), delta)
        elif delta:
            raise ValueError(f"{self.name} has no use for delta; it is 0, not {delta}")

    def _bounds(self, lower: float | None, upper: float | None) -> tuple[Fraction, Fraction] | None:
        if not self.bounded:
            if lower is not None or upper is not None:
                raise ValueError(f"{self.name} has no bounds")
            return None
        if lower is None or upper is None:
            raise ValueError(f"{self.name} needs lower and upper")
        low, high = self._public(lower, "lower"), self._public(upper, "upper")
        if low >= high:
            raise ValueError(f"lower is below upper; {lower} is not below {upper}")
        return low, high

    def _public(self, number: float | Fraction, name: str) -> Fraction:
        if not math.isfinite(number):
            raise ValueError(f"{name} is a finite number, not {number}")
        if self.whole and number % 1:
            raise ValueError(f"{self.name} takes whole numbers alone, also as {name}; {number} is none")
        return exact(number)

    def _value(self, value: float | Fraction) -> Fraction:
        """The true value, which no message quotes. It is the float itself, not what that is written as."""
        if not math.isfinite(value):
            raise ValueError("the value is not a finite number")
        if self.whole and value % 1:
            raise ValueError(f"{self.name} takes whole numbers alone, and the value is none")
        return Fraction(value)


@lru_cache(maxsize=1024)
def _prepared(
    mechanism: Mechanism, sensitivity: float | Fraction, epsilon: float | Fraction, delta: float, level: float
) -> tuple[Noise, Fraction]:
    """The noise for public parameters, and how far what is shown may be off at this level.

    To truncate and to fold bring nothing further apart, and leave values within the bounds where they are: what holds
    for the noise holds for what is shown. Snapping moves it by up to half of its step.
    """
    mechanism.check(sensitivity, epsilon, delta)
    noise = make_noise(mechanism.family, mechanism.whole, sensitivity, epsilon, delta)
    return noise, noise.half_width(level) + (noise.snap / 2 if mechanism.snapped else 0)


def _truncated(number: Fraction, bounds: tuple[Fraction, Fraction] | None) -> Fraction:
    return number if bounds is None else min(max(number, bounds[0]), bounds[1])


def _folded(number: Fraction, bounds: tuple[Fraction, Fraction] | None) -> Fraction:
    """Reflected at the bounds, as often as it takes."""
    if bounds is None:
        return number
    low, high = bounds
    beyond = (number - low) % (2 * (high - low))
    return low + min(beyond, 2 * (high - low) - beyond)


MECHANISMS: Registry[Mechanism] = Registry("mechanism")
for _mechanism in (
    Mechanism("geometric", "laplace", whole=True),
    Mechanism("geometric-truncated", "laplace", whole=True, end="truncated"),
    Mechanism("geometric-folded", "laplace", whole=True, end="folded"),
    Mechanism("laplace", "laplace"),
    Mechanism("laplace-truncated", "laplace", end="truncated"),
    Mechanism("laplace-folded", "laplace", end="folded"),
    Mechanism("snapping", "laplace", end="truncated", snapped=True),
    Mechanism("gaussian-analytic", "gaussian"),
    Mechanism("gaussian-discrete", "gaussian", whole=True),
):
    MECHANISMS.register(_mechanism.name, _mechanism)

DEFAULT = USUAL_MECHANISM
