"""Class sums over several rows against every data set that they allow, listed one by one."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from querygate import stats
from querygate.core.types import Cells, ClassCells
from querygate.stats import STATISTICS
from querygate.stats.knowledge.class_statistics import CLASS_STATISTICS
from tests.seeds import seeds
from tests.unit.stats.class_reference import Selection, as_cells, cases, variance

KINDS = ("whole", "partial", "clipped")
TRUTHS = {
    "sum": (1, lambda data: sum(data)),
    "avg": (1, lambda data: sum(data) / len(data)),
    "var_pop": (1, variance),
    "var_samp": (2, lambda data: variance(data, 1)),
    "stddev_pop": (1, lambda data: math.sqrt(variance(data))),
    "stddev_samp": (2, lambda data: math.sqrt(variance(data, 1))),
    "cv": (1, lambda data: math.sqrt(variance(data)) / (sum(data) / len(data)) if sum(data) else None),
    "mean_ci_low": (2, lambda data: sum(data) / len(data) - half_width(data)),
    "mean_ci_high": (2, lambda data: sum(data) / len(data) + half_width(data)),
    "min": (1, min),
    "max": (1, max),
    "geometric_mean": (1, lambda data: statistics.geometric_mean(data) if min(data) > 0 else None),
    "harmonic_mean": (1, lambda data: statistics.harmonic_mean(data) if min(data) > 0 else None),
}
LEVEL = {"mean_ci_low": (0.9,), "mean_ci_high": (0.9,)}


@cache
def quantile(freedom: int) -> float:
    return float(t.ppf(0.95, freedom))


def half_width(data: Selection) -> float:
    return quantile(len(data) - 1) * math.sqrt(variance(data, 1) / len(data))


def truth(name: str, every: set[Selection]) -> tuple[float, float] | None:
    needs, of = TRUTHS[name]
    values = [value for data in every if len(data) >= needs and (value := of(data)) is not None]
    return (min(values), max(values)) if values else None


@cache
def told_of(kind: str) -> list[tuple[Any, dict[str, tuple[float, float] | None]]]:
    """Random cases, each with the least and the greatest value of every statistic."""
    return [(classes, {name: truth(name, every) for name in TRUTHS}) for classes, every in cases(kind, 70)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integer", [True, False])
def test_every_data_set_is_inside_and_ends_are_attained(kind: str, integer: bool) -> None:
    """Sound for all; sums and means are sharp where nothing but the sums ties values together."""
    told = dict.fromkeys(TRUTHS, 0)
    sharp = compared = 0
    for classes, truths in told_of(kind):
        cells = as_cells(classes, integer=integer)
        for name, compute in CLASS_STATISTICS.items():
            found, real = compute(cells, *LEVEL.get(name, ())), truths[name]
            if found is None or real is None:
                continue
            told[name] += 1
            assert found.low <= real[0], (classes, name, found, real)
            assert real[1] <= found.high, (classes, name, found, real)
            if name in ("sum", "avg") and found.attained_low is not None:
                compared += 1
                if integer:  # doubles may lie between the whole numbers that were listed
                    assert found.attained_low >= real[0] - 1e-9, (classes, name, found, real)
                    assert found.attained_high <= real[1] + 1e-9, (classes, name, found, real)
            if name in ("sum", "avg") and found.sharp and integer:
                sharp += 1
                assert (found.low, found.high) == pytest.approx(real, abs=1e-9), (classes, name, found, real)
    assert min(told.values()) > (20 if kind == "whole" else 4)
    assert min(told[name] for name in ("sum", "avg", "var_pop", "min", "max", "mean_ci_high")) > 30
    assert kind == "clipped" or not integer or sharp > 0.6 * compared > 30


def test_whole_classes_have_the_mean_of_their_cells() -> None:
    """A class selected whole: its mean lies between the ends of its cell, cut to what its intervals allow."""
    for classes, every in cases("whole", 60, seed=8):
        found, real = CLASS_STATISTICS["avg"](as_cells(classes, integer=True)), truth("avg", every)
        assert found is not None
        assert real is not None
        if all(known.variance is None for known in classes):
            assert (found.low, found.high) == pytest.approx(real, rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6, -3e9, 1e12])
def test_doubles_far_from_zero(offset: float) -> None:
    """Thirds, drawn from intervals that are not round, added in two orders as a database may."""
    random = np.random.default_rng(5)
    for _ in seeds(40):
        cells, chosen = drawn(random, offset)
        data = np.concatenate(chosen)
        orders = [data, data[::-1], np.sort(data)]
        for ordered in orders:
            running = 0.0
            for x in ordered.tolist():
                running += x
            found = CLASS_STATISTICS["sum"](cells)
            assert found is not None
            assert found.low <= running <= found.high
            found = CLASS_STATISTICS["avg"](cells)
            assert found is None or found.low <= running / data.size <= found.high
        for ddof, name in ((0, "var_pop"), (1, "var_samp")):
            found = CLASS_STATISTICS[name](cells)
            assert found is None or data.size <= ddof or found.low <= np.var(data, ddof=ddof) <= found.high


def drawn(random: np.random.Generator, offset: float) -> tuple[ClassCells, list[np.ndarray]]:
    """Random classes of doubles with a selection of their members."""
    columns: dict[str, list[float]] = {name: [] for name in ("low", "high", "size", "least", "most", "group")}
    sums: list[tuple[float, float]] = []
    spreads: list[tuple[float, float]] = []
    chosen = []
    for group in range(5):
        members = []
        for _ in range(int(random.integers(1, 4))):
            values = offset + random.normal(0, 1, int(random.integers(1, 6))) / 3
            members += values.tolist()
            taken = int(random.integers(0, values.size + 1)) if random.random() < 0.4 else values.size
            least = taken if random.random() < 0.6 else 0
            row = (values.min(), values.max(), values.size, least, max(taken, least), group)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
            chosen.append(random.permutation(values)[:taken])
        total = sum(map(Fraction, members))
        sums.append((math.nextafter(float(total), -math.inf), math.nextafter(float(total), math.inf)))
        mean = total / len(members)
        spread = float(sum((Fraction(x) - mean) ** 2 for x in members) / len(members))
        spreads.append((spread * (1 - 1e-12), spread * (1 + 1e-12)) if random.random() < 0.5 else (np.nan, np.nan))
    low, high = np.array(columns["low"]), np.array(columns["high"])
    size, least, most, of = (np.array(columns[name], dtype=np.int64) for name in ("size", "least", "most", "group"))
    ends = (np.array([pair[side] for pair in pairs]) for pairs in (sums, spreads) for side in (0, 1))
    return ClassCells(low, high, low, high, size, least, most, of, *ends, integer=False, apart=True), chosen


def test_variance_of_whole_classes_is_as_narrow_as_the_cells() -> None:
    """n V + n (M - E)^2 of each class: with cells that are points nothing is left open."""
    members = [[100, 104, 130, 131, 150, 160], [90, 118, 119, 121, 140, 141]]
    data = [x for m in members for x in m]
    told, sums = [variance(m) for m in members], [float(sum(m)) for m in members]
    cells = ClassCells(
        low=np.array([90, 90]), high=np.array([160, 160]), floor=np.array([90, 90]), ceiling=np.array([160, 160]),
        size=np.array([6, 6]), least=np.array([6, 6]), most=np.array([6, 6]), group=np.array([0, 1]),
        sum_low=np.array(sums), sum_high=np.array(sums),
        var_low=np.array(told) * (1 - 1e-12), var_high=np.array(told) * (1 + 1e-12), integer=True, apart=True,
    )  # fmt: skip
    found = CLASS_STATISTICS["var_pop"](cells)
    assert found is not None
    assert found.low <= variance(data) <= found.high
    assert found.high - found.low < 1e-6 * variance(data)
    plain = stats.var([90, 90], [160, 160], counts=[6, 6], integer=True)
    assert plain.width > 1000


def test_without_sums_the_mean_is_the_plain_one() -> None:
    """A class that tells nothing is handed over with the widest sums its intervals allow."""
    for classes, _ in cases("partial", 60, seed=11):
        cells = as_cells(classes, integer=True)
        widest = [
            np.bincount(cells.group, cells.size * end, cells.sum_low.size) for end in (cells.floor, cells.ceiling)
        ]
        nothing = np.full(cells.sum_low.size, np.nan)
        blank = ClassCells(
            **{name: getattr(cells, name) for name in ClassCells.__dataclass_fields__}
            | {"sum_low": widest[0], "sum_high": widest[1], "var_low": nothing, "var_high": nothing}
        )
        found = CLASS_STATISTICS["avg"](blank)
        plain = STATISTICS.get("avg").range(Cells(cells.low, cells.high, cells.least, cells.most, integer=True))
        if found is not None:
            assert (found.low, found.high) == pytest.approx((plain.low, plain.high), rel=1e-12, abs=1e-12)


def test_nobody_certain_and_ends_beyond_doubles_tell_nothing() -> None:
    classes, _ = next(cases("partial", 1))
    cells = as_cells(classes, integer=True)
    none = {name: getattr(cells, name) for name in ClassCells.__dataclass_fields__} | {
        "least": np.zeros_like(cells.least)
    }
    assert CLASS_STATISTICS["avg"](ClassCells(**none)) is None
    huge = none | {"low": cells.low + 2**60, "high": cells.high + 2**60, "least": cells.most}
    assert CLASS_STATISTICS["sum"](ClassCells(**huge)) is None
