"""The tutorial on sixty blood pressures: its examples run, its promises hold, its figure can be drawn."""

from __future__ import annotations

import doctest
import importlib.util
import math
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from matplotlib import pyplot as plt

from querygate import stats
from querygate.stats import knowledge
from tests.places import ROOT


def figure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sixty", ROOT / "docs" / "figures" / "sixty.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def names() -> dict[str, Any]:
    """What the examples define; running them checks what they print."""
    return figure().tutorial()


def test_there_are_sixty_and_ties_are_never_split() -> None:
    pressures = names()["pressures"]
    assert len(pressures) == 60
    for k in (3, 4, 9):
        classes = names()["narrowest_classes"](pressures, k)
        assert sorted(x for c in classes for x in c) == sorted(pressures)
        assert min(map(len, classes)) >= k
        assert all(left[-1] < right[0] for left, right in pairwise(classes))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_classes_are_the_narrowest(k: int) -> None:
    """Against every way to cut a short list."""
    for values in (names()["pressures"][:14], names()["pressures"][-13:], [1, 1, 2, 5, 5, 5, 9, 10]):
        found = names()["narrowest_classes"](values, k)
        assert sum((c[-1] - c[0]) * len(c) for c in found) == min(costs(sorted(values), k))


def costs(values: list[int], k: int) -> list[int]:
    every = []
    for size in range(k, len(values) + 1):
        head, rest = values[:size], values[size:]
        cost = (head[-1] - head[0]) * size
        if not rest:
            every.append(cost)
        elif head[-1] < rest[0]:
            every += [cost + more for more in costs(rest, k)]
    return every


@pytest.mark.parametrize("statistic", ["mean", "variance"])
@pytest.mark.parametrize("integer", [True, False])
def test_every_range_holds_the_truth_and_widths_grow_with_k(statistic: str, integer: bool) -> None:
    function = {"mean": stats.mean, "variance": stats.var}[statistic]
    found = [function(*columns, integer=integer) for columns in names()["published"].values()]
    assert all(names()[statistic] in enclosure for enclosure in found)
    assert found[0].width < found[1].width < found[2].width


@pytest.mark.parametrize("k", [3, 4, 9])
def test_sums_make_the_mean_a_point_and_cells_at_most_h(k: int) -> None:
    low, high, counts = names()["published"][k]
    sums = [sum(c) for c in names()["narrowest_classes"](names()["pressures"], k)]
    exact = knowledge.mean(knowledge.make_classes(low, high, counts, sums=sums, integer=True))
    assert names()["mean"] in exact
    assert exact.width <= math.ulp(exact.high)
    for h in (1, 2, 5):
        cells = [s // (n * h) * n * h for s, n in zip(sums, counts, strict=True)]
        ends = [cell + n * h for cell, n in zip(cells, counts, strict=True)]
        found = knowledge.mean(knowledge.make_classes(low, high, counts, sums=(cells, ends)))
        assert names()["mean"] in found
        assert found.width <= h * (1 + 1e-9)


def test_the_examples_of_the_reference_run() -> None:
    tried = doctest.testfile(str(ROOT / "docs" / "reference" / "python-statistics.md"), module_relative=False)
    assert tried.failed == 0
    assert tried.attempted > 10


def test_the_figure_can_be_drawn() -> None:
    drawn = figure().draw(names())
    assert [axes.get_xlabel() for axes in drawn.axes] == ["published classes, mmHg", "mean", "variance"]
    plt.close(drawn)
    assert (ROOT / "docs" / "figures" / "sixty.png").stat().st_size > 10_000
