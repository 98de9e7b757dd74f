"""The public edges of a numeric column: the only places where a published interval may begin or end.

Edges e0 < e1 < ... < en cover the domain. Code c stands for the half-open [e_c, e_{c+1}), and the last code is closed
at the domain's top, so that every value of the domain has exactly one code. Edges come from the policy alone, never
from data, so they reveal nothing about anybody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from querygate.core.types import DISCRETE
from querygate.custody.policy.column_policy import ColumnPolicy, Number

MAX_EDGES = 100_000
"""More would make a public dictionary larger than most data, and a grid as fine as the data hides nothing."""


def grid_edges(column: ColumnPolicy) -> list[Number]:
    """Multiples of the grid inside the domain, with the domain's ends and the cuts; or the edges of public cells.

    >>> grid_edges(ColumnPolicy("x", "quasi-identifier", "number", low=0.05, high=0.4, grid=0.1))
    [0.05, 0.1, 0.2, 0.3, 0.4]
    """
    if column.edges:
        return list(column.edges)
    if column.grid is None:
        raise ValueError(f"column {column.name!r} has no grid")
    return _covering(column, [*_between(column, 0, column.grid), *column.cuts])


def bin_edges(column: ColumnPolicy) -> list[Number]:
    """The edges of the bins: as listed, or steps of the width from the domain's low end.

    A remainder at the top that is narrower than the guard e joins the bin below it: no bin is narrower than e.

    >>> bin_edges(ColumnPolicy("x", "sensitive", "integer", low=0, high=25, bins=10, guard=10))
    [0, 10, 25]
    """
    if column.bins is None or column.low is None or column.high is None:
        raise ValueError(f"column {column.name!r} has no bins")
    if isinstance(column.bins, tuple):
        return _covering(column, column.bins)
    inner = _between(column, column.low, column.bins)
    if inner and exact(column.high) - exact(inner[-1]) < exact(column.guard or 0):
        inner.pop()
    return _covering(column, inner)


def closed(column_type: str, low_edge: Number, high_edge: Number, is_last: bool) -> tuple[Number, Number]:
    """The smallest and the largest value that [low_edge, high_edge) holds; the last interval keeps its top.

    >>> closed("integer", 40, 50, False), closed("integer", 290, 300, True)
    ((40, 49), (290, 300))
    """
    if is_last:
        return low_edge, high_edge
    if column_type in DISCRETE:
        return low_edge, high_edge - 1
    return low_edge, math.nextafter(high_edge, -math.inf)


def round_step(low: Number, high: Number, *, whole: bool, parts: int = 50) -> Number:
    """The step 1, 2 or 5 x 10^n nearest to a fiftieth (or so) of [low, high] in log scale; at least 1 when whole.

    >>> round_step(40, 300, whole=True), round_step(0, 120, whole=True), round_step(0.0, 1.0, whole=False)
    (5, 2, 0.02)
    """
    target = (exact(high) - exact(low)) / parts
    # Digits bound the exponent within one, whatever the size; there are no ties, as sqrt(2 and 10) are irrational.
    digits = len(str(target.numerator)) - len(str(target.denominator))
    steps = [m * Fraction(10) ** n for n in range(digits - 1, digits + 2) for m in (1, 2, 5)]
    best = min(steps, key=lambda step: max(step / target, target / step))
    if whole:
        return max(1, int(best))
    return float(best) or math.ulp(0.0)


def exact(value: Number) -> Fraction:
    """The decimal number a float is written as: 0.1 is one tenth here, so that three steps of it are 0.3."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _between(column: ColumnPolicy, origin: Number, step: Number) -> list[Number]:
    """All origin + i * step strictly inside the domain, exactly rounded (Python's int / int is)."""
    if column.low is None or column.high is None:
        raise ValueError(f"column {column.name!r} has no domain")
    start, stride = exact(origin), exact(step)
    first = math.floor((exact(column.low) - start) / stride) + 1
    last = math.ceil((exact(column.high) - start) / stride) - 1
    _check_count(last - first + 1)
    scale = math.lcm(start.denominator, stride.denominator)
    a, b = int(start * scale), int(stride * scale)
    whole = column.type in DISCRETE
    return [a + i * b if whole else (a + i * b) / scale for i in range(first, last + 1)]


def _covering(column: ColumnPolicy, inner: Iterable[Number]) -> list[Number]:
    if column.low is None or column.high is None:
        raise ValueError(f"column {column.name!r} has no domain")
    edges = sorted({column.low, *inner, column.high})
    _check_count(len(edges))
    return edges


def _check_count(count: int) -> None:
    if count > MAX_EDGES:
        raise ValueError(f"makes more than {MAX_EDGES:,} edges")
