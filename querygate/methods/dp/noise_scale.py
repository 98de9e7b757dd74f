"""Noise on a lattice: its step, its law in whole steps, and how far it reaches.

Whole numbers have a lattice of step 1. Real numbers are first rounded to multiples of a power of two, at most 2^-64 of
the scale. That moves each by up to half a step, so two values that differ by the sensitivity are at most one step
further apart, and the noise is made for that. What is shown is the noisy lattice point, rounded to a float afterwards:
a function of the lattice point alone, so the gaps between floats tell nothing of the value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import scipy  # loaded when it is first needed

from querygate.methods.dp.exact_floats import exact
from querygate.methods.dp.gaussian_scale import lattice_sigma, sigma_per_unit
from querygate.methods.dp.sampler import Entropy, discrete_gaussian, discrete_laplace

FINENESS = 64
"""Bits of the scale of noise on real numbers that a step is smaller by."""

ADDED = 2**14
"""Up to this sigma, in steps, probabilities of Gaussian noise are added up; beyond the normal law is as good."""


@dataclass(frozen=True, slots=True)
class Laplace:
    """P(z) proportional to exp(-|z| / scale), z whole."""

    scale: Fraction

    def sample(self, entropy: Entropy) -> int:
        return discrete_laplace(self.scale, entropy)

    def reach(self, level: float) -> int:
        """The least whole h with P(|z| <= h) >= level: P(|z| > h) = 2 q^(h+1) / (1 + q) with q = exp(-1 / scale)."""
        scale = float(self.scale)
        needed = scale * math.log(2 / ((1 + math.exp(-1 / scale)) * (1 - level))) * (1 + 1e-12)
        return max(0, math.ceil(needed) - 1)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """P(z) proportional to exp(-z² / (2 scale²)), z whole."""

    scale: Fraction

    def sample(self, entropy: Entropy) -> int:
        return discrete_gaussian(self.scale, entropy)

    def reach(self, level: float) -> int:
        """The least whole h with P(|z| <= h) >= level; for a large sigma at most a step more."""
        sigma = float(self.scale)
        if sigma > ADDED:
            return math.ceil(sigma * float(scipy.special.ndtri((1 + level) / 2)) * (1 + 1e-12))
        z = np.arange(math.ceil(40 * sigma) + 2)
        weights = np.exp(-((z / sigma) ** 2) / 2) * np.where(z == 0, 1.0, 2.0)
        within = np.cumsum(weights) / weights.sum()
        return int(np.searchsorted(within, level * (1 + 1e-12)))


@dataclass(frozen=True, slots=True)
class Noise:
    """A law in steps of a lattice."""

    law: Laplace | Gaussian
    step: Fraction

    @property
    def scale(self) -> float:
        return float(self.law.scale * self.step)

    @property
    def snap(self) -> Fraction:
        """The least power of two that is no less than the scale."""
        scale = self.law.scale * self.step
        power = Fraction(2) ** _log2(scale)
        return power if power == scale else 2 * power

    def add(self, value: Fraction, entropy: Entropy) -> Fraction:
        return (round(value / self.step) + self.law.sample(entropy)) * self.step

    def half_width(self, level: float) -> Fraction:
        """|noise| is at most this with probability `level`, the rounding of the value to the lattice included."""
        return (self.law.reach(level) + (self.step != 1)) * self.step


def make_noise(
    family: Literal["laplace", "gaussian"],
    whole: bool,
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    delta: float,
) -> Noise:
    """Noise that keeps (epsilon, delta) for values that differ by up to `sensitivity`. All arguments are public."""
    apart, loss = exact(sensitivity), exact(epsilon)
    step = Fraction(1)
    if not whole:
        unit = 1 / loss if family == "laplace" else exact(sigma_per_unit(float(epsilon), delta))
        step = Fraction(2) ** (_log2(apart * unit) - FINENESS)
    steps = math.floor(apart / step) + (0 if whole else 1)
    if family == "laplace":
        return Noise(Laplace(steps / loss), step)
    return Noise(Gaussian(lattice_sigma(steps, float(epsilon), delta)), step)


def _log2(number: Fraction) -> int:
    """Rounded down, exact for numbers of any size."""
    power = number.numerator.bit_length() - number.denominator.bit_length()
    return power if Fraction(2) ** power <= number else power - 1
