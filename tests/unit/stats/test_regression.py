"""Multiple regression: every data set is inside, exact x is sharp, hard numbers stay inside, refusals are honest."""

from __future__ import annotations

import doctest
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from querygate import stats
from querygate.core.types import Range
from querygate.stats import MODELS, RegressionCells
from querygate.stats.api import multiple_regression
from tests.places import ROOT
from tests.unit.stats.regression_reference import Row, coefficients, make_regression


def ranges(cells: RegressionCells, intercept: bool = True) -> list[Range]:
    return MODELS.get("regression").ranges(cells, intercept)


def contains(found: Range, value: Fraction) -> bool:
    return found.low is not None and found.high is not None and found.low <= value <= found.high


def make_cells(size: int, columns: int = 2, x_width: float = 0.0, possible: float = 0.0) -> RegressionCells:
    """Ages and weights with a noisy response in boxes, one to seven records each."""
    random = np.random.default_rng(5)
    scale, centre = np.array([10.0, 3.0, 1.0, 5.0])[:columns, None], np.array([50.0, 27.0, 2.0, 0.0])[:columns, None]
    x = random.normal(0, 1, (columns, size)) * scale + centre
    y = 120 + 0.6 * x[0] + random.normal(0, 10, size)
    x_radius, y_radius = x_width * random.exponential(1, x.shape) * scale, random.exponential(5, size)
    most = random.integers(1, 8, size)
    least = np.where(random.random(size) < possible, 0, most)
    return RegressionCells(x - x_radius, x + x_radius, y - y_radius, y + y_radius, least, most)


def draw(cells: RegressionCells, random: np.random.Generator, at_ends: bool = False) -> list[Row]:
    """One data set, every record with values of its own."""
    counts = random.integers(cells.least, cells.most + 1)
    share = random.random((cells.x_low.shape[0] + 1, int(counts.sum())))
    share = np.rint(share) if at_ends else share
    low = np.repeat(np.vstack([cells.x_low, cells.y_low]), counts, axis=1)
    high = np.repeat(np.vstack([cells.x_high, cells.y_high]), counts, axis=1)
    values = np.clip(low + share * (high - low), low, high)
    return [(tuple(column[:-1].tolist()), float(column[-1])) for column in values.T]


def test_it_has_a_proof_a_contract_and_examples() -> None:
    member = MODELS.get("regression")
    assert "`regression`" in (ROOT / member.proof).read_text()
    assert "Ensures" in (member.ranges.__doc__ or "")
    tried = doctest.testmod(multiple_regression)
    assert tried.attempted > 2
    assert tried.failed == 0


@pytest.mark.parametrize("intercept", [True, False])
def test_every_coefficient_of_every_small_data_set_is_inside(intercept: bool) -> None:
    bounded = 0
    for seed in range(150):
        case = make_regression(np.random.default_rng(7_000 + seed))
        if case is None:
            continue
        cells, every = case
        found = ranges(cells, intercept)
        for data in every:
            truth = coefficients(data, intercept)
            assert truth is not None or all(r.may_be_null for r in found), cells
            assert truth is None or all(contains(r, t) for r, t in zip(found, truth, strict=True)), (cells, truth)
        bounded += math.isfinite(found[0].high or math.inf)
    assert bounded > 20


def test_exact_x_and_certain_membership_are_sharp() -> None:
    cells = make_cells(60, columns=3)
    found = ranges(cells)
    assert all(r.sharp for r in found)
    x = np.vstack([np.ones(60), cells.x_low])
    rows = np.linalg.solve((x * cells.most) @ x.T, x) * cells.most
    for r, row in zip(found, rows, strict=True):
        assert r.high == pytest.approx(np.sum(np.maximum(row * cells.y_low, row * cells.y_high)), rel=1e-9)
        assert r.low == pytest.approx(np.sum(np.minimum(row * cells.y_low, row * cells.y_high)), rel=1e-9)


@pytest.mark.parametrize(
    ("x_width", "possible", "factor"), [(0.0, 0.1, 1.06), (0.02, 0.0, 1.1), (0.05, 0.1, 1.35)], ids=str
)
def test_tight_and_sound_on_large_instances(x_width: float, possible: float, factor: float) -> None:
    cells, random = make_cells(400, 2, x_width, possible), np.random.default_rng(1)
    found = ranges(cells)
    for r in found:
        assert r.low is not None
        assert r.high is not None
        assert r.attained_low is not None
        assert r.attained_high is not None
        assert r.low <= r.attained_low <= r.attained_high <= r.high
        assert r.high - r.low <= factor * (r.attained_high - r.attained_low)
        assert not r.may_be_null
    for turn in range(4):
        truth = coefficients(draw(cells, random, turn % 2 == 0), True)
        assert truth is not None
        assert all(contains(r, t) for r, t in zip(found, truth, strict=True))


