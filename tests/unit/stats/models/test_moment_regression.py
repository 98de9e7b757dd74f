from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from querygate.stats.models.moment_regression import Moments, Solution, moment_figures, solve
from querygate.stats.models.verified_numbers import Intervals


def _around(value: np.ndarray, by: float, random: np.random.Generator) -> Intervals:
    return Intervals(value - by * random.random(value.shape), value + by * random.random(value.shape)).wider(
        1e-9 * (1 + np.abs(value))
    )


def _case(seed: int, by: float) -> tuple[Moments, Solution | None, np.ndarray, np.ndarray]:
    """Groups with their moments, and the records themselves: design with numbers, and outcomes."""
    random = np.random.default_rng(seed)
    groups, numbers = int(random.integers(1, 4)), int(random.integers(1, 4))
    sizes = random.integers(3, 120, groups)
    group = np.repeat(np.arange(groups), sizes)
    z = random.normal(50, 10, (group.size, numbers)).round(1) + group[:, None]
    if numbers > 1:
        z[:, 1] = (z[:, 0] / 2 + random.normal(0, 6, group.size)).round(1)
    y = (z @ random.normal(0, 1, numbers) + 3 * group + random.normal(0, 9, group.size)).round()
    design = np.column_stack([np.ones(groups), np.eye(groups)[:, 1:]])
    columns = np.column_stack([y, z]).T
    means = [np.array([column[group == g].mean() for g in range(groups)]) for column in columns]
    spread = [
        [np.array([np.cov(a[group == g], b[group == g], bias=True)[0, 1] for g in range(groups)]) for b in columns]
        for a in columns
    ]
    records = sizes.astype(float)
    ranged = [[Intervals.of(np.zeros(groups))] * (numbers + 1) for _ in range(numbers + 1)]
    for a in range(numbers + 1):
        for b in range(a, numbers + 1):
            ranged[a][b] = ranged[b][a] = _around(spread[a][b], by * 10, random)
    moments = Moments(
        design, Intervals.of(records), tuple(_around(mean, by, random) for mean in means), tuple(map(tuple, ranged))
    )
    return moments, solve(design, records, means, spread), np.column_stack([design[group], z]), y


@pytest.mark.parametrize("by", [0.0, 0.02, 0.3])
def test_the_fit_of_statistical_software_is_inside_every_range(by: float) -> None:
    tried = 0
    for seed in range(25):
        moments, likely, columns, y = _case(seed, by)
        if np.linalg.matrix_rank(columns) < columns.shape[1] or y.size <= columns.shape[1] + 1:
            continue
        found = moment_figures(moments, likely, float(y.size), exact=not by)
        if isinstance(found, str):
            assert found in ("wide", "undetermined")
            continue
        fitted = sm.OLS(y, columns).fit()
        limits = fitted.conf_int()
        truths = {
            "coefficient": fitted.params,
            "standard_error": fitted.bse,
            "low95": limits[:, 0],
            "high95": limits[:, 1],
            "p_value": fitted.pvalues,
        }
        for name, values in truths.items():
            for row, value in zip(found, values, strict=True):
                figure = row[name]
                assert figure.range.low is not None
                assert figure.range.high is not None
                assert figure.range.low <= value <= figure.range.high, (seed, name)
                assert figure.likely is not None
                assert abs(figure.likely - value) <= 1e-6 * (1 + abs(value))
        tried += 1

    assert tried >= 10


def test_known_moments_give_narrow_ranges() -> None:
    moments, likely, _, y = _case(3, 0.0)
    found = moment_figures(moments, likely, float(y.size), exact=True)

    assert not isinstance(found, str)
    for row in found:
        figure = row["coefficient"].range
        assert (figure.high or 0.0) - (figure.low or 0.0) < 1e-3


def test_numbers_that_follow_from_each_other_are_not_determined() -> None:
    one, zero = Intervals.of(np.ones(1)), Intervals.of(np.zeros(1))
    moments = Moments(np.ones((1, 1)), Intervals.of([50.0]), (zero, zero, zero), ((one, one, one),) * 3)

    assert moment_figures(moments, None, 50.0, exact=True) in ("undetermined", "wide")


def test_a_constant_number_is_not_determined() -> None:
    one, zero = Intervals.of(np.ones(1)), Intervals.of(np.zeros(1))
    moments = Moments(np.ones((1, 1)), Intervals.of([50.0]), (zero, one), ((one, zero), (zero, zero)))

    assert moment_figures(moments, None, 50.0, exact=True) in ("undetermined", "wide")
