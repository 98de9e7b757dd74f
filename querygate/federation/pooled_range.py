"""What the members say of one figure, and the ranges that are plain of them: counts, sums, extremes, medians.

The pooled value is that of all members' records together, each record once for every member that has it. A member's
range has the value on its own records, whatever the other members hold, so that ends may be chosen apart; why each rule
holds is in docs/explanation/federation.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from querygate.client.answer import Range, Value

ROUNDING = 1e-12
"""Of the largest end: databases add floating-point numbers in any order, and members round in theirs."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A range over all members. `low` is None where no member can have a value."""

    low: Value
    high: Value
    estimate: Value = None
    sharp: bool = False
    may_be_null: bool = False


NOTHING = Pooled(None, None, None, sharp=True, may_be_null=True)


def pool_sums(parts: Sequence[Range]) -> Pooled:
    """Counts and sums add up. A member without a record adds nothing."""
    some = [part for part in parts if part.low is not None]
    if not some:
        return NOTHING
    lows = [min(part.low, 0) if part.may_be_null else part.low for part in some]  # type: ignore[type-var]
    highs = [max(part.high, 0) if part.may_be_null else part.high for part in some]  # type: ignore[type-var]
    low, high = outward(_total(lows), _total(highs), lows + highs)
    return Pooled(
        low,
        high,
        _clamped(_guess([part.estimate for part in some]), low, high),
        sharp=all(part.sharp for part in parts) and not any(part.may_be_null for part in parts),
        may_be_null=all(part.may_be_null for part in parts),
    )


def pool_least(parts: Sequence[Range]) -> Pooled:
    """The least of all is the least of the members' least. A member that may have none does not keep the upper end."""
    return _extreme(parts, min, upwards=False)


def pool_largest(parts: Sequence[Range]) -> Pooled:
    return _extreme(parts, max, upwards=True)


def _extreme(parts: Sequence[Range], choose: Callable[..., Any], *, upwards: bool) -> Pooled:
    some = [part for part in parts if part.low is not None]
    if not some:
        return NOTHING
    sure = [part for part in some if not part.may_be_null]
    other = (max if not upwards else min) if not sure else choose  # where each may be absent, any one may be alone
    far, near = ("high", "low") if upwards else ("low", "high")
    outer = choose(getattr(part, far) for part in some)
    inner = other(getattr(part, near) for part in (sure or some))
    low, high = (inner, outer) if upwards else (outer, inner)
    guesses = [part.estimate for part in some]
    guess = None if None in guesses else choose(guesses)
    return Pooled(
        low,
        high,
        _clamped(guess, low, high),
        sharp=all(part.sharp for part in parts) and (bool(sure) or len(some) == 1),
        may_be_null=not sure,
    )


def pool_distinct(parts: Sequence[Range]) -> Pooled:
    """Of distinct values there are at least as many as one member has, and at most all members' together."""
    added = pool_sums(parts)
    low = max(part.low for part in parts)  # type: ignore[type-var]
    return Pooled(low, added.high, None, sharp=low == added.high)


def pool_between(parts: Sequence[Range]) -> Pooled:
    """Medians, and quantiles that are values of the data, lie between the members' own."""
    some = [part for part in parts if part.low is not None]
    if not some:
        return NOTHING
    low, high = min(part.low for part in some), max(part.high for part in some)  # type: ignore[type-var]
    alone = len(some) == 1 and len(parts) == 1
    return Pooled(
        low,
        high,
        some[0].estimate if alone else None,
        sharp=low == high or (alone and some[0].sharp),
        may_be_null=all(part.may_be_null for part in parts),
    )


def outward(low: Any, high: Any, ends: Sequence[Any]) -> tuple[Any, Any]:
    """Both ends as numbers of a database: whole ones stay; others are moved outward by what rounding may have done."""
    if all(isinstance(end, int) for end in ends):
        return int(low), int(high)
    largest = max((abs(end) for end in ends if math.isfinite(end)), default=0.0)
    margin = Fraction(largest) * Fraction(ROUNDING)
    return _double(low - margin, -math.inf), _double(high + margin, math.inf)


def _double(exact: Any, towards: float) -> float:
    """The nearest double that is not inside of an exact end."""
    if isinstance(exact, float) and not math.isfinite(exact):
        return exact
    try:
        near = float(exact)
    except OverflowError:
        return towards
    inside = Fraction(near) > exact if towards < 0 else Fraction(near) < exact
    return math.nextafter(near, towards) if inside else near


def _total(ends: Sequence[Any]) -> Any:
    infinite = [end for end in ends if not math.isfinite(end)]
    return infinite[0] if infinite else sum(map(Fraction, ends), Fraction(0))


def _guess(guesses: Sequence[Any]) -> Any:
    return None if any(guess is None for guess in guesses) else sum(guesses)


def _clamped(guess: Any, low: Any, high: Any) -> Any:
    return None if guess is None else min(max(guess, low), high)
