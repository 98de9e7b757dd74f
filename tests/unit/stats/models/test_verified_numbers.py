from __future__ import annotations

from fractions import Fraction

import numpy as np

from querygate.stats.models.verified_numbers import Intervals, inverse_diagonal


def _pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    scale = random.choice([1e-300, 1e-8, 1.0, 1e8], (2, 200))
    first, second = random.normal(size=(2, 200)) * scale
    return first, second


def test_sums_products_and_quotients_contain_the_real_ones() -> None:
    first, second = _pairs(1)
    one, other = Intervals.of(first), Intervals.of(second)
    results = {
        "sum": (one + other, [Fraction(a) + Fraction(b) for a, b in zip(first, second, strict=True)]),
        "difference": (one - other, [Fraction(a) - Fraction(b) for a, b in zip(first, second, strict=True)]),
        "product": (one * other, [Fraction(a) * Fraction(b) for a, b in zip(first, second, strict=True)]),
        "square": (one.square(), [Fraction(a) ** 2 for a in first]),
    }
    for name, (found, truths) in results.items():
        for low, high, truth in zip(found.low.tolist(), found.high.tolist(), truths, strict=True):
            assert Fraction(low) <= truth <= Fraction(high), name


def test_a_total_contains_the_real_one() -> None:
    first, second = _pairs(2)
    found = Intervals.of(np.concatenate([first, second, -first])).total()
    truth = sum((Fraction(value) for value in second), Fraction(0))

    assert Fraction(float(found.low)) <= truth <= Fraction(float(found.high))


def test_what_is_divided_by_perhaps_zero_is_unbounded() -> None:
    found = Intervals.of([1.0, 1.0]).over(Intervals(np.array([0.0, 2.0]), np.array([1.0, 2.0])))

    assert found.low[0] == -np.inf
    assert found.high[0] == np.inf
    assert found.low[1] <= 0.5 <= found.high[1]


def test_nothing_is_lost_where_nothing_is_known() -> None:
    unknown = Intervals(np.array([-np.inf]), np.array([np.inf]))

    for found in (unknown * Intervals.of([0.0]), unknown + Intervals.of([1.0]), unknown.total(), unknown.square()):
        assert not np.isnan(found.low).any()
        assert not np.isnan(found.high).any()
        assert found.high.max() == np.inf


def test_an_inverse_is_enclosed_between_bounds_that_nearly_meet() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        rows = np.column_stack([np.ones(9), random.integers(0, 2, (9, 2)), random.integers(0, 90, 9)]).astype(float)
        weights = random.random(9) * random.choice([1e-3, 1.0, 1e6])
        low, high = (inverse_diagonal(rows, weights, upper=upper) for upper in (False, True))
        if low is None or high is None:
            continue
        truth = np.diag(np.linalg.inv((rows * weights[:, None]).T @ rows))
        assert (low <= truth * (1 + 1e-9)).all()
        assert (truth * (1 - 1e-9) <= high).all()
        assert (high - low <= 1e-6 * truth.max()).all()


def test_a_singular_matrix_has_no_bounds() -> None:
    assert inverse_diagonal(np.ones((3, 2)), np.ones(3), upper=True) is None
    assert inverse_diagonal(np.eye(2), np.zeros(2), upper=True) is None
