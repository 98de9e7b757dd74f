"""Confidence limits and comparisons of two groups against every data set, and against the database."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy import stats as scipy_stats

from querygate.core.types import Cells, Range
from querygate.stats.comparison import GROUP_STATISTICS, GroupCells, mean_difference, welch_p, welch_t
from querygate.stats.confidence_limits import mean_ci_high, mean_ci_low
from querygate.stats.variance import largest
from tests.engine import scratch
from tests.places import ROOT
from tests.unit.stats.adversarial import draws, hard_cells
from tests.unit.stats.enumerate_reference import datasets, small_cases
from tests.unit.stats.group_reference import TRUTHS, Data, Groups, make_groups, variance

LEVEL = 0.95


@cache
def quantile(freedom: int) -> float:
    return float(scipy_stats.t.ppf((1 + LEVEL) / 2, freedom))


def limits(data: Data) -> tuple[float, float] | None:
    if len(data) < 2:
        return None
    mean, half = sum(data) / len(data), quantile(len(data) - 1) * math.sqrt(variance(data) / len(data))
    return mean - half, mean + half


def doubles(cells: Cells) -> Cells:
    return Cells(cells.low.astype(float), cells.high.astype(float), cells.least, cells.most)


def check(found: Range, values: list[float], exact: bool) -> None:
    """Sound without tolerance; attained values are values, and the ends where it says so."""
    low, high = min(values), max(values)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= low <= high <= found.high, (found, low, high)
    close = 1e-6 * (1 + abs(low) + abs(high))
    if exact and found.attained_low is not None:
        assert found.attained_low >= low - close
    if exact and found.attained_high is not None:
        assert found.attained_high <= high + close
    if exact and found.sharp:
        assert found.low == pytest.approx(low, abs=close)
        assert found.high == pytest.approx(high, abs=close)


@pytest.mark.parametrize("integer", [True, False])
def test_limits_contain_every_data_set(integer: bool) -> None:
    sharp = 0
    for cells, every in small_cases():
        cells = cells if integer else doubles(cells)
        known = [limit for data in every if (limit := limits(data)) is not None]
        low, high = mean_ci_low(cells, LEVEL), mean_ci_high(cells, LEVEL)
        if not known:
            assert low.is_null
            assert high.is_null
            continue
        assert high.may_be_null == (len(known) < len(every))
        check(low, [limit[0] for limit in known], integer)
        check(high, [limit[1] for limit in known], integer)
        sharp += high.sharp
    assert sharp > 100


def test_limits_contain_interior_values() -> None:
    tried = 0
    for cells, _ in small_cases()[:200]:
        every = list(datasets(doubles(cells), points=5)) if cells.most.sum() <= 4 else []
        known = [limit for data in every[:600] if (limit := limits(data)) is not None]
        if known:
            tried += 1
            check(mean_ci_low(doubles(cells), LEVEL), [limit[0] for limit in known], False)
            check(mean_ci_high(doubles(cells), LEVEL), [limit[1] for limit in known], False)
    assert tried > 50


def test_weak_duality_alone_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of large groups, on cases small enough to know the truth."""
    monkeypatch.setattr(largest, "_VERTICES", 0)
    ratios = []
    for cells, every in small_cases():
        known = [limit[1] for data in every if (limit := limits(data)) is not None]
        if known:
            found = mean_ci_high(doubles(cells), LEVEL)
            check(found, known, False)
            ratios.append((found.high - min(known)) / (max(known) - min(known) + 1e-6))
    assert np.median(ratios) < 1.3


def test_large_groups_are_tight() -> None:
    random = np.random.default_rng(6)
    low = random.normal(120, 20, 3000)
    most = random.integers(1, 8, 3000)
    certain = mean_ci_high(Cells(low, low + random.exponential(5, 3000), most, most), LEVEL)
    assert certain.high - certain.attained_high < 1e-5
    assert certain.attained_low - certain.low < 1e-5
    least = np.where(random.random(3000) < 0.8, most, 0)
    free = mean_ci_high(Cells(low, low + random.exponential(5, 3000), least, most), LEVEL)
    assert free.high - free.attained_high < 1e-3
    assert free.attained_low - free.low < 0.1


