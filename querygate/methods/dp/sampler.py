"""Exact draws of noise from random bits: whole numbers and fractions alone, no float, no logarithm.

A textbook sampler turns a random float into noise by a formula. Floats have gaps, and where the gaps fall tells of the
value that the noise was added to (Mironov 2012; Haney and others 2022). Here each outcome has exactly the probability
that the proof of the mechanism says, by rejection (Canonne, Kamath and Steinke 2020, algorithms 1 to 3).

How long a draw takes depends on what is drawn, so time tells a little of the noise (Jin and others 2022): answers leave
only after a write to disk, which takes far longer and varies more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol


class Entropy(Protocol):
    """Where random bits come from: `secrets.SystemRandom()` in the product, a seeded `random.Random` in tests."""

    def getrandbits(self, k: int, /) -> int: ...


def below(stop: int, entropy: Entropy) -> int:
    """A whole number from 0 to stop - 1, each equally likely."""
    bits = (stop - 1).bit_length()
    drawn = entropy.getrandbits(bits)
    while drawn >= stop:
        drawn = entropy.getrandbits(bits)
    return drawn


def flip_exp(n: int, d: int, entropy: Entropy) -> bool:
    """True with probability exp(-n/d), n/d at least 0 (algorithm 1, after von Neumann and Forsythe)."""
    while n > d:
        if not _flip_exp_below_one(1, 1, entropy):
            return False
        n -= d
    return _flip_exp_below_one(n, d, entropy)


def _flip_exp_below_one(n: int, d: int, entropy: Entropy) -> bool:
    """As above for n/d of at most 1: the first k at which a coin of probability n/(d k) fails is odd with exp(-n/d)."""
    k = 1
    while below(d * k, entropy) < n:
        k += 1
    return k % 2 == 1


def discrete_laplace(scale: Fraction, entropy: Entropy) -> int:
    """A whole number z with probability proportional to exp(-|z| / scale) (algorithm 2)."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = below(t, entropy)
        if not _flip_exp_below_one(u, t, entropy):
            continue
        v = 0
        while _flip_exp_below_one(1, 1, entropy):
            v += 1
        size = (u + t * v) // s
        negative = entropy.getrandbits(1)
        if size or not negative:  # zero has one sign
            return -size if negative else size


def discrete_gaussian(sigma: Fraction, entropy: Entropy) -> int:
    """A whole number z with probability proportional to exp(-z² / (2 sigma²)) (algorithm 3)."""
    p, q = sigma.numerator, sigma.denominator
    t = p // q + 1
    while True:
        z = discrete_laplace(Fraction(t), entropy)
        # (|z| - sigma²/t)² / (2 sigma²), as a fraction of whole numbers
        if flip_exp((abs(z) * t * q * q - p * p) ** 2, 2 * (p * t * q) ** 2, entropy):
            return z
