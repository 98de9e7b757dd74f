"""Statistics of a two-by-two table whose counts and totals are each known to lie in a range.

A count is at least its total minus the most of the other count, and at most its total minus the least. A share n / (n +
m) rises with n and falls with m, so its ends are at ends of both; a difference or a quotient of two shares, and an odds
ratio, rise with some of the counts and fall with the others. The ranges are not sharp: further dependence between
counts is ignored. Proof: docs/explanation/proofs/views-answers.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from querygate.core.types import Range
from querygate.stats.numerics import UNIT, down, enclose, up


class _Ends(NamedTuple):
    """Least and greatest; no greatest is infinity."""

    low: Fraction
    high: Fraction | None


class _Count(NamedTuple):
    low: int
    high: int


def table_of_counts(statistic: str, counts: Sequence[Range]) -> Range | None:
    """The range of a statistic where it is not NULL; None where the counts do not determine one. Counts are of records
    with exposure and outcome, with exposure only, with outcome only, and with neither; then of all with exposure, all
    without it, all with the outcome and all without it.

    >>> counts = [Range(2, 4), Range(0, 9), Range(5, 5), Range(15, 20)]
    >>> totals = [Range(10, 10), Range(20, 25), Range(7, 9), Range(15, 29)]
    >>> table_of_counts("proportion", [*counts, *totals])
    Range(low=0.2, high=0.4, attained_low=None, attained_high=None, sharp=False, may_be_null=False)
    """
    if statistic not in _STATISTICS:
        return None
    four = _narrowed([_Count(int(one.low or 0), int(one.high or 0)) for one in counts])
    if any(one.low > one.high for one in four):
        return None  # this group is empty
    found = _STATISTICS[statistic](*four)
    low, high = enclose(found.low).low, math.inf if found.high is None else enclose(found.high).high
    if statistic == "proportion":  # one rounding
        return Range(low, high, sharp=False)
    if statistic == "risk_difference":
        return Range(max(-1.0, low - 4 * UNIT), min(1.0, high + 4 * UNIT), sharp=False)
    return Range(down(low, 6) if low > 0 else low, up(high, 6) if 0 < high < math.inf else high, sharp=False)


_TOTALS = ((0, 1), (2, 3), (0, 2), (1, 3))
"""The two counts that each total consists of."""


def _narrowed(counts: Sequence[_Count]) -> list[_Count]:
    """The four counts, narrowed by their totals."""
    four = list(counts[:4])
    for _ in range(2):  # knowledge of one count then narrows those beside and below it
        for pair, total in zip(_TOTALS, counts[4:], strict=True):
            one, other = (four[place] for place in pair)
            four[pair[0]] = _Count(max(one.low, total.low - other.high), min(one.high, total.high - other.low))
            four[pair[1]] = _Count(max(other.low, total.low - one.high), min(other.high, total.high - one.low))
    return four


def _share(part: _Count, rest: _Count) -> tuple[Fraction, Fraction]:
    """The share of the part; 0 or 1 where one of them is empty."""
    low = Fraction(part.low, part.low + rest.high) if part.low + rest.high else Fraction(1)
    high = Fraction(part.high, part.high + rest.low) if part.high + rest.low else Fraction(0)
    return low, high


def _proportion(n11: _Count, n10: _Count, n01: _Count, n00: _Count) -> _Ends:
    return _Ends(*_share(n11, n10))


def _difference(n11: _Count, n10: _Count, n01: _Count, n00: _Count) -> _Ends:
    exposed, unexposed = _share(n11, n10), _share(n01, n00)
    return _Ends(exposed[0] - unexposed[1], exposed[1] - unexposed[0])


def _risk_ratio(n11: _Count, n10: _Count, n01: _Count, n00: _Count) -> _Ends:
    exposed, unexposed = _share(n11, n10), _share(n01, n00)
    low = exposed[0] / unexposed[1] if unexposed[1] else Fraction(0)
    return _Ends(low, exposed[1] / unexposed[0] if unexposed[0] else None)


def _odds_ratio(n11: _Count, n10: _Count, n01: _Count, n00: _Count) -> _Ends:
    most, least = n10.high * n01.high, n10.low * n01.low
    low = Fraction(n11.low * n00.low, most) if most else Fraction(0)
    return _Ends(low, Fraction(n11.high * n00.high, least) if least else None)


_STATISTICS: dict[str, Callable[[_Count, _Count, _Count, _Count], _Ends]] = {
    "proportion": _proportion,
    "risk_difference": _difference,
    "risk_ratio": _risk_ratio,
    "odds_ratio": _odds_ratio,
}