def test_a_level_outside_0_and_1_is_refused() -> None:
    cells = Cells(np.array([0.0]), np.array([1.0]), np.array([2]), np.array([2]))
    with pytest.raises(ValueError, match="level"):
        mean_ci_high(cells, 1.0)


@pytest.mark.parametrize("label", list(hard_cells()))
def test_the_limits_of_the_database_are_inside(label: str) -> None:
    cells = hard_cells()[label]
    kind = "bigint" if cells.integer else "double"
    low, high = mean_ci_low(cells, LEVEL), mean_ci_high(cells, LEVEL)
    with scratch() as database:
        for data in draws(cells, 6):
            if len(data) < 2:
                continue
            half = "$t * stddev_samp(x) / sqrt(count(x))"
            row = database.execute(
                f"select avg(x) - {half}, avg(x) + {half} from (select unnest($data::{kind}[]) as x)",
                {"t": quantile(len(data) - 1), "data": data},
            ).fetchone()
            assert row is not None
            assert low.low <= row[0] <= low.high
            assert high.low <= row[1] <= high.high


# -- two groups ------------------------------------------------------------------------------------------


@cache
def group_cases() -> list[tuple[GroupCells, list[Groups]]]:
    random = np.random.default_rng(8)
    found: list[tuple[GroupCells, list[Groups]]] = []
    while len(found) < 500:
        case = make_groups(random)
        if case is not None:
            found.append(case)
    return found


def test_differences_of_means_are_what_enumeration_says() -> None:
    sharp = compared = 0
    for cells, every in group_cases():
        found = mean_difference(cells)
        values = [value for groups in every if (value := TRUTHS["mean_difference"](groups)) is not None]
        if not values:
            assert found.may_be_null
            continue
        compared += 1
        check(found, values, True)
        assert found.may_be_null or len(values) == len(every)
        sharp += found.sharp
    assert sharp > 0.7 * compared


@pytest.mark.parametrize("statistic", [welch_t, welch_p], ids=lambda statistic: statistic.__name__)
def test_welch_contains_every_data_set(statistic: Callable[[GroupCells], Range]) -> None:
    truth, compared = TRUTHS[statistic.__name__], 0
    for cells, every in group_cases():
        known = [value for groups in every if (value := truth(groups)) is not None]
        if known:
            compared += 1
            check(statistic(cells), known, True)
    assert compared > 150


def test_welch_on_points_is_what_scipy_says() -> None:
    random = np.random.default_rng(9)
    one, two = random.normal(0, 1, 40), random.normal(0.6, 2, 30)
    values, ones = np.concatenate([one, two]), np.ones(70, dtype=int)
    first = np.concatenate([np.ones(40, dtype=int), np.zeros(30, dtype=int)])
    cells = GroupCells(values, values, ones, first, first, 1 - first, 1 - first)
    expected = scipy_stats.ttest_ind(one, two, equal_var=False)
    t, p = welch_t(cells), welch_p(cells)
    assert t.low <= expected.statistic <= t.high
    assert p.low <= expected.pvalue <= p.high
    assert t.high - t.low < 1e-9
    assert p.high - p.low < 1e-9


def test_infinite_ends_give_no_bound() -> None:
    one, none = np.array([3]), np.array([0])
    cells = Cells(np.array([0.0]), np.array([np.inf]), one, one)
    assert mean_ci_high(cells, LEVEL).high == math.inf
    with pytest.raises(ValueError, match="room"):
        GroupCells(np.array([0.0]), np.array([1.0]), one, one, one, one, one)
    apart = GroupCells(np.array([0.0, 5.0]), np.array([1.0, 6.0]), *[np.array([3, 3])], *_split(one, none))
    assert mean_difference(apart) == Range(-6.0, -4.0, -6.0, -4.0)


def _split(one: np.ndarray, none: np.ndarray) -> list[np.ndarray]:
    first, second = np.concatenate([one, none]), np.concatenate([none, one])
    return [first, first, second, second]


def test_proofs_and_contracts_are_there() -> None:
    for name in GROUP_STATISTICS:
        member = GROUP_STATISTICS.get(name)
        assert f"`{name}`" in (ROOT / member.proof).read_text()
        assert "Ensures" in (member.range.__doc__ or "")