def hard_designs() -> dict[str, RegressionCells]:
    random = np.random.default_rng(8)
    one = np.ones(12, dtype=np.int64)
    x = random.normal(0, 1, (2, 12))
    y = random.normal(0, 1, 12)
    decades = 10.0 ** random.uniform(-8, 8, 12)
    near = np.vstack([x[0], x[0] + 1e-6 * x[1]])

    def exact(x: np.ndarray, y: np.ndarray, width: float = 0.5) -> RegressionCells:
        return RegressionCells(x, x, y, y + width, one, one)

    return {
        "offset of x 1e12": exact(x + 1e12, y),
        "offset of y 1e15": exact(x, y + 1e15),
        "nearly collinear": exact(near, y),
        "columns of different size": exact(x * np.array([[1e-30], [1e30]]), y),
        "forty decades": exact(np.vstack([decades, x[0]]), y * decades, 0.0),
        "thirds": exact(x / 3, y / 3, 0.1),
        "tiny": exact(x * 1e-200, y * 1e-200, 1e-201),
        "one ulp": RegressionCells(x, np.nextafter(x, np.inf), y, np.nextafter(y, np.inf), one, one),
        "offset and boxes": RegressionCells(x + 1e6, x + 1e6 + 0.01, y, y + 0.1, one, one * 2),
    }


@pytest.mark.parametrize("label", list(hard_designs()))
@pytest.mark.parametrize("intercept", [True, False])
def test_hard_numbers(label: str, intercept: bool) -> None:
    cells, random = hard_designs()[label], np.random.default_rng(3)
    found = ranges(cells, intercept)
    for turn in range(12):
        truth = coefficients(draw(cells, random, turn % 2 == 0), intercept)
        assert truth is not None or all(r.may_be_null for r in found)
        assert truth is None or all(contains(r, t) for r, t in zip(found, truth, strict=True)), (label, found)


def test_hard_numbers_that_can_be_bounded_are() -> None:
    for label in ("offset of x 1e12", "offset of y 1e15", "nearly collinear", "columns of different size", "tiny"):
        assert all(math.isfinite(float(r.high or 0) - float(r.low or 0)) for r in ranges(hard_designs()[label])), label


def test_what_cannot_be_proved_is_refused() -> None:
    cells = make_cells(40, 2)
    twice = replace(cells, x_low=cells.x_low[[0, 0]], x_high=cells.x_high[[0, 0]])
    wide = replace(cells, x_low=cells.x_low - 50, x_high=cells.x_high + 50)
    loose = replace(cells, least=cells.least * 0)
    for bad in (twice, wide, loose):
        assert ranges(bad) == [Range(-math.inf, math.inf, None, None, sharp=False, may_be_null=True)] * 3


@pytest.mark.parametrize("end", [math.inf, 1e300])
def test_infinite_and_huge_ends_have_no_bound(end: float) -> None:
    cells = make_cells(20, 1)
    wide = RegressionCells(cells.x_low, np.full((1, 20), end), cells.y_low, cells.y_high, cells.least, cells.most)
    assert all(r.low == -math.inf and r.high == math.inf for r in ranges(wide))


def test_too_few_records_have_no_coefficients() -> None:
    cells = make_cells(2, 2)
    one = np.ones(2, dtype=np.int64)
    few = RegressionCells(cells.x_low, cells.x_high, cells.y_low, cells.y_high, one, one)
    assert all(r.is_null for r in ranges(few))
    assert not any(r.is_null for r in ranges(few, intercept=False))


def test_cells_that_cannot_be_selected_do_not_matter() -> None:
    cells = make_cells(30, 2)
    x_low, x_high = (np.hstack([x, [[1e9], [-1e9]]]) for x in (cells.x_low, cells.x_high))
    y_low, y_high = np.append(cells.y_low, 1e9), np.append(cells.y_high, 1e9)
    most = np.append(cells.most, 0)
    more = RegressionCells(x_low, x_high, y_low, y_high, most, most)
    assert ranges(more) == ranges(cells)


def test_the_simple_slope_is_that_of_two_columns() -> None:
    cells = make_cells(300, 1, 0.05, 0.1)
    slope = stats.regr_slope(
        (cells.x_low[0], cells.x_high[0]), (cells.y_low, cells.y_high), np.stack([cells.least, cells.most], axis=1)
    )
    found = ranges(cells)[1]
    assert found.low is not None
    assert found.high is not None
    assert found.low >= slope.low * (1 - 1e-12)
    assert found.high <= slope.high * (1 + 1e-12)


def test_tables_of_pandas_and_lists() -> None:
    x = pd.DataFrame({"age": [0, 1, 2, 3], "dose": [1, 0, 2, 1]})
    found = stats.regression(x, None, [1, 2, 6, 6], [2, 3, 7, 7], counts=[1, 1, 2, 1])
    again = stats.regression(
        x.to_numpy().tolist(), x, [1, 2, 6, 6], [2, 3, 7, 7], [1, 1, (2, 2), 1], names=["age", "dose"]
    )
    assert list(found.coefficients) == ["intercept", "age", "dose"]
    assert found == again
    assert repr(found).splitlines()[1].startswith("age: ")
    assert found["age"].sharp
    assert list(stats.regression([1.0, 2.0], None, [1, 2], [2, 3], intercept=False).coefficients) == ["x1"]


@pytest.mark.parametrize(
    ("x", "y", "names", "message"),
    [
        ([[1, 2], [3, 4]], [1, 2, 3], None, "3 intervals of y and 2 rows"),
        ([[1, 2], [3, 4]], [1, 2], ["a"], "2 columns of x and 1 names"),
        ([[[1]]], [1], None, "a table of numbers"),
        ([[1, math.nan], [3, 4]], [1, 2], None, "unknown"),
    ],
)
def test_wrong_inputs_say_what_is_wrong(x: object, y: list[float], names: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.regression(x, None, y, y, names=names)
    with pytest.raises(ValueError, match="columns of lower ends"):
        stats.regression([[1, 2], [3, 4]], [[1], [3]], [1, 2], [1, 2])
