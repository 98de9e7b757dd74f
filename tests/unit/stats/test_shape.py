"""Shape of a distribution against every data set, with values between the ends too, and against the database."""

from __future__ import annotations

import doctest
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice

import numpy as np
import pytest

from querygate.core.types import Cells, Range
from querygate.stats import distinct, distribution, exposure_tables
from querygate.stats.api import shape_and_limits
from querygate.stats.evenness import entropy
from querygate.stats.moment_bounds import MomentSearch, Region
from querygate.stats.moment_boxes import Goal, widened_boxes
from querygate.stats.shape import kurtosis, kurtosis_pop, skewness
from querygate.stats.variance.largest import Boxes
from tests.engine import scratch
from tests.unit.stats.adversarial import draws, hard_cells
from tests.unit.stats.enumerate_reference import datasets, small_cases

Truth = Callable[[Sequence[float]], "float | None"]


def moment(data: Sequence[float], degree: int) -> float:
    mean = math.fsum(data) / len(data)
    return math.fsum((value - mean) ** degree for value in data) / len(data)


def is_constant(data: Sequence[float]) -> bool:
    return len(set(data)) == 1


def true_skewness(data: Sequence[float]) -> float | None:
    n = len(data)
    if n < 3 or is_constant(data):
        return None
    return math.sqrt(n * (n - 1)) / (n - 2) * moment(data, 3) / moment(data, 2) ** 1.5


def true_kurtosis_pop(data: Sequence[float]) -> float | None:
    return None if len(data) < 2 or is_constant(data) else moment(data, 4) / moment(data, 2) ** 2 - 3


def true_kurtosis(data: Sequence[float]) -> float | None:
    n = len(data)
    if n < 4 or is_constant(data):
        return None
    return (n - 1) * ((n + 1) * moment(data, 4) / moment(data, 2) ** 2 - 3 * (n - 1)) / ((n - 2) * (n - 3))


def true_entropy(data: Sequence[float]) -> float:
    return math.fsum(-n / len(data) * math.log2(n / len(data)) for n in Counter(data).values())


STATISTICS: dict[Callable[..., Range], Truth] = {
    skewness: true_skewness,
    kurtosis: true_kurtosis,
    kurtosis_pop: true_kurtosis_pop,
}
each_statistic = pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)


def doubles(cells: Cells) -> Cells:
    return Cells(cells.low.astype(float), cells.high.astype(float), cells.least, cells.most)


@each_statistic
def test_whole_numbers_are_what_enumeration_says(statistic: Callable[..., Range]) -> None:
    compared = 0
    for cells, every in small_cases():
        found, values = statistic(cells), [STATISTICS[statistic](data) for data in every]
        known = [value for value in values if value is not None]
        if not known:
            assert found.may_be_null
            continue
        compared += 1
        assert found.low <= min(known) <= max(known) <= found.high, (cells, found)
        assert found.attained_low == pytest.approx(min(known), abs=1e-9)
        assert found.attained_high == pytest.approx(max(known), abs=1e-9)
        assert found.may_be_null == (len(known) < len(values))
    assert compared > 150


@cache
def fine_grids() -> list[tuple[Cells, list[tuple[float, ...]]]]:
    small = [(doubles(cells), every) for cells, every in small_cases()[::3]]
    return [
        (cells, list(islice(datasets(cells, points=9), 800)) if cells.most.sum() <= 3 else every[:800])
        for cells, every in small
    ]


@each_statistic
def test_doubles_contain_interior_values(statistic: Callable[..., Range]) -> None:
    """A fine grid between the ends: extremes of skewness and kurtosis need not be at ends."""
    finite = 0
    for cells, grid in fine_grids():
        known = [value for data in grid if (value := STATISTICS[statistic](data)) is not None]
        if known:
            found = statistic(cells)
            assert found.low <= min(known) <= max(known) <= found.high, (cells, found, min(known), max(known))
            finite += math.isfinite(found.high)
    assert finite > 20


@pytest.mark.parametrize("goal", [Goal(3, 1.0, 1.5), Goal(4, 1.0, 2.0), Goal(4, -1.0, 2.0), Goal(3, 1.0, 0.0)])
def test_a_cell_is_bounded_between_its_edges(goal: Goal) -> None:
    """One data set with its mean in the middle of a cell, and k such that the edges of the cell say less than it."""
    random = np.random.default_rng(12)
    for _ in range(300):
        data = random.uniform(-1.0, 1.0, 12)
        ones, mean, width = np.ones(12, dtype=int), float(data.mean()), float(random.uniform(0.0, 0.2))
        variance, third = moment(data, 2), moment(data, 3)
        value = goal.sign * moment(data, goal.degree)
        k = 3 * variance if goal.degree == 3 else 4 * goal.sign * third
        t, target = random.uniform(0.0, 8.0) * variance, float(random.uniform(-3.0, 3.0))
        spread = (variance * 0.8, variance * 1.3)
        search = MomentSearch(Boxes(data, data, ones, ones), goal, (mean, mean), spread, 0.01, 1, lambda places: places)
        region = Region(*(np.array([v]) for v in (mean - width, mean + width, *spread, t, k)))
        assert search._excess(search.boxes, region, target)[0] >= value - target * variance**goal.power


def group(size: int, share: float, integer: bool = False) -> Cells:
    random = np.random.default_rng(size)
    low = random.gamma(3.0, 20.0, size)
    high = low + random.exponential(5.0, size)
    most = random.integers(1, 8, size)
    least = np.where(random.random(size) < share, most, 0)
    if integer:
        return Cells(np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64), least, most, integer=True)
    return Cells(low, high, least, most)


