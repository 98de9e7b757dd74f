"""Linear equations in fractions: sums of some unknowns are zero, and some unknowns are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class _Equation:
    """The pivot is `value` less the other unknowns times their factors."""

    pivot: int
    factors: dict[int, Fraction]
    value: Fraction


def solve_exactly(sums: Sequence[Sequence[int]], fixed: Mapping[int, Fraction], unknowns: int) -> list[Fraction] | None:
    """Numbers such that each of these sums is zero; those that nothing decides are zero. None if there are none."""
    solved: list[_Equation] = []
    for members in sums:
        factors = {one: Fraction(1) for one in members if one not in fixed}
        value = -sum((fixed[one] for one in members if one in fixed), Fraction(0))
        for other in solved:
            times = factors.pop(other.pivot, Fraction(0))
            if times:
                value -= times * other.value
                for one, factor in other.factors.items():
                    factors[one] = factors.get(one, Fraction(0)) - times * factor
        factors = {one: factor for one, factor in factors.items() if factor}
        if factors:
            pivot = min(factors)
            scale = factors.pop(pivot)
            solved.append(_Equation(pivot, {one: f / scale for one, f in factors.items()}, value / scale))
        elif value:
            return None
    found = [fixed.get(one, Fraction(0)) for one in range(unknowns)]
    for equation in reversed(solved):
        rest = sum((factor * found[one] for one, factor in equation.factors.items()), Fraction(0))
        found[equation.pivot] = equation.value - rest
    return found
