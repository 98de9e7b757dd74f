"""Linear algebra over the integers modulo a prime, in double arithmetic that never rounds.

Whether a combination of answers fixes one value is a question of exact linear algebra. Modulo a prime it is asked with
matrix products of the processor's own speed: residues are below 2^22, so a sum of 256 products of two stays below 2^53
and is exact in a double.

>>> import numpy as np
>>> a = np.array([[2.0, 1.0], [1.0, 1.0]])
>>> x = solve(a, np.array([[3.0], [2.0]])).solution
>>> multiply(a, x)
array([[3.],
       [2.]])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from querygate.core.types import Bools, Floats, Ints

PRIME = 2**22 - 3
"""The largest prime below 2^22."""

PANEL = 256
"""Products added before the sum is reduced: 256 (p - 1)^2 < 2^52."""


EXACT = 2.0**52
"""Whole numbers up to here, and sums of them, are exact in a double."""


def residues(values: Floats) -> Floats:
    """Each value modulo the prime, in 0..p-1. Exact for whole numbers up to 2^52, which no sum of a panel exceeds."""
    quotient = np.floor(values * (1.0 / PRIME))
    left: Floats = values - quotient * PRIME
    # the quotient may be off by one, since 1 / p is rounded
    left[left < 0] += PRIME
    left[left >= PRIME] -= PRIME
    return left


def multiply(a: Floats, b: Floats) -> Floats:
    """The product of two matrices of residues."""
    total = residues(a[:, :PANEL] @ b[:PANEL])
    for begin in range(PANEL, a.shape[1], PANEL):
        total = residues(total + a[:, begin : begin + PANEL] @ b[begin : begin + PANEL])
    return total


def inverse(value: float) -> float:
    """The number whose product with the value is 1."""
    return float(pow(int(value), -1, PRIME))


def draw(random: np.random.Generator, *shape: int) -> Floats:
    """Random residues, none of them zero."""
    return random.integers(1, PRIME, shape).astype(np.float64)


class FieldSolution(NamedTuple):
    """`solution` of a x = b with zeros in the rows that were `dropped`, as they depend on those before them."""

    solution: Floats
    dropped: Bools


def solve(a: Floats, b: Floats) -> FieldSolution:
    """a = L D L^T of a symmetric matrix in panels, then back. An equation whose pivot vanishes is left out.

    For a = M E M^T with a random diagonal E, the pivot of a row of M that depends on the rows before it is zero, and
    that of any other row is zero only by chance, about once in p rows (Schwartz-Zippel).
    """
    a, b = a.copy(), b.copy()
    size = len(a)
    pivots, lowers = np.zeros(size), []
    for begin in range(0, size, PANEL):
        end = min(begin + PANEL, size)
        lower, pivots[begin:end] = _factor(a[begin:end, begin:end])
        lowers.append(lower)
        b[begin:end] = multiply(lower, b[begin:end])
        if end < size:
            a[begin:end, end:] = multiply(lower, a[begin:end, end:])
            factors = residues(a[begin:end, end:] * pivots[begin:end, None]).T
            a[end:, end:] = residues(a[end:, end:] - residues(factors @ a[begin:end, end:]))
            b[end:] = residues(b[end:] - residues(factors @ b[begin:end]))
    x = np.zeros_like(b)
    for begin, lower in reversed(list(zip(range(0, size, PANEL), lowers, strict=True))):
        end = min(begin + PANEL, size)
        left = residues(b[begin:end] - multiply(a[begin:end, end:], x[end:])) if end < size else b[begin:end]
        x[begin:end] = multiply(lower.T, residues(left * pivots[begin:end, None]))
    return FieldSolution(x, pivots == 0)


def _factor(a: Floats) -> tuple[Floats, Floats]:
    """The inverse of L of a block a = L D L^T, and the inverses of D; zeros for a row that depends on earlier ones."""
    a, size = a.copy(), len(a)
    lower, pivots = np.eye(size), np.zeros(size)
    for row in range(size):
        if not a[row, row]:
            lower[row] = 0.0
            continue
        pivots[row] = inverse(a[row, row])
        factors = residues(a[row + 1 :, row] * pivots[row])[:, None]
        a[row + 1 :, row:] = residues(a[row + 1 :, row:] - residues(factors * a[row, row:]))
        lower[row + 1 :] = residues(lower[row + 1 :] - residues(factors * lower[row]))
    return lower, pivots


def ratios(over: Floats, under: Floats) -> Ints:
    """over / under, each under different from zero."""
    inverses = _powers(under, PRIME - 2)
    return residues(over * inverses).astype(np.int64)


def _powers(base: Floats, exponent: int) -> Floats:
    """By squaring (Fermat: the power p - 2 is the inverse)."""
    found, square = np.ones_like(base), base
    while exponent:
        if exponent & 1:
            found = residues(found * square)
        square = residues(square * square)
        exponent >>= 1
    return found