@each_statistic
@pytest.mark.parametrize("share", [1.0, 0.8])
def test_large_groups_are_tight(statistic: Callable[..., Range], share: float) -> None:
    found = statistic(group(1000, share))
    width = found.high - found.low
    assert found.attained_low - found.low < 0.1 * width
    assert found.high - found.attained_high < 0.1 * width


@each_statistic
def test_random_data_of_a_group_are_inside(statistic: Callable[..., Range]) -> None:
    for cells in (group(200, 0.8), group(200, 0.8, integer=True)):
        found = statistic(cells)
        for data in draws(cells, 40):
            value = STATISTICS[statistic](data)
            assert value is not None
            assert found.low <= value <= found.high


def test_widened_boxes_contain_the_boxes_and_prove_the_same() -> None:
    random = np.random.default_rng(4)
    low = random.uniform(-1.0, 0.9, 4000)
    boxes = Boxes(low, np.minimum(low + random.exponential(0.05, 4000), 1.0), *[random.integers(1, 5, 4000)] * 2)
    wide = widened_boxes(boxes)
    assert wide.low.size < 4000
    assert wide.most.sum() == boxes.most.sum()
    assert wide.most @ wide.low <= boxes.most @ boxes.low
    assert wide.most @ wide.high >= boxes.most @ boxes.high
    cells = group(4000, 0.8)
    for statistic, truth in STATISTICS.items():
        found = statistic(cells)
        assert found.high - found.attained_high < 0.1 * (found.high - found.low)
        assert all(found.low <= (truth(data) or 0.0) <= found.high for data in draws(cells, 3))


@each_statistic
def test_it_is_sound_whenever_it_stops(statistic: Callable[..., Range]) -> None:
    cells = group(60, 0.8)
    best, stopped = statistic(cells), statistic(cells, deadline=lambda: True)
    assert stopped.low <= best.attained_low
    assert stopped.high >= best.attained_high
    assert not stopped.sharp


@each_statistic
def test_exact_data_give_one_number(statistic: Callable[..., Range]) -> None:
    values = np.random.default_rng(2).normal(50, 9, 400)
    ones = np.ones(400, dtype=int)
    found, truth = statistic(Cells(values, values, ones, ones)), STATISTICS[statistic](values.tolist())
    assert found.low <= truth <= found.high
    assert found.high - found.low < 1e-6 * (1 + abs(truth))


@pytest.mark.parametrize("label", list(hard_cells()))
def test_what_the_database_computes_is_inside(label: str) -> None:
    cells = hard_cells()[label]
    kind = "bigint" if cells.integer else "double"
    names = ("skewness", "kurtosis", "kurtosis_pop", "entropy")
    ranges = [statistic(cells) for statistic in (skewness, kurtosis, kurtosis_pop, entropy)]
    with scratch() as database:
        for data in draws(cells, 12):
            columns = ", ".join(f"{name}(x)" for name in names)
            row = database.execute(f"select {columns} from (select unnest(?::{kind}[]) as x)", [data]).fetchone()
            assert row is not None
            for name, found, value in zip(names, ranges, row, strict=True):
                if value is None or math.isnan(value):
                    assert found.may_be_null, (name, found)
                else:
                    assert found.low <= value <= found.high, (name, found, value)


def test_groups_in_the_database() -> None:
    """Groups of the size that is asked for, on one thread and on several."""
    for cells in (group(500, 0.7), group(500, 1.0, integer=True), group(3000, 1.0)):
        kind = "bigint" if cells.integer else "double"
        ranges = [statistic(cells) for statistic in (skewness, kurtosis, kurtosis_pop, entropy)]
        with scratch() as database:
            for data in draws(cells, 3):
                row = database.execute(
                    "select skewness(x), kurtosis(x), kurtosis_pop(x), entropy(x)"
                    f" from (select unnest(?::{kind}[]) as x)",
                    [data],
                ).fetchone()
                assert row is not None
                for found, value in zip(ranges, row, strict=True):
                    assert found.low <= value <= found.high


def test_entropy_is_what_enumeration_says() -> None:
    sharp = 0
    for cells, every in small_cases():
        found, values = entropy(cells), [true_entropy(data) for data in every]
        assert found.low <= min(values) <= max(values) <= found.high, (cells, found)
        assert not found.may_be_null
        if found.attained_high is not None:
            assert found.attained_high == pytest.approx(max(values), abs=1e-9), cells
        if found.attained_low is not None:
            assert found.attained_low >= min(values) - 1e-9, cells
        if found.sharp:
            sharp += 1
            assert found.low == pytest.approx(min(values), abs=1e-9), cells
            assert found.high == pytest.approx(max(values), abs=1e-9), cells
    assert sharp > 350


def test_entropy_of_reals_that_can_all_differ_and_of_exact_ones() -> None:
    ones = np.ones(8, dtype=int)
    free = entropy(Cells(np.zeros(8), np.ones(8), ones, ones))
    assert free.high == pytest.approx(3.0)
    assert free.attained_low == 0.0
    exact = entropy(Cells(np.array([1.5, 2.5]), np.array([1.5, 2.5]), np.array([6, 2]), np.array([6, 2])))
    assert exact.sharp
    assert exact.low == pytest.approx(true_entropy([0] * 6 + [1] * 2))


@pytest.mark.parametrize(
    "module", [shape_and_limits, distinct, distribution, exposure_tables], ids=lambda module: module.__name__
)
def test_examples_run(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.failed == 0
    assert tried.attempted > 0
