from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from querygate.stats.models.mantel_haenszel import PARTS, Counted, Stratum, limits, log_error, pooled_range
from querygate.stats.models.standardised_rates import (
    GroupStratum,
    own_weights,
    rate_difference,
    rate_limits,
    rate_ratio,
    standardised_rate,
)

Table = tuple[int, int, int, int]


def _stratum(table: Table, by: Table = (0, 0, 0, 0)) -> Stratum:
    a, b, c, d = (Counted(count, count + more) for count, more in zip(table, by, strict=True))
    return Stratum((a, b), (c, d))


def _value(measure: str, tables: list[Table]) -> Fraction | None:
    parts = [PARTS[measure](*table) for table in tables]
    under = sum((part[1] for part in parts), Fraction(0))
    return sum((part[0] for part in parts), Fraction(0)) / under if under else None


@pytest.mark.parametrize("measure", PARTS)
def test_ranges_are_those_of_all_tables_inside(measure: str) -> None:
    """Every whole table is tried: ends are attained where the divisor cannot be zero."""
    random = np.random.default_rng(4)
    for _ in range(60):
        size = int(random.integers(1, 3))
        tables = [tuple(int(n) for n in random.integers(0, 6, 4)) for _ in range(size)]
        more = [tuple(int(n) for n in random.integers(0, 3 if size == 1 else 2, 4)) for _ in range(size)]
        found = pooled_range([_stratum(t, m) for t, m in zip(tables, more, strict=True)], measure)
        choices = [
            itertools.product(*(range(n, n + m + 1) for n, m in zip(t, e, strict=True)))
            for t, e in zip(tables, more, strict=True)
        ]
        values = [_value(measure, list(each)) for each in itertools.product(*choices)]
        known = [value for value in values if value is not None]
        assert found.is_null == (not known)
        if not known or found.low is None or found.high is None:
            continue
        assert found.low <= min(known)
        assert max(known) <= found.high
        assert found.may_be_null >= (len(known) < len(values))
        if found.sharp:
            assert math.isclose(found.low, min(known), rel_tol=1e-15, abs_tol=1e-300)
            assert math.isclose(found.high, max(known), rel_tol=1e-15, abs_tol=1e-300)


def test_pooled_odds_ratios_and_limits_are_those_of_statistical_software() -> None:
    random = np.random.default_rng(5)
    for _ in range(30):
        tables = random.integers(1, 60, (int(random.integers(1, 5)), 4))
        strata = [_stratum(tuple(int(n) for n in table)) for table in tables]
        truth = StratifiedTable([table.reshape(2, 2).astype(float) for table in tables])
        ratio, risk = pooled_range(strata, "odds_ratio"), pooled_range(strata, "risk_ratio")
        low, high = limits(ratio, log_error(strata, "odds_ratio"), exact=True)
        truths = (truth.oddsratio_pooled, truth.riskratio_pooled, *truth.oddsratio_pooled_confint())
        expected = zip((ratio, risk, low, high), truths, strict=True)
        for found, value in expected:
            assert found.low is not None
            assert found.high is not None
            assert found.low <= value * (1 + 1e-12)
            assert value * (1 - 1e-12) <= found.high
            assert found.high - found.low < 1e-9 * value


def test_limits_of_uncertain_counts_contain_those_of_the_tables_inside() -> None:
    random = np.random.default_rng(6)
    for _ in range(20):
        tables, more = random.integers(5, 40, (3, 4)), random.integers(0, 4, (3, 4))
        strata = [_stratum(tuple(map(int, t)), tuple(map(int, m))) for t, m in zip(tables, more, strict=True)]
        for measure in ("odds_ratio", "risk_ratio"):
            low, high = limits(pooled_range(strata, measure), log_error(strata, measure), exact=False)
            for _ in range(10):
                inside = [
                    _stratum(tuple(int(n) for n in t + random.integers(0, m + 1)))
                    for t, m in zip(tables, more, strict=True)
                ]
                one = limits(pooled_range(inside, measure), log_error(inside, measure), exact=False)
                for outer, inner in zip((low, high), one, strict=True):
                    assert (outer.low or 0.0) <= (inner.low or 0.0)
                    assert (inner.high or 0.0) <= (outer.high or 0.0)


