"""What changed between two fits, on fits made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from querygate.methods.model_fit import Fit, average, compare

TERMS = ("(Intercept)", "a", "b", "c", "d")


def made(coefficients: list[float], significant: list[bool], terms: tuple[str, ...] = TERMS) -> Fit:
    """Intervals reach by 1 to both sides."""
    values = np.array(coefficients)
    p = np.where(significant, 0.01, 0.5)
    return Fit(terms, values, np.full(values.size, 0.51), values - 1, values + 1, p, "linear", 100)


BEFORE = made([9, 2, -2, 0.5, 3], [True, True, True, False, True])


def test_nothing_changed() -> None:
    found = compare(BEFORE, BEFORE)
    assert (found.significance, found.sign, found.outside) == (0, 0, 0)
    assert [term.term for term in found.terms] == ["a", "b", "c", "d"]


def test_each_share() -> None:
    """a keeps all; b turns its sign and leaves; c, not significant, turns and becomes significant; d fades."""
    found = compare(BEFORE, made([-9, 2.9, 2, -0.1, 2.5], [True, True, True, True, False]))
    assert found.significance == 2 / 4
    assert found.sign == 1 / 3
    assert found.outside == 1 / 4
    a, b, c, d = found.terms
    assert (a.significance, a.sign, a.outside) == (0, 0, 0)
    assert (b.significance, b.sign, b.outside) == (0, 1, 1)
    assert (c.significance, c.sign, c.outside) == (1, 0, 0)
    assert (d.significance, d.sign, d.outside) == (1, 0, 0)
    assert (a.before, a.before_low, a.before_high, a.after, a.after_low) == (2, 1, 3, 2.9, pytest.approx(1.9))


def test_the_ends_of_an_interval_belong_to_it() -> None:
    assert compare(BEFORE, made([0, 3, -3, 1.5, 2], [True] * 5)).outside == 0


def test_without_significant_coefficients_no_sign_changes() -> None:
    none = made([1, 1, 1, 1, 1], [False] * 5)
    assert compare(none, made([-1, -0.5, -1, -1, -1], [False] * 5)).sign == 0


def test_without_a_fit_all_is_lost() -> None:
    found = compare(BEFORE, None)
    assert (found.significance, found.sign, found.outside, found.unfit) == (3 / 4, 0, 1, 1)
    assert math.isnan(found.terms[0].after)


def test_averages() -> None:
    turned = made([9, -2, -2, 0.5, 3], [True] * 5)
    found = average([compare(BEFORE, BEFORE), compare(BEFORE, turned), compare(BEFORE, None), compare(BEFORE, BEFORE)])
    assert (found.repetitions, found.unfit) == (4, 1)
    assert found.significance == pytest.approx((0 + 1 / 4 + 3 / 4 + 0) / 4)
    assert found.sign == pytest.approx(1 / 3 / 4)
    assert found.outside == pytest.approx((1 / 4 + 1) / 4)
    assert found.terms[0].after == pytest.approx((2 - 2 + 2) / 3)
    assert found.terms[0].sign == 0.25


def test_averages_of_averages_weigh_repetitions() -> None:
    one, other = compare(BEFORE, BEFORE), compare(BEFORE, made([9, -2, -2, 0.5, 3], [True] * 5))
    found = average([average([one, one, one]), other])
    assert found.sign == pytest.approx(1 / 3 / 4)
    assert found.repetitions == 4


def test_only_the_same_terms_are_compared() -> None:
    other = made([1, 1], [True, True], ("(Intercept)", "z"))
    with pytest.raises(ValueError, match="same terms"):
        compare(BEFORE, other)
    with pytest.raises(ValueError, match="same terms"):
        average([compare(BEFORE, BEFORE), compare(other, other)])
    with pytest.raises(ValueError, match="at least one"):
        average([])
