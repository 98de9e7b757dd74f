"""The second road: sound findings pass, and whatever is changed in one is noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from querygate.methods.audit import Finding, QueryTotal, find
from querygate.methods.audit.finding_check import NotSound, evaluate, verify

AGES = np.arange(40)
ONES = {"sbp": np.ones(len(AGES), dtype=np.int64)}


def total(query: str, low: int, high: int, answer: int) -> QueryTotal:
    value = Fraction(answer)
    return QueryTotal(query, "r1", "sbp", (low <= AGES) & (high >= AGES), "", value, value, str(answer))


def a_finding() -> Finding:
    ((finding,), _) = find([total("q1", 0, 20, 2100), total("q2", 0, 21, 2265)], ONES, 3)
    return finding


def test_a_sound_finding_passes() -> None:
    verify(a_finding(), ONES, 3)
    assert a_finding().inferred[0].low == 165


@pytest.mark.parametrize(
    "change",
    [
        {"places": AGES == 22},
        {"places": (AGES == 21) | (AGES == 22)},
        {"records": 2},
        {"coefficients": (("sbp", "q2", Fraction(1)), ("sbp", "q1", Fraction(1)))},
        {"coefficients": (("sbp", "q1", Fraction(-1)), ("sbp", "q2", Fraction(1)))},
    ],
)
def test_a_changed_finding_does_not(change: dict[str, Any]) -> None:
    with pytest.raises(NotSound):
        verify(replace(a_finding(), **change), ONES, 3)


@pytest.mark.parametrize("change", [{"low": Fraction(164)}, {"arithmetic": "2265 - 2101"}, {"arithmetic": "2265 -"}])
def test_a_changed_value_does_not(change: dict[str, Any]) -> None:
    finding = a_finding()
    (inferred,) = finding.inferred
    with pytest.raises(NotSound):
        verify(replace(finding, inferred=(replace(inferred, **change),)), ONES, 3)


def test_as_many_as_k_are_no_finding() -> None:
    with pytest.raises(NotSound):
        verify(a_finding(), ONES, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("11*115 - 10*110", Fraction(165)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("(4*20.0 + (4*170.0)^2/4) - 1e2", Fraction(115580)),
        ("-2*-3", Fraction(6)),
        ("(10 - 8)/3", Fraction(2, 3)),
    ],
)
def test_arithmetic_is_worked_out_in_fractions(text: str, value: Fraction) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize("text", ["1 +", "(1", "1 2", "a", ""])
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(NotSound):
        evaluate(text)
