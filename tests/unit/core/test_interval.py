"""Rounding for people and for safety never moves an end inwards."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from querygate.core.range_ends import shown

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ENDS = st.tuples(FINITE, FINITE).map(lambda pair: (min(pair), max(pair)))
CLOSE = st.tuples(FINITE, st.integers(1, 5)).map(lambda pair: (pair[0], pair[0] + pair[1] * math.ulp(pair[0])))


@given(st.one_of(ENDS, CLOSE))
@example((0.1, 0.30000000000000004))
@example((-0.3, -0.0))
@example((1.0, 1.0000000000000002))
@example((5e-324, 1.7976931348623157e308))
@example((-1.7976931348623157e308, 1.7976931348623157e308))
def test_what_is_shown_holds_the_range(ends: tuple[float, float]) -> None:
    low, high = ends
    if not math.isfinite(high):
        return
    below, above = shown(low, high)

    if low == high:
        assert float(below) == float(above) == low
    else:
        assert float(below) <= low  # a text that is read back as the very end is the end
        assert float(above) >= high


@given(st.one_of(ENDS, CLOSE))
def test_what_is_shown_is_not_much_wider(ends: tuple[float, float]) -> None:
    """Three digits of the width, or six of the numbers where the width is lost beside them; but no end nearer to 0 than
    1e-300, unless it is 0.
    """
    low, high = ends
    if low == high or not math.isfinite(high):
        return
    below, above = shown(low, high)
    width = Fraction(high) - Fraction(low)
    slack = max(width / 50, (abs(Fraction(low)) + abs(Fraction(high))) / 10**5) + 2 * Fraction("1e-300")

    assert Fraction(above) - Fraction(below) <= width + slack


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((127.41237, 131.88811), ("127.41", "131.89")),
        ((2, 2), ("2", "2")),
        ((-(10**30), 10**30), (str(-(10**30)), str(10**30))),
        ((0.1, 0.1), ("0.1", "0.1")),
        ((0.30000000000000004, 0.30000000000000004), ("0.30000000000000004", "0.30000000000000004")),
        ((2.0, 2.0), ("2", "2")),
        ((-0.3, -0.0001), ("-0.3", "-0.0001")),
        ((-0.5, 1e-9), ("-0.5", "1e-9")),
        ((-1.0, -1e-9), ("-1", "-1e-9")),
        ((-math.inf, 0.1), ("-inf", "0.1")),
        ((1.0, math.inf), ("1", "inf")),
        ((1, 2.5), ("1", "2.5")),
    ],
)
def test_as_people_read_it(ends: tuple[float, float], texts: tuple[str, str]) -> None:
    assert shown(*ends) == texts
