"""Pooled ranges against every choice that the members leave open."""

from __future__ import annotations

import itertools
import random
import statistics

import pytest

from querygate.client.answer import Range
from querygate.federation.pooled_quotient import QuotientParts, pool_quotients
from querygate.federation.pooled_range import pool_between, pool_distinct, pool_largest, pool_least, pool_sums
from querygate.federation.pooled_variance import VarianceParts, pool_variances


def exact(value: float | None) -> Range:
    return Range(value, value, value, sharp=True, may_be_null=value is None)


def around(rng: random.Random, value: float, width: float) -> Range:
    return Range(value - rng.random() * width, value + rng.random() * width, value)


def test_counts_add_up_exactly() -> None:
    found = pool_sums([Range(3, 5, 4, sharp=True), Range(10**18, 10**18, 10**18, sharp=True)])
    assert (found.low, found.high, found.sharp) == (10**18 + 3, 10**18 + 5, True)


def test_a_member_without_records_adds_nothing() -> None:
    found = pool_sums([exact(None), Range(5.0, 7.0, 6.0), Range(2.0, 3.0, 2.5, may_be_null=True)])
    assert found.low == pytest.approx(5)
    assert found.high == pytest.approx(10)
    assert not found.may_be_null
    assert pool_sums([exact(None), exact(None)]).low is None


def test_infinite_ends_stay() -> None:
    found = pool_sums([Range(float("-inf"), 3.0), Range(1.0, 2.0)])
    assert found.low == float("-inf")
    assert found.high == pytest.approx(5)


def test_the_least_and_the_largest() -> None:
    parts = [Range(1, 4, 2, sharp=True), Range(3, 9, 5, sharp=True)]
    least, largest = pool_least(parts), pool_largest(parts)
    assert (least.low, least.high, least.sharp) == (1, 4, True)
    assert (largest.low, largest.high) == (3, 9)


def test_a_member_that_may_have_none_does_not_keep_the_inner_end() -> None:
    found = pool_least([Range(1, 4, may_be_null=True), Range(3, 9)])
    assert (found.low, found.high, found.may_be_null) == (1, 9, False)
    found = pool_least([Range(1, 4, may_be_null=True), Range(3, 9, may_be_null=True)])
    assert (found.low, found.high, found.may_be_null) == (1, 9, True)


def test_distinct_values_may_be_the_same_at_all_members() -> None:
    found = pool_distinct([Range(3, 5), Range(4, 4)])
    assert (found.low, found.high) == (4, 9)


def test_a_median_of_all_lies_between_those_of_the_members() -> None:
    rng = random.Random(1)
    for _ in range(500):
        parts = [[rng.choice((0, 1, 1, 5, rng.random())) for _ in range(rng.randint(1, 6))] for _ in range(3)]
        found = pool_between([exact(statistics.median(part)) for part in parts])
        assert statistics.median(itertools.chain(*parts)) in Range(found.low, found.high)


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_mean_is_that_of_the_best_choice(seed: int) -> None:
    """Beside it, a fine grid of what the members leave open: nothing of it is outside, and the ends are nearly met."""
    rng = random.Random(seed)
    parts, corners = [], []
    for _ in range(rng.choice((1, 2, 3))):
        least = rng.choice((0, 1, 5))
        most = least + rng.choice((0, 1, 4))
        mean = sorted(rng.uniform(-10, 10) for _ in range(2))
        sums = sorted(rng.choice((min(least, 1) * mean[0], most * mean[1], most * mean[0])) for _ in range(2))
        open_ = [(0, 0.0)] if least == 0 else []
        for records in range(max(least, 1), most + 1):
            low, high = max(sums[0], mean[0] * records), min(sums[1], mean[1] * records)
            open_ += [(records, low + (high - low) * step / 8) for step in range(9)] if low <= high else []
        if not open_ or most == 0:
            continue
        parts.append(QuotientParts(Range(*sums), Range(least, most), Range(*mean)))
        corners.append(open_)
    if not parts:
        return
    found = pool_quotients(parts)
    pooled = [(sum(n for n, _ in one), sum(s for _, s in one)) for one in itertools.product(*corners)]
    means = [total / records for records, total in pooled if records]
    assert all(one in Range(found.low, found.high) for one in means)
    assert found.may_be_null == any(not records for records, _ in pooled)


def test_a_mean_of_exact_parts_is_exact_to_twelve_digits() -> None:
    parts = [
        QuotientParts(exact(30.0), exact(3), exact(10.0)),
        QuotientParts(exact(7.0), exact(1), exact(7.0)),
    ]
    found = pool_quotients(parts)
    assert found.low == pytest.approx(9.25, rel=1e-11)
    assert found.high == pytest.approx(9.25, rel=1e-11)
    assert found.low <= 9.25 <= found.high


def test_the_sum_keeps_a_mean_narrower_than_the_means_do() -> None:
    """Means of 0 to 10, and a sum of 50 of ten records: the mean is 5."""
    found = pool_quotients([QuotientParts(exact(50.0), exact(10), Range(0.0, 10.0))] * 2)
    assert found.low == pytest.approx(5)
    assert found.high == pytest.approx(5)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("sample", "root"), [(False, False), (True, False), (True, True)])
def test_a_variance_has_that_of_all_records(seed: int, sample: bool, root: bool) -> None:
    rng = random.Random(seed)
    scale = rng.choice((1.0, 1e-6, 1e6))
    parts = [[rng.choice((0.0, 1.0, rng.gauss(3, 2))) * scale for _ in range(rng.randint(1, 5))] for _ in range(3)]
    together = list(itertools.chain(*parts))
    true = statistics.variance(together) if sample else statistics.pvariance(together)
    true = true**0.5 if root else true
    width = rng.choice((0.0, 0.5)) * scale
    told = [
        VarianceParts(
            Range(max(0, len(part) - rng.choice((0, 1))), len(part) + rng.choice((0, 1))),
            around(rng, statistics.fmean(part), width),
            around(rng, statistics.pvariance(part), width * scale),
        )
        for part in parts
    ]
    found = pool_variances(told, sample=sample, root=root)
    assert found.low <= true * (1 + 1e-9) + 1e-300
    assert found.high >= true * (1 - 1e-9)
    if not width and all(one.count.is_exact for one in told):
        assert found.high - found.low <= 1e-6 * found.high


def test_no_record_has_no_variance() -> None:
    nobody = VarianceParts(exact(0), exact(None), exact(None))
    assert pool_variances([nobody, nobody], sample=False, root=False).low is None
    one = VarianceParts(exact(1), exact(3.0), exact(0.0))
    assert pool_variances([one, nobody], sample=True, root=False).low is None
    assert pool_variances([one, nobody], sample=False, root=False).high == 0.0


def test_a_share_that_no_member_can_tell_may_be_null() -> None:
    """COUNT_IF is NULL where its condition is unknown of all records, in a group of people whose sex is missing."""
    unknown = QuotientParts(Range(0.0, 0.0, may_be_null=True), exact(5), Range(0.0, 0.0, may_be_null=True))

    assert pool_quotients([unknown, unknown]).may_be_null
    assert not pool_quotients([unknown, QuotientParts(exact(2.0), exact(4), exact(0.5))]).may_be_null