def test_limits_are_open_where_a_stratum_may_be_empty() -> None:
    strata = [_stratum((10, 5, 4, 9)), _stratum((0, 0, 0, 0), (1, 1, 1, 1))]
    low, high = limits(pooled_range(strata, "odds_ratio"), log_error(strata, "odds_ratio"), exact=False)

    assert (low.low, low.high, high.high) == (0.0, math.inf, math.inf)


# -- standardised rates ----------------------------------------------------------------------------------------


def _group(table: list[tuple[int, int]], by: int = 0) -> list[GroupStratum]:
    return [GroupStratum(Counted(a, a + by), Counted(b, b + by)) for a, b in table]


def _rate(table: list[tuple[int, int]], weights: list[Fraction]) -> Fraction:
    return sum((w * Fraction(a, a + b) for (a, b), w in zip(table, weights, strict=True)), Fraction(0)) / sum(weights)


def test_rates_to_given_weights_are_sharp() -> None:
    weights = [Fraction(1, 4), Fraction(3, 4)]
    table = [(3, 7), (1, 4)]
    found = standardised_rate(_group(table, by=1), [(w, w) for w in weights])
    tables = [[(3 + i, 7 + j), (1 + k, 4 + m)] for i, j, k, m in itertools.product((0, 1), repeat=4)]
    values = [_rate(each, weights) for each in tables]

    assert found is not None
    assert found.rate.sharp
    assert math.isclose(found.rate.low or 0.0, min(values), rel_tol=1e-15)
    assert math.isclose(found.rate.high or 0.0, max(values), rel_tol=1e-15)


def test_rates_to_the_datasets_own_strata_contain_those_of_the_tables_inside() -> None:
    random = np.random.default_rng(8)
    for _ in range(30):
        tables = [[(int(a), int(b)) for a, b in random.integers(1, 20, (3, 2))] for _ in range(2)]
        by = int(random.integers(0, 3))
        groups = [_group(table, by) for table in tables]
        weights = own_weights(groups)
        found = [standardised_rate(group, weights) for group in groups]
        for _ in range(10):
            inside = [
                [(a + int(random.integers(0, by + 1)), b + int(random.integers(0, by + 1))) for a, b in table]
                for table in tables
            ]
            standard = [Fraction(sum(a + b for a, b in parts)) for parts in zip(*inside, strict=True)]
            rates = [_rate(table, standard) for table in inside]
            for one, rate in zip(found, rates, strict=True):
                assert one is not None
                assert (one.rate.low or 0.0) <= rate <= (one.rate.high or 0.0)
            first, second = found
            assert first is not None
            assert second is not None
            ratio, difference = rate_ratio(first, second)[0], rate_difference(first, second)
            assert (ratio.low or 0.0) <= rates[0] / rates[1] <= (ratio.high or 0.0)
            assert (difference.low or 0.0) <= rates[0] - rates[1] <= (difference.high or 0.0)


def test_the_error_of_a_rate_is_that_of_its_formula() -> None:
    table, weights = [(30, 70), (10, 40)], [2.0, 3.0]
    found = standardised_rate(_group(table), [(Fraction(w), Fraction(w)) for w in weights])
    terms = [w**2 * (a / (a + b)) * (b / (a + b)) / (a + b) for (a, b), w in zip(table, weights, strict=True)]
    truth = math.sqrt(sum(terms)) / 5.0

    assert found is not None
    assert found.error.low <= truth <= found.error.high
    low, high = rate_limits(found)
    assert math.isclose(low.low or 0.0, float(_rate(table, [Fraction(2), Fraction(3)])) - 1.959963984540054 * truth)
    assert (high.low or 0.0) > (low.high or 0.0)


def test_a_stratum_without_anybody_of_a_group_leaves_no_rate() -> None:
    weight = (Fraction(1), Fraction(1))

    assert standardised_rate(_group([(3, 7), (0, 0)]), [weight, weight]) is None
    assert standardised_rate(_group([(3, 7), (0, 0)]), [weight, (Fraction(0), Fraction(0))]) is not None
