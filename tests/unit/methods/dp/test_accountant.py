"""What was spent is never told too low, and the better accountings are better where they should be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from querygate.core.budget_types import Cost, Scope, SpentTotal
from querygate.methods.dp import MECHANISMS, ComposedAccounting, pure
from querygate.methods.dp.accountant import Spent
from tests.seeds import cases

DELTA = 1e-6
epsilons = some.floats(0.001, 2.0).map(lambda number: round(number, 4))
several = some.lists(epsilons, min_size=1, max_size=12)


def spent(costs: list[Cost]) -> Spent:
    total = Spent()
    for cost in costs:
        total = total.plus(cost)
    return total


def true_epsilon(each: list[float], delta: float) -> float:
    """The least epsilon at this delta for the worst releases of these costs: randomised response, k times.

    By every combination of outcomes: its loss is the sum of +epsilon or -epsilon (Kairouz, Oh and Viswanath 2015).
    """
    losses, weights = np.zeros(1), np.ones(1)
    for epsilon in each:
        keep = 1 / (1 + math.exp(-epsilon))
        losses = np.concatenate([losses + epsilon, losses - epsilon])
        weights = np.concatenate([weights * keep, weights * (1 - keep)])

    def delta_at(epsilon: float) -> float:
        return float((weights * np.maximum(0, -np.expm1(epsilon - losses))).sum())

    low, high = 0.0, sum(each)
    if delta_at(low) <= delta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return low


@settings(max_examples=cases(40))
@given(several, some.sampled_from([0.0, 1e-9, 1e-6, 1e-2]))
def test_never_below_the_truth(each: list[float], delta: float) -> None:
    total = spent([pure(epsilon) for epsilon in each])
    truth = true_epsilon(each, delta) if delta else float(sum(map(Fraction, map(str, each))))
    for told in (total.sequential(delta), total.concentrated(delta), total.filtered(delta)):
        assert told >= truth * (1 - 1e-9)


@settings(max_examples=cases(40))
@given(several, epsilons, some.floats(0.01, 5.0), some.sampled_from([0.0, 1e-6, 1e-2]))
def test_more_spent_is_more(each: list[float], another: float, limit: float, delta: float) -> None:
    before = spent([pure(epsilon) for epsilon in each])
    after = before.plus(pure(another))
    assert after.filtered(delta) >= before.filtered(delta)
    assert after.left(limit, delta) <= before.left(limit, delta)
    assert before.filtered(1e-3) <= before.filtered(1e-6) <= before.filtered(0.0)
    if after.fits(pure(another), limit, delta):
        assert before.fits(pure(another), limit, delta)
        assert after.filtered(delta) <= limit


def test_many_small_ones_add_up_exactly() -> None:
    total = spent([pure(0.1)] * 3000)
    assert total.epsilon == 300
    assert total.filtered(0.0) == 300.0
    limited = spent([pure(0.1)] * 9)
    assert limited.fits(pure(0.1), 1.0, 0.0)
    assert not limited.plus(pure(0.1)).fits(pure(1e-9), 1.0, 0.0)
    assert limited.left(1.0, 0.0) == 0.1


def test_where_the_better_accountings_are_better() -> None:
    few, many = spent([pure(0.1)] * 5), spent([pure(0.1)] * 1000)
    assert few.filtered(DELTA) == few.sequential(DELTA) == 0.5
    assert many.concentrated(DELTA) < many.sequential(DELTA) / 4
    assert many.filtered(DELTA) < many.concentrated(DELTA) * 1.05, "to pay for two filters costs little"
    gaussian = MECHANISMS.get("gaussian-discrete").cost(epsilon=0.1, delta=1e-9)
    noisy = spent([gaussian] * 100)
    assert noisy.concentrated(DELTA) < noisy.sequential(DELTA)


def test_one_release_costs_what_it_says() -> None:
    for name in MECHANISMS:
        mechanism = MECHANISMS.get(name)
        delta = DELTA if mechanism.approximate else 0.0
        total = spent([mechanism.cost(epsilon=0.5, delta=delta)])
        assert total.sequential(delta) == 0.5


def test_delta_is_spent_too() -> None:
    cost = Cost(0.1, 1e-6)  # whose rho is not told
    total = spent([cost] * 3)
    assert total.rho is None
    assert total.sequential(2e-6) == math.inf
    assert total.filtered(6e-6) == total.sequential(3e-6) == 0.3
    assert total.concentrated(0.1) == math.inf
    assert total.left(1.0, 0.0) == 0.0
    assert Spent().fits(cost, 1.0, 2e-6)
    assert not Spent().fits(cost, 1.0, 1.9e-6), "half of delta is for the sums"


@pytest.mark.parametrize("delta", [-1e-9, 1.0, math.nan])
def test_a_delta_that_is_none_is_refused(delta: float) -> None:
    for ask in (Spent().filtered, lambda d: Spent().fits(pure(0.1), 1.0, d)):
        with pytest.raises(ValueError, match="delta"):
            ask(delta)


def test_nothing_spent_is_nothing() -> None:
    assert Spent().filtered(DELTA) == Spent().filtered(0.0) == 0.0
    assert Spent().left(2.5, 0.0) == 2.5


@settings(max_examples=cases(40))
@given(several, some.floats(0.05, 4.0), some.sampled_from([0.0, 1e-6, 1e-2]))
def test_a_ledger_is_read_the_same_way(each: list[float], limit: float, delta: float) -> None:
    """Units of 10^-12 are rounded up, so a ledger may only be stricter."""
    scope = Scope("user", "ann", "study", limit, delta)
    total, reference = SpentTotal(), Spent()
    for epsilon in each:
        fitted = reference.fits(pure(epsilon), limit, delta)
        total, reference = total.plus(pure(epsilon)), reference.plus(pure(epsilon))
        assert fitted or not ComposedAccounting().fits(total, scope)
        assert ComposedAccounting().left(total, scope) <= reference.left(limit, delta) + 1e-15
        assert ComposedAccounting().left(total, scope) == pytest.approx(reference.left(limit, delta), abs=1e-8)


def test_a_ledger_without_rho_is_not_taken_for_free() -> None:
    total = SpentTotal().plus(Cost(5.0))
    assert not ComposedAccounting().fits(total, Scope("user", "ann", "study", 1.0, 1e-6))
    assert ComposedAccounting().fits(total, Scope("user", "ann", "study", 5.0, 1e-6))
